"""Claims about the report: a whole, harmless page that says what the run says, whatever its texts hold."""

import itertools
import json
import re
import shlex
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from conftest import FeatureFilter, HashFilter, make_contexts_of, make_pool
from judged import judged_options

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions, FilterOptions
from swag_af.auditing.runs.audit import AuditPlan, audit_run
from swag_af.cli.parsing import parse
from swag_af.cli.runs.filtering import run_filter
from swag_af.data.context import Context
from swag_af.data.disk.files import read_log
from swag_af.data.errors import InputError
from swag_af.data.pool.folder import FEATURES
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run, open_run
from swag_af.reporting.charts import Frame, escape, ticks
from swag_af.reporting.options import ReportOptions
from swag_af.reporting.plot import ends, plot_run
from swag_af.reporting.sections.endings import N_OPEN, _edges
from swag_af.reporting.sections.provenance import command_of
from swag_af.reporting.sections.verification import verification_of
from swag_af.reporting.tables.markdown import markdown_table
from swag_af.reporting.tables.text import accuracy_rows, run_lines
from swag_af.reporting.verb import REPORT, report, write_report

SIX = AFOptions(iterations=6, n_negatives=4, seed=5)
VOID = {"meta", "link", "img", "br", "hr", "input", "path", "rect"}
"""Elements without an end tag; of SVG, those that we close in place or that hold nothing."""


class Page(HTMLParser):
    """Every element with its attributes, and the text that a reader sees; `faults` are tags that do not match."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text: list[str] = []
        self.faults: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is left open" for tag in self._open]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attributes}))
        if tag not in VOID or tag in ("path", "rect"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attributes}))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> ends nothing")

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] not in ("style", "script"):
            self.text.append(data)

    def of(self, tag: str) -> list[dict[str, str]]:
        """The attributes of every element of this name."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def words(self) -> str:
        """All that is read, on one line."""
        return " ".join("".join(self.text).split())


