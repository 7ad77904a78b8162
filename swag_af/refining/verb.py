"""The verb `refine`: data read, judges asked, a recipe followed, audits before and after, the folder.

Nothing is taken from the data's own files. A killed run goes on: every answer of a server stands in the folder before
it is used, and fits of filters as soon as they are done.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.auditing.options import PROBE_MODELS
from swag_af.data.disk.files import read_json
from swag_af.data.disk.manifests import check_same, made_by_others, sha256_json
from swag_af.data.disk.replacing import check_output, remove, remove_leftovers
from swag_af.data.errors import InputError, several, takes_options
from swag_af.data.instances.grouping import Groups, group
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.reading import read_instances
from swag_af.data.work.progress import Advance, progress
from swag_af.filters.contract import settings_of
from swag_af.filters.registry import make_filter, parse_names
from swag_af.refining.audits import before_and_after
from swag_af.refining.cinepile import cinepile
from swag_af.refining.estimate import Cost, estimate
from swag_af.refining.folder import ABOUT, ANSWERS, WORK, About, Refined, open_refined, write_refined
from swag_af.refining.mmmu_pro import mmmu_pro
from swag_af.refining.options import RefineOptions
from swag_af.refining.recipe import Bench, Outcome
from swag_af.refining.rewriting import REWRITERS, Rewriter
from swag_af.refining.voting import JudgeVoter, Voter, voter_of
from swag_af.refining.work import Work

RECIPES = {"cinepile": cinepile, "mmmu-pro": mmmu_pro}


@takes_options
def refine(options: RefineOptions) -> Refined:
    """The verb `refine`: the folder, made or, where it stands finished, read.

    Goes on from what a killed run left in it. Raises InputError, before anything is asked, for what cannot be read or
    used; ExhaustedError when a budget is used up, with all answers kept.
    """
    if options.dry_run:
        raise InputError("dry_run refines nothing. In Python, `swag_af.refining.verb.costs(options)` estimates.")
    _check_out(options.out)
    _check_audit_models(options)
    plan = _Plan(options, read_instances(options.data, options.reading))
    plan.check()
    if (options.out / ABOUT).exists():
        begun = read_json(options.out / ABOUT).get("identity") or {}
        sources = {f"{AUDITORS}: {name}: source": f"filter {name}" for name in plan.identity.get(AUDITORS, {})}
        check_same(begun, plan.identity, options.out / ABOUT, "--out", sources=sources, is_finished=True)
    else:
        plan.make()
    remove(options.out / WORK)
    return open_refined(options.out)


def costs(options: RefineOptions) -> list[Cost]:
    """What `refine` would ask at most; reads the data, and asks nothing."""
    _check_audit_models(options)
    plan = _Plan(options, read_instances(options.data, options.reading))
    plan.check_kind()
    return estimate(options, plan.instances, plan.voters, plan.rewriter)


def _check_out(out: Path) -> None:
    """Raise InputError where there is something of others; answers alone are what is left where a server failed."""
    check_output(out, force=True, folder=True)
    others = [one for one in out.iterdir() if one.name != ANSWERS or not one.is_dir()] if out.exists() else []
    if others and not any((out / name).exists() for name in (ABOUT, WORK)):
        raise made_by_others("refine", out)


def _check_audit_models(options: RefineOptions) -> None:
    """Raise InputError for the name of a probe that there is not, while nobody has been asked."""
    for name in parse_names("--audit-models", options.audit_models):
        if name not in PROBE_MODELS:
            make_filter(name, beside=PROBE_MODELS)


@dataclass
class _Plan:
    """What is to be refined, and by whom."""

    options: RefineOptions
    instances: Instances

    @cached_property
    def groups(self) -> Groups:
        """What no fold may part, and what intervals are over."""
        return group(self.instances)

    @cached_property
    def voters(self) -> list[Voter]:
        """The judges; their answers are kept in the folder."""
        made = [
            voter_of(name, self.groups, n_folds=self.options.folds, seed=self.options.seed)
            for name in self.options.judges
        ]
        for i, one in enumerate(made):
            if isinstance(one, JudgeVoter):
                one.judge.journal = one.judge.journal or str(self.options.out / ANSWERS / f"judge-{i}.jsonl")
        return made

    @cached_property
    def rewriter(self) -> Rewriter | None:
        """Who writes, where anybody does."""
        if not self.options.rewriter:
            return None
        made: Rewriter = REWRITERS.make(self.options.rewriter)
        made.journal = made.journal or str(self.options.out / ANSWERS / "rewriter.jsonl")
        return made

    def check(self) -> None:
        """Raise InputError for what would fail later: kinds, names, servers that are not there."""
        self.check_kind()
        for one in self.voters:
            if isinstance(one, JudgeVoter):
                one.judge.check()
        if self.rewriter is not None:
            self.rewriter.check()

    def check_kind(self) -> None:
        """Raise InputError unless there are questions with options, and judges that can answer them."""
        if self.instances.kind != "choices":
            raise InputError(f"{self.instances.name}: texts with classes, and refining is of questions with options.")
        if self.options.recipe == "cinepile" and not isinstance(self.voters[0], JudgeVoter):
            raise InputError(
                f"--judge {self.options.judge}: cinepile needs a judge that gives reasons. Take judge[URL]."
            )

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What decides the bytes beside the answers, so that no finished folder is taken for that of other options."""
        data = sha256_json([asdict(one) for one in self.instances.instances])
        return {
            **self._settings(),
            "judges": [self._deciding(one) for one in self.voters],
            "rewriter": self.rewriter.settings() if self.rewriter else {},
            "instances": data,
            "swag_af": version("swag-af"),
            **self._auditors(),
        }

    @cached_property
    def begun(self) -> dict[str, Any]:
        """The same without what decides no answer and no fit, and may be changed while the folder is not finished."""
        return {name: value for name, value in self.identity.items() if name not in _DECIDES_LATER}

    def _settings(self) -> dict[str, Any]:
        """The options, without what only says where things are and how much may be used."""
        apart = ("data", "out", "reading", "judge", "rewriter", "dry_run")
        return {one.name: getattr(self.options, one.name) for one in fields(self.options) if one.name not in apart}

    def _judges(self) -> dict[str, dict[str, Any]]:
        return {one.name: self._settings_of(one) for one in self.voters}

    def _auditors(self) -> dict[str, Any]:
        """Settings, with sources and hashes of files, of the probes of the audits that are filters; nothing where none
        is."""
        names = parse_names("--audit-models", self.options.audit_models)
        made = {name: settings_of(make_filter(name)) for name in names if name not in PROBE_MODELS}
        return {AUDITORS: made} if made else {}

    def _deciding(self, one: Voter) -> dict[str, Any]:
        """What decides the answers; the name of a judge behind an address, in which its budget stands, does not."""
        named = {} if isinstance(one, JudgeVoter) else {"name": one.name}
        return self._settings_of(one) | named

    def _settings_of(self, one: Voter) -> dict[str, Any]:
        return one.judge.settings() if isinstance(one, JudgeVoter) else settings_of(make_filter(one.name))

    def make(self) -> None:
        """Write the folder, the record last."""
        remove_leftovers(self.options.out)
        work = Work(self.options.out / WORK, self.begun)
        with progress("refine", self._n_stages(), "stages at most") as advance:
            voters = self.voters
            outcome = RECIPES[self.options.recipe](
                Bench(self.instances, self.groups, self.options, voters, self.rewriter, work, advance)
            )
            kept = outcome.instances.take(self._kept(outcome))
            about = self._about(outcome, kept, advance)
        write_refined(self.options.out, about, outcome, kept, self.identity)

    def _n_stages(self) -> int:
        """Of judging, rewriting and the audits before and after."""
        audits = 2 * len(parse_names("--audit-models", self.options.audit_models))
        if self.options.recipe == "cinepile":
            return 3 + 2 * self.options.rounds + audits
        return 2 * len(self.voters) + bool(self.options.to_options) + audits

    def _kept(self, outcome: Outcome) -> np.ndarray:
        """The rows that stay; InputError where none does."""
        keeps_all = self.options.recipe == "cinepile" and self.options.unmended == "flag"
        rows = np.arange(len(self.instances)) if keeps_all else np.flatnonzero(~outcome.flagged)
        if not len(rows):
            way = "--unmended flag" if self.options.recipe == "cinepile" else "a larger --more-than"
            raise InputError(
                f"{self.instances.name}: every question is flagged, so none would be left. Take another judge, "
                f"or {way}."
            )
        return rows

    def _about(self, outcome: Outcome, kept: Instances, advance: Advance) -> About:
        options, before = self.options, {one.id: one for one in self.instances.instances}
        audits, left_out = before_and_after(
            self.instances,
            kept,
            self.groups,
            parse_names("--audit-models", options.audit_models),
            n_folds=options.folds,
            seed=options.seed,
            advance=advance,
        )
        return About(
            name=self.instances.name,
            recipe=options.recipe,
            n=len(self.instances),
            n_kept=len(kept),
            n_flagged=int(outcome.flagged.sum()),
            n_rewritten=sum(one.options != before[one.id].options for one in kept.instances),
            n_short=outcome.n_short,
            chance=round(float(self.instances.chance.mean()), 6),
            n_groups=self.groups.n,
            groups=self.groups.said,
            files=dict(self.instances.files),
            notes=self.instances.notes,
            options=self._settings(),
            judges=self._judges(),
            rewriter=self.rewriter.settings() if self.rewriter else {},
            first=outcome.first,
            luck=outcome.luck,
            rounds=outcome.rounds,
            control=outcome.control,
            audits=audits,
            said=(
                *self._blindness(),
                *_left_out(outcome, "--orders" if options.recipe == "cinepile" else "--tries"),
                *_broken_sets(self.instances, kept),
                *(line for one in self.voters for line in one.said()),
                *left_out,
            ),
            versions={name: version(name) for name in ("swag-af", "numpy", "scikit-learn")},
            one_try=self._one_try(outcome.one_try),
        )

    def _one_try(self, names: Sequence[str]) -> str:
        """Why the tries of the filters with these `names` are one, and what helps; empty where there are none."""
        if not names:
            return ""
        n, folds, tries = self.groups.n, self.options.folds, self.options.tries
        why, helps = "they are right about the same questions", "Take other filters."
        if n <= folds:
            why = f"{several(n, 'group')} in {several(folds, 'fold')} are left out one by one in every try"
            helps = "Take fewer --folds than groups, or data with more groups."
        whose = f"The {several(tries, 'try', 'tries')} of {' and '.join(names)}"
        return f"{whose} count as 1, since {why}: what would be flagged again cannot be told. {helps}"

    def _blindness(self) -> list[str]:
        """A warning where a judge is shown all that there is, so that nothing is wrong with being right."""
        sees_all = [one.name for one in self.voters if isinstance(one, JudgeVoter) and one.judge.see == "full"]
        if not sees_all or self.instances.texts.has_media:
            return []
        return [
            f"{', '.join(sees_all)} was shown every text of the questions, and they name no video or image: if nothing "
            "was hidden, to be right is no fault of the question. With see=options the options alone are shown."
        ]


