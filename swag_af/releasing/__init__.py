"""Release: a run, with the verdicts of people or without, becomes a dataset in SWAG's files and in others.

Reading order (each file imports only those named before it):

    options        the options of `release`
    questions      text, shuffled answers, even labels
    style          how much style gives away in them
    dataset        all of it together, before it is written
    swag_csv       SWAG's regular and full files
    tables         JSONL and Parquet
    hub            the head of the card, for `datasets.load_dataset`
    croissant      Croissant metadata
    lm_eval_utils  what loads the questions in lm-evaluation-harness; copied into every dataset
    harness        tasks for it
    markdown       tables and lists of the card
    card_people    what the card says of annotators
    card_style     what the card and the terminal say of style
    card           the dataset card
    verb           the verb `release`

Importing this package loads nothing else.
"""
