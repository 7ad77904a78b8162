"""The command line, on top of everything.

Reading order (each file imports only those named before it):

    options    the options of `show` and `demo`
    layout     help, folded between words
    following  which command to run next
    filtering  the verb `filter`: the loop with audits, curve and report
    auditing   the verb `audit` of a dataset
    pruning    what the verb `prune` prints
    found      what `show` says of the folders of `audit` and `prune`
    show       the verb `show`
    demo       the verb `demo`
    explain    the verb `explain`
    verbs      what each verb prints
    main       the command line

Importing this package loads nothing else.
"""
