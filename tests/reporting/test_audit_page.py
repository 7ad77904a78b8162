"""Claims about the page of an audit: the verdict first, texts stay texts, nothing is loaded, every link has an end."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from auditing.made import rare_classes
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_audits import audit, integrity, probe, questions, word

import swag_af.reporting
from swag_af.auditing.codes.code import codes
from swag_af.auditing.comparison import compare
from swag_af.auditing.diagnostics import Balanced, Diagnostic, Example, as_found
from swag_af.auditing.examples import example
from swag_af.auditing.integrity.shares import examples_of
from swag_af.auditing.outcome import Audit
from swag_af.auditing.probes.findings import diagnostics_of
from swag_af.auditing.ranking import hits
from swag_af.auditing.single.features import feature_diagnostics
from swag_af.auditing.storing import open_audit, save_audit
from swag_af.auditing.verdict import figure, verdict
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.options import ReadingOptions
from swag_af.data.instances.reading import read_instances
from swag_af.reporting.pages.audit import Axis, audit_page, check_rows, record_lines, shown

NBSP = "\N{NO-BREAK SPACE}"


def made(instances: Instances | None = None, *, worse: float = 0.0) -> Audit:
    data = instances or questions(200)
    probes = [
        probe(data, 0.7 - worse),
        probe(data, 0.15, input="other-context"),
        probe(data, 0.9, input="full"),
        probe(data, 0.8, folds="random"),
    ]
    features = {"longest": 0.4 - worse, "first": 0.25}
    words = [word("nobody", 7.0), word("the", -5.0)]
    return audit(data, probes, features=features, others=[integrity()], words=words)


class Reader(HTMLParser):
    """What a browser would make of a page: tags, attributes, ids, links, text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def values(self, name: str) -> set[str]:
        return {value or "" for attribute, value in self.attributes if attribute == name}


def test_every_table_says_where_each_class_is_weighed_equally() -> None:
    """Among hints and examples the balanced figure stood beside the name of the check alone."""
    plain = made().diagnostics[0]
    one = replace(plain, chance=0.9, value=0.9, low=0.87, high=0.93, balanced=Balanced(0.8, 0.7, 0.87, 0.5, "found"))
    (row,) = check_rows([as_found(one)])
    assert (row["subject"], row["value"]) == (f"{one.subject}, each class weighed equally", "80.0 %")
    assert check_rows([plain])[0]["subject"] == plain.subject


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["train"], "train"),
        (["train", "val"], "train, val"),
        (["train", "val", "test"], "train and 2 others"),
    ],
)
def test_the_heading_names_all_files_that_were_read(files: list[str], said: str, tmp_path: Path) -> None:
    """That of a training and a validation set said "Audit of train" alone."""
    for name in files:
        rows = [{"question": f"{name} {i}?", "choices": [f"a {i}", f"b {i}"], "label": i % 2} for i in range(4)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    labels = tmp_path / "answers.lst"
    labels.write_text("0\n1\n0\n1\n")
    data = read_instances(
        [tmp_path / f"{name}.jsonl" for name in files], ReadingOptions(labels_file=labels if len(files) == 1 else None)
    )
    assert len(data.files) == max(2, len(files))
    assert f"<title>Audit of {said}</title>" in audit_page(audit(data, []))
    assert f"Audit of {said}</h1>" in audit_page(audit(data, []))


def test_the_verdict_is_the_first_thing_said_of_the_data() -> None:
    html = audit_page(made())
    said = verdict(made()).replace(" %", f"{NBSP}%")
    assert f'<p class="verdict above">{said}</p>' in html
    assert html.index(said) < html.index("<nav") < html.index("<section")


def test_bar_and_tiles_show_what_avoiding_gains() -> None:
    """The verdict said that avoiding solves 60 %; the bar showed 0.2 % gained, in grey."""
    data = questions(600)
    likes = probe(data, 0.6)
    below = replace(likes, scores=-likes.scores, hits=hits(-likes.scores, data), folds="split")
    probes = [probe(data, 0.26), replace(below, fitted_on="train", scored_on="test")]
    made_up = audit(data, probes)
    html = audit_page(replace(made_up, diagnostics=tuple(diagnostics_of(probes, data, made_up.groups))))
    assert f"is right in 60.0{NBSP}% of test" in html
    assert '<p class="verdict above">' in html
    gauge = f"guessing 25.0{NBSP}%, gained by avoiding 35.0{NBSP}%, left for the task 40.0{NBSP}%"
    assert f'<div class="gauge above" role="img" aria-label="{gauge}">' in html
    assert f"<dt>gained of what guessing leaves</dt><dd>47{NBSP}%</dd>" in html.replace("47 %", f"47{NBSP}%")


def test_a_page_made_again_from_the_folder_is_the_same(tmp_path: Path) -> None:
    save_audit(made(), tmp_path / "audit")
    assert audit_page(open_audit(tmp_path / "audit")) == audit_page(made())


def test_nothing_is_loaded_and_nothing_runs() -> None:
    page = Reader(audit_page(made(), command="swag-af audit made.jsonl"))
    assert not {"script", "link", "img", "iframe", "object"} & page.tags
    assert {link[0] for link in page.values("href")} == {"#"}
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "src"]
    assert "default-src 'none'; style-src 'unsafe-inline'" in page.values("content")


