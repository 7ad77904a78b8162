"""Human verification: people say which endings are likely, unlikely or gibberish, and which two are best (SWAG §3.5).

Reading order (each file imports only files named before it):

Importing this package loads nothing else.
"""
