"""What handing out an item and taking its answer cost, in CPU seconds, with many items in the store.

Of every four items each tells the answer of the one before it, as the captions of a video do.

python benchmarks/verify_desk.py --items 100000 --answers 3000
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from swag_af.data.context import Context
from swag_af.data.pool.assignments import random_assignment
from swag_af.judging.agreement import measure
from swag_af.verify.desk import Answer, Desk, Screening
from swag_af.verify.items import Rules, lay_out
from swag_af.verify.linked import keep_links
from swag_af.verify.overview import overview
from swag_af.verify.store import begin_store, writing

N_PEOPLE = 20


def main() -> None:
    """Lay the items out, answer some, look at the whole."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--answers", type=int, default=3_000)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    rules = Rules(random_assignment(np.full(arguments.items, 60), 10, rng=rng), 2, 3)
    with tempfile.TemporaryDirectory() as folder:
        store = begin_store(Path(folder), None, {"pool_identity": "", "iteration": 0, "seed": 0})
        started = time.process_time()
        lay_out(store, rules, limit=None, seed=0)
        with writing(store.engine) as connection:
            keep_links(connection, [follower(i) for i in range(arguments.items)])
        print(f"{arguments.items:,} items laid out: {time.process_time() - started:.1f} s")
        desk = Desk(store, rules, Screening(min_gold_items=arguments.answers))
        started = time.process_time()
        answer(desk, arguments.answers, rng)
        print(f"an answer: {1000 * (time.process_time() - started) / arguments.answers:.1f} ms")
        started = time.process_time()
        overview(store, time.time())
        measure(store.verdicts())
        print(f"the admin's figures: {time.process_time() - started:.2f} s")
        store.close()


def follower(i: int) -> Context:
    """A context whose first sentence is the second one of the context before it, but for the first of every four."""
    ending = f"walks to house number {i + 1}." if i % 4 < 3 else "goes home after that."
    return Context(f"She walks to house number {i}.", "She", ending)


def answer(desk: Desk, n_answers: int, rng: np.random.Generator) -> None:
    """Let people answer in turn, at random."""
    for k in range(n_answers):
        name = f"person{k % N_PEOPLE}"
        desk.admit(name)
        task = desk.next_task(name, "browser")
        assert task is not None
        best, second = rng.permutation(6)[:2].tolist()
        desk.take(task.id, name, "browser", 0, Answer(("likely",) * 4 + ("unlikely",) * 2, best, second))


if __name__ == "__main__":
    main()
