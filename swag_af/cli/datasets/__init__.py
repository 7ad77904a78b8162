"""Verbs that take a dataset of anyone: what solves it blind, what it holds, how models and people do.

Reading order (each file imports only those named before it):

    describing  the verb `describe` of a dataset
    auditing    the verb `audit` of a dataset
    pruning     what the verb `prune` prints
    refining    what the verb `refine` prints
    scoring     the verb `score`, and what `count-check` prints
    baselines   the verb `baselines`: its cells, tables and picture

Importing this package loads nothing else.
"""
