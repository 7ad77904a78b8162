"""Refining: what a planted judge answers is flagged and nothing else, mended or taken out, beside luck and control."""

import itertools
import json
import linecache
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from folders import write
from hypothesis import given
from hypothesis import strategies as st
from judges import FakeServer, has_opinions, knows_nothing, knows_style, prefers_a, refuses

from swag_af.auditing.probes.probe import probe
from swag_af.cli.datasets.refining import _audit_rows, refined_lines
from swag_af.cli.options import ShowOptions
from swag_af.cli.showing.show import show
from swag_af.data.disk.files import write_jsonl
from swag_af.data.errors import ExhaustedError, InputError, SwagAfError
from swag_af.data.instances.grouping import group
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.reading import read_instances
from swag_af.data.numbers.interval import CROSS_VALIDATED, paired_difference
from swag_af.filters.judge.asking import Question, Verdict
from swag_af.filters.judge.judge import JudgeFilter
from swag_af.matching.rows.reading import items_of_instances
from swag_af.refining.audits import before_and_after
from swag_af.refining.chance import luck_of_orders, luck_of_votes, tail
from swag_af.refining.estimate import estimate
from swag_af.refining.folder import Refined, open_refined
from swag_af.refining.options import RefineOptions
from swag_af.refining.rewriting import Wanted, sifted
from swag_af.refining.verb import costs, refine
from swag_af.refining.voting import JudgeVoter, hit

N, M = 24, 4
MARK = "zip"
PLACES = ("park", "yard", "hall", "shop", "barn", "pool", "gym", "attic")


def question(i: int) -> dict[str, object]:
    """Every other question has a mark in its right option."""
    place = PLACES[i % len(PLACES)]
    options = [f"walks to the {place} with {k + i * M} birds" for k in range(M)]
    answer = (i * 7) % M
    options[answer] += f" {MARK}" if i % 2 else " too"
    return {"id": f"q{i}", "context": f"Scene {i}: a person in room {i * 31}.", "options": options, "answer": answer}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    write(path, (question(i) for i in range(N)))
    return path


def marks_all(prompt: str) -> str:
    """Three wrong options that have the mark, too; of another question others."""
    said = prompt.split("Right: ")[1].split("\n")[0]
    wanted = int(prompt.split("a JSON list of ")[1].split()[0])
    return json.dumps([f"runs {k} times round {said.split(' with ')[1]} {MARK}" for k in range(wanted)])


Meet = Callable[..., dict[str, FakeServer]]


@pytest.fixture
def meet(monkeypatch: pytest.MonkeyPatch) -> Meet:
    """Let servers by these addresses stand where they are asked for."""

    def known(**servers: FakeServer) -> dict[str, FakeServer]:
        monkeypatch.setattr("swag_af.endpoints.client.Endpoint", lambda url, options, **named: servers[url])
        return servers

    return known


@pytest.fixture
def options(data: Path, tmp_path: Path) -> RefineOptions:
    out = tmp_path / "refined"
    return RefineOptions((data,), judge="judge[blind]", rewriter="endpoint[writer]", out=out, audit_models="none")


def without_style(i: int) -> dict[str, object]:
    """The same question with options of words drawn, of which none gives gold away and fits in other folds differ."""
    rng = np.random.default_rng(i)
    return {**question(i), "options": [f"{' '.join(rng.choice(PLACES, 4))} {k + i * M}" for k in range(M)]}


def flagged_first(refined: Refined) -> set[str]:
    return {one.id for one in refined.versions if one.round == 0 and one.flagged}


def lines_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


MARKED = {f"q{i}" for i in range(N) if i % 2}


# ------------------------------------------------------------------------------------------------------- cinepile


def test_what_the_judge_answers_is_rewritten_and_nothing_else(options: RefineOptions, meet: Meet) -> None:
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=marks_all))
    refined = refine(options)
    assert flagged_first(refined) == MARKED
    assert (refined.about.n_kept, refined.about.n_rewritten, refined.about.n_flagged) == (N, N // 2, 0)
    (only,) = refined.about.rounds
    assert (only.n_flagged, only.n_written, only.n_mended) == (12, 12, 12)
    for i, row in enumerate(lines_of(options.out / "questions.jsonl")):
        given = question(i)
        answer = int(str(given["answer"]))
        assert row["label"] == answer
        assert row["options"][answer] == given["options"][answer]
        assert (row["options"] == given["options"]) == (row["id"] not in MARKED)


def test_the_questions_are_read_again_as_they_are(options: RefineOptions, meet: Meet, data: Path) -> None:
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=marks_all))
    refine(options)
    before, after = read_instances([data]), read_instances([options.out / "questions.jsonl"])
    assert [one.id for one in after.instances] == [one.id for one in before.instances]
    assert [one.context for one in after.instances] == [one.context for one in before.instances]
    golds = [[one.options[one.answer] for one in data.instances] for data in (before, after)]
    assert golds[0] == golds[1]


