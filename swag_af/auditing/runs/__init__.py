"""Audits of pools, questions and runs by filters that took no part, and how they are told.

Reading order (each file imports only those named before it):

    crossval  cross-validation over whole groups
    audit     audits of pools, questions and runs by filters
    unseen    a filter that takes no part ends a run
    summary   audits as rows and sentences, before against after

Importing this package loads nothing else.
"""
