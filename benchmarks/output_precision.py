"""What a bf16 output layer changes: distances between its distributions and those of fp32, on a real model.

    python benchmarks/output_precision.py contexts.jsonl lms --fold 0

For a few hundred golds of the fold, at every token: the total variation distance between the two distributions, and
the difference of the gold token's log-likelihood; and for sampled endings the difference of the two features that the
backward model gives, beside the spread that those have within a row.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from swag_af.data.captions.context_set import read_contexts
from swag_af.data.vocabulary import BOS, Vocabulary
from swag_af.lm.lstm.candidates import load_readers, task_of, types_of_golds, unfit_reason
from swag_af.lm.lstm.checkpoints import load_fold
from swag_af.lm.lstm.features import Endings, backward_features
from swag_af.lm.lstm.reader import Distributions
from swag_af.lm.lstm.sampling import Prompt, Sampling, sample_rows
from swag_af.lm.lstm.wording import Wording

RULES = Sampling(n_negatives=127, min_tokens=5, max_tokens=25, max_draws=40)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contexts", type=Path)
    parser.add_argument("lms", type=Path)
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--n", type=int, default=250, help="contexts")
    arguments = parser.parse_args()
    vocabulary = Vocabulary.load(arguments.lms / "vocabulary.tsv")
    types = types_of_golds(read_contexts(arguments.contexts), vocabulary, RULES)
    tasks = [
        task_of(context, i, vocabulary, 0)
        for i, context in enumerate(read_contexts(arguments.contexts))
        if context.fold == arguments.fold
    ]
    tasks = [task for task in tasks if unfit_reason(task, RULES, types.ends) is None][: arguments.n]
    exact, rounded = (
        load_readers(arguments.lms, arguments.fold, device="cpu", precision=precision) for precision in ("fp32", "bf16")
    )

    model, _ = load_fold(arguments.lms, arguments.fold, device="cpu")
    distances, nats = [], []
    with torch.inference_mode():
        for task in tasks:
            text = torch.tensor([BOS, *task.sent1, *task.start, *task.gold])
            hidden, _ = model.forward_lm(model.embed(text[:-1, None]))
            tops, gold = hidden[-len(task.gold) :, 0], torch.tensor(task.gold)
            one, two = (Distributions.of(readers.forward.output(tops)) for readers in (exact, rounded))
            distances += (0.5 * (one.p - two.p).abs().sum(dim=1)).tolist()
            rows = torch.arange(len(gold))
            nats += (one.nats(rows, gold) - two.nats(rows, gold)).tolist()
    print(f"{len(tasks)} golds of fold {arguments.fold}, {len(distances):,} tokens")
    _say("total variation distance of a token's distribution", np.array(distances))
    _say("nats of the gold token", np.abs(nats))

    chosen = tasks[:32]
    prompts = [Prompt([*task.sent1, *task.start], task.gold, task.rng) for task in chosen]
    sampled = dict(sample_rows(exact.forward, prompts, RULES, types, Wording(vocabulary)))
    items = [(prompts[i].context, row) for i, row in sorted(sampled.items()) if row is not None]
    endings = [Endings(context, row.tokens, row.lengths) for context, row in items]
    fine, coarse = (dict(backward_features(readers.backward, endings)) for readers in (exact, rounded))
    difference = np.concatenate([np.abs(fine[i] - coarse[i]) for i in fine])
    spread = np.mean([values.std(axis=0) for values in fine.values()], axis=0)
    for column, name in enumerate(("ending_alone", "context_given_ending")):
        _say(f"{name}, nats a token (spread within a row {spread[column]:.2f})", difference[:, column])


def _say(what: str, values: np.ndarray) -> None:
    print(f"{what}: mean {values.mean():.5f}, 99th percentile {np.quantile(values, 0.99):.5f}, most {values.max():.5f}")


if __name__ == "__main__":
    main()
