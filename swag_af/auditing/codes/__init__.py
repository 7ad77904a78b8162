"""What every code of an audit means, as tables: one TOML file for each family of checks.

    partial.toml    AF1xx  what reads a part of each instance
    single.toml     AF2xx  one feature alone
    words.toml      AF3xx  words and n-grams
    writing.toml    AF4xx  rules of item writing
    integrity.toml  AF5xx  duplicates, labels, damaged text

Reading order:

    code  a code, and how to find it

Importing this package loads nothing else.
"""
