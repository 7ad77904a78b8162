"""Classes and functions of others: found by name, told apart, and checked against a contract.

Reading order (each file imports only those named before it):

    own_code   classes and functions of others: what tells them, their edits and their arguments apart
    contracts  classes of others: what the checkers of contracts share
    registry   filters, taggers, splitters and generators by name

Importing this package loads nothing else.
"""
