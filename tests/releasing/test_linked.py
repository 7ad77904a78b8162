"""Claims about questions of which one's answer stands in another's context: they are counted, and can be left out."""

import csv
from pathlib import Path

import pytest
from conftest import HashFilter, chained
from hypothesis import given
from hypothesis import strategies as st

from swag_af import AFOptions, CandidatePool, Context, filter_pool
from swag_af.cli.main import main
from swag_af.data.disk.manifests import read_manifest
from swag_af.data.text.linked import links_of, unlinked
from swag_af.releasing.linked import count_by_split

SPLITS = ("train", "val", "test")


def test_the_second_sentence_is_looked_for_in_all_first_ones() -> None:
    contexts = [
        Context("A man sits down.", "He", "plays the piano."),
        Context("He plays  the piano", "The crowd", "claps."),
        Context("So it is. He plays the Piano!", "She", "sings."),
        Context("The crowd claps loudly.", "He", "nods."),
        Context("He nods.", "He", "sits down now."),
    ]
    assert links_of(contexts) == {0: [1, 2]}, "two words stand anywhere, and other words are another sentence"


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30),
    st.lists(st.booleans(), min_size=10),
    st.lists(st.booleans(), min_size=10),
)
def test_no_guarded_answer_stays_in_a_context_and_none_but_guarded_go(
    pairs: list[tuple[int, int]], is_there: list[bool], is_guarded: list[bool]
) -> None:
    links = {i: sorted({j for k, j in pairs if k == i}) for i in sorted({i for i, _ in pairs})}
    gone = unlinked(links, is_there, is_guarded)
    asked = {(i, j) for i, j in pairs if i != j and is_there[i] and is_there[j] and is_guarded[i]}
    assert all(is_guarded[row] for row in gone)
    assert not [(i, j) for i, j in asked if not {i, j} & gone]
    assert gone <= {row for both in asked for row in both}


def test_of_a_chain_every_second_question_stays() -> None:
    links = links_of(chained(1, 8))
    assert links == {i: [i + 1] for i in range(6)}
    assert unlinked(links, [True] * 7, [True] * 7) == {1, 3, 5}
    assert count_by_split(links, dict.fromkeys(range(7), "test")) == {"test": 6}
    assert count_by_split(links, {0: "test", 1: "train", 3: "val"}) == {"test": 1}


def test_what_stands_in_its_own_context_alone_is_not_linked_and_many_copies_share_a_list() -> None:
    same = [Context("He waves at them.", "He", "waves at them.", id=str(i), video=str(i)) for i in range(400)]
    assert links_of(same[:1]) == {}
    links = links_of(same)
    assert len(links) == 400
    assert all(others is links[0] for others in links.values())
    assert unlinked(links, [True] * 400, [True] * 400) == set(range(1, 400))
    assert count_by_split(links, dict.fromkeys(range(400), "val")) == {"val": 400}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("linked")
    contexts = chained(60, 6)
    negatives = [[f"takes the cup {k} of {row} away." for k in range(8)] for row in range(len(contexts))]
    pool = CandidatePool.from_texts(contexts, negatives, tagger="none").save(folder / "pool")
    filter_pool(pool, HashFilter(), AFOptions(iterations=1, n_negatives=5), out=folder / "run")
    return folder / "run"


def answers_in_contexts(folder: Path, split: str) -> int:
    """By a loop over the released file alone: how many answers with their start are the first sentence of a row."""
    rows = list(csv.DictReader((folder / f"{split}.csv").open(encoding="utf-8", newline="")))
    labels = [row.get("label") for row in rows]
    if split == "test":
        labels = [row["label"] for row in csv.DictReader((folder / "test_labels.csv").open(encoding="utf-8"))]
    firsts = {row["sent1"] for row in rows}
    return sum(f"{row['sent2']} {row[f'ending{label}']}" in firsts for row, label in zip(rows, labels, strict=True))


@pytest.mark.parametrize(("linked", "without"), [("keep", ()), ("held-out", ("val", "test")), ("none", SPLITS)])
def test_a_release_counts_them_and_leaves_them_out_where_asked(
    run: Path, tmp_path: Path, linked: str, without: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "dataset"
    main(["release", str(run), "--out", str(out), "--audit", "none", "--formats", "none", "--linked", linked])
    said, manifest = capsys.readouterr().out, read_manifest(out, "dataset")
    card = (out / "README.md").read_text(encoding="utf-8")
    found = {split: answers_in_contexts(out, split) for split in SPLITS}
    assert {split for split, n in found.items() if n} == set(SPLITS) - set(without)
    assert manifest["linked"] == {split: n for split, n in found.items() if n}
    assert manifest["unlinked"] == 300 - manifest["n_questions"]
    assert ("stand in the context of another" in card) == bool(manifest["linked"])
    assert ("whoever reads the whole file" in said) == (linked == "keep")
    assert (f"{manifest['unlinked']} contexts, so that no answer stands in" in card) == bool(without)
    assert manifest["splits"]["test"] > 20
