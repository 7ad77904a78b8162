"""Endings and likelihoods of language models behind an address.

Reading order (each file imports only those named before it):

    requests   what a server is asked about one context
    generator  endings of any server that completes or chats
    scorer     likelihoods, where the server gives those of a given text

Importing this package loads nothing else.
"""
