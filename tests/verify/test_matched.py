"""Claims about people and matchings: a real server, answers over HTTP, the lambda recommended, the dataset released."""

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import httpx
import pytest
from test_load import free_port, served
from verify_people import TOKEN, Browser, make_client, make_desk

from swag_af.cli.main import main
from swag_af.data.disk.files import read_json, write_jsonl
from swag_af.data.disk.manifests import read_manifest
from swag_af.data.runs.run import Run, open_run
from swag_af.judging.verdicts import MEANINGS_OF_ANSWERS, read_verdicts
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.verb import release
from swag_af.verify.exchange.tasks import BRIEF, BRIEF_OF_QUESTIONS
from tests.matching.test_work import made

pytestmark = pytest.mark.slow

N_ROWS, WEIGHTS = 200, (0.01, 1.0)
Chosen = Callable[[str, list[str]], tuple[int, int]]
"""`chosen(scene, endings)`: the places of the best and the second best of the endings that a page shows."""


def people(address: str, n: int, chosen: Chosen, *, name: str = "ann") -> None:
    """One person who judges `n` items of the server at `address`, without a script."""
    with httpx.Client(base_url=address, follow_redirects=True, timeout=20) as client:
        person = Browser(client, name).begin()
        for _ in range(n):
            scene = unescape(re.findall(r'id="scene"[^>]*>(.*?)</h1>', person.page)[0]).lower()
            best, second = chosen(scene, person.endings)
            answer = person.send(ratings=("likely",) * len(person.endings), best=best, second=second)
            assert answer.status_code == 200


