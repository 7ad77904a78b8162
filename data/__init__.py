"""Contexts, vocabulary, pools, assignments, readers, splitters, errors: the ground everything stands on."""
