"""What networks of `lm` and `filters` share. Knows tensors only.

Reading order (each file imports only those named before it):

    device         where networks compute, in which precision, from which seed
    pretrained     models of Hugging Face: package, configuration, failures
    threads        how many threads share a product
    training       epochs until the held-out loss stops falling
    products       matrix products at the speed of the processor
    gradients      pieces of the language model with gradients by hand
    recurrent      kernels of bidirectional LSTMs, forward and backward by hand
    bidirectional  a bidirectional LSTM over texts of different lengths
    windows        word filters with their pool, forward and backward by hand

Importing this package loads nothing else.
"""
