"""Adversarial Matching: right answers recycled as wrong answers of other questions (Zellers et al. 2019b, VCR).

Reading order (each file imports only those named before it):

    options     what is matched with what
    tags        what `[person1]` in a text stands for, and what it becomes in another row
    items       rows of a query and its right response
    reading     files to items
    weights     what a match is worth: relevance, similarity, and who may not be matched at all
    contract    what models of relevance and similarity are, and their names
    own         models of others: where they stand, and what is wrong with them, in a line
    checking    `check_relevance`, `check_similarity`: the contracts tested on any class
    tiles       what a model of two texts says of all pairs of two lists
    relevance   relevance by words: tf-idf
    encoder     relevance by a dual encoder that is trained here
    cross       relevance by a cross-encoder that is fine-tuned, as in VCR
    filtered    relevance by a filter that reads two texts
    similarity  similarity by words
    entailment  similarity by a model of natural language inference, as in VCR
    rounds      maximum-weight matchings, one after another, each response used once in each
    buckets     folds of whole groups, and within them buckets of like responses
    work        folds and buckets one after another, each kept as soon as it is done
    estimate    what a matching would take
    texts       matching from Python: lists of texts in, rows out
    questions   questions, pool and run of a matching, and what can be said of them
    cautions    what a matching leaves open
    saying      a matching in sentences
    verb        the verb `match`
    points      what one lambda does
    plot        hardness by lambda as a picture
    sweep       several values of lambda side by side
"""