def page_of(run: Run, path: Path, **options) -> Page:
    write_report(run, path / "page.html", **options)
    return Page((path / "page.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def audited(pool: CandidatePool, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two phases on disk, with audits of one fresh filter and of one that took part."""
    run = filter_pool(pool, [(HashFilter(), 3), (Longest(), 3)], SIX, out=tmp_path_factory.mktemp("runs") / "run")
    audit_run(run, AuditPlan([0, 3, 6], [FeatureFilter(), HashFilter()], n_folds=3))
    return run


class Longest(HashFilter):
    """A second filter, with a head of its own beside the one that decides."""

    name = "longest"

    def member_scores(self, view):
        return {"longest": self.score(view), "short": -view.lengths.astype(float)}


class WithHash(HashFilter):
    """A filter that has the first phase's in it."""

    name = "longest"

    def member_scores(self, view):
        scores = self.score(view)
        return {"hash": -scores, "longest": scores}


@pytest.mark.parametrize("last", [None, 4])
def test_a_filter_that_another_has_in_it_has_a_row_of_its_own(last: int | None):
    """The MLP's own turn, in which it rose, and its figures in the ensemble's stood in one row as a fall."""
    run = filter_pool(make_pool(), [(HashFilter(), 3), (WithHash(), 3)], SIX)
    found = [record.accuracy for record in run.log[:last]]
    alone, later = found[:3], found[3:]
    assert accuracy_rows(run, last)[1:] == [
        ("hash", "3", *(f"{record['hash']:.3f}" for record in (alone[0], alone[-1]))),
        ("longest", str(len(later)), *(f"{record['longest']:.3f}" for record in (later[0], later[-1]))),
        ("hash, in longest", str(len(later)), *(f"{record['hash']:.3f}" for record in (later[0], later[-1]))),
    ]


@pytest.fixture(scope="module")
def page(audited: Run, tmp_path_factory: pytest.TempPathFactory) -> Page:
    return page_of(audited, tmp_path_factory.mktemp("pages"))


def in_memory(**changes) -> Run:
    return filter_pool(make_pool(), HashFilter(), SIX, **changes)


# ------------------------------------------------------------------------------------------------------ well formed


def unfinished(folder: Path) -> Run:
    """Begun, and stopped before its first iteration ended."""

    class Stops(HashFilter):
        def fit(self, view, *, rng):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        filter_pool(make_pool(), Stops(), SIX, out=folder)
    return open_run(folder)


def without_features(folder: Path) -> Run:
    pool = CandidatePool.from_texts(
        make_contexts_of(10, n_videos=5), [["a b.", "c d e.", "f g h i."]] * 10, tagger="rules"
    )
    return filter_pool(pool, HashFilter(), AFOptions(iterations=3, n_negatives=2), out=folder)


def of_one_iteration(folder: Path) -> Run:
    return filter_pool(make_pool(), HashFilter(), AFOptions(iterations=1, n_negatives=3), out=folder)


def left_for_later(folder: Path) -> Run:
    """A run of words alone, on a pool whose likelihoods are computed on demand, and its language models gone."""
    make_pool().save(folder / "pool")
    table = folder / "pool" / "shards" / "00000" / "features.npy"
    features = np.load(table)
    features[:, :, 1:3] = np.nan
    np.save(table, features)
    manifest = json.loads((folder / "pool" / "manifest.json").read_text())
    manifest |= {"lazy_features": list(FEATURES[1:3]), "lms_path": "../lms"}
    (folder / "pool" / "manifest.json").write_text(json.dumps(manifest))
    return filter_pool(CandidatePool.open(folder / "pool"), HashFilter(), SIX, out=folder / "run")


RUNS = {
    "unfinished": unfinished,
    "without features": without_features,
    "of one iteration": of_one_iteration,
    "with features left for later": left_for_later,
    "in memory": lambda folder: in_memory(),
}


@pytest.fixture(params=[*RUNS, "audited", "judged"])
def any_page(request: pytest.FixtureRequest, tmp_path: Path, audited: Run) -> Page:
    if request.param == "judged":
        options = judged_options(audited, tmp_path)
        return page_of(
            audited, tmp_path, verified=verification_of(audited, ReportOptions(audited.path, verdicts=options.verdicts))
        )
    run = audited if request.param == "audited" else RUNS[request.param](tmp_path / "made")
    return page_of(run, tmp_path)


def test_every_tag_is_closed_in_order(any_page: Page) -> None:
    assert any_page.faults == []


def test_every_chart_has_words_for_who_cannot_see_it(any_page: Page) -> None:
    charts = [svg for svg in any_page.of("svg") if not svg.get("class", "").startswith("key")]
    assert charts
    assert all(chart["role"] == "img" and len(chart["aria-label"]) > 20 for chart in charts)
    assert len(any_page.of("figcaption")) == len(any_page.of("figure")) == len(charts)


def test_nothing_is_fetched_and_nothing_runs(any_page: Page) -> None:
    tags = {tag for tag, _ in any_page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form", "use", "image"}
    for _, attributes in any_page.elements:
        assert not [name for name in attributes if name.startswith("on")]
        assert not attributes.keys() & {"src", "srcset", "action", "data", "xlink:href"}
        assert attributes.get("href", "#").startswith("#")


def test_no_number_is_missing(any_page: Page) -> None:
    spoken = " ".join(value for tag, found in any_page.elements for value in found.values() if tag != "meta")
    assert not re.search(r"\b(nan|NaN|inf|None)\b", f"{any_page.words} {spoken}")


def test_links_lead_somewhere(any_page: Page) -> None:
    places = {attributes.get("id") for _, attributes in any_page.elements}
    assert {link["href"][1:] for link in any_page.of("a")} <= places


def test_headings_step_down_one_level_at_a_time(any_page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in any_page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_places_have_names_of_their_own(any_page: Page) -> None:
    names = [attributes["id"] for _, attributes in any_page.elements if "id" in attributes]
    assert len(names) == len(set(names))


def test_the_page_is_for_telephones_and_for_the_dark_too(page: Page, audited: Run, tmp_path: Path) -> None:
    write_report(audited, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "width=device-width" in text
    assert "prefers-color-scheme:dark" in text
    assert "://" not in text


# --------------------------------------------------------------------------------------------------- hostile words

EVIL = [
    "<script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "</bdi></li></ol><h1>mine</h1>",
    "rings \x00\x1b[31m the \u202ebell \ufffe.",
    "&lt;b&gt; &amp; <!-- goes -->",
]


class Evil(HashFilter):
    name = "<img src=x onerror=alert(1)>"


@pytest.fixture
def evil(tmp_path: Path) -> Run:
    contexts = [
        Context(f"<b>He</b> goes {i}.", "<i onclick=x>She", f"<u>gold</u> {EVIL[0]} {i}", video=f"<v{i % 3}>")
        for i in range(12)
    ]
    pool = CandidatePool.from_texts(contexts, [EVIL] * 12, tagger="rules")
    run = filter_pool(pool, Evil(), AFOptions(iterations=3, n_negatives=2), out=tmp_path / "run")
    audit_run(run, AuditPlan([0, 3], [Evil()]))
    return run


def test_hostile_words_are_shown_and_do_nothing(evil: Run, tmp_path: Path) -> None:
    page = page_of(evil, tmp_path)
    assert page.faults == []
    assert not {tag for tag, _ in page.elements} & {"script", "img", "b", "i onclick", "u"}
    assert not [a for _, a in page.elements if {"onmouseover", "onerror", "onclick"} & a.keys()]
    assert len(page.of("h1")) == 1
    for text in (EVIL[0], "<img src=x onerror=alert(1)>", "&lt;b&gt; &amp; <!-- goes -->"):
        assert text in page.words


def test_what_no_page_may_hold_is_replaced(evil: Run, tmp_path: Path) -> None:
    write_report(evil, tmp_path / "page.html")
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe]", (tmp_path / "page.html").read_text(encoding="utf-8"))
    assert escape("a\x00b\ud800\x1b") == "a\ufffdb\ufffd\ufffd"


def test_text_of_any_direction_keeps_to_itself(page: Page) -> None:
    assert len(page.of("bdi")) > 100


# -------------------------------------------------------------------------------------------------------- what it says


def test_twenty_questions_are_shown_before_and_after(page: Page) -> None:
    articles = [a for a in page.of("article") if a.get("class") == "question"]
    assert len(articles) == 20


def test_the_first_questions_are_open_and_the_others_unfold(audited: Run, tmp_path: Path) -> None:
    write_report(audited, tmp_path / "page.html", n_questions=12)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    seen, _, folded = text.partition('<section id="questions">')[2].partition("<details>")
    assert seen.count("<article") == N_OPEN
    assert f"<summary>{12 - N_OPEN} more</summary>" in folded


def test_no_more_questions_are_shown_than_there_are(audited: Run, tmp_path: Path) -> None:
    assert len(page_of(audited, tmp_path, n_questions=99).of("article")) == len(audited.pool)
    assert len(page_of(audited, tmp_path, n_questions=0).of("article")) == 0


def test_what_left_and_what_came_are_marked(audited: Run, tmp_path: Path) -> None:
    page = page_of(audited, tmp_path, n_questions=len(audited.pool))
    n_changed = int((audited.assignment() != audited.start).sum())
    kinds = [a.get("class") for _, a in page.elements]
    assert kinds.count("left") == kinds.count("came") == n_changed
    assert kinds.count("gold") == len(audited.pool)
    assert kinds.count("stays") == audited.start[:, 1:].size - n_changed


def test_every_head_and_every_audit_is_in_the_legend_of_the_curve(page: Page) -> None:
    for name in ("hash", "longest", "short", "feature, audit", "hash, audit"):
        assert name in page.words


def test_a_filter_that_took_part_is_no_fresh_eye(page: Page) -> None:
    assert "Fresh fits of feature, which took no part, find gold in" in page.words
    assert "Fresh fits of hash" not in page.words
    assert "hash (took part)" in page.words


def test_two_audits_of_one_iteration_are_not_before_and_after(tmp_path: Path) -> None:
    run = in_memory(out=tmp_path / "run")
    for n_folds in (2, 3):
        audit_run(run, AuditPlan([0], [FeatureFilter()], n_folds=n_folds))
    assert legend_of_ranks(run, tmp_path) == ["before filtering"]
    audit_run(run, AuditPlan([6], [FeatureFilter()], n_folds=2))
    assert legend_of_ranks(run, tmp_path) == ["before filtering", "after iteration 6"]


def legend_of_ranks(run: Run, folder: Path) -> list[str]:
    write_report(run, folder / "page.html")
    ranks = (folder / "page.html").read_text(encoding="utf-8").partition("rank among what is assigned")[2]
    return re.findall(r'<li><svg class="key bar-key".*?</svg>([^<]+)</li>', ranks.partition("</section>")[0])


def test_audits_are_read_once_for_a_page(audited: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    monkeypatch.setattr("swag_af.data.runs.findings.read_log", lambda path: read.append(path) or read_log(path))
    write_report(audited, tmp_path / "page.html")
    assert len(read) == 1


def test_the_curve_says_its_numbers(page: Page, audited: Run) -> None:
    spoken = page.of("svg")[0]["aria-label"]
    assert "6 iterations" in spoken
    assert "chance 20.0" in spoken


@pytest.mark.parametrize("iterations", [2, 6, 7, 12])
def test_sentence_and_table_say_the_same_accuracies(tmp_path: Path, iterations: int) -> None:
    run = filter_pool(make_pool(), HashFilter(), AFOptions(iterations=iterations, n_negatives=3))
    words = page_of(run, tmp_path).words
    accuracies = np.array([run.accuracy(i + 1) for i in range(iterations)])
    first, last = (f"{100 * mean:.1f} %" for mean in ends(accuracies))
    assert f"held-out accuracy from {first} to {last}" in words
    assert re.search(rf"{iterations} ?{first} ?{last}", words)


def test_hashes_and_options_are_there(page: Page, audited: Run) -> None:
    for text in (
        audited.pool.identity,
        audited.pool.vocabulary.sha256,
        "hash from iteration 1, longest from iteration 4",
    ):
        assert text in page.words


def test_features_of_a_generated_pool_have_their_names_and_others_numbers(tmp_path: Path) -> None:
    run = in_memory()
    assert "Feature 1" in page_of(run, tmp_path).words
    run.pool.manifest["feature_names"] = list(FEATURES)
    words = page_of(run, tmp_path).words
    assert "Ending given context, nats a token" in words
    assert "Feature 1" not in words


def test_a_feature_equal_within_every_row_is_not_drawn(tmp_path: Path) -> None:
    contexts = make_contexts_of(10, n_videos=5)
    features = [np.array([[i, j] for j in range(5)], np.float32) for i in range(10)]
    pool = CandidatePool.from_texts(contexts, [["a.", "b.", "c.", "d."]] * 10, features=features, tagger="rules")
    words = page_of(filter_pool(pool, HashFilter(), AFOptions(iterations=2, n_negatives=2)), tmp_path).words
    assert "Feature 2" in words
    assert "Feature 1" not in words


def test_features_that_cannot_be_computed_are_left_out_with_the_reason(tmp_path: Path) -> None:
    words = page_of(left_for_later(tmp_path / "made"), tmp_path).words
    assert "Perplexities are left out" in words
    assert "Feature" not in words


class Unlearned(HashFilter):
    """Its fits say that they learned nothing."""

    def fit_record(self) -> dict[str, object]:
        return {"converged": False}


def test_iterations_that_swapped_nothing_are_told(tmp_path: Path) -> None:
    """Accuracies of filters that had learned nothing stood there as if something had been done."""
    options = AFOptions(iterations=2, n_negatives=4)
    run = filter_pool(make_pool(np.random.default_rng(0)), Unlearned(), options, out=tmp_path / "run")
    told = "In 2 of 2 iterations fits learned nothing, so no ending was swapped there."
    assert told in run_lines(run)
    assert told in "".join(page_of(run, tmp_path / "page.html").text)
    again = filter_pool(run.pool, HashFilter(), options)
    assert not any("learned nothing" in line for line in run_lines(again))


def test_an_unfinished_run_says_so(tmp_path: Path) -> None:
    words = page_of(unfinished(tmp_path / "made"), tmp_path).words
    assert "No iteration is finished yet" in words
    assert "0 of 6" in words


def test_a_run_that_was_not_audited_says_how_to(tmp_path: Path) -> None:
    assert "swag-af audit" in page_of(of_one_iteration(tmp_path / "made"), tmp_path).words


def test_the_same_run_gives_the_same_bytes_but_for_its_timing(pool: CandidatePool, tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        run = filter_pool(pool, HashFilter(), SIX, out=tmp_path / name)
        audit_run(run, AuditPlan([0, 6], [FeatureFilter()]))
        run.timing[0] = replace(run.timing[0], seconds=run.timing[0].seconds + len(texts))
        write_report(run, tmp_path / f"{name}.html")
        text = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        texts.append(re.sub(r'<section id="timing">.*?</section>', "", text, flags=re.DOTALL))
    assert texts[0] == texts[1]


def test_only_what_is_assigned_is_read(audited: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []
    gather = CandidatePool.gather

    def watched(self, table, rows, columns=None):
        asked.append((table, self.n_candidates if columns is None else columns.shape[1]))
        return gather(self, table, rows, columns)

    monkeypatch.setattr(CandidatePool, "gather", watched)
    write_report(audited, tmp_path / "page.html")
    wide = {
        table for table, width in asked if width > audited.start.shape[1] and table in ("tokens", "features", "lengths")
    }
    assert asked
    assert wide == set()


def test_rows_read_some_at_a_time_make_the_same_page(audited: Run, tmp_path: Path, monkeypatch) -> None:
    write_report(audited, tmp_path / "one.html")
    monkeypatch.setattr("swag_af.reporting.sections.endings.ROWS_AT_ONCE", 7)
    write_report(audited, tmp_path / "two.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


# ---------------------------------------------------------------------------------------------- the verbs, the command


@pytest.mark.parametrize(
    "line",
    [
        "swag-af filter pool",
        "swag-af filter 'my pool' --out 'the run' --schedule mlp:3,bow:1 --audit none --iterations 9 --seed 4",
        "swag-af filter pool --audit-every 5 --rule released --scan full --until 0.05 --n-easy 1 --device cpu",
    ],
)
def test_the_command_shown_says_what_was_said(line: str) -> None:
    from dataclasses import asdict

    options = parse(shlex.split(line)[1:])
    shown = command_of(FilterOptions, "filter", json.loads(json.dumps(asdict(options), default=str)))
    assert parse(shlex.split(shown)[1:]) == options


def test_filter_leaves_a_report_with_its_command(
    pool_folder: Path, tmp_path: Path, fake_filters: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swag_af.reporting.verb.plot_run", lambda run, folder: [])
    run_filter(FilterOptions(pool_folder, tmp_path / "run", "hash:2", audit="feature", af=AFOptions(n_negatives=4)))
    page = Page((tmp_path / "run" / REPORT).read_text(encoding="utf-8"))
    assert f"swag-af filter {pool_folder} --out {tmp_path / 'run'} --schedule hash:2 --audit feature" in page.words
    assert "Fresh fits of feature, which took no part" in page.words


def test_in_the_run_the_curve_stands_beside_the_page_and_elsewhere_the_page_alone(audited: Run, tmp_path: Path) -> None:
    run = open_run(shutil.copytree(audited.path, tmp_path / "run", ignore=shutil.ignore_patterns("curve.*", REPORT)))
    write_report(run, tmp_path / "page.html")
    assert not list(tmp_path.rglob("curve.*"))
    write_report(run, run.path / REPORT)
    assert {path.name for path in run.path.glob("curve.*")} == {"curve.png", "curve.svg"}


def test_the_verb_writes_into_the_run_again_and_elsewhere_once(audited: Run, tmp_path: Path) -> None:
    run = Path(shutil.copytree(audited.path, tmp_path / "run"))
    assert report(ReportOptions(run)) == report(ReportOptions(run)) == run / REPORT
    out = report(ReportOptions(run, tmp_path / "page.html"))
    with pytest.raises(InputError, match="--force"):
        report(ReportOptions(run, out))
    assert report(ReportOptions(run, out, force=True)) == out
    with pytest.raises(InputError, match="read or written as something else"):
        report(ReportOptions(run, out, force=True, verdicts=(out,)))


# ------------------------------------------------------------------------------------------------------------ charts


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 0.07), (3, 25), (-2.5, 4), (0, 140), (1, 2)])
def test_ticks_are_few_round_and_inside(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 2 <= len(found) <= 9
    assert low - 1e-9 <= found.min()
    assert found.max() <= high + 1e-9
    np.testing.assert_allclose(np.diff(found), np.diff(found)[0])


def test_zero_is_written_without_a_sign() -> None:
    assert "-0" not in [f"{v:g}" for v in ticks(0, 0.4)]


def test_points_outside_a_frame_are_put_on_its_edge() -> None:
    frame = Frame((0, 10), (0, 1), "", "", (), ())
    assert frame.at(5, 0.25) == (500, 750)
    assert frame.at(-3, 7) == (0, 0)


@pytest.mark.parametrize("longest", [12, 59, 60, 74, 300])
def test_every_bin_of_counts_has_as_many_numbers(longest: int) -> None:
    values = np.arange(3, longest + 1)
    edges = _edges(np.repeat(values, 4), is_count=True)
    widths = set(np.diff(edges).tolist())
    assert len(widths) == 1
    assert widths <= set(range(1, 30))
    assert set((edges % 1).tolist()) == {0.5}
    assert edges[0] < values[0] + 2
    assert len(edges) < 62


def test_a_cell_with_line_breaks_stays_one_row() -> None:
    assert markdown_table([("a", "b"), ("no\nway", "1")])[2] == "| no way | 1 |"


def test_audits_of_a_run_without_iterations_are_in_the_legend(audited: Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(audited.path or "", folder)
    (folder / "log.jsonl").write_text("")
    plot_run(open_run(folder), tmp_path)
    assert "legend_1" in (tmp_path / "curve.svg").read_text(encoding="utf-8")
