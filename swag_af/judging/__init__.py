"""Human verdicts on endings: read, combined into one judgement per item, and measured for agreement.

Reading order (each file imports only those named before it):

    options      the options of `verify agreement`
    verdicts     items, verdicts (one annotator on one item), and the majority of them
    screening    who is screened out, for ranking gold too low
    consensus    one judgement per item from several annotators' verdicts
    rules        which judged items become questions, one function per rule
    people       verdicts read, checked against the run, screened and combined
    reliability  how far annotators agree, in numbers
    agreement    those numbers beside the paper's, in tables

Importing this package loads nothing else.
"""
