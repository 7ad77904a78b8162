"""How much the hand-written recurrence gains over autograd through single steps, in training.

Prints tokens a second of both, measured in turns in one run, and their ratio.

    python benchmarks/recurrence.py --hidden 512 --types 13705 --precision bf16-mixed --json
"""

import argparse
import json
import time

import torch

from swag_af.lm.network import BidirectionalLM, HighwayLSTMLayer, _Recurrence


def by_steps(projected, weight, h, c, mask):
    """The same as `_Recurrence.apply`, one `step` at a time."""
    layer = HighwayLSTMLayer.__new__(HighwayLSTMLayer)
    torch.nn.Module.__init__(layer)
    layer.hidden = h.shape[1]
    layer.from_state = lambda state: torch.nn.functional.linear(state, weight)
    outputs = []
    for step in projected.unbind(0):
        h, c = layer.step(step, h, c)
        h = h * mask
        outputs.append(h)
    return torch.stack(outputs), c


def seconds_a_step(model, ids, targets, dtype) -> float:
    """One training step in both directions, without the optimiser."""
    started = time.perf_counter()
    with torch.autocast("cpu", dtype, enabled=dtype is torch.bfloat16):
        loss = model.loss(ids, targets, "forward") + model.loss(ids, targets, "backward")
    loss.backward()
    model.zero_grad(set_to_none=True)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--types", type=int, default=10_000)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--length", type=int, default=28)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--precision", choices=("32-true", "bf16-mixed"), default="32-true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    model = BidirectionalLM(arguments.types, arguments.hidden, 2, recurrent_dropout=0.2, embedding_dropout=0.2)
    ids, targets = torch.randint(4, arguments.types, (2, arguments.length, arguments.batch_size))
    dtype = torch.bfloat16 if arguments.precision == "bf16-mixed" else torch.float32
    fast = _Recurrence.apply
    times: dict[str, list[float]] = {"fast": [], "by_steps": []}
    for repeat in range(1 + arguments.repeats):
        for name, recurrence in (("fast", fast), ("by_steps", by_steps)):
            _Recurrence.apply = recurrence
            seconds = seconds_a_step(model, ids, targets, dtype)
            if repeat:
                times[name].append(seconds)
    best = {name: min(values) for name, values in times.items()}
    tokens = arguments.length * arguments.batch_size
    result = {f"{name}_tokens_per_second": round(tokens / seconds) for name, seconds in best.items()}
    result["ratio_to_reference"] = round(best["by_steps"] / best["fast"], 2)
    for name, value in result.items():
        print(f"{name:28} {value:>10}")
    if arguments.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
