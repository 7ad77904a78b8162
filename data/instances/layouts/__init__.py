"""Files that names of columns alone do not tell. A layout makes plain rows of theirs, one or several of each.

Reading order (each file imports only those named before it):

    layout     what a layout is
    sentences  SWAG and HellaSwag: the context holds the start of the second sentence
    images     NLVR2: a sentence true or false of a pair of images; contrast sets of it
    staged     VCR, whose answers have reasons, and VCR's contrast sets
    passages   RACE, with several questions a passage; contrast sets of BoolQ
    logs       pairs in one text, and what lm-evaluation-harness logs
    table      all of them, and which one a file has

Importing this package loads nothing else.
"""
