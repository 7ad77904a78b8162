"""Audits: how well filters that took no part in the filtering still find gold.

Reading order (each file or folder imports only those named before it):

    options      the options of `audit` and `explain`
    runs         audits of pools and runs by filters
    ranking      scores of answers against labels
    diagnostics  what a check found, under a code
    examples     instances as they are shown beside what was found
    codes        what each code means: how it is computed, its source, when it fails, what to do
    integrity    duplicates, contradictions, labels, damaged text
    outcome      all that an audit of a dataset found
    balance      accuracy with each class weighed equally
    tiers        instances from easy to hard, by what probes of a part of them make of them
    storing      the folder that an audit leaves, and its reader
    verdict      an audit of a dataset in sentences and rows
    classes      how many instances of each class a repair leaves
    comparison   before and after a repair, beside rows removed at random
    gates        the conditions that a dataset must meet, and reports for CI
    probes       what models find in a part of each instance
    single       single features, words, rules of item writing
    dataset      every check of a dataset: `audit`

Importing this package loads nothing else.
"""
