"""Adversarial Filtering, the algorithm alone: no plot, no page, no audit.

Reading order (each file imports only those named before it):

    options      the options of `filter` and of `filter_pool`
    measures     scores by head, accuracy, memory
    replacement  which distractors leave and which candidates enter
    fitting      who is held out in an iteration, and the filter that scores them
    turns        one iteration: split, fit, score, replace
    workers      iterations and scores by other processes
    loop         iterations, one after another, logged

Importing this package loads nothing else.
"""
