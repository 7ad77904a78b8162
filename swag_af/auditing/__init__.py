"""Audits: how well filters that took no part in the filtering still find gold.

Reading order (each file imports only those named before it):

    options      the options of `audit` and `explain`
    crossval     cross-validation over whole groups
    audit        audits of pools, questions and runs by filters
    unseen       a filter that takes no part ends a run
    summary      audits as rows and sentences, before against after
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
    comparison   before and after a repair, beside rows removed at random
    conditions   one condition of a gate
    gate         the conditions that a dataset must meet, and whether it does
    junit        an audit or a gate as JUnit XML
    sarif        an audit or a gate as SARIF, for code scanning
    probes       what models find in a part of each instance
    single       single features, words, rules of item writing
    dataset      every check of a dataset: `audit`

Importing this package loads nothing else.
"""
