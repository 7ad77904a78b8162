"""Rules that tag English without a model: a fallback, to which no rules are added.

Reading order (each file imports only those named before it):

    words      word lists, the lexicon, and what is known about a word by itself
    scan       a sentence being tagged, and the questions that rules ask about it
    rules      rules over the neighbours: Penn tags without a model
    universal  Penn tags to universal tags

Importing this package loads nothing else.
"""
