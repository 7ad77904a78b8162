"""Contexts, vocabulary, pools, assignments, readers, splitters, errors: the ground everything stands on.

Reading order (each file imports only files named before it):

    errors         what a user can mend, in one line
    products       matrix products at the speed of the processor
    files          atomic writes, JSON with good errors, manifests, hashes
    progress       bars on a terminal, lines in a log
    captions       what a reader yields: videos and their captions
    tokens         words of a sentence and back
    english        word lists and rules: tags and verb groups without a model
    taggers        universal tags for sentences and for word types
    splitters      the second sentence into start and ending
    vocabulary     token types and their ids
    grammar_words  word tables of the synthetic sample
    grammar_trees  trees, inflection, and what a tree says
    grammar        the synthetic sample: seeded captions with gold trees and tags
    readers        caption files to videos
    options        the options of `contexts`
    contexts       pairs of captions to contexts; every drop with its reason
    extract        the verb `contexts`
    guard          the false-negative guard: which negatives may stand beside gold
    tables         rows of text to the tables of a pool, block by block
    pool           every context with its candidates, as memory-mapped tables
    drafts         a shard in the making, a file a row
    assignments    (N, A) candidate indices, gold first
    sources        JSONL, CSV, Parquet and `datasets` folders, a row at a time
    choices        what the columns of a row mean: SWAG's, HellaSwag's, anyone's
    build          the verbs `pool` and `tag`

Importing this package loads nothing else.
"""