@pytest.mark.parametrize("every", [1, 3])
def test_starts_of_options_are_read_again(options: RefineOptions, meet: Meet, data: Path, every: int) -> None:
    """They stood beside `context`, where nobody reads them."""
    rows = [{"start": "She" if i % every == 0 else "", **row} for i, row in enumerate(lines_of(data))]
    write_jsonl(data, [{"sent1": row.pop("context"), **row} for row in rows])
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=marks_all))
    refine(options)
    before, after = (read_instances([path]).instances for path in (data, options.out / "questions.jsonl"))
    assert [(one.context, one.start) for one in after] == [(one.context, one.start) for one in before]
    assert {one.start for one in after} == ({"She"} if every == 1 else {"She", ""})


def test_contrast_sets_keep_their_names_and_broken_ones_are_counted(
    options: RefineOptions, meet: Meet, data: Path
) -> None:
    """Every other question is marked, so that each set of two loses one."""
    rows = [row | {"contrast_set": f"s{i // 2}", "variant": "original"} for i, row in enumerate(lines_of(data))]
    write_jsonl(data, rows)
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=lambda prompt: "no"))
    refined = refine(replace(options, unmended="drop"))
    kept = lines_of(options.out / "questions.jsonl")
    assert [row["contrast_set"] for row in kept] == [f"s{i // 2}" for i in range(N) if f"q{i}" not in MARKED]
    assert {row["variant"] for row in kept} == {"original"}
    assert any(
        f"{N // 2:,} of {N // 2:,} contrast sets lost some of their questions" in one for one in refined.about.said
    )


def test_objects_of_a_question_are_read_and_matched_again(options: RefineOptions, meet: Meet, data: Path) -> None:
    """They were written and not read, so tags of other rows had nothing that they could become."""
    kinds = ["person", "chair", "person"]
    rows = lines_of(data)
    words = [{"objects": kinds, "question": [*str(row.pop("context")).split(), [0]], **row} for row in rows]
    write_jsonl(data, words)
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=marks_all))
    refine(options)
    before, after = (read_instances([path]) for path in (data, options.out / "questions.jsonl"))
    assert [one.context for one in after.instances] == [one.context for one in before.instances]
    for instances in (before, after):
        assert {item.objects for item in items_of_instances(instances).rows} == {tuple(kinds)}


def test_stages_of_a_question_are_read_again(options: RefineOptions, meet: Meet, data: Path) -> None:
    """They were not written, so that what is scored over both was gone without a word."""
    stages = ["Q->A", "QA->R"]
    rows = [row | {"question_id": f"v{i // 2}", "stage": stages[i % 2]} for i, row in enumerate(lines_of(data))]
    write_jsonl(data, rows)
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=marks_all))
    refine(options)
    before, after = (read_instances([path]).instances for path in (data, options.out / "questions.jsonl"))
    assert [(one.question, one.stage) for one in before] == [(row["question_id"], row["stage"]) for row in rows]
    assert [(one.question, one.stage) for one in after] == [(one.question, one.stage) for one in before]


