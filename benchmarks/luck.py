"""What audits find where there is nothing to find: labels are drawn by lot.

    python benchmarks/luck.py made-up --questions 400 --draws 100
    python benchmarks/luck.py made-up --questions 400 --draws 60 --models tfidf fasttext --inputs options other-context
    python benchmarks/luck.py openbookqa.jsonl --questions 400 --draws 40
    python benchmarks/luck.py pairs.jsonl --questions 1000 --rare 0.08 --draws 60 --groups 5
    python benchmarks/luck.py POOL --questions 400 --options 10 --draws 60 --models ngrams chars fasttext mlp

Of each probe it prints the mean accuracy with its standard error, chance, and the variance over draws beside that of
hits drawn one by one; then how many sets have a probe whose interval leaves out chance, by the interval of such hits
and by that of the audit, and how many pairs of sets a difference whose interval leaves out 0. Of a file, the options
are kept and labels drawn anew, and probes are made by three kinds of folds: those of the audit, those of names and near
copies alone, and those that also join questions of which one has right what the other has wrong. Of a pool, a negative
plays gold among others, and filters audit them as those of a run. With `--rare` a share of the texts of a file, drawn
by lot, has one class and all others another; printed is what whole audits find of partial inputs and single features,
by accuracy and with each class weighed equally. `--groups 5`: so many texts in a row are a group.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from swag_af.auditing.dataset import Checks, audit
from swag_af.auditing.probes.probe import probe
from swag_af.auditing.runs.audit import audit_columns
from swag_af.data.disk.manifests import MANIFEST
from swag_af.data.instances.grouping import Groups, by_name_or_text, group
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.reading import read_instances
from swag_af.data.instances.recycling import MOST_RECYCLED, recycled
from swag_af.data.numbers.interval import CROSS_VALIDATED, interval, paired_difference
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.splits import join_by_text

N_TYPES = 1500
TIMES = {"hits one by one": 1.0, "the audit": CROSS_VALIDATED}
"""How many times the variance of single hits an interval takes."""


def made_up(rng: np.random.Generator, n: int, n_options: int) -> Iterator[tuple[str, list[str]]]:
    """Questions of words by Zipf's law, with options of five to ten."""
    share = 1 / np.arange(3, N_TYPES + 3)
    words = np.array([f"w{i}" for i in range(N_TYPES)])

    def text(low: int, high: int) -> str:
        return " ".join(rng.choice(words, int(rng.integers(low, high)), p=share / share.sum()))

    for _ in range(n):
        yield text(8, 14), [text(5, 11) for _ in range(n_options)]


def drawn(data: str, n: int, n_options: int, seed: int) -> Instances:
    """`n` questions, made up or of a file, with labels drawn by lot."""
    rng = np.random.default_rng(seed)
    if data == "made-up":
        found = list(made_up(rng, n, n_options))
    else:
        given = read_instances([data]).instances
        chosen = [given[row] for row in rng.permutation(len(given))[:n].tolist()]
        found = [(" ".join(map(str, rng.integers(10**9, size=4))), list(one.options)) for one in chosen]
    numbered = enumerate(found)
    made = [Instance(str(i), context, tuple(o), int(rng.integers(len(o)))) for i, (context, o) in numbered]
    return Instances(tuple(made), "choices")


def foldings(data: str, instances: Instances) -> dict[str, Groups]:
    """The groups that folds keep whole, by name."""
    if data == "made-up":
        return {"audit": group(instances)}
    plain, shared = by_name_or_text(instances), recycled(instances)
    joined = join_by_text(plain.numbers, shared.rows, shared.keys, most=MOST_RECYCLED).groups
    numbers = np.unique(joined, return_inverse=True)[1]
    return {"audit": group(instances), "names and copies": plain, "right here, wrong there": Groups(numbers, "")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--options", type=int, default=4)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--models", nargs="+", default=["tfidf"])
    parser.add_argument("--inputs", nargs="+", default=["options"])
    parser.add_argument("--rare", type=float, default=0.0)
    parser.add_argument("--groups", type=int, default=1)
    asked = parser.parse_args()
    if (Path(asked.data) / MANIFEST).exists():
        of_runs(asked)
    elif asked.rare:
        of_rare_classes(asked)
    else:
        of_data_sets(asked)


