"""The same contexts made multiple-choice in five ways: what does each leave to style, and is it still answerable?

    python benchmarks/ways.py RUN --out runs/ways
    python benchmarks/ways.py RUN --out runs/ways --answers answers.csv

RUN is a run of `swag-af filter` over a pool of LM endings. Its contexts get three wrong answers each: right answers of
other videos at random; the run's own, by Adversarial Filtering; Adversarial Matching at three values of lambda. All are
audited on the same folds, those of the matching, within which answers are recycled, and compared by context.

Each way is written as a set of questions of its own (`sets/`). So are 30 questions of each, drawn by seed, mixed and
blind (`questions.md`), to be answered one by one (`answers.csv`: number, answer) before anybody looks into `key.json`.
"""

import argparse
import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.auditing.probes.probe import probe
from swag_af.data.disk.files import write_json, write_jsonl, write_text
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.rows import drawn_order
from swag_af.data.numbers.interval import interval, paired_difference
from swag_af.data.runs.run import Run, open_run
from swag_af.data.splits import named_groups
from swag_af.matching.algorithm.rounds import match_rounds
from swag_af.matching.algorithm.work import match_items, plan_of
from swag_af.matching.models.weights import Worth
from swag_af.matching.options import MatchingOptions
from swag_af.matching.results.questions import hits_of_relevance, wrong_answers
from swag_af.matching.rows.items import Item, Items

WEIGHTS = (0.01, 0.1, 1.0)
N_DISTRACTORS, N_JUDGED = 3, 30
INPUTS = ("options", "second-sentence", "full")
MODELS = ("tfidf", "fasttext", "dualbow")

Wrong = list[list[str]]


def ways_of(run: Run, work: Path, seed: int) -> tuple[Items, np.ndarray, dict[str, Wrong], dict[str, Any]]:
    """The items in their order, the fold of each, the wrong answers of every way, and what matching says of itself."""
    contexts = run.pool.contexts
    items = Items(tuple(Item(context) for context in contexts), name="contexts")
    row_of = {context.id: row for row, context in enumerate(contexts)}
    rows = [row_of[item.context.id] for item in items.rows]
    options = MatchingOptions(seed=seed, folds=11)
    plan = plan_of(items, options)
    outcomes = match_items(items, plan, options, weights=WEIGHTS, folder=work)
    made = {"random golds": _random_golds(items, plan.folds, seed), "AF over LM endings": _filtered(run, rows, seed)}
    made |= {f"AM, lambda {w:g}": wrong_answers(items, o, options) for w, o in zip(WEIGHTS, outcomes, strict=True)}
    said = {f"AM, lambda {w:g}": float(hits_of_relevance(o).mean()) for w, o in zip(WEIGHTS, outcomes, strict=True)}
    return items, plan.folds, made, said


def _random_golds(items: Items, folds: np.ndarray, seed: int) -> Wrong:
    """Three right answers of other videos of the same fold at random, each used as often as all: a matching in which
    every pair is worth a random number."""
    rng = np.random.default_rng((seed, *b"random"))
    videos = named_groups([item.context.video for item in items.rows])
    made: Wrong = [[] for _ in items.rows]
    for fold in np.unique(folds):
        rows = np.flatnonzero(folds == fold)
        worths = rng.random((len(rows), len(rows)), np.float32)
        worths[videos[rows][:, None] == videos[rows]] = 0  # the last to be chosen
        worth = Worth(worths, np.zeros_like(worths), items.texts[rows], 0.0)
        for row, columns in zip(rows.tolist(), match_rounds(worth, N_DISTRACTORS).assigned, strict=True):
            made[row] = [items.rows[other].response for other in rows[columns].tolist()]
    return made


def _filtered(run: Run, rows: list[int], seed: int) -> Wrong:
    """Three of the distractors that the run assigned, at random."""
    texts, rng = run.texts(), np.random.default_rng((seed, *b"filtered"))
    return [[texts[row][1 + i] for i in rng.permutation(len(texts[row]) - 1)[:N_DISTRACTORS].tolist()] for row in rows]


def questions_of(items: Items, wrong: Wrong, folds: np.ndarray, name: str) -> Instances:
    """The questions of one way."""
    rows = []
    for item, texts, fold in zip(items.rows, wrong, folds.tolist(), strict=True):
        options, gold = drawn_order((item.response, *texts))
        rows.append(Instance(item.context.id, item.context.sent1, options, gold, item.context.start, f"fold {fold}"))
    return Instances(tuple(rows), "choices", name=name)