def test_more_options_alone_are_no_mending(tmp_path: Path) -> None:
    """A probe that guesses fell from a quarter to a tenth, which was told as a significant change."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(60)]

    def made(n_options: int) -> Instances:
        rows = [
            Instance(
                f"q{i}",
                f"{' '.join(rng.choice(words, 5))} {i}?",
                tuple(" ".join(rng.choice(words, 4)) for _ in range(n_options)),
                int(rng.integers(n_options)),
            )
            for i in range(200)
        ]
        return Instances(tuple(rows), "choices")

    before, after = made(4), made(10)
    told: list[int] = []

    def tell(n: int, note: str) -> None:
        told.append(n)

    (found,), _ = before_and_after(before, after, group(before), ["tfidf"], n_folds=4, seed=0, advance=tell)
    assert told == [1, 1]
    assert (found.before.chance, found.after.chance) == (0.25, 0.1)
    assert not found.difference.is_significant
    hits = [
        probe(one, "options", "tfidf", groups=group(before), n_folds=4, seed=0).hits - one.chance
        for one in (before, after)
    ]
    expected = paired_difference(*hits, group(before).numbers, times=CROSS_VALIDATED)
    assert found.difference == expected  # cross-validated, as the accuracies are
    header, row = _audit_rows([found])
    assert row[header.index("chance")] == "0.250, then 0.100"


def test_every_version_is_kept_with_its_reason(options: RefineOptions, meet: Meet) -> None:
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=marks_all))
    versions = refine(options).versions
    assert [one.round for one in versions] == [0] * N + [1] * (N // 2)
    assert all(one.right == (5.0,) for one in versions if one.round == 0 and one.flagged)
    assert all("It has the mark." in one.reason for one in versions if one.round)


def test_what_is_not_mended_is_dropped_or_kept_and_marked(options: RefineOptions, meet: Meet, tmp_path: Path) -> None:
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer())
    refined = refine(options)
    assert {row["id"] for row in lines_of(options.out / "questions.jsonl")} == {f"q{i}" for i in range(N)} - MARKED
    assert [(one.n_flagged, one.n_written) for one in refined.about.rounds] == [(12, 0)] * 5
    kept = replace(options, out=tmp_path / "kept", unmended="flag")
    refine(kept)
    rows = lines_of(kept.out / "questions.jsonl")
    assert len(rows) == N
    assert {row["id"] for row in rows if row.get("flagged")} == MARKED


def test_a_preferred_place_flags_nothing(options: RefineOptions, meet: Meet) -> None:
    meet(blind=FakeServer(prefers_a), writer=FakeServer())
    refined = refine(options)
    assert not flagged_first(refined)
    assert refined.about.control is None
    assert "A 100.0 %" in " ".join(refined.about.said)


def test_a_judge_none_of_whose_answers_can_be_read_has_judged_nothing(options: RefineOptions, meet: Meet) -> None:
    """All questions were kept, as if it had been wrong about them; told is what it says, and nothing is finished."""
    meet(blind=FakeServer(refuses), writer=FakeServer())
    with pytest.raises(InputError, match=rf"not one of {5 * N} answers names an option \(one says \"I'd rather not"):
        refine(options)
    assert not (options.out / "refine.json").exists()


def test_answers_that_cannot_be_read_are_said_to_be_not_right(options: RefineOptions, meet: Meet) -> None:
    """They were said to count as ties."""
    meet(blind=FakeServer(lambda texts: None if MARK in " ".join(texts) else 0), writer=FakeServer())
    refined = refine(options)
    assert not flagged_first(refined)
    read_as = f"{5 * N // 2} of {5 * N} answers could not be read and count as not right (unreadable {5 * N // 2})"
    assert read_as in " ".join(refined.about.said)


def test_the_control_tells_luck_from_mending(options: RefineOptions, meet: Meet) -> None:
    """A judge that guesses anew: flagged questions are hardly flagged again, whoever writes."""
    meet(blind=FakeServer(knows_nothing), writer=FakeServer(writes=marks_all))
    refined = refine(replace(options, degenerate_at=2))
    control = refined.about.control
    assert control is not None
    assert control.was.of == refined.about.first.n > 3
    assert control.was.n < control.was.of
    assert control.difference is not None
    assert not control.difference.is_significant


def shown_in(server: FakeServer) -> list[tuple[str, ...]]:
    """The options of each question, as they were shown for a letter alone, in the order of the requests."""
    asked = [prompt for prompt in server.prompts if prompt.endswith("Say the letter of one of them, and nothing else.")]
    return [tuple(re.findall(r"^[A-Z]\. (.+)$", prompt, re.MULTILINE)) for prompt in asked]


def knows_marks_alone(texts: Sequence[str]) -> int:
    """The first text with a mark, and else a wrong one, so that no luck flags."""
    return next((place for place, text in enumerate(texts) if MARK in text), int(not texts[0].endswith(" birds")))


def with_options(data: Path, sizes: tuple[int, ...]) -> None:
    """The questions with as many options as `sizes` say, one after the other."""
    rows = []
    for i, row in enumerate(lines_of(data)):
        given, gold, m = row["options"], int(str(row["answer"])), sizes[i % len(sizes)]
        assert isinstance(given, list)
        wrong = [text for k, text in enumerate(given) if k != gold] + [f"sits down by {i} birds"]
        rows.append({**row, "options": [given[gold], *wrong[: m - 1]], "answer": 0})
    write_jsonl(data, rows)


@pytest.mark.parametrize("writes", [marks_all, lambda prompt: "I cannot help with that."])
def test_the_control_shows_orders_that_were_not_shown(
    options: RefineOptions, meet: Meet, writes: Callable[[str], str]
) -> None:
    """Equal requests are one, so that a control by the orders that flagged gave the flags again."""
    server = meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=writes))["blind"]
    control = refine(options).about.control
    assert control is not None
    assert (control.was.of, control.n_left_out) == (N // 2, 0)
    times = Counter(Counter(shown_in(server)).values())
    n_again = 0 if writes is marks_all else 5 * (N // 2)  # as it was and as it is are one, and told apart by nothing
    assert times == Counter({1: times[1]} | ({2: n_again} if n_again else {}))


@pytest.mark.parametrize("recipe", ["cinepile", "mmmu-pro"])
def test_questions_with_too_few_orders_are_left_out_of_the_control_and_counted(
    options: RefineOptions, vote: RefineOptions, meet: Meet, data: Path, recipe: str
) -> None:
    """With two or three options the same orders came up again, and were no control."""
    with_options(data, (2, 2, 3, 3, 4, 4))
    servers = {name: FakeServer(knows_marks_alone) for name in ("blind", "one", "two", "three", "four")}
    meet(**servers, writer=FakeServer(writes=marks_all))
    refined = refine(options if recipe == "cinepile" else replace(vote, tries=5))
    control = refined.about.control
    assert refined.about.first.n == N // 2
    assert control is not None
    assert (control.was.of, control.n_left_out) == (4, 8)
    assert control.now is None or control.now.of == 4
    assert any(line.startswith("8 of 12 flagged questions were not judged once more") for line in refined.about.said)
    assert open_refined(refined.path).about.control == control


@pytest.mark.parametrize(("recipe", "flag"), [("cinepile", "--orders"), ("mmmu-pro", "--tries")])
def test_where_no_orders_are_left_there_is_no_control_and_it_is_told(
    options: RefineOptions, vote: RefineOptions, meet: Meet, data: Path, recipe: str, flag: str
) -> None:
    with_options(data, (2, 3))
    servers = {name: FakeServer(knows_marks_alone) for name in ("blind", "one", "two", "three", "four")}
    meet(**servers, writer=FakeServer(writes=marks_all))
    refined = refine(options if recipe == "cinepile" else replace(vote, tries=5))
    assert (refined.about.first.n, refined.about.control) == (N // 2, None)
    (line,) = (one for one in refined.about.said if "judged once more" in one)
    assert line.startswith("No flagged question was judged once more")
    assert line.endswith(f"Take fewer {flag}.")


def test_a_folder_of_before_is_read(options: RefineOptions, meet: Meet) -> None:
    """Its control counts nobody who was left out."""
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=marks_all))
    refine(options)
    about = json.loads((options.out / "refine.json").read_text())
    assert about["control"].pop("n_left_out") == 0
    (options.out / "refine.json").write_text(json.dumps(about))
    assert open_refined(options.out).about.control is not None


def test_an_opinion_is_held_in_every_order_and_when_judged_again(options: RefineOptions, meet: Meet) -> None:
    meet(blind=FakeServer(has_opinions), writer=FakeServer())
    refined = refine(options)
    assert {one.right for one in refined.versions if one.round == 0} == {(0.0,), (5.0,)}
    assert refined.about.luck.steady == 0.25
    assert refined.about.control is not None
    assert refined.about.control.was.n == refined.about.first.n


def test_the_order_of_the_rows_decides_nothing(options: RefineOptions, meet: Meet, data: Path, tmp_path: Path) -> None:
    meet(blind=FakeServer(knows_nothing), writer=FakeServer(writes=marks_all))
    other = tmp_path / "other.jsonl"
    other.write_text("".join(reversed(data.read_text().splitlines(keepends=True))))
    one = refine(options)
    two = refine(replace(options, data=(other,), out=tmp_path / "two"))
    assert sorted(map(repr, one.versions)) == sorted(map(repr, two.versions))
    assert (one.about.first, one.about.control, one.about.rounds) == (
        two.about.first,
        two.about.control,
        two.about.rounds,
    )


def test_the_judge_sees_what_it_may(options: RefineOptions, meet: Meet, tmp_path: Path) -> None:
    server = meet(blind=FakeServer(prefers_a), writer=FakeServer())["blind"]
    refine(options)
    assert all("Scene" in prompt for prompt in server.prompts)
    told = open_refined(options.out).about.said
    assert any("was shown every text" in line for line in told)


# ------------------------------------------------------------------------------------------------------ going on


def content_of(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(out.glob("*.json*"))}


@pytest.mark.parametrize("most", [0, 1, 60, 119, 125, 140, 200, 240])
def test_a_run_that_was_stopped_gives_the_same_bytes(
    options: RefineOptions, meet: Meet, tmp_path: Path, most: int
) -> None:
    straight = replace(options, out=tmp_path / "straight")
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=marks_all))
    refine(straight)
    meet(blind=FakeServer(knows_style(MARK), most=most), writer=FakeServer(writes=marks_all))
    with pytest.raises(ExhaustedError):
        refine(options)
    assert not (options.out / "refine.json").exists()
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=marks_all))
    refine(options)
    assert content_of(options.out) == content_of(straight.out)
    assert not (options.out / "refining").exists()


def test_a_finished_folder_is_read_and_nobody_asked(options: RefineOptions, meet: Meet) -> None:
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=marks_all))
    first = refine(options)
    silent = meet(blind=FakeServer(), writer=FakeServer())
    assert refine(options) == first
    assert not silent["blind"].prompts


def test_a_folder_of_other_options_is_not_gone_on_with(options: RefineOptions, meet: Meet) -> None:
    meet(blind=FakeServer(prefers_a), writer=FakeServer())
    refine(options)
    with pytest.raises(InputError, match="rounds"):
        refine(replace(options, rounds=2))


def test_an_edited_audit_model_makes_another_folder(
    options: RefineOptions, meet: Meet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record of the class as it was before the edit was returned."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    own = tmp_path / "an_edited_probe.py"
    own.write_text(
        "class Own:\n    name = 'own'\n    def fit(self, view, *, rng): pass\n"
        "    def score(self, view): return -view.lengths.astype(float)\n"
    )
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=marks_all))
    asked = replace(options, audit_models="an_edited_probe:Own")
    first = refine(asked)
    assert refine(asked) == first
    own.write_text(own.read_text().replace("-view", "view"))
    monkeypatch.delitem(sys.modules, "an_edited_probe")
    linecache.checkcache()
    with pytest.raises(InputError, match="the source of filter an_edited_probe:Own has changed"):
        refine(asked)


@pytest.mark.parametrize("beside", ["", "answers"])
def test_a_folder_of_others_is_left_alone(options: RefineOptions, meet: Meet, beside: str) -> None:
    meet(blind=FakeServer(refuses), writer=FakeServer())
    (options.out / beside).mkdir(parents=True)
    (options.out / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="not made by refine"):
        refine(options)


def test_a_probe_that_there_is_not_is_told_before_anybody_is_asked(options: RefineOptions, meet: Meet) -> None:
    """It was looked for when all answers were there, and the folder finished without it."""
    servers = meet(blind=FakeServer(refuses), writer=FakeServer())
    for is_dry in (False, True):
        with pytest.raises(InputError, match="no filter 'ngrma'"):
            refined_lines(replace(options, dry_run=is_dry, audit_models="tfidf,ngrma"))
    assert not servers["blind"].prompts
    assert not options.out.exists()


# ------------------------------------------------------------------------------------------------------- mmmu-pro


@pytest.fixture
def vote(options: RefineOptions) -> RefineOptions:
    judges = "judge[one],judge[two],judge[three],judge[four]"
    return replace(options, recipe="mmmu-pro", judge=judges, tries=4, more_than=2, rewriter="")


def panel(*chooses: Callable[..., int | None]) -> dict[str, FakeServer]:
    return dict(zip(("one", "two", "three", "four"), map(FakeServer, chooses), strict=True))


@pytest.mark.parametrize(("n", "is_out"), [(2, False), (3, True)])
def test_three_of_four_take_a_question_out(vote: RefineOptions, meet: Meet, n: int, is_out: bool) -> None:
    meet(**panel(*[knows_style(MARK)] * n, *[prefers_a] * (4 - n)))
    refined = refine(vote)
    assert flagged_first(refined) == (MARKED if is_out else set())
    kept = {row["id"] for row in lines_of(vote.out / "questions.jsonl")}
    assert kept == {f"q{i}" for i in range(N)} - flagged_first(refined)
    assert refined.about.n_rewritten == 0


@pytest.mark.parametrize(("n_right", "is_out"), [(5, False), (6, True)])
def test_an_answer_that_cannot_be_read_takes_no_question_out(
    vote: RefineOptions, meet: Meet, monkeypatch: pytest.MonkeyPatch, n_right: int, is_out: bool
) -> None:
    """With a quarter for it, five right answers of ten were more than five."""

    def says(judge: JudgeFilter, asked: Sequence[Question], *, n: int, **settings: object) -> list[list[Verdict]]:
        order, unread = np.arange(M), Verdict(np.arange(M), np.full(M, 1 / M), "", readable=False)
        marked = [np.array([float(MARK in text) for text in one.options]) for one in asked]
        tries = range(n - 1)
        return [[unread, *(Verdict(order, one if i < n_right else 1 - one, "") for i in tries)] for one in marked]

    monkeypatch.setattr(JudgeFilter, "verdicts", says)
    meet(**panel(*[prefers_a] * 4))
    assert flagged_first(refine(replace(vote, tries=10, more_than=5))) == (MARKED if is_out else set())


def test_options_are_added_where_they_are_wanted(vote: RefineOptions, meet: Meet) -> None:
    meet(**panel(*[prefers_a] * 4), writer=FakeServer(writes=marks_all))
    refine(replace(vote, rewriter="endpoint[writer]", to_options=6))
    for i, row in enumerate(lines_of(vote.out / "questions.jsonl")):
        given, options = question(i), row["options"]
        assert isinstance(options, list)
        assert len(set(options)) == 6
        assert options[int(str(row["label"]))] == given["options"][int(str(given["answer"]))]
        assert set(given["options"]) < set(options)


def test_questions_without_new_options_are_counted(vote: RefineOptions, meet: Meet) -> None:
    meet(**panel(*[prefers_a] * 4), writer=FakeServer())
    refined = refine(replace(vote, rewriter="endpoint[writer]", to_options=6))
    assert refined.about.n_short == N


def test_filters_vote_by_fits_that_are_kept(vote: RefineOptions, meet: Meet, monkeypatch: pytest.MonkeyPatch) -> None:
    meet(one=FakeServer(knows_style(MARK)))
    small = replace(vote, judge="judge[one],ngrams", tries=2, more_than=0, folds=2)
    with monkeypatch.context() as patched:
        patched.setattr("swag_af.refining.verb.write_refined", lambda *given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            refine(small)
    monkeypatch.setattr("swag_af.refining.voting.probe", lambda *given, **named: 1 / 0)
    refined = refine(small)
    assert flagged_first(refined)
    assert all(len(one.right) == 2 for one in refined.versions)


@pytest.mark.parametrize(("n_groups", "is_one"), [(3, True), (N, False)])
def test_tries_of_a_filter_that_are_one_are_told_and_count_as_one(
    vote: RefineOptions, data: Path, n_groups: int, is_one: bool
) -> None:
    """Each try left out the same three groups, one by one: 4 of 4 were one, and all flagged ones were flagged again."""
    write(data, ({**without_style(i), "group": f"g{i % n_groups}"} for i in range(N)))
    said = "\n".join(refined_lines(replace(vote, judge="ngrams,chars", more_than=1, votes=1, folds=3)))
    assert ("The 4 tries of ngrams and chars count as 1, since 3 groups in 3 folds" in said) == is_one
    assert ("By luck alone: 43.8% if a model guesses anew in every try" in said) == is_one
    assert "if a model guesses anew in every try, 43.8% if it holds to one guess" in said
    assert ("Judged once more in new folds" in said) != is_one
    assert "orders" not in said


def test_a_filter_that_repeats_itself_takes_its_own_tries_alone_from_the_luck_of_a_panel(
    vote: RefineOptions, meet: Meet, data: Path
) -> None:
    """The whole panel had no figure of luck as soon as one filter said the same in every try."""
    write(data, ({**without_style(i), "group": f"g{i % 3}"} for i in range(N)))
    meet(one=FakeServer(knows_nothing))
    about = refine(replace(vote, judge="judge[one],ngrams", votes=1, folds=3)).about
    guessed = 4 * 0.25**3 * 0.75 + 0.25**4  # by the judge, more than 2 times in 4
    assert about.luck is not None
    assert about.luck.anew == pytest.approx(1 - (1 - guessed) * (1 - 0.25))
    assert about.luck.steady == pytest.approx(1 - 0.75**2)
    assert about.one_try.startswith("The 4 tries of ngrams count as 1")
    assert about.control is None


def test_the_stages_that_are_told_include_the_audits(
    vote: RefineOptions, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bar said that all was done, and the audits took as long again."""
    monkeypatch.setattr("swag_af.data.work.progress._SECONDS_BETWEEN_LINES", 0)
    write(data, (without_style(i) for i in range(N)))
    refine(replace(vote, judge="ngrams,chars", votes=1, folds=2, tries=2, more_than=1, audit_models="chars"))
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("refine:")]
    assert all(" of 6 stages at most" in line for line in told)
    assert told[-1].endswith("audit by chars after")


