"""Comparing texts: what two of them share, and how they differ on the surface.

Reading order (each file imports only those named before it):

    ragged           texts of any length as one array of numbers
    near_duplicates  texts that are nearly the same
    scripts          marks that end sentences in other scripts, and characters of those without blanks
    sentences        where the sentences of a text end, and the tokens of all
    surface          letter case, blanks, quotes, marks: which of these reveal gold
    wording          keys that are equal for texts with the same words
    linked           contexts of which one's gold stands in another
    lexical          how far two texts say the same in words
    lengths          whether the longest or the shortest ending is gold too often
    normalise        one surface form for all endings
    thoughts         what a language model thinks aloud before it answers

Importing this package loads nothing else.
"""
