"""Human verification: people rate endings as likely, unlikely or gibberish, and name the best two (SWAG §3.5).

Reading order (each file or folder imports only those named before it):

    options        the options of the verbs `verify ...`
    prospects      whether verdicts can make questions at all
    schema         the tables of a verification, and the engine they live in
    store          opens and reads the tables: answers, and the settings of the verification
    backup         all answers in one file: the verb `verify backup`
    linked         which of two items gives the other away
    items          the items: which are open, and which comes next
    qualification  questions with known answers
    checks         such questions among the items
    consent        which text an annotator accepted, and when
    desk           hands out items, and takes answers
    presentation   an item as an annotator sees it: sentences, endings shuffled
    overview       progress in numbers
    web            the web application: the verb `verify serve`
    invitations    signed links for annotators: the verb `verify invite`
    exchange       other platforms: the verbs `verify export` and `verify import`

Importing this package loads nothing else.
"""
