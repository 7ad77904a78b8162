"""The files of a dataset: SWAG's CSV, JSONL, Parquet, both questions of a row, and Croissant metadata.

Reading order (each file imports only those named before it):

    swag_csv   SWAG's regular and full CSV files
    formats    JSONL and Parquet
    stages     both questions of a row, as VCR has them
    croissant  Croissant metadata

Importing this package loads nothing else.
"""
