"""Filters that read two texts: what comes first on one side, the rest on the other.

Reading order (each file imports only those named before it):

    batch       distinct texts and pairs of them; what a network of pairs is
"""
