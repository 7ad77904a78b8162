"""The algorithm: folds, buckets within them, and in each bucket matchings of maximum weight.

Reading order (each file imports only those named before it):

    rounds    maximum-weight matchings, one after another, each response used once in each
    buckets   folds of whole groups, and within them buckets of like responses
    work      folds and buckets one after another, each kept as soon as it is done
    estimate  what a matching would take

Importing this package loads nothing else.
"""
