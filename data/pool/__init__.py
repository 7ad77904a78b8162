"""The pool: contexts with their candidates, from generators or from your own texts.

Reading order (each file imports only those named before it):

    options      the options of `pool` and `tag`
    guard        the false-negative guard: which negatives are kept
    assignments  (N, A) candidate indices, gold first
    folder       tables, shards, the manifest and the vocabulary
    listing      the contexts in row order, few of them in memory
    rows         rows of text to tables, block by block
    sharing      which rows of texts share texts
    assembly     texts in memory to the parts of a pool
    spool        rows that wait in files until the vocabulary is known
    view         some candidates of some rows, which filters read
    pool         `CandidatePool`
    guarded      what guards say of a pool's candidates: marks and rates
    recount      what is counted over all rows, for those that are left
    drafts       an unfinished shard, one file per row
    joining      shards from several machines, before they become a pool
    in_context   every candidate tagged in its sentence

Importing this package loads nothing else.
"""
