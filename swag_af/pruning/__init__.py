"""Pruning: instances that are solved without the task are removed, beside as many removed at random.

Reading order (each file imports only those named before it):

    options    the options of `prune`
    features   fixed representations of texts: tf-idf with SVD, fastText, an encoder
    aflite     how predictable instances are to linear classifiers on random partitions: AFLite
    by_probes  how sure the out-of-fold probes of an audit are of them
    rounds     rounds of removal: the most predictable go, until few are left; kept on disk, to go on
    curve      accuracy of probes at each size, pruned and random
    plot       the curve as PNG and SVG files
    artifacts  what removal mended, and what it made
    agreement  whether instances that are hard for models are those that people disagree on
    lines      the kept lines of a file, byte for byte
    folder     the folder that it leaves, and its reader
    verb       the verb `prune`

Importing this package loads nothing else.
"""
