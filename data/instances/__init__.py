"""Instances of any labelled dataset: multiple-choice questions, pairs with classes, sentences used with several inputs.

Reading order (each file imports only those named before it):

    instances   an instance, and a set of them as flat arrays; what of it may be read before the labels are
    recycling   options that are right in one question and wrong in another
    grouping    what no fold may separate: named groups, or texts that are shared or nearly so
    options     which column holds what
    layouts     files that names of columns alone do not tell: SWAG, HellaSwag, NLVR2, logs of lm-eval
    guessing    which column holds what, by its name and by what is in it
    rows        a row to a question, or to a text with its class
    own         our own pools and runs
    reading     files and folders to instances

Importing this package loads nothing else.
"""
