"""What a language model is told, and which of its words are an ending.

Reading order (each file imports only those named before it):

    prompt   a prompt, read from a TOML file
    marks    what stands around the items of a list: bullets, numbers, emphasis, quotes
    answers  endings in a raw text
    sieve    those of one context that can be kept, and why others are none

Importing this package loads nothing else.
"""
