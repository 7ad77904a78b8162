"""Tables of anyone, a row at a time: JSONL, CSV, Parquet and `datasets` folders.

Reading order (each file imports only those named before it):

    headerless  tables without a header line that their rows tell
    sources     JSONL, CSV, Parquet and `datasets` folders, a row at a time

Importing this package loads nothing else.
"""
