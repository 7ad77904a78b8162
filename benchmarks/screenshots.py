"""Screenshots of the pages of `swag-af verify serve`, of what people said in a report, and of an audit, for the
documents.

    swag-af demo && cd demo && python ../benchmarks/screenshots.py run --out ../docs

Made-up people answer first, straight at the desk, in a store that is thrown away; then Chromium looks at the pages.
The report's people are the simulated crowd of crowd.py, whose labels do not hang on the words they are shown with.
"""

import argparse
import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from crowd import Crowd, simulate
from PIL import Image

from swag_af.auditing.options import AuditOptions
from swag_af.cli.datasets.auditing import PAGE, run_audit
from swag_af.data.runs.run import open_run
from swag_af.judging.verdicts import RATINGS, make_items, write_verdicts
from swag_af.reporting.options import ReportOptions
from swag_af.reporting.verb import report
from swag_af.verify.desk import Answer, Desk
from swag_af.verify.items import Rules, lay_out
from swag_af.verify.options import ServeOptions
from swag_af.verify.web.server import open_verification

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
PEOPLE = {"amber": 0.93, "birch": 0.86, "cedar": 0.8, "delta": 0.74, "ember": 0.35}
"""How often each puts gold first."""
N_ITEMS, N_ANSWERS = 60, 21
N_JUDGED = 200
"""Contexts that the crowd of the report judges."""
TOKEN = "for-screenshots-only"


def main() -> None:
    """Answer, serve, look."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/answers.db"
        answer(arguments.run, database)
        with server(arguments.run, database) as address:
            look(address, arguments.out)
        look_at_report(judged_report(arguments.run, Path(folder)), arguments.out)
        if (arguments.run.parent / "dataset").is_dir():
            look_at_audit(arguments.run.parent / "dataset", Path(folder) / "audit", arguments.out)


def answer(path: Path, database: str) -> None:
    """Let everybody answer, some of it against each other."""
    options = ServeOptions(path, limit=N_ITEMS, annotators_per_item=2, database=database)
    run = open_run(path)
    store = open_verification(run, options)
    rules = Rules(run.assignment(), 2, 3)
    lay_out(store, rules, limit=N_ITEMS, seed=0)
    now = [1.7e9]
    desk = Desk(store, rules, clock=lambda: now[0])
    rng = np.random.default_rng(0)
    for name in PEOPLE:
        desk.admit(name)
    for _ in range(N_ANSWERS):
        for name, skill in PEOPLE.items():
            task = desk.next_task(name, "0")
            if task is None:
                continue
            now[0] += float(rng.gamma(8, 4 if skill > 0.5 else 1))
            desk.take(task.id, name, "0", 0, made_up(rng, skill))
    desk.pause("delta", True)
    with store.engine.begin() as connection:  # so that the answers are of today
        for table, column in (("tasks", "answered_at"), ("events", "at")):
            connection.exec_driver_sql(
                f"UPDATE {table} SET {column} = strftime('%s', 'now') - (? - {column})", (now[0],)
            )
    store.close()


def made_up(rng: np.random.Generator, skill: float) -> Answer:
    """An answer in which gold is best with probability `skill`."""
    others = rng.permutation(np.arange(1, 6)).tolist()
    best, second = (0, others[0]) if rng.random() < skill else (others[0], others[1])
    if best and rng.random() < 0.4:
        second = 0
    ratings = [RATINGS[i] for i in rng.choice(3, 6, p=[0.3, 0.58, 0.12])]
    ratings[best] = ratings[second] = "likely"
    return Answer(tuple(ratings), best, second)


@contextmanager
def server(path: Path, database: str) -> Iterator[str]:
    """A server of its own, ended in the end."""
    command = [sys.executable, "-m", "swag_af", "verify", "serve", str(path), "--port", "0", "--database", database]
    command += ["--limit", str(N_ITEMS), "--annotators-per-item", "2", "--admin-token", TOKEN]
    command += ["--items-per-annotator", "20", "--qualification", "builtin"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield re.findall(r"http://[^/]+", line)[0]
        finally:
            process.terminate()


def look(address: str, out: Path) -> None:
    """Take the pictures."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        desktop = browser.new_page(viewport={"width": 1280, "height": 900})
        desktop.goto(f"{address}/a/fern")
        keep(desktop, out / "verify-instructions.png", full_page=True)
        work(desktop, out / "verify-annotator.png")
        phone = browser.new_page(viewport={"width": 390, "height": 844})
        phone.goto(f"{address}/a/gale")
        work(phone, out / "verify-phone.png")
        admin = browser.new_page(viewport={"width": 1280, "height": 900})
        admin.goto(f"{address}/admin")
        admin.fill("#admin_token", TOKEN)
        with admin.expect_navigation():
            admin.click("button")
        for button in ("Pause the study", "Resume"):  # the first is that of the study
            with admin.expect_navigation():
                admin.click(f"button:has-text('{button}') >> nth=0")
        admin.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        keep(admin, out / "verify-admin.png", full_page=True)
        browser.close()


