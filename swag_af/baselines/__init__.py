"""Table 3 of Zellers et al. 2018 for any dataset: how far models get that read parts of it, or all.

Reading order (each file imports only those named before it):

    options      the options of `baselines`
    published    what papers report: Table 3, people, and what came later
    conceptnet   the rule that counts causal relations of ConceptNet
    models       what stands in a row: rules, and learned models with their settings
    parts        published splits, or splits dealt by whole groups; what is trained on
    cells        a cell of the grid: one model, input, training set and seed; its file
    fitting      cells fitted and scored
    outcome      all that came of a grid, and its reader
    order        whether the order of the rows is that of the paper
    summary      cells as figures: means, deviations, intervals, differences
    belonging    what a folder belongs to: data, and how they are read and parted
    grid         the grid of a dataset: which cells there are, made in one process or in several

Importing this package loads nothing else.
"""
