"""What people say of endings, from verdicts to judgements and figures of agreement.

Reading order (each file imports only those named before it):

    options      the options of `verify agreement`
    verdicts     items that people judge, and what they say of them
    consensus    one judgement an item out of several annotators' verdicts
    rules        what becomes of an item that people judged, a function a rule
    people       verdicts read, checked against the run, screened and judged
    reliability  how far annotators agree, in numbers
    agreement    those numbers beside the paper's, in tables

Importing this package loads nothing else.
"""