def release_side_by_side(sets: dict[str, Instances], out: Path) -> None:
    """Every way as a file of questions of its own, `sets/WAY.jsonl`, the same contexts in the same order."""
    for name, made in sets.items():
        rows = [
            {"id": one.id, "question": f"{one.context} {one.start}", "choices": one.options, "label": one.answer}
            | {"fold": one.group}
            for one in made.instances
        ]
        write_jsonl(out / "sets" / f"{name.replace(', lambda ', '-').replace(' ', '-')}.jsonl", rows)


def audited(
    sets: dict[str, Instances], folds: np.ndarray, videos: np.ndarray, models: list[str], seeds: range
) -> dict[str, Any]:
    """Accuracy of every probe on every way with its interval by video, and the difference from the first by context."""
    found: dict[str, Any] = {}
    groups = Groups(folds, "folds of the matching")
    for model in models:
        for input in INPUTS:
            if model == "dualbow" and input == "options":
                continue
            hits = {
                name: np.mean([probe(one, input, model, groups=groups, seed=seed).hits for seed in seeds], axis=0)
                for name, one in sets.items()
            }
            first = next(iter(hits.values()))
            for name, mine in hits.items():
                low, high = interval(mine, videos)
                beside = paired_difference(first, mine, videos)
                found[f"{name}; {input}; {model}"] = {
                    "accuracy": float(mine.mean()),
                    "low": low,
                    "high": high,
                    "difference": [beside.mean, beside.low, beside.high],
                }
            print(f"{model}, {input}: " + ", ".join(f"{name} {m.mean():.3f}" for name, m in hits.items()), flush=True)
    return found


def write_questions(sets: dict[str, Instances], out: Path, seed: int) -> None:
    """Thirty questions of each way, no context twice, mixed; and the key, in a file of its own."""
    rng = np.random.default_rng((seed, *b"judged"))
    n = len(next(iter(sets.values())))
    rows = rng.permutation(n)[: N_JUDGED * len(sets)]
    names = rng.permutation(np.repeat(list(sets), N_JUDGED)).tolist()
    lines, key = [], []
    for number, (row, name) in enumerate(zip(rows.tolist(), names, strict=True), start=1):
        one = sets[name].instances[row]
        lines += [f"{number}. {one.context} **{one.start}**"]
        lines += [f"   {'ABCD'[i]} {option}" for i, option in enumerate(one.options)]
        key.append({"number": number, "way": name, "id": one.id, "answer": "ABCD"[one.answer]})
    write_text(out / "questions.md", "\n".join([*lines, ""]))
    write_json(out / "key.json", key)


def judged(out: Path, answers: Path) -> dict[str, Any]:
    """How often a reader was right, by way, with Wilson's interval. The answers may have a header."""
    with answers.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    has_header = bool(rows) and not "".join(rows[0][:1]).strip().isdecimal()
    given = {int(number): answer.strip().upper() for number, answer in rows[has_header:]}
    found: dict[str, list[float]] = {}
    for one in json.loads((out / "key.json").read_text(encoding="utf-8")):
        found.setdefault(one["way"], []).append(float(given.get(one["number"]) == one["answer"]))
    made = {}
    for way, hits in found.items():
        low, high = interval(np.array(hits), np.arange(len(hits)))
        made[way] = {"right": int(sum(hits)), "of": len(hits), "low": low, "high": high}
    return made


def main() -> None:
    """Make, audit and write; or score the answers of a reader."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/ways"))
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=2, help="of the probes' folds")
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    options = parser.parse_args()
    if options.answers:
        print(json.dumps(judged(options.out, options.answers), indent=1))
        return
    items, folds, made, said = ways_of(open_run(options.run), options.out / "work", options.seed)
    sets = {name: questions_of(items, wrong, folds, name) for name, wrong in made.items()}
    release_side_by_side(sets, options.out)
    write_questions(sets, options.out, options.seed)
    found = audited(sets, folds, items.groups, options.models, range(options.seeds))
    write_json(options.out / "ways.json", {"n": len(items), "relevance": said, "audits": found})


if __name__ == "__main__":
    main()
