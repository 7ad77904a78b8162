"""Adversarial Matching: right answers recycled as wrong answers of other questions (Zellers et al. 2019b, VCR).

Reading order (each file or folder imports only those named before it):

    options    what is matched with what
    contract   what models of relevance and similarity are, and their names
    own        models of others: where they stand, and what is wrong with them, in a line
    checking   `check_relevance`, `check_similarity`: the contracts tested on any class
    rows       rows of a query and its right response, from files
    models     models of relevance and of similarity, by name, and what they make of a match
    algorithm  the algorithm: folds, buckets in them, and matchings of maximum weight
    texts      matching from Python: lists of texts in, rows out
    results    what a matching leaves: questions, a pool, a run, and what must be said of them
    verb       the verb `match`
    points     what one lambda does
    plot       hardness by lambda as a picture
    sweep      several values of lambda side by side
"""
