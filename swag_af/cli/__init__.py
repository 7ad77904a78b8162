"""The command line, on top of everything.

Reading order (each file imports only those named before it):

    options    the options of `show` and `demo`
    layout     help, folded between words
    homes      the home folder in paths
    storing    which verbs take addresses in object stores
    saying     what a verb prints, safe for a terminal
    following  which command to run next
    filtering  the verb `filter`: the loop with audits, curve and report
    auditing   the verb `audit` of a dataset
    pruning    what the verb `prune` prints
    guarding    what the verb `guard` prints
    diagnosing  the verb `diagnose` of a run
    refining   what the verb `refine` prints
    releasing  what the verb `release` prints
    matching   what the verb `match` prints
    found      what `show` says of the folders of `audit`, `prune`, `diagnose` and `refine`
    describing  the verb `describe` of a dataset
    nli        what the verb `train-nli` prints
    results    what `show` says of what `score`, `baselines`, `describe` and `train-nli` leave
    show       the verb `show`
    demo       the verb `demo`
    explain    the verb `explain`
    baselines  the verb `baselines`: its cells, tables and picture
    probing    what the verb `probe-endpoint` prints
    scoring    the verb `score`, and what `count-check` prints
    making     what the verbs print that lead to a pool
    verifying  what the verbs print that ask people
    verbs      what the other verbs print
    parsing    what is typed, as options of a verb
    main       the command line

Importing this package loads nothing else.
"""