def verdicts_of(address: str, path: Path) -> Path:
    """What the admin page exports, in a file."""
    headers = {"authorization": f"Bearer {TOKEN}"}
    path.write_text(httpx.get(f"{address}/admin/verdicts.jsonl", headers=headers).text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "rows.jsonl"
    rows = [{"query": i.query, "response": i.response, "group": i.context.video} for i in made(N_ROWS).rows]
    write_jsonl(path, rows)
    return path


def gold_of(run: Run) -> dict[str, str]:
    """The right answer of each question; pages show the question with a capital."""
    return {context.sent1: context.gold for context in run.pool.contexts}


def test_people_judge_a_sweep_and_the_lambda_that_they_solve_is_recommended(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are right at the larger lambda, and in every third question at the smaller."""
    out = tmp_path / "sweep"
    command = ["match", str(data), "--out", str(out), "--relevance", "tfidf", "--folds", "2", "--shown", "6"]
    command += ["--sweep", *map(str, WEIGHTS)]
    main(command)
    assert "--min-gold-share 0" in capsys.readouterr().out
    run = open_run(out / "people" / "run")
    gold, weights = gold_of(run), read_json(out / "people.json")["weights"]
    weight_of = dict(zip((context.sent1 for context in run.pool.contexts), weights, strict=True))
    n_asked = dict.fromkeys(WEIGHTS, 0)

    def chosen(scene: str, endings: list[str]) -> tuple[int, int]:
        right, weight = endings.index(gold[scene]), weight_of[scene]
        n_asked[weight] += 1
        is_right = weight == 1.0 or n_asked[weight] % 3 == 0
        return (right, (right + 1) % 4) if is_right else ((right + 1) % 4, (right + 2) % 4)

    port = free_port()
    assert run.path is not None
    with served(run.path, port, "--min-gold-share", 0):
        people(f"http://127.0.0.1:{port}", 12, chosen)
        verdicts = verdicts_of(f"http://127.0.0.1:{port}", tmp_path / "verdicts.jsonl")
    assert n_asked == dict.fromkeys(WEIGHTS, 6)
    main([*command, "--verdicts", str(verdicts)])
    said = capsys.readouterr().out
    assert "The smallest lambda at which people are right in 90% or more is 1;" in said
    record = read_json(out / "sweep.json")
    assert record["recommended"] == 1.0
    assert [(point["people"]["value"], point["people"]["n"]) for point in record["points"]] == [
        (pytest.approx(1 / 3), 6),
        (1.0, 6),
    ]
    assert (out / "sweep.svg").read_text(encoding="utf-8").count("<!-- people -->") == 1


@pytest.fixture(scope="module")
def judged(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    """A matched run of which a person judged 36 questions: in every fourth a wrong answer is best, gold second."""
    folder = tmp_path_factory.mktemp("judged")
    main(["match", str(data), "--out", str(folder / "matched"), "--relevance", "tfidf", "--folds", "6"])
    run = open_run(folder / "matched" / "run")
    gold, port, n = gold_of(run), free_port(), iter(range(36))

    def chosen(scene: str, endings: list[str]) -> tuple[int, int]:
        right, other = endings.index(gold[scene]), (endings.index(gold[scene]) + 1) % 4
        return (other, right) if next(n) % 4 == 0 else (right, other)

    assert run.path is not None
    with served(run.path, port):
        people(f"http://127.0.0.1:{port}", 36, chosen)
        verdicts = verdicts_of(f"http://127.0.0.1:{port}", folder / "verdicts.jsonl")
    return run, verdicts


def test_a_matching_that_people_judged_is_released_with_all_its_wrong_answers(
    judged: tuple[Run, Path], tmp_path: Path
) -> None:
    run, path = judged
    verdicts = read_verdicts(path, run.pool.identity)
    assert run.path is not None
    dataset = release(ReleaseOptions(run.path, tmp_path / "dataset", (path,), audit="none", formats="jsonl"))
    kept = {verdict.item.row for verdict in verdicts if verdict.best == 0}
    assert (len(verdicts), len(kept)) == (36, 27)
    assert {question.example.row for question in dataset.questions} == kept
    assert dataset.left_out["too_few_distractors"] == 9
    assert dataset.n_generated == 0
    for question in dataset.questions:
        assert sorted(question.endings) == sorted(run.texts()[question.example.row])
        assert question.answer == question.context.gold
    manifest = read_manifest(tmp_path / "dataset", "dataset")
    assert manifest["human_verdicts"]["n_verdicts"] == 36
    card = (tmp_path / "dataset" / "README.md").read_text(encoding="utf-8")
    assert "of these the second best only where the others are too few" in card
    assert "generated ending" not in card
    assert "| label | right | 95 % interval | wrong |" in card
    assert "`gen`" not in card


def test_a_report_counts_what_is_released(
    judged: tuple[Run, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, path = judged
    main(["report", str(run.path), "--verdicts", str(path), "--out", str(tmp_path / "report.html")])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "right, ranked best" in page
    assert "makes two questions" not in page
    assert "generated, ranked best before gold" not in page


def test_the_first_page_explains_answers_to_questions(judged: tuple[Run, Path]) -> None:
    run, _ = judged
    page = make_client(make_desk(run), run).get("/enter?annotator=bob").text
    assert "Which answer is right?" in page
    assert MEANINGS_OF_ANSWERS["likely"] in unescape(page).lower()
    assert "Why does the woman in the apron" in page
    assert "cracks two eggs" not in page
    assert "<kbd>1</kbd>&ndash;<kbd>4</kbd>" in page


def test_forms_for_other_platforms_ask_questions_and_show_no_lone_ellipsis(
    judged: tuple[Run, Path], tmp_path: Path
) -> None:
    """MTurk's page hides the beginning of a sentence that is not there."""
    run, _ = judged
    for to in ("mturk", "prolific", "label-studio"):
        out = tmp_path / f"{to}.txt"
        main(["verify", "export", str(run.path), "--to", to, "--out", str(out), "--limit", "5"])
        told = "".join(unescape(path.read_text(encoding="utf-8")) for path in tmp_path.glob(f"{to}.txt*"))
        assert BRIEF_OF_QUESTIONS in told.replace("\\u2019", "'")
        assert BRIEF not in told
    layout = (tmp_path / "mturk.txt.layout.html").read_text(encoding="utf-8")
    assert '<span data-ending="${start}">${start} &hellip;</span>' in layout
    tasks = json.loads((tmp_path / "label-studio.txt").read_text(encoding="utf-8"))
    assert not any("…" in task["data"]["context"] for task in tasks)
