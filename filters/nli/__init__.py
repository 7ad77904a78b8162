"""A model of natural language inference, trained once and kept: what it says of two texts, as a filter and in numbers.

Reading order (each file imports only those named before it):

    options    the options of `train-nli`
    folder     the folder that it leaves: weights, words, what was held out
    entailing  probabilities and entailment of pairs, by such a folder
    member     NLIFilter: three probabilities and a linear layer
    training   the verb `train-nli`

Importing this package loads nothing else.
"""
