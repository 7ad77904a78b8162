"""What sampling and scoring by a causal model cost: beside the floor of their products, and without sharing the cache.

    python benchmarks/causal.py --json                    # a GPT-2 of some million random weights
    python benchmarks/causal.py --model path/to/gpt2      # any causal model
    python benchmarks/causal.py --hidden 64 --layers 2 --contexts 2 --json     # seconds

One thread; seconds are of CPU. The floor is the time of the matrix products of all linear layers, in the shapes of the
same run and nothing else. Without sharing, the prompt is read once for every sample, and every candidate is read with
its context before it; without a cache, every token reads all that stands before it. Random weights end no sentences, so
samples are given lengths from 8 to 24 tokens.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from swag_af.data.context import Context, phrase
from swag_af.data.sample.grammar import sample_videos
from swag_af.lm.causal.model import Causal, load_causal
from swag_af.lm.causal.sampling import Sampling, draw, read_prompt
from swag_af.lm.causal.scorer import AT_ONCE, CausalScorer, _batches

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

SHORTEST, LONGEST = 8, 24
"""Tokens of a sample."""
Shapes = Counter[tuple[int, int, int]]
"""How often a product of (rows, inputs) and (inputs, outputs) is done."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a folder or a name on the hub; random weights if none")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--contexts", type=int, default=12)
    parser.add_argument("--samples", type=int, default=32, help="samples of a context, drawn at once")
    parser.add_argument("--endings", type=int, default=64, help="endings of a context to be scored")
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model or _random_model(Path(folder) / "gpt2", arguments.hidden, arguments.layers)
        causal = load_causal(model, device="cpu")
        contexts = _contexts(arguments.contexts)
        made = {"parameters": float(sum(weights.numel() for weights in causal.network.parameters()))}
        made |= _sampling(causal, contexts, arguments.samples)
        made |= _scoring(causal, contexts, arguments.endings)
    for name, value in made.items():
        print(f"{name:44} {value:14,.4g}")
    if arguments.json:
        print(json.dumps({name: round(value, 3) for name, value in made.items()}))


def _sampling(causal: Causal, contexts: Sequence[Context], n: int) -> dict[str, float]:
    """Tokens a second of samples, shared and not."""
    rng = np.random.default_rng(0)
    prompts = [causal.ids(phrase(context)) for context in contexts]
    lengths = rng.integers(SHORTEST, LONGEST + 1, n)
    uniforms = rng.random((n, LONGEST))

    def shared() -> int:
        return sum(len(ids) for prompt in prompts for ids in _drawn(causal, prompt, uniforms, lengths))

    def read_alone() -> None:
        for prompt in prompts:
            read_prompt(causal, prompt)

    def read_each() -> None:
        for prompt in prompts:
            causal.read(torch.tensor([[causal.begin, *prompt]] * n))

    def without_cache() -> int:
        texts = [[causal.begin, *prompts[0], *range(length)] for length in (SHORTEST, LONGEST)]
        for text in texts:
            for end in range(len(prompts[0]) + 1, len(text)):
                causal.network(input_ids=torch.tensor([text[:end]]), use_cache=False)
        return SHORTEST + LONGEST

    seconds, n_tokens, shapes = _timed(causal, shared)
    alone, each, bare = (_timed(causal, work) for work in (read_alone, read_each, without_cache))
    floor = _floor(shapes)
    return {
        "sampled_tokens": n_tokens,
        "sampled_tokens_a_second": n_tokens / seconds,
        "sampling_floor_tokens_a_second": n_tokens / floor,
        "sampling_ratio_to_floor": seconds / floor,
        "sampled_tokens_a_second_not_shared": n_tokens / (seconds - alone[0] + each[0]),
        "sampled_tokens_a_second_without_cache": bare[1] / bare[0],
    }


def _drawn(causal: Causal, prompt: list[int], uniforms: np.ndarray, lengths: np.ndarray) -> list[list[int]]:
    """Samples, as many of each length as `lengths` (b,) has of it."""
    waiting = Counter[int](lengths.tolist())

    def is_over(ids: Sequence[int]) -> bool:
        if not waiting[len(ids)]:
            return False
        waiting[len(ids)] -= 1
        return True

    return draw(causal, read_prompt(causal, prompt), uniforms, Sampling(), is_over)