def test_every_code_that_is_known_links_to_its_explanation() -> None:
    page = Reader(audit_page(made()))
    known = {f"#{one.code}" for one in made().diagnostics if one.code in codes()}
    assert known
    ids = {f"#{name}" for name in page.values("id")}
    assert known <= page.values("href") & ids
    assert {link for link in page.values("href") if link[1:3] != "AF"} <= ids


@settings(max_examples=30)
@given(st.text(max_size=30))
def test_whatever_data_says_stays_text(text: str) -> None:
    """No new tag or attribute, and no character that a terminal or a browser obeys."""
    hostile = f"<img src=x onerror=alert(1)>{text}\u202e\x1b[2J"
    plain, odd = (audit_page(audit(questions(12), [], others=[integrity(text=said)])) for said in ("a", hostile))
    assert Reader(odd).tags == Reader(plain).tags
    assert len(Reader(odd).attributes) == len(Reader(plain).attributes)
    assert "\x1b" not in odd
    assert "\u202e" not in odd
    assert "\\u202e\\x1b[2J" in odd


def test_a_comparison_comes_before_the_checks() -> None:
    data = questions(200)
    before, after = made(data), made(data.take(range(100)), worse=0.2)
    html = audit_page(after, compare(before, after, made))
    assert html.index('<section id="repair">') < html.index('<section id="shortcuts">')
    assert "random removal" in html
    assert '<section id="repair">' not in audit_page(after)


@pytest.mark.parametrize("are_equal", [True, False])
def test_what_is_compared_with_each_class_weighed_equally_stands_so_among_the_checks_too(are_equal: bool) -> None:
    """The comparison had the one figure of a check, and the table below it the other alone: with equal classes after,
    or where nothing is found any more."""
    before = rare_classes(600, seed=4, edit=" " + "9" * 20, others=0.2)
    kept = np.cumsum(before.answers == 0) <= (before.answers == 1).sum() if are_equal else np.ones(600, bool)
    after = before.take(np.flatnonzero(kept | (before.answers == 1))) if are_equal else rare_classes(600, seed=4)

    def audit_of(data: Instances) -> Audit:
        alone = Groups(np.arange(len(data)), "each alone")
        return Audit(data, alone, tuple(feature_diagnostics(data, alone, features=["digits"])), (), (), {})

    comparison = compare(audit_of(before), audit_of(replace(after, name="after")), audit_of)
    change = next(one for one in comparison.changes if one.subject == "digits")
    assert change.balanced
    features = audit_page(audit_of(after), comparison).partition('<section id="features">')[2]
    row = features.partition("digits, each class weighed equally")[2].partition("</tr>")[0]
    assert figure(change.after.value, change.unit) in row
    assert "digits, each class weighed equally" not in audit_page(audit_of(after))


def test_hard_instances_are_said_to_be_below_chance_by_construction() -> None:
    html = audit_page(made())
    assert "below chance <em>by construction</em>" in html
    assert "options, tfidf *" in html
    assert "full, tfidf *" not in html


def test_without_probes_there_is_a_page_without_tiers() -> None:
    html = audit_page(audit(questions(12), [], others=[integrity()]))
    assert "no probe was made" in html
    assert 'id="tiers"' not in html


def test_words_are_shown_by_the_label_that_they_go_with() -> None:
    html = audit_page(made())
    assert html.index("with gold") < html.index(">nobody</th>") < html.index("against gold") < html.index(">the</th>")


@pytest.mark.parametrize(
    ("text", "context", "options"),
    [
        ("Why?\n- because\n* so", ["Why?"], [("because", False), ("so", True)]),
        ("a premise\na text\n* entailment", ["a premise", "a text"], [("entailment", True)]),
        ("only words", ["only words"], []),
        ("Why?\n* so\nand so", ["Why?"], [("so\nand so", True)]),
    ],
)
def test_an_example_is_context_and_options(text: str, context: list[str], options: list[tuple[str, bool]]) -> None:
    found = shown(Example("q1", "line 1", text))
    assert (found["context"], found["options"]) == (context, options)


