"""A dataset described, as SWAG describes itself: counts, lengths, vocabulary, verbs, topics.

Reading order (each file imports only those named before it):

    options      the options of `describe`
    parts        the texts of a set by what they are, and how long a text is
    counts       how many of everything: questions, endings, groups, images, types of words
    lengths      how long the texts are, and how lengths are distributed
    verbs        the commonest verbs beside other corpora, and how skewed the distributions are
    topics       topics of the questions, by latent Dirichlet allocation
    description  all of it for one set
    tables       the description as tables of values

Importing this package loads nothing else.
"""
