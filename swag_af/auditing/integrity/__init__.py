"""Checks of a dataset's integrity: duplicates, contradictions, labels, damaged text. Nothing is fitted here.

Reading order (each file imports only those named before it):

    shares      a share of the instances as a diagnostic, and instances as examples
    sameness    which instances are the same, and which nearly so, in linear time
    duplicates  duplicates within a split, across splits and files; contradictions; groups that several splits share
    recycled    options that are right in one question and wrong in another
    repeated    options that repeat another of their question, or gold
    labels      balance of labels, and answers that no label uses
    ids         ids that tell the answer
    damaged     blank, cut-off and wrongly encoded text
    integrity   all checks

Importing this package loads nothing else.
"""
