"""Requests on their way, one and many, and what comes back.

Reading order (each file imports only those named before it):

    clock    time and chance
    streams  answers that come in pieces
    replies  what one reply means
    sending  one request until it is answered
    asking   many requests at a time

Importing this package loads nothing else.
"""
