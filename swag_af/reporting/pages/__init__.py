"""Pages of their own: an audit, scores of predictions, a dataset described, a run diagnosed.

Reading order (each file imports only those named before it):

    audit        the page of an audit of a dataset
    score        the page of scores of predictions
    description  the page of a dataset described
    diagnosis    the page of a run diagnosed

Importing this package loads nothing else.
"""
