"""Claims about classes of others: their mistakes are theirs, told in a line, and an edited class is another class."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from swag_af.data.disk.files import read_json, write_jsonl
from swag_af.data.errors import ContractError, InputError, SwagAfError
from swag_af.matching.checking import check_relevance, check_similarity
from swag_af.matching.models.relevance import TfidfRelevance
from swag_af.matching.options import MatchingOptions, MatchOptions
from swag_af.matching.verb import WORK, dry_run, match
from tests.matching.test_work import made

HERE = "tests.matching.test_own"


class Nothing:
    name: ClassVar[str] = "nothing"


class Lists:
    """Gives lists in place of a table."""

    name: ClassVar[str] = "lists"

    def fit(self, queries: list[str], responses: list[str], *, rng: np.random.Generator) -> None:
        return

    def score(self, queries: list[str], responses: list[str]) -> Any:
        return [[0.5] * len(responses)] * len(queries)


class Beyond(Lists):
    """Gives more than a probability can be."""

    value: ClassVar[float] = 1.5

    def score(self, queries: list[str], responses: list[str]) -> Any:
        return np.full((len(queries), len(responses)), self.value)


class NoNumbers(Beyond):
    value: ClassVar[float] = float("nan")


class Raises(Lists):
    """Fails as plain mistakes do."""

    def fit(self, queries: list[str], responses: list[str], *, rng: np.random.Generator) -> None:
        raise KeyError("no\nsuch word")


class FullDisk(Lists):
    """Meets what the system reports."""

    def fit(self, queries: list[str], responses: list[str], *, rng: np.random.Generator) -> None:
        raise OSError(28, "No space left on device")


class OfOneFold(TfidfRelevance):
    """Learns and scores a first fold, and fails in the second."""

    fits: ClassVar[list[int]] = []

    def fit(self, queries: Any, responses: Any, *, rng: np.random.Generator) -> None:
        self.fits.append(len(queries))
        if len(self.fits) == 2:
            raise KeyboardInterrupt
        super().fit(queries, responses, rng=rng)


class OfTwenty(TfidfRelevance):
    """Learns from twenty rows or more."""

    def fit(self, queries: Any, responses: Any, *, rng: np.random.Generator) -> None:
        if len(queries) < 20:
            raise InputError(f"{len(queries)} queries to learn from, at least 20.")
        super().fit(queries, responses, rng=rng)


def a_bad_bucket(queries: list[str], responses: list[str]) -> list[str]:
    return [f"{1 / (len(query) - len(query))}" for query in queries]


def no_buckets(queries: list[str], responses: list[str]) -> Any:
    return None


class Unsaid(TfidfRelevance):
    """Tells of itself what no record can keep."""

    def settings(self) -> Any:
        return {"made": object()}


class Number(TfidfRelevance):
    def settings(self) -> Any:
        return 3


@pytest.fixture
def options(tmp_path: Path) -> MatchOptions:
    rows = [{"query": i.query, "response": i.response, "group": i.context.video} for i in made().rows]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    matching = MatchingOptions(relevance="tfidf", folds=3, bucket_size=200)
    return MatchOptions((tmp_path / "rows.jsonl",), tmp_path / "out", matching)


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("Nothing", InputError, "Nothing: no method fit and no score"),
        ("Lists", InputError, r"Lists\.score: an array \(\d+, \d+\) of probabilities is due, and it gave \[\["),
        ("Beyond", InputError, r"Beyond\.score: probabilities from 0 to 1 are due, and it gave 1\.5"),
        ("NoNumbers", InputError, r"NoNumbers\.score: probabilities from 0 to 1 are due, and it gave nan"),
        ("Raises", ContractError, r"Raises\.fit raised KeyError \('no\\nsuch word'\)\. swag_af\.check_rel"),
    ],
)
def test_a_mistake_of_a_class_is_told_in_a_line(
    name: str, error: type[SwagAfError], said: str, options: MatchOptions
) -> None:
    wanted = replace(options, matching=replace(options.matching, relevance=f"{HERE}:{name}"))
    for run in (match, dry_run):
        with pytest.raises(error, match=said) as told:
            run(wanted)
        assert "\n" not in str(told.value)


def test_a_dry_run_takes_the_few_rows_that_are_enough_to_match(options: MatchOptions) -> None:
    """It learned from half of them too, which were fewer than a model takes."""
    write_jsonl(options.data[0], [{"query": f"why w{i} x{i}?", "response": f"it is w{i}."} for i in range(36)])
    few = replace(options, matching=replace(options.matching, relevance=f"{HERE}:OfTwenty"))
    (estimated,) = dry_run(few)
    assert estimated.n == 36
    assert estimated.seconds_to_match > 0
    assert match(few).about["pairs"] == estimated.n_pairs


def test_buckets_that_are_none_are_told_in_a_line(options: MatchOptions) -> None:
    """`list(None)` was told as a bug of ours."""
    wanted = replace(options, matching=replace(options.matching, buckets=f"{HERE}:no_buckets"))
    with pytest.raises(ContractError, match=r"no_buckets: it gave None, where a word for each row is due"):
        match(wanted)


class Nameless(TfidfRelevance):
    name: ClassVar[Any] = None


class WithoutRng(Lists):
    def fit(self, queries: list[str], responses: list[str]) -> None:  # the mistake
        return


def test_a_model_without_a_name_or_with_another_signature_is_told(options: MatchOptions) -> None:
    wanted = replace(options, matching=replace(options.matching, relevance=f"{HERE}:Nameless"))
    with pytest.raises(ContractError, match="Nameless: it has no text `name`"):
        match(wanted)
    with pytest.raises(ContractError, match="it has no text `name`"):
        check_relevance(Nameless)
    with pytest.raises(ContractError, match=r"WithoutRng\.fit raised TypeError"):
        check_relevance(WithoutRng)


@pytest.mark.parametrize(("name", "said"), [("Unsaid", "is no JSON object"), ("Number", "is 3, where a dict is due")])
def test_settings_that_no_record_can_keep_are_told_in_a_line(options: MatchOptions, name: str, said: str) -> None:
    wanted = replace(options, matching=replace(options.matching, relevance=f"{HERE}:{name}"))
    with pytest.raises(ContractError, match=rf"{name}: its settings\(\) {said}"):
        match(wanted)
    assert not wanted.out.exists()


def test_what_the_system_reports_is_no_mistake_of_a_model(options: MatchOptions) -> None:
    """It was told as one: "FullDisk.fit raised OSError"."""
    wanted = replace(options, matching=replace(options.matching, relevance=f"{HERE}:FullDisk"))
    with pytest.raises(OSError, match="No space left"):
        match(wanted)


def test_buckets_may_be_a_function_of_a_file(options: MatchOptions, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def halves(queries, responses):\n    return [str(len(q) % 2) for q in queries]\n"
    )
    named = f"{tmp_path / 'mine.py'}:halves"
    wanted = replace(options, matching=replace(options.matching, relevance="tfidf", buckets=named, smallest_bucket=2))
    assert match(wanted).about["identity"]["source of buckets"]


def test_a_similarity_may_give_truth_values_as_match_takes_them() -> None:
    check_similarity(Same)


class Same:
    """Texts are alike or they are not."""

    name: ClassVar[str] = "same"

    def score(self, first: list[str], second: list[str]) -> np.ndarray:
        return np.array(first)[:, None] == np.array(second)[None, :]


def test_a_mistake_in_buckets_is_told_in_a_line(options: MatchOptions) -> None:
    wanted = replace(options, matching=replace(options.matching, buckets=f"{HERE}:a_bad_bucket"))
    with pytest.raises(ContractError, match=r"--buckets .*ZeroDivisionError"):
        match(wanted)


def test_a_class_without_its_methods_breaks_the_contract() -> None:
    for check in (check_relevance, check_similarity):
        for model in (Nothing, Nothing()):
            wrong: Any = model
            with pytest.raises(ContractError, match="it has no method"):
                check(wrong)


def test_an_edited_class_does_not_go_on_with_what_it_began(
    options: MatchOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "edited_relevance.py"
    module.write_text(f"from {HERE} import OfOneFold\n\nclass Mine(OfOneFold):\n    pass\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    wanted = replace(options, matching=replace(options.matching, relevance="edited_relevance:Mine"))
    with pytest.raises(KeyboardInterrupt):
        match(wanted)
    module.write_text(module.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"the source of relevance edited_relevance:Mine has changed since"):
        match(wanted)


def test_only_what_differs_is_told(options: MatchOptions) -> None:
    match(options)
    other = replace(options, matching=replace(options.matching, weight=0.5, seed=3))
    with pytest.raises(InputError, match=r"finished with other weight \(0\.1, now 0\.5\), seed \(0, now 3\)\. Repeat"):
        match(other)
    write_jsonl(options.data[0], [{"query": f"why {i}?", "response": f"it is {i}."} for i in range(200)])
    with pytest.raises(InputError, match=r"finished with other rows \(sha256 \w{8}, now sha256 \w{8}\)\. Repeat"):
        match(options)


def test_a_refused_matching_leaves_nothing_behind(options: MatchOptions) -> None:
    with pytest.raises(InputError, match="200 wrong answers"):
        match(replace(options, matching=replace(options.matching, n_distractors=200)))
    assert not options.out.exists()
    with pytest.raises(ContractError, match=r"Raises\.fit"):
        match(replace(options, matching=replace(options.matching, relevance=f"{HERE}:Raises")))
    assert read_json(options.out / WORK / "identity.json")["options"]["relevance"].endswith("Raises")
    match(options)
