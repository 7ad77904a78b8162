"""What an epoch of ESIM costs, beside a plain padded implementation of it on the same batches.

    python benchmarks/baselines.py                                        # 2,000 questions of the bundled captions
    python benchmarks/baselines.py hellaswag_val.jsonl --json             # any dataset of questions
    python benchmarks/baselines.py questions.jsonl --reference-batches 0  # the whole reference epoch, too

Both train the same network from the same start: forward, backward, a step of Adam, one thread. Ours encodes every
distinct text of a batch once and does no arithmetic on padding; the reference (`tests/slow/attention.py`, which the
tests hold equal in logits and gradients) encodes both texts of every pair, padded, with torch's own LSTM. Seconds are
of CPU. The reference runs on some batches and is scaled up to the epoch, unless told otherwise; `ratio_to_reference`
compares the same batches.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from swag_af.data.instances.reading import read_instances
from swag_af.data.sample.grammar import sample_videos
from swag_af.filters.pairs.batch import PairBatch, PairNetwork, WordTable
from swag_af.filters.pairs.esim import ESIM
from swag_af.filters.pairs.members import ESIMFilter
from swag_af.filters.pairs.texts import pairs_of_texts
from swag_af.nn.training import Adam

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

WORD_SIZE, BATCH, WARM_UP = 300, 32, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="questions with options; the bundled captions if none")
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--hidden", type=int, default=ESIMFilter(vectors="").hidden)
    parser.add_argument("--reference-batches", type=int, default=12, help="batches of the reference; 0: all")
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    questions = _questions(arguments.data, arguments.questions)
    made = _measured(questions, arguments.hidden, arguments.reference_batches)
    for name, value in made.items():
        print(f"{name:32} {value:12,.4g}")
    if arguments.json:
        print(json.dumps({name: round(value, 3) for name, value in made.items()}))


def _measured(questions: list[tuple[str, list[str]]], hidden: int, n_reference: int) -> dict[str, float]:
    from slow.attention import slow_esim

    batches, n_words = _batches(questions)
    chosen = np.linspace(0, len(batches) - 1, n_reference or len(batches)).round().astype(int).tolist()
    ours = _Training(n_words, hidden)
    seconds = ours.seconds(batches, lambda network, batch: network(batch))
    plain = _Training(n_words, hidden)
    reference = plain.seconds([batches[i] for i in chosen], slow_esim)
    ratio = float(reference.sum() / seconds[chosen].sum())
    pairs = sum(len(batch.first) for batch in batches)
    words = sum(int(batch.texts.lengths[side].sum()) for batch in batches for side in (batch.first, batch.second))
    return {
        "questions": len(questions),
        "pairs": pairs,
        "words_of_a_pair": words / pairs,
        "batches": len(batches),
        "hidden": hidden,
        "cpu_seconds_per_epoch": float(seconds.sum()),
        "reference_batches": len(chosen),
        "reference_cpu_seconds_per_epoch": float(seconds.sum()) * ratio,
        "ratio_to_reference": ratio,
    }


class _Training:
    """A network with its optimiser, both from the same start."""

    def __init__(self, n_words: int, hidden: int):
        torch.manual_seed(0)
        self.network: PairNetwork = ESIM(WordTable(0.1 * torch.randn(n_words, WORD_SIZE)), hidden=hidden).train()
        self.adam = Adam(self.network, 1e-3, 1e-6)

    def seconds(
        self, batches: list[PairBatch], logits_of: Callable[[PairNetwork, PairBatch], torch.Tensor]
    ) -> np.ndarray:
        """(batches,) CPU seconds of a step on each; some steps before are not counted."""
        for batch in batches[:WARM_UP]:
            self._step(batch, logits_of)
        return np.array([self._step(batch, logits_of) for batch in batches])

    def _step(self, batch: PairBatch, logits_of: Callable[[PairNetwork, PairBatch], torch.Tensor]) -> float:
        began = time.process_time()
        self.network.zero_grad()
        logits = logits_of(self.network, batch).view(-1, 4)
        F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long)).backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.adam.step()
        return time.process_time() - began


def _questions(path: Path | None, n: int) -> list[tuple[str, list[str]]]:
    """`n` contexts, each with four second sentences."""
    rng = np.random.default_rng(0)
    if path is None:
        return _made_up(n, rng)
    found = read_instances([path]).instances
    usable = [one for one in found if len(one.options) == 4 and one.context]
    chosen = [usable[i] for i in rng.permutation(len(usable))[:n]]
    return [(one.context, [f"{one.start} {option}" for option in one.options]) for one in chosen]


def _made_up(n: int, rng: np.random.Generator) -> list[tuple[str, list[str]]]:
    """Pairs of captions of the bundled sample, each with three second captions of others."""
    videos = sample_videos(n)
    pairs = [
        (one.text, other.text)
        for video in videos
        for one, other in zip(video.captions, video.captions[1:], strict=False)
    ][:n]
    others = rng.integers(len(pairs), size=(len(pairs), 3))
    return [(one, [other, *(pairs[i][1] for i in row)]) for (one, other), row in zip(pairs, others, strict=True)]


def _batches(questions: list[tuple[str, list[str]]]) -> tuple[list[PairBatch], int]:
    """Batches of `BATCH` questions, and the number of words."""
    firsts = [context for context, options in questions for _ in options]
    seconds = [option for _, options in questions for option in options]
    pairs = pairs_of_texts(firsts, seconds, as_one=False)
    batches = []
    for at in range(0, len(firsts), 4 * BATCH):
        used, place = np.unique(
            np.concatenate([pairs.first[at : at + 4 * BATCH], pairs.second[at : at + 4 * BATCH]]), return_inverse=True
        )
        texts, order = pairs.texts.batch(used, torch.device("cpu"))
        batches.append(PairBatch(texts, *torch.from_numpy(order[place]).chunk(2)))
    return batches, len(pairs.texts.words)


if __name__ == "__main__":
    main()
