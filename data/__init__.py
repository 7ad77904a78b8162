"""Contexts, texts, tags, captions, pools, runs: what everything else imports. No torch, and no other package of ours.

Reading order (each file or folder imports only those named before it):

    display     what people see: texts safe for a terminal, and a line for what holds a million rows
    errors      what a user can fix, in one line, and what the options of all verbs check
    extras      the command that installs what a feature needs
    secrets     random numbers that nobody can foretell
    numbers     intervals of accuracies and differences, and shares in sentences
    disk        files and folders: where they are, what they must hold, and how they are written whole
    work        work that takes long: its bars, what is done beside it, and who alone may do it
    plugins     classes of others: found by name, told apart, and checked
    engines     where blocks of work are done beside this process
    stores      pools, models and runs in object stores: fetched, and sent as they are finished
    scale       where work runs: here, in processes, or as one of several runs that share a folder
    tables      tables of anyone: their rows, and the names of their columns
    splits      groups of rows, and their division into folds, held-out rows and splits
    tokens      words of a sentence and back
    tags        universal tags, and taggers by name
    vocabulary  token types and their ids
    video       what a reader yields: videos and their captions
    context     a context, and how it is shown
    text        comparing texts: what two share, and how they differ on the surface
    cells       what the cells of anyone's rows mean: texts, lists, labels
    folds       which fold's language model has not read a context
    syntax      taggers, splitters, clauses, parsers, treebanks
    sample      the bundled captions: seeded, synthetic, with gold trees and tags
    captions    captions to contexts; every drop with its reason
    pool        contexts with their candidates, as memory-mapped tables
    runs        a run: its start, replacements and log, and what audits found
    instances   labelled instances of any dataset: questions with options, texts with classes
    pooling     your own texts to a pool: what their columns mean, and the verbs `pool` and `tag`

Importing this package loads nothing else.
"""
