"""Human verification: people say which endings are likely, unlikely or gibberish, and which two are best (SWAG §3.5).

Reading order (each file or folder imports only those named before it):

    options        the options of the verbs `verify ...`
    schema         the tables of a verification, and the engine they live in
    store          what was answered, and what the verification was begun with
    items          which items there are, which are open, which one comes next
    qualification  questions with known answers
    desk           hands out items, takes answers
    presentation   what annotators see: sentences, in an order of their own
    overview       how far it has come
    security       cookies, form tokens, limits, headers
    site           what all pages have in common
    pages          the annotator's pages
    admin          the admin's pages
    server         the verb `verify serve`
    exchange       people elsewhere: the verbs `verify export` and `verify import`

Importing this package loads nothing else.
"""
