"""A folder with a BERT of two layers, its weights random, and its WordPiece tokenizer."""

from pathlib import Path

import pytest
import torch

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789."
VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "smiles", "frowns", *LETTERS, *(f"##{x}" for x in LETTERS))


def save_tiny_bert(folder: Path, seed: int = 0) -> str:
    """Write it to `folder`, its weights drawn by `seed`; skips the test where transformers is not installed."""
    transformers = pytest.importorskip("transformers")
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=64,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        transformers.BertModel(config).save_pretrained(folder)
    return str(folder)
