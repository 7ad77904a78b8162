"""Is a filter that goes on as good as a fresh one? Both read a new assignment, both are scored on rows they never saw.

    python benchmarks/going_on.py RUN --filters mlp ensemble --contexts 600 --between 10 20

RUN is a run of `swag-af filter`. A filter is fitted on a part of its contexts (whole groups) as they were assigned
after one iteration, and meets them as they were after a later one: as it was, going on at several shares of the
learning rate (`swag_af.filters.neural.WARM_SHARE`), and beside it a fit from scratch. Scored are --scored contexts of
other groups, under the later assignment. CPU seconds are those of the fit. It tells how good the filters are; what a
loop makes of them, `splits.py` tells.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch

from swag_af.af.measures import accuracy
from swag_af.data.runs.run import open_run
from swag_af.data.splits import deal
from swag_af.filters import neural
from swag_af.filters.contract import score_in_parts
from swag_af.filters.registry import make_filter


def main() -> None:
    """A line a way of fitting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--filters", nargs="+", default=["mlp"], help="mlp, bow, cnn, poslstm, ensemble")
    parser.add_argument("--contexts", type=int, default=600, help="of which four fifths are fitted on")
    parser.add_argument("--scored", type=int, default=600)
    parser.add_argument("--between", type=int, nargs=2, default=(10, 20), help="iterations of the two assignments")
    parser.add_argument("--shares", type=float, nargs="+", default=[1.0, 0.3, 0.1])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{'':10} {'':22} {'CPU s':>6} {'nats':>7} {'right':>6}   nats on its stopping rows")
    for name in options.filters:
        compare(name, options)


def compare(name: str, options: argparse.Namespace) -> None:
    """Fit on the earlier assignment, then in every way on the later one."""
    run = open_run(options.run)
    pool, (before, after) = run.pool, (run.assignment(i) for i in options.between)
    dealt = deal(pool.groups, round(len(pool) / options.contexts), rng=np.random.default_rng(options.seed))
    train = np.flatnonzero(dealt == 0)[: int(0.8 * options.contexts)]
    others = np.flatnonzero(dealt != 0)
    test = others[:: max(1, len(others) // options.scored)]

    def fit(told: str, assigned: np.ndarray, state: dict[str, np.ndarray] | None) -> dict[str, np.ndarray]:
        filter, started = make_filter(name), time.process_time()
        assert isinstance(filter, neural.NeuralFilter)
        filter.fit_on(pool.view(train, assigned[train]), state, rng=np.random.default_rng(5))
        seconds = time.process_time() - started
        scores = score_in_parts(filter, pool.view(test, after[test])).astype(np.float32)
        loss = float(neural.cross_entropy(torch.from_numpy(scores)))
        losses = " ".join(f"{one:.3f}" for one in filter.held_out_losses)
        print(f"{name:10} {told:22} {seconds:6.1f} {loss:7.3f} {accuracy(scores):6.3f}   {losses}", flush=True)
        return filter.state()

    state = fit("as it was", before, None)
    fit("fresh", after, None)
    for share in options.shares:
        neural.WARM_SHARE = share
        fit(f"goes on at {share:g}", after, state)


if __name__ == "__main__":
    main()
