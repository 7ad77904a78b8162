"""Instances of any labelled dataset: multiple-choice questions, pairs with classes, sentences used with several inputs.

Reading order (each file imports only those named before it):

    instances   an instance, and a set of them as flat arrays; what of it may be read before the labels are
    grouping    what no fold may separate: named groups, or texts that are shared or nearly so

Importing this package loads nothing else.
"""