def of_data_sets(asked: argparse.Namespace) -> None:
    """Probes of data sets."""
    hits: dict[str, list[float]] = {}
    found = {kind: np.zeros(asked.draws, bool) for kind in TIMES}
    differ = dict.fromkeys(TIMES, 0)
    before: dict[str, np.ndarray] = {}
    for seed in range(asked.draws):
        instances = drawn(asked.data, asked.questions, asked.options, seed)
        chance = float(instances.chance.mean())
        for folds, groups in foldings(asked.data, instances).items():
            for name in (f"{one}, {model}" for one in asked.inputs for model in asked.models):
                made = probe(instances, *name.split(", "), groups=groups)
                hits.setdefault(f"{name}, folds by {folds}", []).append(float(made.hits.mean()))
                if folds != "audit":
                    continue
                was = before.pop(name, None)  # every second set beside the one before it
                if was is None:
                    before[name] = made.hits
                for kind, times in TIMES.items():
                    low, high = interval(made.hits, groups.numbers, times=times)
                    found[kind][seed] |= not low <= chance <= high
                    if was is not None:
                        alone = np.arange(len(was))
                        differ[kind] += paired_difference(was, made.hits, alone, times=times).is_significant
    for name, shares in hits.items():
        print(told(name, shares, chance, asked.questions))
    n_pairs = asked.draws // 2 * len(asked.models) * len(asked.inputs)
    for kind, sets in found.items():
        print(
            f"by the interval of {kind}: a probe found in {int(sets.sum())} of {asked.draws} sets, "
            f"a difference in {differ[kind]} of {n_pairs} pairs of them"
        )


def of_runs(asked: argparse.Namespace) -> None:
    """Filters on random assignments of a pool in which a negative plays gold."""
    pool, chance = CandidatePool.open(asked.data), 1 / asked.options
    hits: dict[str, list[float]] = {name: [] for name in asked.models}
    beyond = {name: dict.fromkeys(TIMES, 0) for name in asked.models}
    for seed in range(asked.draws):
        rng = np.random.default_rng((seed, *b"luck"))
        rows = np.sort(rng.permutation(len(pool))[: asked.questions])
        groups = np.unique(pool.groups[rows], return_inverse=True)[1]
        negatives = [rng.choice(n - 1, asked.options, replace=False) for n in pool.counts[rows].tolist()]
        for found in audit_columns(pool, rows, 1 + np.stack(negatives), groups, asked.models, seed=seed):
            hits[found.filter].append(found.accuracy)
            for kind, times in TIMES.items():
                low, high = interval(np.array(found.hits), groups, times=times)
                beyond[found.filter][kind] += not low <= chance <= high
    for name, shares in hits.items():
        without = ", ".join(f"{n} by {kind}" for kind, n in beyond[name].items())
        print(f"{told(name, shares, chance, asked.questions)}; of {asked.draws} intervals without chance {without}")


def of_rare_classes(asked: argparse.Namespace) -> None:
    """Whole audits of texts of which a few, drawn by lot, have a class of their own."""
    given = read_instances([asked.data])
    balanced, others, sets = Counter[str](), Counter[str](), Counter[str]()
    for seed in range(asked.draws):
        rng = np.random.default_rng((seed, *b"rare"))
        rows = np.sort(rng.permutation(len(given))[: asked.questions])
        labels = (rng.random(len(rows)) < asked.rare).astype(int).tolist()
        texts = [given.instances[row] for row in rows.tolist()]
        made = [
            replace(one, id=str(i), answer=label, group=str(i // asked.groups) if asked.groups > 1 else "")
            for i, (one, label) in enumerate(zip(texts, labels, strict=True))
        ]
        found = audit(Instances(tuple(made), "classes", ("common", "rare")), Checks(seeds=(seed,))).diagnostics
        for one in found:
            if one.code < "AF3" and one.status == "found":
                (balanced if one.stands_on_balanced else others)[f"{one.code} {one.subject}"] += 1
        told = [one for one in found if one.code < "AF3" and one.status == "found"]
        sets["anything found"] += bool(told)
        sets["found with classes weighed equally alone"] += any(one.stands_on_balanced for one in told)
    print(f"{asked.questions} texts, {asked.rare:.0%} of one class, groups of {asked.groups}; of {asked.draws} sets:")
    for name, n in sets.items():
        print(f"{name}: {n}")
    print(f"with classes weighed equally: {dict(balanced)}; by accuracy: {dict(others)}")


def told(name: str, shares: Sequence[float], chance: float, n: int) -> str:
    """Mean accuracy over draws of `n` questions, and its variance beside that of hits drawn one by one."""
    a, alone = np.array(shares), chance * (1 - chance) / n
    error = a.std(ddof=1) / len(a) ** 0.5
    return (
        f"{name}: {100 * a.mean():.1f} % +- {100 * error:.1f} (chance {100 * chance:.1f}), "
        f"variance {a.var(ddof=1) / alone:.2f} times"
    )


if __name__ == "__main__":
    main()
