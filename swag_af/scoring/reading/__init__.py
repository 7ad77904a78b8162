"""What models and people answered, read from anyone's files and brought to the order of the instances.

Reading order (each file imports only those named before it):

    answers      what a cell says of an instance: its answer, or scores of all answers
    forms        files without named columns: one object, one list, one answer a line
    tables       which columns of a file hold ids, and answers or scores
    order        whether predictions stand in the order of the dataset
    gold         whether a column taken for the answers is a copy of gold
    predictions  files of predictions, a model each
    judgements   answers of people

Importing this package loads nothing else.
"""
