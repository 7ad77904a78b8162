"""What a step of a filter's fit costs, part by part, by one thread and by two: forward, and the gradients.

    python benchmarks/filter_step.py --contexts 56 --json
    python benchmarks/filter_step.py --bf16     # by one thread, in fp32 and with products in bf16, in turns

A step reads ten endings of so many contexts (16 where a fit has 2,000 or fewer, 56 at 8,000), here words by Zipf's law,
6 to 26 a sequence. `joined` are the layer over all members, and the heads. Seconds are of a clock, medians of seven
steps; nothing else should run.
"""

import argparse
import json
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from swag_af.filters.networks import CNN, BagOfWords, Ensemble, Network, PerplexityMLP, PosLSTM
from swag_af.filters.neural import cross_entropy
from swag_af.filters.sequences import Batch, Sequences
from swag_af.nn.device import mixed_precision
from swag_af.nn.threads import threads

N_WORDS, N_SYMBOLS, LONGEST, N_FEATURES, N_ASSIGNED = 12_000, 142, 26, 6, 10
N_STEPS, N_ROUNDS = 7, 5


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=int, nargs="+", default=[16, 56], help="contexts a step")
    parser.add_argument("--bf16", action="store_true", help="two kinds of products in place of two numbers of threads")
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    arguments = parser.parse_args()
    found = {n: (measured_rounded if arguments.bf16 else measured)(n) for n in arguments.contexts}
    compared = "in fp32, in bf16, and fp32 over bf16" if arguments.bf16 else "by one thread, by two, and one over two"
    for n, parts in found.items():
        print(f"\n{n} contexts of {N_ASSIGNED}: milliseconds {compared}")
        for part, (one, two) in parts.items():
            print(f"  {part:10} {1000 * one:7.1f} {1000 * two:7.1f} {one / two:6.2f} x")
    if arguments.json:
        print(json.dumps(found))


def measured(n_contexts: int) -> dict[str, tuple[float, float]]:
    """Of each part, and of the whole step: seconds by one thread and by two."""
    members, batch = new_members(), batch_of(n_contexts * N_ASSIGNED)
    network = Ensemble(members).train()
    seconds: dict[str, list[float]] = {}
    for n in (1, 2):
        with threads(n):
            of_parts = {name: seconds_of(partial(member.logits, batch)) for name, member in members.items()}
            whole = seconds_of(partial(network.logits, batch))
        of_parts |= {"joined": whole - sum(of_parts.values()), "step": whole}
        for name, value in of_parts.items():
            seconds.setdefault(name, []).append(value)
    return {name: (one, two) for name, (one, two) in seconds.items()}


def measured_rounded(n_contexts: int) -> dict[str, tuple[float, float]]:
    """Of each member, and of the whole step, by one thread: seconds in fp32 and with products in bf16, medians of
    rounds in which both take turns."""
    members, batch = new_members(), batch_of(n_contexts * N_ASSIGNED)
    parts: dict[str, Network] = {**members, "step": Ensemble(members).train()}
    seconds: dict[str, list[list[float]]] = {name: [[], []] for name in parts}
    with threads(1):
        for _ in range(N_ROUNDS):
            for name, part in parts.items():
                for is_rounded, taken in enumerate(seconds[name]):
                    taken.append(seconds_of(partial(part.logits, batch), rounded=bool(is_rounded)))
    return {name: (float(np.median(exact)), float(np.median(rounded))) for name, (exact, rounded) in seconds.items()}


def seconds_of(logits: Callable[[], dict[str, torch.Tensor]], *, rounded: bool = False) -> float:
    """The median time of the logits and their gradients."""
    taken = []
    for _ in range(N_STEPS + 1):
        begun = time.perf_counter()
        with mixed_precision(torch.device("cpu"), "bfloat16" if rounded else "float32"):
            made = logits().values()
        losses = [cross_entropy(one.reshape(-1, N_ASSIGNED)) for one in made]
        torch.stack(losses).sum().backward()
        taken.append(time.perf_counter() - begun)
    return float(np.median(taken[1:]))


def new_members() -> dict[str, Network]:
    """Those of an ensemble, of the sizes that filters have."""
    torch.manual_seed(0)
    symbols = torch.randint(1, N_SYMBOLS, (N_WORDS,))
    return {
        "mlp": PerplexityMLP(torch.zeros(N_FEATURES), torch.ones(N_FEATURES), 1024),
        "bow": BagOfWords(N_WORDS),
        "cnn": CNN(N_WORDS),
        "poslstm": PosLSTM(symbols, N_SYMBOLS, first_tag=101),
    }


def batch_of(n: int) -> Batch:
    """`n` sequences."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(6, LONGEST + 1, n)
    words = np.minimum(rng.zipf(1.3, (n, LONGEST)), N_WORDS - 1)
    words[np.arange(LONGEST) >= lengths[:, None]] = 0
    sequences = Sequences(
        words=torch.from_numpy(words.astype(np.int32)),
        tags=None,
        lengths=torch.from_numpy(lengths.astype(np.int32)),
        start_lengths=torch.full((n,), 3, dtype=torch.int32),
        features=torch.from_numpy(rng.normal(size=(n, N_FEATURES)).astype(np.float32)),
    )
    return sequences.take(torch.arange(n), torch.device("cpu"))


if __name__ == "__main__":
    main()
