"""Claims about splitting in batches: a batch that is done is not done again, and another splitter begins anew."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from folders import files_of
from killed import KilledError, kill_at

from swag_af.data.captions import contexts as contexts_module
from swag_af.data.captions.options import ContextRules, ContextsOptions
from swag_af.data.captions.splitting import Splitting, _SplitJob
from swag_af.data.captions.verb import contexts
from swag_af.data.disk.files import write_json, write_jsonl
from swag_af.data.errors import ContractError, InputError
from swag_af.data.sample.grammar import sample_videos
from swag_af.data.syntax import splitters
from swag_af.data.syntax.splitters import RulesSplitter, Split, load_splitter
from swag_af.data.video import Caption


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ContextsOptions:
    """Contexts of some hundred captions, in batches of sixteen pairs."""
    monkeypatch.setattr(contexts_module, "_BATCH", 16)
    rows = [{"video": v.id, "sentence": c.text} for v in sample_videos(30) for c in v.captions]
    write_jsonl(tmp_path / "captions.jsonl", rows)
    rules = ContextRules(min_token_count=1)
    return ContextsOptions(
        (tmp_path / "captions.jsonl",), tmp_path / "resumed" / "c.jsonl", splitter="rules", rules=rules
    )


def test_contexts_killed_after_some_batches_go_on_to_the_same_bytes(
    options: ContextsOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = replace(options, out=options.out.parent.parent / "whole" / "c.jsonl")
    contexts(whole)
    split = RulesSplitter.split
    kill_at(RulesSplitter, "split", 3, contexts, options)
    assert not options.out.exists()
    done: list[int] = []

    def counted(self: RulesSplitter, captions: Sequence[Caption]) -> list[Split | None]:
        done.append(len(captions))
        return split(self, captions)

    kept = options.out.with_name(".c.jsonl.splits")
    assert len(list(kept.glob("0*.json"))) == 3
    monkeypatch.setattr(RulesSplitter, "split", counted)
    contexts(options)
    n_resumed = len(done)
    contexts(replace(whole, force=True))
    assert len(done) - n_resumed == n_resumed + 3, "three batches were kept"
    assert not kept.exists()
    assert files_of(options.out.parent) == files_of(whole.out.parent)
    write_json(kept / "plan.json", {})  # as after a kill when all else was done
    os.utime(kept / "plan.json", (0, 0))
    with pytest.raises(InputError, match="already exists"):
        contexts(options)
    assert not kept.exists()


@pytest.mark.parametrize("disturbed_by", ["the same command", "somebody who removes them"])
def test_batches_of_a_set_that_is_replaced_are_kept_whatever_happens_beside_it(
    disturbed_by: str, options: ContextsOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same command without --force removed them before it was refused, and none was kept from then on; also where
    the set was to be replaced by a run that had been killed."""
    contexts(options)
    kept = options.out.with_name(".c.jsonl.splits")
    split, n_done = RulesSplitter.split, 0

    def disturbed(self: RulesSplitter, captions: Sequence[Caption]) -> list[Split | None]:
        nonlocal n_done
        n_done += 1
        if n_done == 4 and disturbed_by == "the same command":
            with pytest.raises(InputError, match="already exists"):
                contexts(options)
        elif n_done == 4:
            shutil.rmtree(kept)
        if n_done == 6:
            raise KilledError
        return split(self, captions)

    monkeypatch.setattr(RulesSplitter, "split", disturbed)
    with pytest.raises(KilledError):
        contexts(replace(options, force=True))
    names = [f"{number:06d}.json" for number in range(5)]
    names = names if disturbed_by == "the same command" else names[3:]
    assert sorted(path.name for path in kept.iterdir()) == [*names, "plan.json"]
    with pytest.raises(InputError, match="already exists"):
        contexts(options)
    n_killed = n_done = 6
    contexts(replace(options, force=True))
    n_resumed = n_done - n_killed
    contexts(replace(options, force=True))
    assert n_done - n_killed - n_resumed == n_resumed + len(names), "what is kept is not made again"


class Named(RulesSplitter):
    """The rules under another name."""

    name = "named"

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        return [None] * len(captions)


class Trained(Named):
    """The same with a model at a path."""

    def __init__(self, model: Path) -> None:
        self.model = model


