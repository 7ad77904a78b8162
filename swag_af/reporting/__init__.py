"""A run told to people: the curve, tables for the terminal, one HTML page.

Reading order (each file imports only those named before it):

    options   the options of `report`
    charts    the charts of a report
    page      the page around them
    plot      curves as PNG and SVG
    text      numbers and tables of runs, as text
    subject   what a report tells of, read once
    curves    curve, audits and work by iteration
    contents  endings and questions before and after
    people    what people said, where they were asked
    making    command, options, hashes, versions, seconds
    verb      the verb `report`

Importing this package loads nothing else.
"""
