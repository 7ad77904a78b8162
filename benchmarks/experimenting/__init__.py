"""The experiment at scale, step by step (benchmarks/experiment.py).

Reading order (each file imports only those named before it):

    sizes      how large: contexts, candidates, iterations, seeds, and the arms
    steps      the commands of every step, and what they cost
    record     what the results are made of: small files, a run each, that outlive pools and models
    running    steps run one after another, each with its log
    pools      all parts in one pool, pools of fewer candidates, features by models that have read gold
    findings   audits as hits by context: alone, paired, over several parts
    curves     the height at which the ensemble begins, and how it goes on
    growth     what each filter finds by number of contexts
    starts     where the curve begins: candidates and likelihoods with one thing changed, before any filtering
    nested     how high the ensemble begins by number of contexts, nothing else being different
    joined     what the runs on the parts leave, read all together
    repeats    how far the luck of fits goes: audits with other seeds
    seeds      how far chance goes in a run: the same contexts, other seeds
    released   the released questions beside those of SWAG and HellaSwag
    reading    a hundred questions for one reader, and what the reader said
    predicted  what Figure 2 of the paper led us to expect, and when that has come out
    results    all of it in one record
    wording    figures, intervals and differences in words
    phases     what each phase of a run did, beside Figure 2: tables and sentences
    arms       the arms beside the one that each is held against
    readers    what readers find: filters by number of contexts, models in released questions, one reader
    tables     the whole record as tables and sentences
    figures    the record as pictures
    command    the command line
"""