@pytest.mark.parametrize("changed", [{"votes": 2}, {"more_than": 1}, {"audit_models": "chars"}])
def test_what_chooses_among_fits_may_change_on_the_way(
    vote: RefineOptions,
    meet: Meet,
    monkeypatch: pytest.MonkeyPatch,
    data: Path,
    tmp_path: Path,
    changed: dict[str, object],
) -> None:
    """Whether a question goes is reckoned from the fits that are there, of the control too."""
    write(data, (without_style(i) for i in range(N)))  # or tries of a filter would agree, and there is no control
    meet(one=FakeServer(knows_nothing), two=FakeServer(has_opinions))
    small = replace(vote, judge="judge[one],judge[two],ngrams", tries=2, more_than=0, votes=1, folds=2)
    straight = refine(replace(small, out=tmp_path / "straight", **changed))
    with monkeypatch.context() as patched:
        patched.setattr("swag_af.refining.verb.write_refined", lambda *given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            refine(small)
    monkeypatch.setattr("swag_af.refining.voting.probe", lambda *given, **named: 1 / 0)
    refine(replace(small, **changed))
    assert straight.about.control is not None
    assert content_of(small.out) == content_of(tmp_path / "straight")


# ------------------------------------------------------------------------------------------------------------ luck


@given(st.integers(1, 6), st.floats(0.05, 0.95), st.integers(0, 7))
def test_the_tail_is_the_sum_over_all_outcomes(n: int, p: float, at_least: int) -> None:
    outcomes = itertools.product((0, 1), repeat=n)
    slow = sum(p ** sum(one) * (1 - p) ** (n - sum(one)) for one in outcomes if sum(one) >= at_least)
    assert float(tail(n, p, at_least)) == pytest.approx(slow, abs=1e-12)


def test_luck_of_published_recipes() -> None:
    assert luck_of_orders(np.full(3, 1 / 4), 5, 3).anew == pytest.approx(0.103515625)
    assert luck_of_orders(np.full(3, 1 / 5), 5, 3).anew == pytest.approx(0.05792)
    four = luck_of_votes(np.full(3, 1 / 4), 10, 6, 3, [False] * 4)
    assert four.anew == pytest.approx(4 * 0.0197277069**3 * (1 - 0.0197277069) + 0.0197277069**4)
    assert four.steady == pytest.approx(4 * 0.25**3 * 0.75 + 0.25**4)


@pytest.mark.parametrize("repeats", list(itertools.product((False, True), repeat=3)))
@pytest.mark.parametrize("votes", [1, 2, 3])
def test_luck_of_a_panel_is_what_guessers_come_to(votes: int, repeats: tuple[bool, ...]) -> None:
    rng = np.random.default_rng(votes)
    chance, n, at_least, draws = np.array([1 / 2, 1 / 4, 1 / 5]), 4, 3, 20_000
    right = rng.random((draws, len(chance), len(repeats), n)) < chance[:, None, None]
    right[:, :, list(repeats)] = right[:, :, list(repeats), :1]  # says the same in every try
    flagged = ((right.sum(axis=-1) >= at_least).sum(axis=-1) >= votes).mean()
    found = luck_of_votes(chance, n, at_least, votes, repeats)
    assert found.anew == pytest.approx(flagged, abs=0.01)  # 5 standard errors
    assert luck_of_votes(chance, n, at_least, votes, [True] * 3).anew == pytest.approx(found.steady)


@pytest.mark.parametrize(
    ("shares", "expected"), [([0, 1, 0], 1), ([1, 0, 0], 0), ([0.5, 0.5, 0], 0.5), ([1 / 3] * 3, 1 / 3)]
)
def test_ties_are_shared(shares: list[float], expected: float) -> None:
    assert hit(Verdict(np.arange(3), np.array(shares), ""), 1) == pytest.approx(expected)


# ------------------------------------------------------------------------------------------------------- rewriting


def wanted(n: int = 2, reason: str = "It is longest.") -> Wanted:
    return Wanted(Instance("q", "What is it?", ("a red barn", "a cat", "a dog"), 0), n, 1, reason)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["a cow", "a pig"]', ("a cow", "a pig")),
        ('["a cow", "a pig", "a hen"]', ("a cow", "a pig")),
        ("1. a cow\n2. a pig", ("a cow", "a pig")),
        ('["a red barn", "a cow", "a pig"]', ("a cow", "a pig")),
        ('["a cow", "A cow."]', ()),
        ("I'm sorry, I can't.", ()),
        ("", ()),
    ],
)
def test_what_can_be_used_is_kept(text: str, expected: tuple[str, ...]) -> None:
    assert sifted(text, wanted()) == expected


