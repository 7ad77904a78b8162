"""Claims about surface form: what tells gold is told, what does not is not, and one form for all takes it away."""

import json
import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import write
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared

from swag_af.auditing.runs.audit import audit_pool
from swag_af.cli.main import main
from swag_af.data.cells.values import split_context
from swag_af.data.context import Context
from swag_af.data.disk.manifests import read_manifest
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.sharing import SharedTextWarning
from swag_af.data.text import surface
from swag_af.data.text.normalise import normalise
from swag_af.data.text.surface import FEATURES, SurfaceCounts, SurfaceWarning

Rows = list[list[str]]
"""Endings, gold first in every row."""


def found_in(rows: Rows) -> list[surface.SurfaceFinding]:
    counts = SurfaceCounts()
    for row in rows:
        counts.add(row)
    return counts.findings()


# ------------------------------------------------------------------------------------------------------ the features

HAS = {
    "begins with a capital": (["The dog.", '"He', " (Éa", "\u200bA"], ["the Dog.", "3 A", "", "'he", "éa"]),
    "is all lower case": (["the dog.", "é 3"], ["the Dog", "3", ""]),
    "is all upper case": (["THE DOG.", "É 3"], ["THe", "3", ""]),
    "begins with blanks": ([" a", "\ta", "\u00a0a"], ["a ", ""]),
    "ends with blanks": (["a ", "a\n", "a\u3000"], [" a", ""]),
    "has double blanks": (["a  b"], ["a b", "a\tb"]),
    "has tabs, line ends or unusual blanks": (["a\tb", "a\n", "a\u00a0b", "a\u2028b"], ["a  b", "a\u200bb"]),
    "has typographic quotes": (["Bob’s", "“no”", "«no»"], ["Bob's", '"no"', "né"]),
    "ends with . ! or ?": (["a.", 'a!"', "a?) ", "a ."], ["a", "a,", "a.b", "a…", ""]),
    "has double quotes": (['a "b" c', '"'], ["a 'b'", "“a”", ""]),
    "has dashes": (["a — b", "a - b", "a--b", "a–b"], ["well-known", "-5", ""]),
    "has character references": (["a &amp; b", "&#39;", "caf&eacute;"], ["a & b", "a&b", "R&D; so", ""][:2]),
    "has capitals within": (["the Dog", "iPod"], ["The dog", "a b", ""]),
    "has accents apart from their letters": (["cafe\u0301"], ["café", "cafe", ""]),
    "ends with a full stop, ! or ? of another script": (["走。", "走！”", "गया।"], ["a.", "走", "走."]),
    "has commas of another script": (["走，", "今天、", "غدا، يذهب"], ["a, b", "走。", ""]),
    "ends with several dots": (["a..", "a... ", "a…"], ["a.", "..a", ""]),
    "ends with a full stop": (["a.", 'a."', "..."], ["a!", "a", ""]),
    "ends with an exclamation mark": (["a!", "a!’"], ["a.", "!a", ""]),
    "ends with a question mark": (["a? ", "a?"], ["a.", "?a", ""]),
    "has blanks before its final mark": (["a .", 'a ! "', "a\u00a0?"], ["a.", " a", ".", "a ,", ""]),
    "has invisible or control characters": (
        ["a\u200b", "a\u00adb", "\ufeffa", "a\x00", "a\ufe0f"],
        ["a\tb", "é\n", ""],
    ),
    "has characters outside ASCII": (["é", "a\u200b"], ["a\tb\x00", ""]),
    "has words or marks parted by a tokeniser": (
        ["does n't go", "it 's", "-LRB- a", "``a''", "a , b", "a ."],
        ["doesn't", "it's", "a, b", "says 'tis", ":) .5", ""],
    ),
}


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_is_had_by_what_has_it_and_by_nothing_else(name: str) -> None:
    having, lacking = HAS[name]
    assert [text for text in having if not FEATURES[name](text)] == []
    assert [text for text in lacking if FEATURES[name](text)] == []


# ------------------------------------------------------------------------------------------------------- the counting


