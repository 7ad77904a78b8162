"""Verbs that lead to a run and go on from it: pools, matchings, filtering, audits of curves, releases, people.

Reading order (each file imports only those named before it):

    probing     what the verb `probe-endpoint` prints
    making      what the verbs print that lead to a pool
    nli         what the verb `train-nli` prints
    guarding    what the verb `guard` prints
    matching    what the verb `match` prints
    filtering   the verb `filter`: the loop with audits, curve and report
    diagnosing  the verb `diagnose` of a run
    releasing   what the verb `release` prints
    verifying   what the verbs print that ask people

Importing this package loads nothing else.
"""
