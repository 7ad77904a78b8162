"""What a matching leaves: questions, a pool, a run, and what must be said of them.

Reading order (each file imports only those named before it):

    questions  questions, pool and run of a matching, and what can be said of them
    cautions   what a matching leaves open
    saying     a matching in sentences

Importing this package loads nothing else.
"""
