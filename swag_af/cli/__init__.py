"""The command line, on top of everything.

Reading order (each file or folder imports only those named before it):

    options    the options of `show` and `demo`
    layout     help, folded between words
    homes      the home folder in paths
    storing    which verbs take addresses in object stores
    saying     what a verb prints, safe for a terminal
    following  which command to run next
    runs       verbs that lead to a run and go on from it
    datasets   verbs that take a dataset of anyone
    showing    the verb `show`
    demo       the verb `demo`
    explain    the verb `explain`
    verbs      what the other verbs print
    parsing    what is typed, as options of a verb
    main       the command line

Importing this package loads nothing else.
"""