def test_no_rule_holds_for_wrong_answers_alone() -> None:
    """Where gold is a piece of the passage, or reads as a refusal, wrong answers that may be neither gave it away."""
    passage = "A red barn stands on the hill behind the old mill."
    of = Instance("q", passage, ("A red barn stands on the hill", "a cat", "a dog"), 0)
    echo = '["on the hill behind the old mill", "a cow"]'
    assert sifted(echo, Wanted(of, 2, 1, "long")) == ("on the hill behind the old mill", "a cow")
    declines = Instance("q", "She says:", ("I can't come.", "Come in.", "Go."), 0)
    assert sifted('["Stay.", "Wait."]', Wanted(declines, 2, 1, "long")) == ()


def test_added_options_are_others_than_those_there() -> None:
    assert sifted('["a cat", "a cow", "a pig"]', wanted(reason="")) == ("a cow", "a pig")


def test_the_rewriter_is_told_all_it_needs() -> None:
    for part in ("What is it?", "Right: a red barn", "Wrong: a cat", "Wrong: a dog", "It is longest.", "Write 2"):
        assert part in wanted().prompt


# --------------------------------------------------------------------------------------------- cost, faults, words


def test_a_dry_run_asks_nobody_and_writes_nothing(options: RefineOptions, meet: Meet) -> None:
    servers = meet(blind=FakeServer(), writer=FakeServer())
    found = costs(options)
    assert found[0].n_requests == 5 * N
    lines = refined_lines(replace(options, dry_run=True))
    assert any(f"{5 * N:,}" in line for line in lines)
    assert not servers["blind"].prompts
    assert not options.out.exists()


