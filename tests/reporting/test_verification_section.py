"""Claims about what a report says of the people who judged."""

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import HashFilter, make_pool
from judged import judged_options, make_run, say
from test_report import Page

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.cli.main import main
from swag_af.cli.parsing import parse
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run, open_run
from swag_af.judging.agreement import agreement_rows, distribution_rows, measure
from swag_af.judging.screening import screened
from swag_af.judging.verdicts import RATINGS, Item, Verdict, judge, make_items, write_verdicts
from swag_af.releasing.dataset import assemble
from swag_af.releasing.options import ReleaseOptions
from swag_af.reporting.options import ReportOptions
from swag_af.reporting.sections.verification import N_JUDGED, how_to_include, verification_of
from swag_af.reporting.verb import report


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two iterations on disk."""
    return make_run(tmp_path_factory.mktemp("judged"))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quickly(monkeypatch)


def quickly(patch: pytest.MonkeyPatch) -> None:
    """Without the curve, which test_report.py draws, and with few steps of the models of annotators, which
    test_consensus.py is about: they take most of the time."""
    patch.setattr("swag_af.reporting.verb.plot_run", lambda run, folder: [])
    if importlib.util.find_spec("crowdkit"):
        from few_steps import fit_in_fewer_steps

        fit_in_fewer_steps(patch, 25)


CROWD = ("ann-of-the-crowd", "bob-of-the-crowd", "eve-who-hates-gold")


def crowd(run: Run) -> list[Verdict]:
    """Two good annotators, on items that they share, and one who is to be screened out."""
    items = make_items(run.assignment(), seed=0)[:40]
    good = [replace(v, annotator=name) for i, name in enumerate(CROWD[:2]) for v in say(items, "x", seed=i, gold=6)]
    bad = [replace(v, annotator=CROWD[2]) for v in say(items, "x", seed=3, gold=0.01)]
    assert screened([*good, *bad]) == {CROWD[2]}
    return [*good, *bad]


def written(path: Path, run: Run, verdicts: list[Verdict]) -> Path:
    write_verdicts(path, verdicts, run.pool.identity)
    return path


def page_of(run: Run, folder: Path, verdicts: list[Verdict], **options) -> Page:
    """The report with these verdicts."""
    path = written(folder / "verdicts.jsonl", run, verdicts)
    made = report(ReportOptions(run.path, folder / "page.html", verdicts=(path,), force=True, **options))
    return Page(made.read_text(encoding="utf-8"))


def section_of(folder: Path) -> str:
    """The HTML of the section."""
    text = (folder / "page.html").read_text(encoding="utf-8")
    return text.partition('<section id="people">')[2].partition("</section>")[0]


@pytest.fixture(scope="module")
def crowded(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page of the crowd."""
    folder = tmp_path_factory.mktemp("crowded")
    with pytest.MonkeyPatch.context() as patch:
        quickly(patch)
        page_of(run, folder, crowd(run))
    return folder


def test_without_verdicts_there_is_no_such_section(run: Run, tmp_path: Path) -> None:
    page = Page(report(ReportOptions(run.path, tmp_path / "page.html")).read_text(encoding="utf-8"))
    assert "people" not in [attributes.get("id") for _, attributes in page.elements]
    assert "What people said" not in page.words


def test_the_section_is_linked_from_the_head(crowded: Path) -> None:
    page = Page((crowded / "page.html").read_text(encoding="utf-8"))
    assert "#people" in [link["href"] for link in page.of("a")]
    assert "What people said" in page.words


def test_table_2_and_agreement_are_those_of_the_verdicts_that_count(run: Run, crowded: Path) -> None:
    found = measure([verdict for verdict in crowd(run) if verdict.annotator != CROWD[2]])
    cells = [" ".join(re.sub("<[^>]*>", " ", row).split()) for row in section_of(crowded).split("</tr>")]
    for row in [*distribution_rows(found)[1:], *agreement_rows(found)[1:]]:
        said = " ".join(" ".join(row).split())
        assert any(said.replace("'", "&#x27;") in cell for cell in cells), said


