"""Scores of predictions: what models and people get right, in the terms of SWAG, VCR, VCR-CS and NLVR2.

Reading order (each file imports only those named before it):

    options     the options of `score` and `count-check`
    counting    whether percentages can be shares of N things
    chance      how often guesses that read nothing are right
    reading     files of predictions and of people's answers
    figures     accuracy, staged accuracy, consistency, sensitivity: each with interval, n and chance
    breakdown   accuracy by split, audit tier, mask and group
    comparison  two models, or sighted and blind, on the same instances
    partial     the instances that all files predict
    people      how often people are right, alone and by majority, and how far they agree
    masking     which questions a mask changes
    outcome     all scores of a dataset
    told        what is said of them: tables and sentences
    verb        all that `score` computes

Importing this package loads nothing else.
"""
