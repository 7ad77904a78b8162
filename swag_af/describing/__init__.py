"""A dataset described, as SWAG describes itself: counts, lengths, vocabulary, verbs, topics.

Reading order (each file imports only those named before it):
"""
