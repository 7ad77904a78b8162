"""Scorers: what gives the likelihood columns of a candidate, and who may be asked for them.

Reading order (each file imports only those named before it):

    contract  what a scorer is, in four sentences
    checking  `check_scorer`, which tests them on anyone's class
    registry  names to classes: `make_scorer("hf[path/to/model]")`
    table     the `features` table of a pool, shard by shard

Importing this package loads nothing else.
"""
