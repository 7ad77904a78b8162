"""What networks of `lm` and `filters` share. Knows tensors only.

Reading order (each file imports only those named before it):

    device     where networks compute, in which precision, from which seed
    threads    how many threads share a product
    training   epochs until the held-out loss stops falling
    products   matrix products at the speed of the processor
    gradients  pieces of the language model with gradients by hand
    recurrent  the bidirectional LSTM with its pool, forward and backward by hand
    windows    word filters with their pool, forward and backward by hand

Importing this package loads nothing else.
"""
