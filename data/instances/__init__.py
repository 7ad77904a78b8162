"""Instances of any labelled dataset: multiple-choice questions, pairs with classes, sentences used with several inputs.

Reading order (each file imports only those named before it):

    instances   an instance, and a set of them as flat arrays; what of it may be read before the labels are
    published   published splits: which is for training, which for scoring
    recycling   options that are right in one question and wrong in another
    grouping    what no fold may separate: named groups, or texts that are shared or nearly so
    options     which column holds what
    names       what columns of others are called, and which names belong together
    layouts     files that names of columns alone do not tell: SWAG, NLVR2, VCR, contrast sets, logs of lm-eval ...
    tagged      texts that are lists of words and of numbers of objects, as in VCR
    plan        how the rows of a source are read
    repeats     columns whose values repeat: groups of rows, and what is no id
    unread      options that nothing reads, in columns or in a row each; what else might have to be read
    guessing    which column holds what, by its name and by what is in it
    rows        a row to a question, or to a text with its class
    own         our own pools and runs
    contrast    contrast sets that several files make, and what is odd about them
    masking     hiding persons, or whatever matches, in all texts
    reading     files and folders to instances
    beside      columns of these files, those that no instance keeps among them

Importing this package loads nothing else.
"""
