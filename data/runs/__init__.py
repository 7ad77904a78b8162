"""A run of Adversarial Filtering, and what audits found in it.

Reading order (each file imports only those named before it):

    run       a run: start, replacements, log
    findings  what audits found, stored with the run

Importing this package loads nothing else.
"""
