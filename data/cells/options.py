"""What the options of all verbs that read tables share. Imports nothing."""

from typing import Literal

Format = Literal["auto", "jsonl", "json", "csv", "parquet", "datasets"]
"""The format of a source; auto looks at it."""

LabelBase = Literal["auto", "0", "1", "text", "letters"]
"""From what labels that are numbers count, or that they are texts of options or letters; auto looks at all of them."""
