"""Tables: as text, as Markdown, for papers; and Table 3 of SWAG, as a table and as a picture.

Reading order (each file imports only those named before it):

    text         tables and figures of runs, as text
    latex        tables for papers
    markdown     tables and lists as Markdown
    table3       how far models get, as Table 3 of SWAG shows it: text, CSV, Markdown, LaTeX
    table3_plot  the same as a picture

Importing this package loads nothing else.
"""
