"""Guards against false negatives: which wrong endings could be right, so that no assignment has them.

Reading order (each file imports only those named before it):

    options     the options of `guard`
    contract    what a guard is, and guards by name
    checking    `check_guard`, which tests the contract on anyone's class
    words       what words say
    entailment  a model of entailment, either way
    likelihood  a language model finds it likelier than gold
    judge       a model behind an address is asked
    scoring     blocks of rows, scored and kept
    estimate    what guarding would take
    verb        the verb `guard`

Importing this package loads nothing else.
"""
