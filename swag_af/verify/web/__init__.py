"""The web application in which annotators judge items: the verb `verify serve`.

Reading order (each file imports only those named before it):

    connections  time limits, connections per client, lines of log
    security     signed cookies, form tokens, limits, headers
    media        pictures and videos that contexts name
    site         what all pages have in common
    pages        the annotator's pages
    measured     the figures of agreement on the admin page
    admin        the admin's pages
    server       the application, put together and run

`templates` and `static` hold the HTML, the style sheet and the script. Importing this package loads nothing else.
"""
