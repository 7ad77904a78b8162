"""A benepar model that a test can afford: a character LSTM and one layer of attention, trained on trees at hand."""

import contextlib
import random
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

HYPERPARAMETERS = {
    "use_pretrained": False,
    "use_chars_lstm": True,
    "use_encoder": True,
    "predict_tags": False,
    "force_root_constituent": True,
    "d_model": 64,
    "d_char_emb": 16,
    "char_lstm_input_dropout": 0.0,
    "morpho_emb_dropout": 0.0,
    "encoder_max_len": 128,
    "num_layers": 1,
    "num_heads": 4,
    "d_kv": 16,
    "d_ff": 128,
    "relu_dropout": 0.0,
    "residual_dropout": 0.0,
    "attention_dropout": 0.0,
    "d_label_hidden": 64,
}


def train_benepar(
    path: Path, trees: Sequence[str], *, epochs: int = 3, batch_size: int = 32, learning_rate: float = 5e-3
) -> None:
    """Learn bracketed `trees` and keep the model in the file `path`, as benepar keeps its own checkpoints."""
    from benepar import char_lstm, decode_chart, nkutil, parse_chart

    examples = [_example(tree) for tree in trees]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        parser = parse_chart.ChartParser(
            tag_vocab={"UNK": 0},
            label_vocab=decode_chart.ChartDecoder.build_vocab([example.tree for example in examples]),
            char_vocab=char_lstm.RetokenizerForCharLSTM.build_vocab([example.words for example in examples]),
            hparams=nkutil.HParams(**HYPERPARAMETERS),
        )
        parser.train()
        n_steps = epochs * -(-len(examples) // batch_size)
        adam = torch.optim.Adam(parser.parameters(), learning_rate, betas=(0.9, 0.98), eps=1e-9)
        schedule = torch.optim.lr_scheduler.OneCycleLR(adam, learning_rate, n_steps)
        rng = random.Random(0)
        for _ in range(epochs):
            rng.shuffle(examples)
            for begin in range(0, len(examples), batch_size):
                batch = examples[begin : begin + batch_size]
                adam.zero_grad()
                for _, part in parser.encode_and_collate_subbatches(batch, 2000):
                    parser.compute_loss(part).backward()
                torch.nn.utils.clip_grad_norm_(parser.parameters(), 1.0)
                adam.step()
                with contextlib.suppress(ValueError):
                    schedule.step()
    torch.save({"config": parser.config, "state_dict": parser.state_dict()}, path)


def _example(bracketed: str) -> Any:
    """What benepar trains on: words, blanks and a tree under TOP."""
    from nltk import Tree

    tree = Tree("TOP", [Tree.fromstring(bracketed)])
    words = tree.leaves()
    return SimpleNamespace(words=words, space_after=[True] * len(words), tree=tree, pos=tree.pos, leaves=tree.leaves)