def test_what_another_splitter_left_or_of_other_sentences_is_not_taken(tmp_path: Path) -> None:
    batches = [[Caption(f"The man walks in and sits down {i}.")] for i in range(3)]
    folder = tmp_path / "splits"

    def made(splitter: RulesSplitter, batches: Sequence[Sequence[Caption]]) -> list[list[Split | None]]:
        with Splitting("rules", splitter, folder).split(batches) as splits:
            return list(splits)

    expected = [RulesSplitter().split(batch) for batch in batches]
    assert made(Named(), batches) == [[None]] * 3
    assert made(RulesSplitter(), batches) == expected
    other = [*batches[:1], [Caption("A dog runs and the cat sleeps.")], *batches[2:]]
    assert made(RulesSplitter(), other) == [RulesSplitter().split(batch) for batch in other]
    assert made(RulesSplitter(), batches[:1]) == expected[:1]
    assert made(Named(), batches[:1]) == [[None]], "one batch is not kept, nor taken"


def test_splits_of_a_splitter_that_was_edited_or_trained_again_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name alone was looked at: one file had the splits of both."""
    batches = [[Caption(f"The man walks in and sits down {i}.")] for i in range(2)]
    model = tmp_path / "model"
    model.mkdir()

    def n_done(splitter: Named) -> int:
        kept = Splitting("mine", splitter, tmp_path / "splits")
        with kept.split(batches) as splits:
            before = len(list((tmp_path / "splits").glob("0*.json")))
            list(splits)
        return before

    trained = Trained(model)
    assert [n_done(one) for one in (Named(), Named(), trained, trained)] == [0, 2, 0, 2]
    (model / "weights").write_text("other")
    assert [n_done(trained), n_done(trained)] == [0, 2]
    monkeypatch.setattr("swag_af.data.captions.splitting.source_of", lambda splitter: "edited")
    assert n_done(trained) == 0


def test_splits_by_other_rules_of_ours_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the version of the package was looked at, which an update of a checkout does not change."""
    batches = [[Caption(f"The man walks in and sits down {i}.")] for i in range(2)]
    shutil.copytree(Path(splitters.__file__).parent, tmp_path / "syntax")
    monkeypatch.setattr(splitters, "__file__", str(tmp_path / "syntax" / "splitters.py"))

    def n_done() -> int:
        with Splitting("rules", RulesSplitter(), tmp_path / "splits").split(batches) as splits:
            before = len(list((tmp_path / "splits").glob("0*.json")))
            list(splits)
        return before

    assert [n_done(), n_done()] == [0, 2]
    with (tmp_path / "syntax" / "english" / "rules.py").open("a") as file:
        file.write("# edited")
    assert [n_done(), n_done()] == [0, 2]


def test_a_worker_with_another_splitter_is_refused() -> None:
    with pytest.raises(InputError, match="rules on a worker, where it is benepar:x here"):
        _SplitJob("rules", "benepar:x").open()


class Own(Named):
    """A splitter of somebody's own, as `split` says."""

    name: Any = "own"

    def __init__(self, split: Callable[[Any], Any]) -> None:
        self.split = split


SPLITS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "too few": (lambda captions: [None], "split gave 1 split for 3 captions"),
    "tuples": (lambda captions: [("a", "b")] * len(captions), "gave .'a', 'b'., which is no Split of two texts"),
    "texts": (lambda captions: ["a b"] * len(captions), "gave 'a b', which is no Split"),
    "numbers": (lambda captions: [Split(1, 2)] * len(captions), "gave Split.start=1, ending=2., which is no Split"),
    "none": (lambda captions: None, "split gave None for 3 captions"),
    "no argument": (lambda: [], r"Own\.split raised TypeError"),
    "raises": (lambda captions: {}["a"], r"Own\.split raised KeyError"),
}


@pytest.mark.parametrize(("split", "said"), SPLITS.values(), ids=SPLITS)
def test_a_mistake_in_a_splitter_of_the_users_is_one_line(
    split: Callable[[Any], Any], said: str, tmp_path: Path
) -> None:
    """They were told as bugs of ours."""
    batch = [Caption(f"The man walks in and sits down {i}.") for i in range(3)]
    with (
        pytest.raises(ContractError, match=said) as raised,
        Splitting("own", Own(split), tmp_path).split([batch]) as made,
    ):
        list(made)
    assert "\n" not in str(raised.value)


class NoSplit:
    name = "no-split"


class NoName:
    def split(self, captions: Any) -> Any:
        return [None] * len(captions)


@pytest.mark.parametrize(("name", "said"), [("NoSplit", "no method `split`"), ("NoName", "no text `name`")])
def test_what_is_no_splitter_is_told(name: str, said: str) -> None:
    with pytest.raises(ContractError, match=f"a {name} has {said}"):
        load_splitter(f"{__name__}:{name}")
