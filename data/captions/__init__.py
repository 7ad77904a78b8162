"""Captions to contexts: readers, repair, the rules of the paper, every drop with its reason.

Reading order (each file imports only those named before it):

    options      the options of `contexts`
    repair       entities, invisible characters and wrong decodings repaired
    language     videos whose captions are not English
    columns      tables of captions, one per row, to videos
    published    published datasets to videos: ActivityNet, LSMDC, YouCook2, Charades
    readers      any source of captions to videos
    drops        why a pair makes no context, and the table of reasons
    advice       what to say about odd times and about rules that drop a large share
    context_set  the files of contexts; assigns folds where they have none
    splitting    second sentences split by this process or by others, and kept
    contexts     pairs of captions to contexts
    verb         the verb `contexts`

Importing this package loads nothing else.
"""
