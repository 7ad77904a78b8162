"""For the tests of verification: small runs, people at the desk, and browsers that have no screen."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
from conftest import make_contexts_of
from fastapi.testclient import TestClient

from swag_af.af.options import AFOptions
from swag_af.data.pool.assignments import random_assignment
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run, begin_run, open_run
from swag_af.judging.verdicts import RATINGS
from swag_af.verify.desk import Answer, Desk, Screening
from swag_af.verify.items import lay_out, rules_of
from swag_af.verify.options import ServeOptions
from swag_af.verify.web.security import Signer
from swag_af.verify.web.server import make_app, open_verification
from swag_af.verify.web.site import Site

TOKEN = "a-token-for-the-tests"


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


N_ROWS = 12


@lru_cache
def small_pool(n: int = N_ROWS) -> CandidatePool:
    """A pool that costs little: `n` rows with 12 negatives each, neither tags nor features."""
    negatives = [[f"sees {k} birds, {i} trees and a café." for k in range(12)] for i in range(n)]
    return CandidatePool.from_texts(make_contexts_of(n, n_videos=min(n, 10)), negatives, tagger="none")


def make_run(pool: CandidatePool, path: Path, *, n_assigned: int = 10) -> Run:
    """A run of no iterations on disk, with its pool."""
    start = random_assignment(pool.counts, n_assigned, rng=np.random.default_rng(0))
    identity = {"pool_identity": pool.identity, "phases": [], "filters": {}, "options": asdict(AFOptions())}
    if not (path / "manifest.json").exists():
        begin_run(pool, start, path, identity, n_planned=0)
    return open_run(path)


def make_desk(run: Run, screening: Screening | None = None, clock: Clock | None = None, **options: Any) -> Desk:
    """The desk of `verify serve RUN` with these options."""
    assert run.path is not None
    serve = ServeOptions(run.path, **options)
    store = open_verification(run, serve)
    rules = rules_of(run, serve)
    lay_out(store, rules, limit=serve.limit, seed=serve.seed)
    screening = screening or Screening(most_items=serve.items_per_annotator, min_gold_items=10_000)
    return Desk(store, rules, screening, serve.lease_minutes * 60, clock or time.time)


def said(ratings: str = "lluuuu", best: int = 0, second: int = 1, seconds: float | None = None) -> Answer:
    """An answer, in the order of the item; the ratings by their letters."""
    word = {rating[0]: rating for rating in RATINGS}
    return Answer(tuple(word[letter] for letter in ratings), best, second, seconds)


def judge_next(desk: Desk, name: str, answer: Answer | None = None) -> str | None:
    """Let `name` answer the next task; returns its item, or None when there is none."""
    desk.admit(name)
    task = desk.next_task(name, "tab")
    if task is None:
        return None
    assert desk.take(task.id, name, "tab", task.revision, answer or said())
    return str(task.item)


def make_client(desk: Desk, run: Run, *, requests_per_minute: float = 1e6, **site: Any) -> TestClient:
    """A browser without cookies, before the whole application."""
    app = make_app(Site(desk, run, Signer("secret"), **site), TOKEN, requests_per_minute)
    return TestClient(app, follow_redirects=True, raise_server_exceptions=True)


class Browser:
    """An annotator's browser: what a person without a script does."""

    def __init__(self, client: Any, name: str) -> None:
        self.client, self.name = client, name
        self.page = client.get(f"/enter?annotator={name}").text

    def begin(self) -> "Browser":
        """Read the instructions, and begin."""
        fields = {name: self.hidden(name) for name in ("token", "text")}
        self.page = self.client.post("/start", data=fields).text
        return self

    def hidden(self, name: str) -> str:
        """A hidden field of the page."""
        (value,) = re.findall(rf'name="{name}"[^>]* value="([^"]*)"', self.page)[:1]
        return unescape(str(value))

    @property
    def task(self) -> str:
        """The number of the task on the page."""
        return re.findall(r'action="/item/([\w-]+)"', self.page)[0]

    @property
    def endings(self) -> list[str]:
        """The endings on the page."""
        return [unescape(text) for text in re.findall(r'class="words"[^>]*>(.*?)</span>', self.page)]

    def form(self, ratings: Sequence[str] = ("likely",) * 6, best: int = 0, second: int = 1) -> Mapping[str, str]:
        """The filled form of the page, by the places shown."""
        return {
            "token": self.hidden("token"),
            "revision": self.hidden("revision"),
            "best": str(best),
            "second": str(second),
            **{f"rating-{i}": rating for i, rating in enumerate(ratings)},
        }

    def send(self, **form: Any) -> Any:
        """Send the filled form; the page becomes what comes back."""
        response = self.client.post(f"/item/{self.task}", data=self.form(**form))
        self.page = response.text
        return response
