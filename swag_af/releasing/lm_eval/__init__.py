"""Tasks for lm-evaluation-harness, and the loaders that are copied beside them.

Reading order (each file imports only those named before it):

    utils       loads the questions in lm-evaluation-harness; copied into every dataset
    rationales  loads those of rationales; copied where there are any
    harness     tasks for lm-evaluation-harness

Importing this package loads nothing else.
"""