def test_what_lies_beyond_an_axis_is_at_its_end() -> None:
    assert [Axis(0.5).at(value) for value in (-1.0, 0.0, 0.25, 0.5, 2.0)] == [0, 0, 50, 100, 100]
    assert [label.replace(NBSP, " ") for _, label in Axis(0.4).ticks] == ["0 %", "10 %", "20 %", "30 %", "40 %"]


def test_values_that_are_no_accuracies_stand_in_a_table_of_checks() -> None:
    added = Diagnostic("AF107", "options, tfidf, random folds", "found", 0.1, "share", "ten points", 0.05, 0.15, 0.0)
    html = audit_page(audit(questions(12), [], others=[added]))
    assert re.search(r'<table class="checks">.*ten points', html, re.DOTALL)
    assert not re.search(r'<table class="reach">.*ten points.*</tfoot>', html, re.DOTALL)
    assert "Figures are rounded one by one" in html  # 46.4 beside 34.8 is 11.5 more


def test_the_record_is_said_in_sentences() -> None:
    checks = {"models": ["tfidf", "fasttext"], "inputs": None, "n_folds": 5, "seeds": [0, 1]}
    lines = record_lines({"swag_af": "1.2", "checks": checks, "left_out": ["cnn: needs torch."]})
    assert lines == [
        "Made with swag-af 1.2.",
        "Models of the probes: tfidf and fasttext. tfidf reads all that applies, others the main input.",
        "Cross-validation in 5 folds, with seeds 0 and 1.",
        "Left out: cnn: needs torch.",
    ]
    assert record_lines({"left_out": []}) == ["No probe had to be left out."]
    assert record_lines({"checks": checks | {"inputs": ["options"], "seeds": [3]}})[0].endswith("They read options.")
    assert record_lines({"options": {"n_folds": 5}}) == ["options n folds: 5"]  # of another maker


def test_intervals_are_shown_on_a_phone_too() -> None:
    """No rule hides the cells of interval and chance; on a narrow screen each says what it is."""
    css = audit_page(made()).partition("</style>")[0]
    hidden = [
        rule for rule in re.findall(r"([^{}]+)\{[^{}]*display:none", css) if ".extra" in rule or rule == ".reach td"
    ]
    assert not hidden
    narrow = css.partition("@media(max-width:40rem){.verdict")[2]
    assert 'td.extra::before{content:"95 % interval "}' in narrow
    assert 'td.extra:last-child::before{content:"chance "}' in narrow


def test_a_rule_that_applies_nowhere_has_no_value() -> None:
    nowhere = Diagnostic("AF401", "all of the above", "clear", 0.0, "accuracy", "No question has any.")
    rows = check_rows([nowhere, integrity()])
    assert [(row["code"], row["value"]) for row in rows] == [("AF401", "–"), ("AF501", "3")]


@pytest.mark.parametrize("context", ["To buy:\n- eggs\n* milk\nWhat is urgent?", "- eggs", "* milk"])
def test_lists_within_a_context_are_no_options(context: str) -> None:
    ones = Instances((Instance("q", context, ("One\n- more", "two"), 1),), "choices", ())
    page = shown(example(ones, 0, ""))
    assert [gold for _, gold in page["options"]] == [False, True]
    assert len(page["context"]) == 1


def test_an_example_of_integrity_shows_its_class_as_gold() -> None:
    ones = Instances((Instance("q", "A premise.", ("A half \ud83d",), 1),), "classes", ("no", "yes"))
    page = shown(examples_of(ones, [0], str)[0])
    assert page["context"] == ["A premise.", "A half \\ud83d"]
    assert page["options"] == [("yes", True)]


def test_headings_skip_no_level_and_no_link_is_in_what_unfolds() -> None:
    html = audit_page(made())
    levels = [int(level) for level in re.findall(r"<h(\d)", html)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert not any("<a " in summary for summary in re.findall(r"<summary>.*?</summary>", html, re.DOTALL))


def test_every_table_that_scrolls_has_a_name_of_its_own() -> None:
    names = re.findall(r'role="region" aria-label="([^"]+)"', audit_page(made()))
    assert len(names) == len(set(names)) > 1


def test_what_the_tones_say_has_shapes_of_its_own() -> None:
    css = (Path(swag_af.reporting.__file__).parent / "static" / "audit.css").read_text(encoding="utf-8")
    shapes = {tone: re.search(rf"\.{tone} \.point,\.spot\.{tone}{{(.*?)}}", css) for tone in ("below", "hint", "clear")}
    assert len({found[1] for found in shapes.values() if found}) == 3