def test_of_a_matching_nothing_is_called_found_or_generated_but_in_the_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right answers of other questions were called generated, beside figures that are of six endings."""
    quickly(monkeypatch)
    run = make_run(tmp_path)
    said = {"weight": 0.1, "relevance": "tfidf", "similarity": "lexical", "said": [], "cautions": []}
    write_json(run.path / "manifest.json", read_json(run.path / "manifest.json") | {"matching": said})
    verdicts = [
        replace(v, item=replace(v.item, columns=v.item.columns[:4]), ratings=v.ratings[:4], best=0, second=1)
        for v in crowd(run)
    ]
    page = page_of(open_run(run.path), tmp_path, verdicts)
    section = section_of(tmp_path).replace('paper, of six endings: found</th><th scope="col">generated', "")
    assert "generated" not in section
    assert "right, ranked best" in section
    assert "rings: Table 2 of the paper, of six endings" in section
    assert "in the paper, of six endings)" in page.words


@pytest.mark.parametrize(("drawn", "called"), [({}, ("right", "wrong")), ({"n_draws": 9}, ("found", "generated"))])
def test_only_what_was_generated_is_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drawn: dict[str, int], called: tuple[str, str]
) -> None:
    """Texts of one's own were called generated."""
    quickly(monkeypatch)
    run = make_run(tmp_path)
    manifest = tmp_path / "pool" / "manifest.json"
    write_json(manifest, read_json(manifest) | drawn)
    page_of(open_run(run.path), tmp_path, crowd(run))
    section = section_of(tmp_path).replace('paper: found</th><th scope="col">generated', "")
    assert f"{called[0]}, ranked best" in section
    assert f"{called[1]}, ranked best before gold" in section
    assert ("generated" in section) == ("generated" in called)


def test_screening_can_be_left_out(run: Run, tmp_path: Path) -> None:
    verdicts = crowd(run)
    for screen, n in ((True, 80), (False, 120)):
        page_of(run, tmp_path, verdicts, screen=screen)
        counts = re.findall(r"<dt>verdicts that count</dt><dd>(\d+)", section_of(tmp_path))
        assert counts == [str(n)]


def test_annotators_are_counted_and_not_named(crowded: Path) -> None:
    page = Page((crowded / "page.html").read_text(encoding="utf-8"))
    assert "annotators</dt><dd>3</dd>" in section_of(crowded)
    assert "<dt>of them screened out</dt><dd>1</dd>" in section_of(crowded)
    assert not [name for name in CROWD if name in str(page.elements) + page.words]


def test_every_annotator_has_a_bar_with_items_and_gold_the_highest_first(run: Run, crowded: Path) -> None:
    verdicts = crowd(run)
    chart = section_of(crowded).partition("Each annotator")[2].partition("</figure>")[0]
    titles = re.findall(r"<title>(\d+) of (\d+) items", chart)
    n_gold = [sum(v.gold_in_top2 for v in verdicts if v.annotator == name) for name in CROWD]
    assert titles == [(str(n), "40") for n in sorted(n_gold, reverse=True)]
    assert chart.count("screened out</title>") == 1


@pytest.mark.parametrize("judge_name", ["majority", "dawid-skene"])
def test_what_becomes_of_the_contexts_is_what_release_makes_of_them(run: Run, tmp_path: Path, judge_name) -> None:
    refilled = [replace(v, item=replace(v.item, round=1)) for v in crowd(run)[:5]]
    path = written(tmp_path / "verdicts.jsonl", run, [*crowd(run), *refilled])
    verified = verification_of(run, ReportOptions(run.path, verdicts=(path,), judge=judge_name))
    dataset = assemble(run, ReleaseOptions(run.path, verdicts=(path,), judge=judge_name, val_share=0.4, test_share=0.2))
    *found, generated = verified.questions.values()
    *left_out, gibberish = verified.left_out.values()
    assert sum(found) == len(dataset.questions) - dataset.n_generated
    assert left_out == list(dataset.left_out.values())
    assert generated + gibberish == dataset.n_generated + sum(dataset.second_left_out.values())
    assert sum(found) + sum(left_out) == len(run.pool)
    assert min(sum(found), generated) > 0


