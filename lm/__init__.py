"""Generators of candidate endings and what they make: language models, perplexity features, pools.

Reading order (each file or folder imports only those named before it):

    options   the options of `train-lm`, `generate` and `features`
    contract  what a generator is, in four sentences
    checking  `check_generator`, which tests them on anyone's class
    registry  names to classes: `make_generator("lstm[lms]")`
    seeding   the random numbers of a context
    choosing  which contexts of a file get endings
    prompting  what a language model is told, and which of its words are an ending
    ngram     the quick generator, for tests and teaching
    scorers   what a scorer is, and scorers by name
    causal    any causal model of Hugging Face, as generator and as scorer
    endpoint  language models behind an address, as generator and as scorer
    lstm      the paper's generator: forward and backward LSTMs
    texts     pools of what any generator of text writes
    reuse     rows that finished pools have already
    rows      the rows of a pool, made in blocks wherever the work runs
    features  the verb `features`
    verb      the verb `generate`
    trying    a few rows, made to forecast from and thrown away
    estimate  what a `generate` would take

Importing this package imports no torch.
"""
