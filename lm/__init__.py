"""Language models and what they make: candidate endings, perplexity features, pools.

Reading order (each file or folder imports only those named before it):

    options   the options of `train-lm`, `generate` and `features`
    lstm      the paper's generator: forward and backward LSTMs
    verb      the verb `generate`
    estimate  what a `generate` would take

Importing this package imports no torch.
"""
