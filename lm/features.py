"""The verb `features`: likelihoods and lengths of every candidate, for pools that lack them, by any scorer."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from swag_af.data.errors import InputError, takes_options
from swag_af.data.plugins.own_code import source_of
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.scale import is_here
from swag_af.lm.contract import deciding
from swag_af.lm.options import FeaturesOptions
from swag_af.lm.scorers import table
from swag_af.lm.scorers.contract import record_of
from swag_af.lm.scorers.registry import SCORERS, make_scorer, settings_of
from swag_af.lm.texts.settings import check_alone

ANSWERS = "features.answers.jsonl"
"""Beside a pool's manifest: what a server answered that was asked for likelihoods; nothing is asked twice."""


@takes_options
def features(options: FeaturesOptions) -> CandidatePool:
    """Compute every feature that is still missing; returns the pool.

    A pool that gets its table here is another pool then: runs begun on it before are refused. Of the paper's models
    each row is read by one that has not learnt its ending; InputError for rows that every model has. Other scorers are
    foreign, and the manifest says so. Killed and run again, it goes on at the next shard.
    """
    _check_asks(options)
    name, argument = SCORERS.parted(options.scorer)
    if name == "lstm":
        from swag_af.lm.lstm.lazy import lstm_features

        check_alone(options.scorer, SCORERS.named(options.scorer))
        lms = options.lms or (Path(argument) if argument else None)
        return lstm_features(replace(options, lms=lms, scorer=name))
    pool = CandidatePool.open(options.pool)
    settings = settings_of(options.scorer, endpoint=options.endpoint, journal=options.pool / ANSWERS)
    if "journal" in settings and not is_here(2, options.workers, options.where):
        raise InputError(f"{options.scorer}: one process writes its answers. Leave --workers and --engine out.")
    if "features" not in pool.tables:
        return table.score_pool(pool, options.scorer, workers=options.workers, engine=options.where, settings=settings)
    _check_same_scorer(pool, options, settings)
    table.end(options.pool)
    return pool


def _check_asks(options: FeaturesOptions) -> None:
    """Raise InputError where it is said how a server is asked, and the scorer asks none."""
    given = options.endpoint.given
    if given and not settings_of(options.scorer, endpoint=options.endpoint):
        raise InputError(f"{', '.join(given)}: {options.scorer} asks no server. Leave them out.")


def _check_same_scorer(pool: CandidatePool, options: FeaturesOptions, settings: dict[str, Any]) -> None:
    """Raise InputError unless the table that there is was made by this scorer."""
    made_by = pool.manifest.get("features_by") or {}
    scorer = make_scorer(options.scorer, **settings)
    now = {"scorer": scorer.name, **deciding(record_of(scorer))}
    now |= {"source_sha256": source_of(scorer)} if "source_sha256" in made_by else {}
    was = deciding(made_by)
    if any(was.get(key) != value for key, value in now.items()):
        raise InputError(
            f"{options.pool}: has features already. {pool.features_told or 'They came with its candidates.'} Make the "
            "pool again to have others, under another name: runs belong to one pool."
        )
