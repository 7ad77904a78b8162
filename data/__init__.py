"""Contexts, vocabulary, pools, assignments, readers, splitters, errors: the ground everything stands on.

Reading order (each file imports only files named before it):

    errors         what a user can mend, in one line
    products       matrix products at the speed of the processor
    files          atomic writes, JSON with good errors, manifests, hashes
    progress       bars on a terminal, lines in a log
    captions       what a reader yields: videos and their captions
    tokens         words of a sentence and back
    mending        text as it was meant: entities, invisible characters, wrong decodings
    language       videos whose captions are not English
    near_duplicates  texts that say nearly the same
    wording        what two texts share when a reader would call them the same words
    groups         which rows belong together, and dealing them into parts
    english_words  word lists, the lexicon, and what is known of a word by itself
    english_scan   a sentence being tagged, and the questions that rules ask of it
    english        rules over the neighbours: Penn tags without a model
    english_universal  Penn tags to universal tags
    taggers        universal tags for sentences and for word types
    clauses        where the final verb phrase begins, by tags or by dependencies
    treebank       CoNLL-U sentences with gold tags and heads
    parsers        constituency trees by benepar
    splitters      the second sentence into start and ending
    vocabulary     token types and their ids
    grammar_words  word tables of the synthetic sample
    grammar_trees  trees, inflection, and what a tree says
    grammar        the synthetic sample: seeded captions with gold trees and tags
    options        the options of `contexts`, `pool` and `tag`
    sources        JSONL, CSV, Parquet and `datasets` folders, a row at a time
    caption_tables  a row a caption to videos
    caption_sets   published sets of captions to videos: ActivityNet, LSMDC, YouCook2, Charades
    readers        any source of captions to videos
    train_tagger   the verb `train-tagger`
    drops          why a pair makes no context, and the table of it
    contexts       pairs of captions to contexts; every drop with its reason
    folds          which fold's model has not read a context
    extract        the verb `contexts`
    guard          the false-negative guard: which negatives may stand beside gold
    surface        letter case, blanks, quotes, marks: what of these tells gold
    normalise      one surface form for all endings
    tables         rows of text to the tables of a pool, block by block
    sharing        which rows of texts share texts
    pool           every context with its candidates, as memory-mapped tables
    drafts         a shard in the making, a file a row
    assignments    (N, A) candidate indices, gold first
    choices        what the columns of a row mean: SWAG's, HellaSwag's, anyone's
    tagging        every candidate tagged in its sentence
    build          the verbs `pool` and `tag`

Importing this package loads nothing else.
"""