def slow_twin(rows: Rows) -> dict[tuple[str, str], tuple[float, float, int, int, float]]:
    """Every rule by trying which candidate might be gold: accuracy, chance, rows, rows that differ, z."""
    out = {}
    for name, has in FEATURES.items():
        for rule, wanted in (("has", True), ("lacks", False)):
            hits, chances, variances, differing = [], [], [], 0
            for row in rows:
                chosen = [has(text) == wanted for text in row]
                differs = len(set(chosen)) == 2
                scores = [c / sum(chosen) if differs else 1 / len(row) for c in chosen]  # were this one gold
                hits.append(scores[0])
                chances.append(np.mean(scores))
                variances.append(np.var(scores))
                differing += differs
            if differing:
                z = (sum(hits) - sum(chances)) / math.sqrt(sum(variances))
                out[name, rule] = (np.mean(hits), np.mean(chances), len(rows), differing, z)
    return out


PIECES = st.lists(
    st.sampled_from(["the", "Dog", "DOG", " ", "  ", "\t", ".", " .", "!", "?", "’", "'s", "\u200b", "é", " ,"]),
    max_size=5,
).map("".join)
RAGGED = st.lists(st.lists(PIECES, min_size=2, max_size=6), min_size=1, max_size=12)


@settings(max_examples=150)
@given(rows=RAGGED)
def test_the_counts_give_what_trying_every_candidate_gives(rows: Rows) -> None:
    expected = {key: told for key, told in slow_twin(rows).items() if told[-1] > 1e-6}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(surface, "MATTERS", 1e-9)
        patched.setattr(surface, "_LOG_ALLOWED", 0.0)
        found = {(f.feature, f.rule): f for f in found_in(rows)}
    assert found.keys() == expected.keys()
    for key, f in found.items():
        assert (f.accuracy, f.chance, f.n_rows, f.n_differing, f.z) == pytest.approx(expected[key], abs=0.006)


@settings(max_examples=100)
@given(kinds=st.lists(st.tuples(st.integers(2, 6), st.integers(1, 5)), min_size=1, max_size=12))
def test_the_bound_holds_what_can_be_counted_out(kinds: list[tuple[int, int]]) -> None:
    """Rows of m candidates of which t are chosen among: the probability of every sum of hits, by convolution."""
    kinds = [(m, min(t, m - 1)) for m, t in kinds]
    sums = {0.0: 1.0}
    for m, t in kinds:
        after: dict[float, float] = {}
        for value, p in sums.items():
            for hit, share in ((1 / t, t / m), (0.0, 1 - t / m)):
                after[round(value + hit, 9)] = after.get(round(value + hit, 9), 0.0) + p * share
        sums = after
    chance = sum(1 / m for m, _ in kinds)
    variance = sum(1 / (t * m) - 1 / m**2 for m, t in kinds)
    bound = max(1 / t - 1 / m for m, t in kinds)
    for value in sums:
        tail = sum(p for other, p in sums.items() if other >= value - 1e-9)
        assert math.exp(surface._log_tail(value - chance, variance, bound)) >= tail - 1e-9


def random_rows(rng: np.random.Generator, n: int) -> Rows:
    """Ragged rows of exchangeable endings, in which every feature comes and goes."""
    openings, endings = ["the", "The", " a", "“a”", "DOG", "it 's"], [".", "", "!", " .", "?", ". ", ".\u200b", "é."]
    return [
        [f"{openings[i]} b{j}  "[: 4 + j] + endings[k] for i, j, k in rng.integers(0, (6, 4, 8), (m, 3))]
        for m in rng.integers(2, 7, n)
    ]


def test_exchangeable_rows_give_no_warning_but_once_in_a_thousand_pools() -> None:
    alarms = [bool(found_in(random_rows(np.random.default_rng(seed), (10, 30, 90)[seed % 3]))) for seed in range(1000)]
    assert sum(alarms) <= 4  # 5 or more: 4 in a thousand at the rate that is promised


def test_a_rule_that_finds_gold_too_seldom_to_matter_gives_no_warning() -> None:
    rows = [["A.", "b.", "c.", "d."]] * 300 + [["a.", "b.", "c.", "d."]] * 9_700
    assert found_in(rows) == []
    assert found_in(rows[:5_000])[0].accuracy == pytest.approx(0.25 + 0.75 * 300 / 5_000)