def test_where_people_are_shown_fewer_endings_the_questions_have_fewer_distractors(tmp_path: Path) -> None:
    """By three distractors no context made a question, where `release --n-distractors 2` made all of them."""
    pool = make_pool(n=20).save(tmp_path / "pool")
    run = filter_pool(pool, HashFilter(), AFOptions(iterations=1, n_negatives=3), out=tmp_path / "run")
    verdicts = say(make_items(run.assignment(), seed=0), "a", gold=6)
    page_of(run, tmp_path, verdicts)
    paths = (tmp_path / "verdicts.jsonl",)
    verified = verification_of(run, ReportOptions(run.path, verdicts=paths))
    *left_out, _ = verified.left_out.values()
    dataset = assemble(run, ReleaseOptions(run.path, verdicts=paths, n_distractors=2))
    assert left_out == list(dataset.left_out.values())
    assert "as swag-af release --n-distractors 2 applies them" in section_of(tmp_path)


def test_a_dozen_judged_questions_are_shown_from_best_to_least_likely(crowded: Path) -> None:
    articles = re.findall("<article>.*?</article>", section_of(crowded), flags=re.DOTALL)
    assert len(articles) == N_JUDGED
    for article in articles:
        assert article.count('class="gold"') == 1
        said = re.findall(r'<span class="said (\w+)">([^<]+)</span>', article)
        assert len(said) == 6
        assert [words for _, words in said] == [
            f"best, {said[0][0]}",
            f"second best, {said[1][0]}",
            *(rating for rating, _ in said[2:]),
        ]
        places = [RATINGS.index(rating) for rating, _ in said[2:]]
        assert places == sorted(places)


def test_a_judged_ending_has_the_rating_that_the_judgement_gives_it(run: Run, tmp_path: Path) -> None:
    item = make_items(run.assignment(), seed=0)[0]
    verdict = Verdict(item, "a", ("unlikely", "likely", "gibberish", "likely", "unlikely", "unlikely"), 3, 0)
    page_of(run, tmp_path, [verdict])
    rows = re.findall(r"<li.*?</li>", section_of(tmp_path).partition("<article>")[2], flags=re.DOTALL)
    (judgement,) = judge([verdict])
    shown = {re.findall("<bdi>(.*?)</bdi>", row)[0]: re.findall(r'said (\w+)"', row)[0] for row in rows}
    assert shown == {run.pool.text(0, c): r for c, r in zip(item.columns, judgement.ratings, strict=True)}
    assert "second best, unlikely" in rows[1]
    assert 'class="gold"' in rows[1]


def test_an_item_makes_a_question_where_release_makes_it_of_that_one(run: Run, tmp_path: Path) -> None:
    """Of two sets of endings that were shown with one context both were said to make a question, and none did."""
    columns = run.assignment()[0].tolist()
    first, other = Item(0, tuple(columns[:5])), Item(0, (0, *columns[5:9]))
    verdicts = [Verdict(first, "a", ("likely",) * 5, 0, 1), Verdict(other, "b", ("likely",) * 5, 2, 3)]
    page_of(run, tmp_path, verdicts, screen=False)
    assert "makes a question" not in section_of(tmp_path).replace("round that makes a question", "")


def test_a_few_verdicts_of_one_person_make_a_whole_page(run: Run, tmp_path: Path) -> None:
    page = page_of(run, tmp_path, say(make_items(run.assignment(), seed=0)[:2], "a"))
    assert page.faults == []
    assert "No item was judged twice" in page.words
    assert "not defined" in page.words
    assert not re.search(r"\b(nan|inf|None)\b", section_of(tmp_path))


def test_a_worker_model_stands_beside_the_majority(run: Run, crowded: Path, tmp_path: Path) -> None:
    assert '>majority</th><th scope="col">dawid-skene<' in section_of(crowded)
    assert ">mace<" in section_with(run, tmp_path, judge="mace")


def section_with(run: Run, folder: Path, **options) -> str:
    page_of(run, folder, crowd(run), **options)
    return section_of(folder)


def test_without_crowd_kit_the_majority_stands_alone_and_says_why(run: Run, tmp_path: Path, monkeypatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "crowdkit" else find(name))
    section = section_with(run, tmp_path)
    assert "dawid-skene" not in section
    assert "the extra `verify`" in section


