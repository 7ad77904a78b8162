"""Diagnosis of a run: why is the accuracy curve not lower, and what would lower it?

Reading order (each file imports only those named before it):

    options    the options of `diagnose`
    figures    a figure with its interval; means of rows, clustered by groups
    fits       out-of-fold scores of every candidate, by several fits, each kept on disk
    left       what the pool has left: harder candidates, and what taking them would do
    agreement  how far fits agree on candidates, swaps and mistakes
    growth     how well fresh filters tell gold from candidates, by number of contexts
    trend      a power law through a curve, with what it says of twice as much, where it can say anything
    outcome    the diagnosis: everything measured, in one record
    words      what sentences are made of: an answer, figures with intervals, what is not known
    matched    what is said of a run of `match`
    told       the diagnosis in sentences and rows
    diagnosis  the measurement of all of it, resumable by fit

Importing this package loads nothing else.
"""