def test_a_finding_is_told_in_words() -> None:
    (first, second) = found_in([["Sits.", "runs.", "eats."]] * 30)
    said = "finds gold in 100.0 % of 30 rows (chance 33.3 %; endings differ in it in 30)"
    assert str(first) == f"choosing the ending that begins with a capital {said}"
    assert str(second) == f"choosing the ending that is not all lower case {said}"


# ------------------------------------------------------------------------------------------------- one surface form

FORMS = {
    "Pats her shoulder": "pats her shoulder.",
    "  does n't\u00a0 sit .": "doesn't sit.",
    "says ``no''.": 'says "no".',
    "says “no” to Bob’s dog…": 'says "no" to Bob\'s dog.',
    "I am": "I am.",
    "i'm here": "I'm here.",
    "NASA launches, it": "NASA launches, it.",
    "U.S. troops leave": "U.S. troops leave.",
    "PATS HER ON THE HEAD": "pats her on the head.",
    "Pats Her On the Head": "pats her on the head.",
    "talks to Bob Smith": "talks to Bob Smith.",
    "sm\u00adi\u200bles\ufeff.": "smiles.",
    "-LRB- laughs -RRB-": "(laughs).",
    'He said "stop."': 'he said "stop."',
    "asks what ?": "asks what?",
    "eats,": "eats.",
    "sits — then runs": "sits - then runs.",
    "sits--then runs": "sits - then runs.",
    "a well-known dog": "a well-known dog.",
    "eats fish &amp; chips": "eats fish & chips.",
    "says 'no' twice": 'says "no" twice.',
    "sees the dogs' food": "sees the dogs' food.",
    "likes rock 'n' roll": "likes rock 'n' roll.",
    "ﬁne ｅａｔｓ！": "fine eats!",
    "A": "a.",
    "\u200b \t": "",
    "走下山": "走下山。",
    "走下山.": "走下山。",
    "停下!": "停下！",
    "说 : “走吧。”": '说："走吧。"',
    "作１．５Ｋｍ走る": "作1.5Km走る。",
    "घर गया": "घर गया।",
    "घर गया.": "घर गया.",
    "เต้นรำ กับเธอ.": "เต้นรำ กับเธอ",
    "هل ذهب؟": "هل ذهب؟",
}


@pytest.mark.parametrize(("text", "form"), FORMS.items())
def test_a_text_is_given_the_one_form(text: str, form: str) -> None:
    assert normalise(text) == form
    assert normalise(form) == form


