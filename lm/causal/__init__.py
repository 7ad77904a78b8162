"""Any causal language model of Hugging Face, on disk or by its name: endings from it, and likelihoods.

Reading order (each file imports only those named before it):

    model      a model that reads from left to right, with its tokenizer
    sampling   samples of one prompt, which is read once
    generator  `CausalGenerator`, which keeps the contract of generators
    scorer     `CausalScorer`, which keeps that of scorers

Importing this package loads nothing else.
"""
