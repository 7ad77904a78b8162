"""What each verb prints. The work is done by the Python function of the same name, which prints nothing."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from swag_af.data.options import Contexts, Pool, Tag
from swag_af.lm.options import Features, Generate, TrainLM
from swag_af.options import Audit, Demo, Filter, Release, Report, Show
from swag_af.summary import audit_lines, drop_lines, drop_reasons, estimate_lines, perplexity_rows, run_lines, table

if TYPE_CHECKING:
    from swag_af.data.pool import CandidatePool


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


def pool(options: Pool) -> None:
    """Print the size of the pool, what was left out, and what to run next."""
    from swag_af.data.build import pool as build

    made = build(options)
    n_negatives = made.counts - 1  # (N,)
    fewest, most = int(n_negatives.min()), int(n_negatives.max())
    _say(
        f"{len(made):,} contexts, {int(n_negatives.sum()):,} negatives, "
        f"{fewest:,} {'' if fewest == most else f'to {most:,} '}a context; {len(made.vocabulary):,} token types",
        f"negatives left out: {drop_reasons(made.manifest['dropped_negatives']) or 'none'}",
    )
    if made.manifest["drops"]:
        _say(f"contexts dropped: {drop_reasons(made.manifest['drops'])}")
    _say("", f"Written to {options.out}. Next: {_filter_command(options.out, made)}")


def tag(options: Tag) -> None:
    """Print who tagged, and how many word types have each tag."""
    from swag_af.data.build import tag as retag
    from swag_af.data.taggers import TAGS

    made = retag(options)
    if made.vocabulary.tags is not None:
        counts = Counter(TAGS[code] for code in made.vocabulary.tags)
        _say(f"{options.pool}: {len(made.vocabulary):,} token types tagged by {made.manifest['tagger']}")
        _say(", ".join(f"{n:,} {name}" for name, n in counts.most_common()))
    else:
        _say(f"{options.pool}: its {len(made.vocabulary):,} token types have no tags now")
    _say("", f"Runs made with other tags are of another pool. Next: {_filter_command(options.pool, made)}")


def _filter_command(path: Path, pool: "CandidatePool") -> str:
    """A `swag-af filter` that this pool has enough negatives and tables for."""
    fewest = int(pool.counts.min()) - 1
    assigned = min(9, max(1, fewest // 2))  # others must remain that can enter
    schedule = "" if "features" in pool.tables else " --schedule bow:40"
    return f"swag-af filter {path}{schedule}{'' if assigned == 9 else f' --n-negatives {assigned}'} --out run"


def filter(options: Filter) -> None:
    """Print the first and last accuracies of every head."""
    from swag_af.loop import run_filter

    _say(*run_lines(run_filter(options)))
    _say(f"Written to {options.out}, with curve.png and report.html. Next: swag-af release {options.out} --out dataset")


def audit(options: Audit) -> None:
    """Print what each audit filter found, with its interval."""
    from swag_af.audit import run_audit

    run, found = run_audit(options)
    _say(*audit_lines(run, found))
    _say("", f"Kept in {options.run}. Next: swag-af report {options.run}")


def report(options: Report) -> None:
    """Say where the page is."""
    from swag_af.report import run_report

    _say(f"Written to {run_report(options)}. Open it in a browser; it needs no network.")


def release(options: Release) -> None:
    """Print the sizes of the splits."""
    from swag_af.release.build import SPLITS
    from swag_af.release.build import release as make

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