WRITTEN = [
    "x != y",
    "a <= b",
    "a && b",
    "P<.05",
    "see http://x.y/z?a=b",
    "write to user@x.com",
    "run git --help now",
    "<b>Bold</b>",
    "O(n log n)",
    "call main() , then 'x'",
    "C# -- not C",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_code_formulas_and_addresses_are_as_they_are_written(text: str) -> None:
    assert normalise(text) == text
    assert normalise(f" {text[:3]}\u200b{text[3:]}\u00a0".replace("&", "&amp;")) == text


def test_they_are_so_in_a_pool_in_one_form_gold_and_negatives_alike() -> None:
    contexts = [Context("Which is right?", "", gold, video=gold) for gold in (*WRITTEN, "Rock 'n' roll")]
    pool = CandidatePool.from_texts(contexts, [["None of these", "x != 1"]] * len(contexts), normalise=True)
    shown = [pool.text(row, 0) for row in range(len(contexts))]
    assert shown == [context.gold for context in pool.contexts] == [*WRITTEN, "rock 'n' roll."]
    assert {(pool.text(row, 1), pool.text(row, 2)) for row in range(len(contexts))} == {("none of these.", "x != 1")}


@given(st.lists(st.sampled_from(["x", " ", "-", "&", "(", ")", "'", "n", ".", "#", "C", "́", '"', "＝"])).map("".join))
def test_what_has_signs_keeps_its_form(text: str) -> None:
    form = normalise(f"{text} != {text}")
    assert form.count("!=") == 1
    assert normalise(form) == form


# ------------------------------------------------------------------------------------------------ leaks, on purpose


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


LEAKS: dict[str, tuple[Callable[[str], str], str]] = {
    "a capital": (capital, "that begins with a capital finds"),
    "no full stop": (lambda text: text.removesuffix("."), "that does not end with . ! or ? finds"),
    "curly quotes": (lambda text: text.replace("'", "’"), "that has typographic quotes finds"),
    "a blank behind": (lambda text: text + " ", "that ends with blanks finds"),
    "a zero-width blank": (
        lambda text: text[:4] + "\u200b" + text[4:],
        "that has invisible or control characters finds",
    ),
}
NOT_IN_TOKENS = ("a capital", "a blank behind")
"""Leaks that leave the lower-cased tokens as they are."""


def synthetic() -> tuple[list[Context], Rows]:
    rng = np.random.default_rng(0)
    letters = np.array([f"{a}{b}{c}" for a in "bdkl" for b in "aeiou" for c in "mnst"])

    def ending() -> str:
        return f"{rng.choice(letters)} Bob's {' '.join(rng.choice(letters, 4))}."

    rows = [[ending() for _ in range(4)] for _ in range(200)]
    return [Context("A man waits.", "He", row[0], video=f"v{i}") for i, row in enumerate(rows)], rows


def real() -> tuple[list[Context], Rows]:
    lines = shared("swag/swag_questions.jsonl").read_text(encoding="utf-8").splitlines()
    contexts, rows = [], []
    for i, record in enumerate(map(json.loads, lines)):
        gold = record["endings"].pop(record["label"])
        contexts.append(Context(*split_context(record["startphrase"]), gold, video=f"v{i}"))
        rows.append([gold, *record["endings"]])
    return contexts, rows


SOURCES = [synthetic, pytest.param(real, marks=pytest.mark.real)]


def made(source: Any, leak: Callable[[str], str] = str, **settings: Any) -> CandidatePool:
    contexts, rows = source()
    golds = [Context(c.sent1, c.start, leak(c.gold), video=c.video) for c in contexts]
    return CandidatePool.from_texts(golds, [row[1:] for row in rows], tagger="none", **settings)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("leak", "said"), LEAKS.values(), ids=LEAKS.keys())
def test_a_leak_is_warned_of_and_gone_in_one_form(source: Any, leak: Callable[[str], str], said: str) -> None:
    with pytest.warns(SurfaceWarning, match=re.escape(said)):
        leaking = made(source, leak)
    assert leaking.manifest["surface"][0]["z"] > 4.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made(source).manifest["surface"] == []
        mended, plain = made(source, leak, normalise=True), made(source, normalise=True)
    assert mended.manifest["surface"] == []
    assert mended.identity == plain.identity
    assignment = np.tile(np.arange(4), (len(plain), 1))
    assert mended.texts(assignment) == plain.texts(assignment)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", NOT_IN_TOKENS)
def test_the_audit_of_characters_finds_a_leak_that_the_audit_of_words_does_not(source: Any, name: str) -> None:
    leaking = made(source, LEAKS[name][0])
    words, characters = audit_pool(leaking, np.tile(np.arange(4), (len(leaking), 1)), ["ngrams", "chars"])
    assert words.accuracy < 0.4
    assert characters.accuracy > 0.9


@pytest.mark.parametrize("name", LEAKS)
def test_the_audit_of_characters_finds_nothing_in_one_form(name: str) -> None:
    mended = made(synthetic, LEAKS[name][0], normalise=True)
    (found,) = audit_pool(mended, np.tile(np.arange(4), (len(mended), 1)), ["chars"])
    assert found.low <= 0.25 <= found.high


def test_in_one_form_no_word_keeps_a_capital_that_only_gold_gives_it() -> None:
    contexts = [Context("A man waits.", "He", f"Smiles w{i} at Bob.", video=f"v{i}") for i in range(30)]
    shouting = [Context("A man waits.", "He", f"SINGS s{i} TO BOB LOUDLY.") for i in range(5)]
    negatives = [[f"frowns x{i}.", f"tells Bob n{i}"] for i in range(35)]
    mended = CandidatePool.from_texts(contexts + shouting, negatives, normalise=True, tagger="none")
    assert mended.text(3, 0) == "smiles w3 at Bob."
    assert mended.text(32, 0) == "sings s2 to Bob loudly."
    assert mended.text(3, 2) == "tells Bob n3."
    assert mended.contexts[3].gold == "smiles w3 at Bob."