def _scoring(causal: Causal, contexts: Sequence[Context], n: int) -> dict[str, float]:
    """Endings a second, the context read once for all and once for each."""
    captions = [caption.text for video in sample_videos(n) for caption in video.captions]
    endings = [[captions[(7 * row + k) % len(captions)] for k in range(n)] for row in range(len(contexts))]
    scorer = CausalScorer(causal.model, device="cpu")
    scorer._causal = causal

    def shared() -> int:
        return sum(len(values) for values in scorer.score(contexts, endings))

    def in_order(sequences: list[list[int]]) -> Callable[[], int]:
        def work() -> int:
            for _, batch in _batches(sequences, AT_ONCE["cpu"], 1 + causal.limit):
                causal.read(batch[:, :-1])[0].logsumexp(dim=2)
            return len(sequences)

        return work

    whole = [
        [causal.begin, *causal.ids(phrase(context)), *causal.ids_after(ending)]
        for context, mine in zip(contexts, endings, strict=True)
        for ending in mine
    ]
    seconds, n_endings, shapes = _timed(causal, shared)
    once, *_ = _timed(causal, in_order(whole))  # "ENDING CONTEXT" is as long as "CONTEXT ENDING"
    floor = _floor(shapes)
    return {
        "scored_endings": n_endings,
        "scored_endings_a_second": n_endings / seconds,
        "scoring_floor_endings_a_second": n_endings / floor,
        "scoring_ratio_to_floor": seconds / floor,
        "scored_endings_a_second_not_shared": n_endings / (2 * once),
    }


def _timed(causal: Causal, work: Callable[[], Any]) -> tuple[float, Any, Shapes]:
    """CPU seconds, the better of two runs, what it returns, and its products."""
    with _watched(causal.network) as shapes:
        work()
    seconds = []
    for _ in range(2):
        began = time.process_time()
        with torch.inference_mode():
            made = work()
        seconds.append(time.process_time() - began)
    return min(seconds), made, shapes


@contextmanager
def _watched(network: torch.nn.Module) -> Iterator[Shapes]:
    """The products of all linear layers that run inside."""
    shapes: Shapes = Counter()

    def note(module: torch.nn.Module, inputs: Any, output: torch.Tensor) -> None:
        shapes[inputs[0].numel() // inputs[0].shape[-1], inputs[0].shape[-1], output.shape[-1]] += 1

    linear = [one for one in network.modules() if type(one).__name__ in ("Linear", "Conv1D")]
    hooks = [one.register_forward_hook(note) for one in linear]
    try:
        yield shapes
    finally:
        for hook in hooks:
            hook.remove()


def _floor(shapes: Shapes) -> float:
    """CPU seconds of the products alone."""
    total = 0.0
    for (rows, inputs, outputs), n in shapes.items():
        x, weights = torch.randn(rows, inputs), torch.randn(outputs, inputs)
        n_tried = min(n, 20)
        torch.nn.functional.linear(x, weights)
        began = time.process_time()
        for _ in range(n_tried):
            torch.nn.functional.linear(x, weights)
        total += (time.process_time() - began) / n_tried * n
    return total


def _contexts(n: int) -> list[Context]:
    """Contexts of the bundled captions: two whole captions, and a start."""
    texts = [" ".join(caption.text for caption in video.captions[:2]) for video in sample_videos(n)]
    return [Context(text, "Then the woman", "walks away.", id=str(i)) for i, text in enumerate(texts)]


def _random_model(folder: Path, hidden: int, layers: int) -> str:
    import transformers
    from tiny_causal import byte_level, captions, saved

    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=byte_level(captions()), bos_token="<|endoftext|>", eos_token="<|endoftext|>"
    )
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=8000, n_embd=hidden, n_layer=layers, n_head=max(1, hidden // 64), bos_token_id=0, eos_token_id=0
    )
    return saved(folder, transformers.GPT2LMHeadModel(config), tokenizer)


if __name__ == "__main__":
    main()