def test_prices_give_money(options: RefineOptions, meet: Meet, tmp_path: Path) -> None:
    meet(blind=FakeServer(), writer=FakeServer())
    (tmp_path / "p.toml").write_text('["m"]\nprompt = 1.0\nanswer = 2.0\n')
    judge = JudgeFilter(url="blind", model="m", prices=str(tmp_path / "p.toml"))
    (first, *_) = estimate(options, read_instances(options.data), [JudgeVoter(judge, "judge[blind]")], None)
    answers = 5 * N * judge.max_tokens
    assert first.money == pytest.approx(((first.tokens - answers) + 2 * answers) / 1e6, abs=1e-4)


@pytest.mark.parametrize("more", ["", '["x"]\nprompt = 3.0\nanswer = 2.0\n'])
def test_a_model_that_is_not_named_has_the_only_price(options: RefineOptions, tmp_path: Path, more: str) -> None:
    """It was asked for by an empty name."""
    (tmp_path / "p.toml").write_text('["m"]\nprompt = 1.0\nanswer = 2.0\n' + more)
    dear = replace(options, judge=f"judge[http://h:1,prices={tmp_path / 'p.toml'}]", rewriter="", dry_run=True)
    if more:
        with pytest.raises(InputError, match=r"has prices of m, x, and no model is named. .*model=NAME\."):
            costs(dear)
        dear = replace(dear, judge=dear.judge[:-1] + ",model=m]")
    assert costs(dear)[0].money == pytest.approx((costs(dear)[0].tokens + 5 * N * 16) / 1e6, abs=1e-4)


