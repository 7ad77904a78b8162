"""What each verb prints. The work is done by the Python function of the same name, which prints nothing."""

import sys

from swag_af import demo as demo_module
from swag_af.data import extract
from swag_af.data.options import Contexts
from swag_af.lm.options import Generate, TrainLM
from swag_af.options import Demo, Filter, Release, Show
from swag_af.show import drop_lines, table
from swag_af.show import show as show_text


def contexts(options: Contexts) -> None:
    """Print the drop table and what to run next."""
    drops = extract.contexts(options)
    _say(f"{drops['kept']:,} contexts from {drops['pairs']:,} pairs", "", *drop_lines(drops))
    _say("", f"Written to {options.out}. Next: swag-af generate {options.out} --lms lms --out pool")


def train_lm(options: TrainLM) -> None:
    """Print each fold's perplexities."""
    from swag_af.lm.train import train_lm as train

    reports = train(options)
    if not reports:
        _say(f"Nothing to do: the folds asked for are trained in {options.out}.")
        return
    rows: list[tuple[str, ...]] = [
        ("fold", "best epoch", "held-out forward", "backward", "own fold forward", "backward", "seconds")
    ]
    for fold, report in reports.items():
        values = [
            report[name][way] for name in ("held_out_perplexity", "fold_perplexity") for way in ("forward", "backward")
        ]
        rows.append(
            (
                str(fold),
                str(report["best_epoch"]),
                *(f"{value:.1f}" for value in values),
                f"{report['seconds']:.0f}",
            )
        )
    _say("Token perplexity", "", *table(rows))
    _say(
        "",
        f"Written to {options.out}. Next: swag-af generate {options.contexts} --lms {options.out} --out pool",
    )


def generate(options: Generate) -> None:
    """Print the size of the pool and what was dropped."""
    from swag_af.lm.generate import generate as make

    pool = make(options)
    drops = pool.manifest["drops"]
    dropped = ", ".join(f"{n} {reason.replace('_', ' ')}" for reason, n in drops.items()) or "none"
    _say(f"{len(pool):,} contexts x {pool.n_candidates:,} candidates; contexts dropped: {dropped}")
    _say(f"Written to {options.out}. Next: swag-af filter {options.out} --out run")


def filter(options: Filter) -> None:
    """Print the first and last accuracies of every head."""
    from swag_af.loop import run_filter
    from swag_af.plot import curves

    run = run_filter(options)
    rows: list[tuple[str, ...]] = [("filter", "iterations", "held-out accuracy: first", "last")]
    rows += [(head, str(len(v)), f"{v[:5].mean():.3f}", f"{v[-5:].mean():.3f}") for head, (_, v) in curves(run).items()]
    scored = sum(r["n_scored"] for r in run.log) / max(1, sum(r["n_unassigned"] for r in run.log))
    seconds = sum(t["seconds"] for t in run.timing)
    _say(*table(rows), "", f"(means of five iterations; chance is {run.chance:.3f})")
    _say(f"{run.n_finished} iterations, {seconds:.0f} seconds, {100 * scored:.1f} % of the candidates met were scored")
    _say(f"Written to {options.out}, with curve.png. Next: swag-af release {options.out} --out dataset")


def release(options: Release) -> None:
    """Print the sizes of the splits."""
    from collections import Counter

    from swag_af.release import release as make

    splits = Counter(question.split for question in make(options))
    _say(
        f"{sum(splits.values()):,} questions: "
        + ", ".join(f"{name} {splits[name]:,}" for name in ("train", "val", "test"))
    )
    _say(f"Written to {options.out}, with README.md, the dataset card. Next: swag-af show {options.out}")


def show(options: Show) -> None:
    """Print what the path holds."""
    _say(show_text(options))


def demo(options: Demo) -> None:
    """Run everything on the sample and print three questions."""
    _say(demo_module.demo(options))


def _say(*lines: str) -> None:
    print(*lines, sep="\n", file=sys.stdout)
