"""The pool: every context with its candidates, from generators or from texts of your own.

Reading order (each file imports only those named before it):

    options      the options of `pool` and `tag`
    guard        the false-negative guard: which negatives may stand beside gold
    assignments  (N, A) candidate indices, gold first
    folder       tables, shards, the manifest and the vocabulary
    rows         rows of text to tables, block by block
    sharing      which rows of texts share texts
    assembly     texts in memory to the parts of a pool
    pool         `CandidatePool`, and the views that filters read
    drafts       a shard in the making, a file a row
    columns      what the columns of a row mean: SWAG's, HellaSwag's, anyone's
    in_context   every candidate tagged in its sentence
    verb         the verbs `pool` and `tag`

Importing this package loads nothing else.
"""