VOTE = {"recipe": "mmmu-pro", "judge": "ngrams,chars", "rewriter": ""}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"judge": "ngrams"}, "gives reasons"),
        ({"judge": ""}, "--judge: none given"),
        ({"judge": "judge[blind,by=yes]"}, "Leave by and orders out"),
        ({"judge": "judge[blind,orders=3]"}, "Leave by and orders out"),
        ({"judge": "judge[blind],ngrams"}, "one, for cinepile"),
        ({"degenerate_at": 6}, "--degenerate-at 6"),
        ({"rewriter": ""}, "--rewriter: none given"),
        ({"rewriter": "endpiont[writer]"}, "Did you mean endpoint"),
        ({"recipe": "mmmu-pro"}, "two to four"),
        ({"to_options": 10}, "only with --recipe mmmu-pro"),
        ({"tries": 9, "votes": 1}, "--tries: only with --recipe mmmu-pro; --votes: only with --recipe mmmu-pro"),
        ({"more_than": 4}, "--more-than: only with --recipe mmmu-pro"),
        ({**VOTE, "unmended": "flag"}, "--unmended: only with --recipe cinepile"),
        (
            {**VOTE, "orders": 6, "degenerate_at": 2},
            "--orders: only with --recipe cinepile; --degenerate-at: only with --recipe cinepile",
        ),
        ({**VOTE, "rounds": 1}, "--rounds: only with --recipe cinepile"),
        ({**VOTE, "rewriter": "endpoint[writer]"}, "--rewriter: mmmu-pro has use for one only with --to-options"),
        ({"rounds": 0, "orders": 0}, "--orders 0: at least 1; .*--rounds 0"),
    ],
)
def test_faults_are_told_in_one_line(options: RefineOptions, meet: Meet, given: dict[str, object], said: str) -> None:
    meet(blind=FakeServer(refuses), writer=FakeServer())
    with pytest.raises(InputError, match=said) as caught:
        refine(replace(options, **given))
    assert "\n" not in str(caught.value)
    assert not options.out.exists()


