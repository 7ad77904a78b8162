"""What the cells of a row of anyone's table mean: texts, lists of texts, and the label that says which one is right.

Reading order (each file imports only those named before it):

    options   formats, and where labels begin to count
    values    texts, lists and numbers in cells; cells within cells
    words     words for variants of a contrast set, for sources of gold, and in place of an answer; names of groups and
              of ids
    labels    which of the options a label means; whether labels count from 0 or from 1
    whole     names that are whole numbers, which tables write as 7.0
    order     whether two tables stand in one order, as far as their columns show
    joining   labels of a second file, joined to the rows that they are of
    labelled  sources whose labels stand in a second file, and the splits of a folder

Importing this package loads nothing else.
"""
