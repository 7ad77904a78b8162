"""The verb `show`: what stands in a folder of ours.

Reading order (each file imports only those named before it):

    found    what `show` says of the folders of `audit`, `prune`, `diagnose` and `refine`
    results  what `show` says of what `score`, `baselines`, `describe` and `train-nli` leave
    show     the verb `show`

Importing this package loads nothing else.
"""