def test_texts_with_classes_are_refused(options: RefineOptions, meet: Meet, tmp_path: Path) -> None:
    meet(blind=FakeServer(refuses), writer=FakeServer())
    path = tmp_path / "pairs.jsonl"
    rows = [{"premise": f"p {i}", "hypothesis": f"h {i}", "label": ("yes", "no")[i % 2]} for i in range(8)]
    write(path, rows)
    with pytest.raises(InputError, match="questions with options"):
        refine(replace(options, data=(path,)))


def test_nothing_is_left_where_every_question_is_flagged(options: RefineOptions, meet: Meet, data: Path) -> None:
    rows = [row for i, row in enumerate(map(json.loads, data.read_text().splitlines())) if i % 2]
    write(data, rows)
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer())
    with pytest.raises(InputError, match=r"none would be left. .*, or --unmended flag\."):
        refine(options)
    assert refine(replace(options, unmended="flag")).about.n_kept == N // 2
    with pytest.raises(InputError, match=r"finished with other unmended \(flag, now drop\)"):
        refine(options)


def test_what_is_printed_has_luck_control_and_audits(options: RefineOptions, meet: Meet) -> None:
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=marks_all))
    said = "\n".join(refined_lines(replace(options, audit_models="ngrams", folds=2)))
    assert "Flagged as they were: 12 of 24, 50.0 %" in said.replace("50.0%", "50.0 %")
    assert "By luck alone: 10.4%" in said
    assert "Round 1: 12 flagged, 12 written anew, 12 not flagged any more" in said
    assert "as they were: 12 of 12" in said
    assert "as they are now: 0 of 12" in said
    assert "ngrams, 24 questions that both have: difference" in said


def test_a_folder_is_shown(options: RefineOptions, meet: Meet, tmp_path: Path) -> None:
    meet(blind=FakeServer(knows_style(MARK)), writer=FakeServer(writes=marks_all))
    refine(options)
    shown = show(ShowOptions(options.out, n=1))
    assert shown.startswith(f"{options.out}: refine\n\nquestions: 24 questions")
    assert "q1, round 1, not flagged; the judge had said:" in shown
    (tmp_path / "begun" / "refining").mkdir(parents=True)
    (tmp_path / "begun" / "refining" / "begun.json").write_text("{}")
    assert "not finished" in show(ShowOptions(tmp_path / "begun"))


@pytest.mark.parametrize(("content", "said"), [("{", "refine.json"), ('{"format": 1, "kind": "refine"}', "name")])
def test_a_damaged_record_is_a_line(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "refine.json").write_text(content)
    with pytest.raises(SwagAfError, match=said):
        open_refined(tmp_path)


def test_what_voted_falls_by_construction_and_is_told(vote: RefineOptions, meet: Meet) -> None:
    meet(one=FakeServer(knows_style(MARK)))
    small = replace(vote, judge="judge[one],ngrams", tries=1, more_than=0, folds=2, audit_models="ngrams,chars")
    said = "\n".join(refined_lines(small))
    assert "ngrams (voted)," in said
    assert "chars," in said
    assert "What voted falls by construction" in said
