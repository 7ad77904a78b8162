"""What requests cost: prices, what was used, and limits of it.

Reading order (each file imports only those named before it):

    prices  what tokens cost
    usage   requests, tokens and money that were used
    budget  limits of what may be used

Importing this package loads nothing else.
"""
