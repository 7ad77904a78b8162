"""Audits: how well filters that took no part still find gold.

Reading order (each file imports only those named before it):

    options   the options of `audit`
    interval  how far a share and a paired difference may be from the truth
    crossval  every question scored by a filter that never saw its group
    audit     audits of pools, questions and runs; the verb `audit`
    summary   what audits come to, in rows and sentences

Importing this package loads nothing else.
"""
