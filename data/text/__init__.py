"""Texts beside one another: what two of them share, and how they look on the surface.

Reading order (each file imports only those named before it):

    near_duplicates  texts that say nearly the same
    wording          what two texts share when a reader would call them the same words
    surface          letter case, blanks, quotes, marks: what of these tells gold
    normalise        one surface form for all endings

Importing this package loads nothing else.
"""
