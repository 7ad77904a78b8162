"""Release: a run, with or without the verdicts of annotators, becomes a dataset in SWAG's files and other formats.

Reading order (each file imports only those named before it):

    options             the options of `release`
    questions           text, shuffled answers, even labels
    style               how well style alone answers the questions
    linked              questions of which one's answer stands in the context of another
    rationales          questions that ask for the rationale of an answer
    dataset             everything above together, before it is written
    swag_csv            SWAG's regular and full CSV files
    formats             JSONL and Parquet
    stages              both questions of a row, as VCR has them
    hub                 the card's YAML header, for `datasets.load_dataset`
    croissant           Croissant metadata
    lm_eval_utils       loads the questions in lm-evaluation-harness; copied into every dataset
    lm_eval_rationales  loads those of rationales; copied where there are any
    harness             tasks for lm-evaluation-harness
    card_verification   the card's section on human verification
    card_style          the card's section on style, and the same for the terminal
    card_matching       what a card says of a matching, in place of filtering, and of its rationales
    card                the dataset card
    verb                the verb `release`

Importing this package loads nothing else.
"""
