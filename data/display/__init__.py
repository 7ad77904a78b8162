"""What people see: texts that are safe for a terminal, and a line's worth of what holds a million rows.

Reading order (each file imports only those named before it):

    terminal  control characters of texts from data, made visible
    brief     what a notebook shows of results: shapes and numbers, not a million rows

Importing this package loads nothing else.
"""
