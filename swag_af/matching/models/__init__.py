"""Models of relevance and of similarity, and what a match is worth by them.

Reading order (each file imports only those named before it):

    weights     what a match is worth: relevance, similarity, and who may not be matched at all
    tiles       what a model of two texts says of all pairs of two lists
    relevance   relevance by words: tf-idf
    encoder     relevance by a dual encoder that is trained here
    cross       relevance by a cross-encoder that is fine-tuned, as in VCR
    filtered    relevance by a filter that reads two texts
    similarity  similarity by words
    entailment  similarity by a model of natural language inference, as in VCR

Importing this package loads nothing else.
"""
