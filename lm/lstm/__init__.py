"""The paper's language models: forward and backward LSTMs over captions (Zellers et al. 2018, 3.1 and A.2).

Reading order (each file imports only those named before it):

    network      two stacks of LSTM layers around one embedding
    corpus       what a fold's model reads
    golds        golds that no sampled ending could look like
    books        plain-text books, for pretraining
    checkpoints  the folder of models
    telling      how far a model is, from whoever trains it to whoever waits
    fitting      one model fitted by Lightning
    reader       one direction, reading many rows at once
    workers      how many processes sample, score and learn
    train        the verb `train-lm`
    wording      what endings of token ids say
    sampling     distinct endings from the full softmax
    features     five perplexities and three lengths
    candidates   the rows of a pool
    generator    `LSTMGenerator`, which keeps the contract
    scorer       `LSTMScorer`, which keeps the contract of scorers
    lazy         features for pools as they stand

Importing this package loads nothing else.
"""
