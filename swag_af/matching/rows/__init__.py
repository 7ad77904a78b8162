"""Rows of a query and its right response: what `[person1]` in them stands for, and how files are read.

Reading order (each file imports only those named before it):

    tags     what `[person1]` in a text stands for, and what it becomes in another row
    items    rows of a query and its right response
    reading  files to items

Importing this package loads nothing else.
"""
