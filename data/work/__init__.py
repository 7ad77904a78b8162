"""Work that takes long: its bars, what is done beside it, and work that only one process may do.

Reading order (each file imports only those named before it):

    progress  bars on a terminal, lines in a log
    watching  something done again and again beside other work
    locks     work that only one process may do at a time, on whatever machine

Importing this package loads nothing else.
"""
