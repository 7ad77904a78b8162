"""Contexts, texts, tags, captions, pools, runs: the ground everything stands on. No torch, and no other folder of ours.

Reading order (each file or folder imports only those named before it):

    errors      what a user can mend, in one line
    files       atomic writes, JSON with good errors, manifests, hashes
    progress    bars on a terminal, lines in a log
    scale       where work runs: here, in processes, or as one of several runs that share a folder
    registry    names to what makes a thing: filters, taggers, splitters, generators
    sources     JSONL, CSV, Parquet and `datasets` folders, a row at a time
    splits      which rows belong together, and dealing them into folds, held-out rows and splits
    tokens      words of a sentence and back
    tags        universal tags, and taggers by name
    vocabulary  token types and their ids
    video       what a reader yields: videos and their captions
    context     a context, and how it is shown
    text        what two texts share; how they look on the surface
    folds       which fold's language model has not read a context
    syntax      taggers, splitters, clauses, parsers, treebanks
    sample      the bundled captions: seeded, synthetic, with gold trees and tags
    captions    captions to contexts; every drop with its reason
    pool        every context with its candidates, as memory-mapped tables
    run         a run: start, replacements, log
    findings    what audits found, kept with the run

Importing this package loads nothing else.
"""
