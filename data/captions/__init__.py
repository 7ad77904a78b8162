"""Captions to contexts: readers, repair, the rules of the paper, every drop with its reason.

Reading order (each file imports only those named before it):

    options      the options of `contexts`
    repair       text as it was meant: entities, invisible characters, wrong decodings
    language     videos whose captions are not English
    columns      a row a caption to videos
    published    published sets to videos: ActivityNet, LSMDC, YouCook2, Charades
    readers      any source of captions to videos
    drops        why a pair makes no context, and the table of it
    context_set  the files of contexts, and folds where they have none
    contexts     pairs of captions to contexts
    verb         the verb `contexts`

Importing this package loads nothing else.
"""
