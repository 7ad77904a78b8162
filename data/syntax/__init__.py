"""Parts of speech and the place where a sentence is cut, with models or with rules.

Reading order (each file or folder imports only those named before it):

    options       the options of `train-tagger`
    english       tagging rules, for machines without a model
    taggers       universal tags for sentences and for word types
    clauses       where the final verb phrase begins, by tags or by dependencies
    constituency  constituency trees by benepar
    splitters     the second sentence into start and ending
    lemmas        base forms of verbs
    treebank      CoNLL-U sentences with gold tags and heads
    train_tagger  the verb `train-tagger`

Importing this package loads nothing else.
"""
