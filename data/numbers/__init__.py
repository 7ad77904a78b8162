"""Numbers that people are told: how sure they are, and how they stand in a sentence.

Reading order (each file imports only those named before it):

    interval  95 % intervals of an accuracy and of a paired difference, clustered by groups
    percent   shares in sentences: per cent, their intervals, and their differences in points

Importing this package loads nothing else.
"""
