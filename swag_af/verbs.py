"""What each verb prints. The work is done by the Python function of the same name, which prints nothing."""

from swag_af.data.options import Contexts
from swag_af.lm.options import Features, Generate, TrainLM
from swag_af.options import Demo, Filter, Release, Show
from swag_af.summary import drop_lines, drop_reasons, estimate_lines, perplexity_rows, run_lines, table


def contexts(options: Contexts) -> None:
    """Print the drop table and what to run next."""
    from swag_af.data.extract import contexts as extract

    drops = extract(options)
    _say(f"{drops['kept']:,} contexts from {drops['pairs']:,} pairs", "", *drop_lines(drops))
    _say("", f"Written to {options.out}. Next: swag-af generate {options.out} --lms lms --out pool")


def train_lm(options: TrainLM) -> None:
    """Print each fold's perplexities."""
    from swag_af.lm.train import train_lm as train

    reports = list(train(options).values())
    if not reports:
        _say(f"Nothing to do: the folds asked for are trained in {options.out}.")
        return
    seconds = sum(report["seconds"] for report in reports)
    _say("Token perplexity", "", *table(perplexity_rows(reports)), "", f"{seconds:.0f} seconds")
    _say(f"Written to {options.out}. Next: swag-af generate {options.contexts} --lms {options.out} --out pool")


def generate(options: Generate) -> None:
    """Print the size of the pool and what was dropped."""
    from swag_af.data.pool import CandidatePool
    from swag_af.lm.generate import make_shards

    if options.dry_run:
        from swag_af.lm.estimate import estimate

        _say(*estimate_lines(estimate(options)))
        return
    n_made, n_shards = make_shards(options)
    if n_made < n_shards:
        _say(f"{n_made} of {n_shards} shards stand in {options.out}. The process that makes the last one joins them.")
        return
    pool = CandidatePool.open(options.out)
    dropped = drop_reasons(pool.manifest["drops"]) or "none"
    _say(f"{len(pool):,} contexts x {pool.n_candidates:,} candidates; contexts dropped: {dropped}")
    _say(f"Written to {options.out}. Next: swag-af filter {options.out} --out run")


def features(options: Features) -> None:
    """Say that the table is whole."""
    from swag_af.lm.lazy import features as fill

    pool = fill(options)
    _say(f"{options.pool}: every feature of {len(pool):,} x {pool.n_candidates:,} candidates is there.")


def filter(options: Filter) -> None:
    """Print the first and last accuracies of every head."""
    from swag_af.loop import run_filter

    _say(*run_lines(run_filter(options)))
    _say(f"Written to {options.out}, with curve.png. Next: swag-af release {options.out} --out dataset")


def release(options: Release) -> None:
    """Print the sizes of the splits."""
    from collections import Counter

    from swag_af.release import SPLITS
    from swag_af.release import release as make

    sizes = Counter(question.split for question in make(options))
    _say(f"{sum(sizes.values()):,} questions: " + ", ".join(f"{split} {sizes[split]:,}" for split in SPLITS))
    _say(f"Written to {options.out}, with README.md, the dataset card. Next: swag-af show {options.out}")


def show(options: Show) -> None:
    """Print what the path holds."""
    from swag_af.show import show as text_of

    _say(text_of(options))


def demo(options: Demo) -> None:
    """Run everything on the sample and print three questions."""
    from swag_af.demo import demo as run_all

    _say(run_all(options))


def _say(*lines: str) -> None:
    print(*lines, sep="\n")
