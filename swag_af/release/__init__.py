"""Release: a run, with the verdicts of people or without, becomes a dataset in SWAG's files.

Reading order (each file imports only files named before it):

    build     the verb `release`: questions, splits by video, files, card

Importing this package loads nothing else.
"""
