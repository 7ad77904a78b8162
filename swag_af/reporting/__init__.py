"""A run presented to people: the accuracy curve, tables for the terminal, and one HTML page.

Reading order (each file imports only those named before it):

    options       the options of `report`
    charts        inline SVG charts
    page          the HTML page: templates and style sheet
    plot          the curve as PNG and SVG files
    text          tables and figures of runs, as text
    subject       the run that a report is about, read once
    iterations    sections: curve, audits, and work by iteration
    guards        section: wrong endings that could be right, where the pool was guarded
    endings       sections: gold against distractors, example questions
    verification  section: what annotators judged, if there are verdicts
    provenance    sections: command, options, hashes, versions, seconds
    audit_page    the page of an audit of a dataset
    score_page    the page of scores of predictions
    latex         tables for papers
    description_plots  verbs, their cumulative curve and lengths of sentences, as pictures
    description_page   the page of a dataset described
    diagnosis_page  the page of a run diagnosed
    markdown      tables and lists as Markdown
    table3        how far models get, as Table 3 of SWAG shows it: text, CSV, Markdown, LaTeX
    table3_plot   the same as a picture
    verb          the verb `report`

Importing this package loads nothing else.
"""