def judged_report(path: Path, folder: Path) -> Path:
    """A report of the run with a crowd's verdicts."""
    run = open_run(path)
    items = make_items(run.assignment(), seed=0)
    crowd = Crowd(min(N_JUDGED, len(items)), n_annotators=14, careless=0.15, adversarial=0.07)
    verdicts = [replace(verdict, item=items[verdict.item.row]) for verdict in simulate(crowd)[1]]
    write_verdicts(folder / "verdicts.jsonl", verdicts, run.pool.identity)
    return report(ReportOptions(path, folder / "report.html", verdicts=(folder / "verdicts.jsonl",)))


def look_at_report(report: Path, out: Path) -> None:
    """A picture of what people said, as far as its figures go."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(report.resolve().as_uri())
        top, last = (page.locator(place).first.bounding_box() for place in ("#people", "#people .pair"))
        assert top is not None
        assert last is not None
        height = last["y"] + last["height"] - top["y"]
        keep(page, out / "report.png", full_page=True, clip={"x": 0, "y": top["y"], "width": 1280, "height": height})
        browser.close()


def look_at_audit(dataset: Path, audited: Path, out: Path) -> None:
    """A picture of the top of an audit's page."""
    from playwright.sync_api import sync_playwright

    run_audit(AuditOptions((dataset,), out=audited))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1100, "height": 1000})
        page.goto((audited / PAGE).resolve().as_uri())
        keep(page, out / "audit.png")
        browser.close()


def keep(page: Any, path: Path, **what: Any) -> None:
    """A picture of the page in few colours, which its flat surfaces do not miss."""
    page.wait_for_timeout(400)
    image = Image.open(io.BytesIO(page.screenshot(**what))).convert("RGB")
    image.quantize(96, dither=Image.Dither.NONE).save(path, optimize=True)


def work(page: Any, path: Path) -> None:
    """Begin, pass the trial questions, and judge half an item."""
    with page.expect_navigation():
        page.click("button:has-text('Begin')")
    for _ in range(4):
        pass_trial(page, {page.locator(f"#ending-{i} .words").inner_text(): i for i in range(6)})
    for key in "1l2u3l4g3b1s":
        page.keyboard.press(key)
    keep(page, path)


def pass_trial(page: Any, place_of: dict[str, int]) -> None:
    """Answer a built-in question rightly."""
    from swag_af.verify.qualification import read_questions

    question = next(q for q in read_questions("builtin") if set(q.endings) == set(place_of))
    for ending, rating in zip(question.endings, question.ratings, strict=True):
        page.keyboard.press(str(place_of[ending] + 1))
        page.keyboard.press((rating or "likely")[0])
    for place, key in zip(question.best, "bs", strict=True):
        page.keyboard.press(str(place_of[question.endings[place]] + 1))
        page.keyboard.press(key)
    with page.expect_navigation():
        page.keyboard.press("Enter")


if __name__ == "__main__":
    main()
