"""What one feature, one word or one rule of item writing tells of the labels, and no model.

Reading order (each file imports only those named before it):

    tables        the texts as flat tables of tokens
    significance  luck, alone and among many tests
    rules         a rule of one feature, and the diagnostics of many
    form          length, marks, case, digits, quotes, parts of speech
    numbers       the values of options that are numbers
    likeness      how like the context, how like the other options
    naming        whether the question names one of its options
    perplexity    an n-gram model of the other folds
    recurrence    texts that occur again
    features      the features by name; their diagnostics
    words         words and n-grams that go with a label
    flaws         rules of item writing: which options they mark
    writing       how often those rules are right

Importing this package loads nothing else.
"""
