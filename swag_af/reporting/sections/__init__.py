"""The sections of a run's page.

Reading order (each file imports only those named before it):

    subject       the run that a report is about, read once
    iterations    sections: curve, audits, and work by iteration
    guards        section: wrong endings that could be right, where the pool was guarded
    endings       sections: gold against distractors, example questions
    verification  section: what annotators judged, if there are verdicts
    provenance    sections: command, options, hashes, versions, seconds

Importing this package loads nothing else.
"""
