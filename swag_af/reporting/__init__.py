"""A run presented to people: the accuracy curve, tables for the terminal, and one HTML page.

Reading order (each file or folder imports only those named before it):

    options            the options of `report`
    charts             inline SVG charts
    page               the HTML page: templates and style sheet
    plot               the curve as PNG and SVG files
    tables             tables as text, Markdown and LaTeX; Table 3 of SWAG
    sections           the sections of a run's page
    pages              the other pages: of an audit, of scores, of a dataset described, of a run diagnosed
    description_plots  verbs, their cumulative curve and lengths of sentences, as pictures
    verb               the verb `report`

Importing this package loads nothing else.
"""
