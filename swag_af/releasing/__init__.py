"""Release: a run, with or without the verdicts of annotators, becomes a dataset in SWAG's files and other formats.

Reading order (each file or folder imports only those named before it):

    options     the options of `release`
    questions   text, shuffled answers, even labels
    style       how well style alone answers the questions
    linked      questions of which one's answer stands in the context of another
    rationales  questions that ask for the rationale of an answer
    dataset     everything above together, before it is written
    files       the files of a dataset: CSV, JSONL, Parquet, what VCR has, Croissant
    lm_eval     tasks for lm-evaluation-harness, and what is copied beside them
    cards       the dataset card, and its sections
    verb        the verb `release`

Importing this package loads nothing else.
"""