def test_several_files_say_what_one_says(run: Run, crowded: Path, tmp_path: Path) -> None:
    verdicts = crowd(run)
    paths = [written(tmp_path / f"{i}.jsonl", run, part) for i, part in enumerate((verdicts[:50], verdicts[50:]))]
    report(ReportOptions(run.path, tmp_path / "page.html", verdicts=tuple(paths), force=True))
    assert section_of(tmp_path) == section_of(crowded)


def test_the_same_verdicts_give_the_same_bytes(run: Run, crowded: Path, tmp_path: Path) -> None:
    assert section_with(run, tmp_path) == section_of(crowded)


def test_verdicts_of_another_run_are_refused_before_anything_is_written(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    write_verdicts(path, crowd(run), "another")
    with pytest.raises(InputError, match="another pool"):
        report(ReportOptions(run.path, tmp_path / "page.html", verdicts=(path,)))
    assert not (tmp_path / "page.html").exists()


def test_the_iteration_that_people_were_shown_can_be_named(run: Run, tmp_path: Path) -> None:
    row = int((run.start != run.assignment()).any(axis=1).argmax())
    verdicts = say([Item(row, tuple(run.start[row].tolist()))], "a")
    with pytest.raises(InputError, match="--iteration"):
        page_of(run, tmp_path, verdicts)
    assert page_of(run, tmp_path, verdicts, iteration=0).faults == []


def test_the_rules_of_judging_are_for_verdicts_only() -> None:
    with pytest.raises(InputError) as caught:
        ReportOptions(Path("run"), judge="mace", screen=False, iteration=3)
    for flag in ("--judge", "--no-screen", "--iteration"):
        assert f"{flag}: only with --verdicts" in str(caught.value)


def test_hostile_endings_and_names_do_nothing(tmp_path: Path) -> None:
    contexts = [replace(context, gold=f"<u>gold</u> {i}") for i, context in enumerate(make_pool().contexts)]
    evil = "</bdi></li></ol><script>alert(1)</script>"
    pool = CandidatePool.from_texts(contexts, [[f"{evil} {k}" for k in range(8)]] * len(contexts), tagger="rules")
    pool.save(tmp_path / "pool")
    options = AFOptions(iterations=1, n_negatives=5)
    filter_pool(CandidatePool.open(tmp_path / "pool"), HashFilter(), options, out=tmp_path / "run")
    run = open_run(tmp_path / "run")
    page = page_of(run, tmp_path, [replace(v, annotator=evil) for v in say(make_items(run.assignment(), seed=0), "a")])
    assert page.faults == []
    assert not {tag for tag, _ in page.elements} & {"script", "u"}
    assert "<script>alert(1)</script>" in page.words


# ------------------------------------------------------------------------------------------------- how to include them


@pytest.fixture
def asked(tmp_path: Path) -> Run:
    """A run whose endings people have judged at `verify serve`."""
    run = make_run(tmp_path / "a run")
    (run.path / "verification").mkdir()
    (run.path / "verification" / "answers.db").touch()
    return run


def test_collected_answers_that_are_not_given_are_pointed_at(asked: Run, capsys: pytest.CaptureFixture[str]) -> None:
    main(["report", str(asked.path)])
    command = how_to_include(asked.path)
    assert command in capsys.readouterr().out
    assert command in Page((asked.path / "report.html").read_text(encoding="utf-8")).words


def test_the_commands_pointed_at_are_commands(asked: Run) -> None:
    import shlex

    exporting, reporting = (parse(shlex.split(part)[1:]) for part in how_to_include(asked.path).split(" && "))
    assert (exporting.run, exporting.to) == (asked.path, "verdicts")
    assert reporting == ReportOptions(asked.path, verdicts=(exporting.out,))


def test_verdicts_that_are_given_need_no_pointing_at(asked: Run, tmp_path: Path, capsys) -> None:
    path = judged_options(asked, tmp_path).verdicts[0]
    main(["report", str(asked.path), "--verdicts", str(path)])
    assert "verify export" not in capsys.readouterr().out
    assert "verify export" not in (asked.path / "report.html").read_text(encoding="utf-8")


def test_a_run_that_nobody_judged_points_at_nothing(run: Run) -> None:
    assert how_to_include(run.path) is None
    assert how_to_include(None) is None
