"""Probes: how far models get that read only a part of each instance, scored on what they never saw.

Reading order (each file imports only those named before it):

    words        texts as numbered words, and counts of their n-grams
    inputs       what a probe reads: options alone, the second sentence, the context of another row ...
    models       what reads it: tf-idf regression, fastText, and any model of yours
    bridge       filters, which read pools, as models
    folds        an order that no file decides, and folds
    keeping      finished probes, kept while an audit goes on
    probe        one probe; all of an audit, sharing their work
    consistency  how many contrast sets a probe has wholly right
    findings     probes as diagnostics

Importing this package loads nothing else.
"""
