"""Your own texts to a pool, and other tags for a pool.

Reading order (each file imports only those named before it):

    columns  what the columns of a row mean: SWAG's, HellaSwag's, your own, those that names tell
    verb     the verbs `pool` and `tag`

Importing this package loads nothing else.
"""