@pytest.mark.parametrize("gold", ["I have no comment.", "thinks that I'm late.", "NASA.", "iPhone.", "I'll see."])
def test_in_one_form_gold_of_the_context_is_the_gold_candidate(gold: str) -> None:
    pool = CandidatePool.from_texts([Context("What is it?", "", gold)], [["a dog"]], normalise=True, tagger="none")
    assert pool.text(0, 0) == pool.contexts[0].gold == gold


def test_endings_that_one_form_makes_equal_are_one() -> None:
    context = [Context("A man waits.", "He", "sits down – now.")]
    mended = CandidatePool.from_texts(
        context, [["Sits down - now", "runs.", "runs\u2014"]], normalise=True, tagger="none"
    )
    assert mended.manifest["dropped_negatives"] == {"blank": 0, "equal_to_gold": 1, "repeated": 1, "flagged": 0}
    assert mended.texts(np.array([[0, 1]])) == [["sits down - now.", "runs."]]


def test_only_candidates_that_the_guard_keeps_are_counted() -> None:
    contexts = [Context("A man waits.", "He", f"sits {i}.") for i in range(40)]
    negatives = [[f"runs {i}.", f"SITS {i}.", f"Runs {i}"] for i in range(40)]
    assert CandidatePool.from_texts(contexts, negatives, tagger="none").manifest["surface"] == []


def test_a_row_without_negatives_is_not_counted() -> None:
    from swag_af.data.pool.rows import EmptyRowError, RowMaker

    maker = RowMaker()
    with pytest.raises(EmptyRowError):
        maker.make(0, Context("A.", "He", "Sits."), [])
    assert not maker.surface.n_rows


# -------------------------------------------------------------------------------------------------------- the verb


@pytest.fixture
def leaking_file(tmp_path: Path) -> Path:
    contexts, rows = synthetic()
    records = [
        {"sent1": c.sent1, "start": c.start, "gold": capital(c.gold), "negatives": row[1:], "video": c.video}
        for c, row in zip(contexts, rows, strict=True)
    ]
    path = tmp_path / "mine.jsonl"
    write(path, records)
    return path


def test_the_verb_warns_of_each_finding_and_says_once_what_to_do(
    leaking_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = leaking_file.parent / "pool"
    main(["pool", str(leaking_file), "--out", str(out), "--tagger", "none"])
    said = capsys.readouterr().out
    assert "Warning: choosing the ending that begins with a capital finds gold in 100.0 % of 200 rows (chance" in said
    assert said.count("--normalise") == 1
    (first,) = read_manifest(out, "pool")["surface"]
    assert (first["feature"], first["rule"], first["accuracy"]) == ("begins with a capital", "has", 1.0)


def test_the_verb_gives_one_form_says_so_in_the_manifest_and_warns_no_more(
    leaking_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = leaking_file.parent / "pool"
    main(["pool", str(leaking_file), "--out", str(out), "--tagger", "none", "--normalise"])
    assert "Warning" not in capsys.readouterr().out
    manifest = read_manifest(out, "pool")
    assert manifest["made_by"]["normalise"] is True
    assert manifest["surface"] == []
    row, columns = np.array([0]), np.array([[0, 1, 2, 3]])
    assert CandidatePool.open(out).texts_of(row, columns) == made(synthetic, normalise=True).texts_of(row, columns)


def test_golds_that_are_negatives_of_other_rows_are_warned_of() -> None:
    """The verbs said so, and Python did not."""
    contexts = [Context(f"A man {i} sits.", "he", f"plays {i} songs.") for i in range(12)]
    wrong = [[contexts[(i + k) % 12].gold for k in (1, 2, 3)] for i in range(12)]
    with pytest.warns(SharedTextWarning, match="36 negatives are the gold of another row"):
        CandidatePool.from_texts(contexts, wrong)
