"""A run presented to people: the accuracy curve, tables for the terminal, and one HTML page.

Reading order (each file imports only those named before it):

    options       the options of `report`
    charts        inline SVG charts
    page          the HTML page: templates and style sheet
    plot          the curve as PNG and SVG files
    text          tables and figures of runs, as text
    subject       the run that a report is about, read once
    iterations    sections: curve, audits, and work by iteration
    endings       sections: gold against distractors, example questions
    verification  section: what annotators judged, if there are verdicts
    provenance    sections: command, options, hashes, versions, seconds
    audit_page    the page of an audit of a dataset
    score_page    the page of scores of predictions
    verb          the verb `report`

Importing this package loads nothing else.
"""