AUDITORS = "models of audits"
_DECIDES_LATER = ("unmended", "audit_models", "more_than", "votes", AUDITORS)
"""What chooses among answers and fits, which are of all questions whatever these say."""


def _left_out(outcome: Outcome, flag: str) -> list[str]:
    """How many flagged questions were not judged once more, for want of orders, of which `flag` says how many."""
    control, n = outcome.control, outcome.first.n
    n_left_out = n if control is None else control.n_left_out
    if not n_left_out or outcome.one_try:
        return []
    why = "with so few options no order is left that was not shown when it was flagged, or too few"
    if control is None:
        return [
            f"No flagged question was judged once more, so luck is not told from mending: {why}. Take fewer {flag}."
        ]
    return [f"{n_left_out:,} of {n:,} flagged questions were not judged once more: {why}."]


def _broken_sets(before: Instances, kept: Instances) -> list[str]:
    """How many contrast sets lost some of their questions and keep others."""
    sizes, left = (Counter(one.contrast_set for one in some.instances) for some in (before, kept))
    broken = sum(0 < left[name] < size for name, size in sizes.items() if name and size > 1)
    if not broken:
        return []
    n = sum(size > 1 for name, size in sizes.items() if name)
    return [
        f"{broken:,} of {several(n, 'contrast set')} lost some of {'its' if broken == 1 else 'their'} questions and "
        f"{'keeps' if broken == 1 else 'keep'} others: what is left of them says "
        "nothing of consistency. Leave such sets out by their name (contrast_set)."
    ]
