"""What the pages of annotators and of the admin have in common: the site, templates, posted forms, cookies.

The application keeps one `Site` in its state; the routes receive it as a FastAPI dependency.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import Depends, FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from swag_af.data.runs.run import Run
from swag_af.data.text.scripts import is_latin
from swag_af.judging.verdicts import IN_ANOTHER_SCRIPT, MEANINGS, MEANINGS_OF_ANSWERS, N_ENDINGS, Rating
from swag_af.verify.consent import AcceptedText, has_accepted
from swag_af.verify.desk import Desk
from swag_af.verify.web.media import Media
from swag_af.verify.web.security import LIFETIME_SECONDS, Session, Signer

HERE = Path(__file__).parent


ENOUGH_ITEMS = 10
"""Items that one must have answered for the completion code, where neither option says how many; or all there are."""

N_LOOKED_AT = 100
"""Contexts that are looked at to tell in which script a run is."""


@dataclass(frozen=True)
class Payment:
    """What people get at the end, beside the completion link and code of the site."""

    n_items: int | None = None
    """Items that one must have answered for the completion link and code."""
    early_end_url: str | None = None
    early_end_code: str | None = None
    screen_out_url: str | None = None
    screen_out_code: str | None = None
    code_per_annotator: bool = False
    """Show each annotator a code of their own instead of the common ones."""


@dataclass(frozen=True)
class Site:
    """What the pages need: the desk, the run that is judged, the signer of cookies, and settings."""

    desk: Desk
    run: Run
    signer: Signer
    seed: int = 0
    completion_url: str | None = None
    completion_code: str | None = None
    invited_only: bool = False
    payment: Payment = Payment()
    min_seconds: float = 0.0
    """Answers given in less are marked as too fast."""
    instructions: tuple[str, ...] = ()
    """Paragraphs above our instructions."""
    consent: tuple[str, ...] = ()
    """Paragraphs that people must agree to before they begin."""
    media: Media | None = None
    """Pictures and videos that are shown with the texts."""

    @cached_property
    def asks(self) -> bool:
        """Whether most contexts are questions, and what is judged are answers."""
        pool = self.run.pool
        return bool(2 * (pool.gather("start_lengths", np.arange(len(pool))) == 0).sum() > len(pool))

    @cached_property
    def is_latin(self) -> bool:
        """Whether most contexts, of a hundred at most, are in Latin script."""
        pool = self.run.pool
        rows = np.unique(np.linspace(0, len(pool) - 1, N_LOOKED_AT).astype(int)).tolist()
        return 2 * sum(is_latin(f"{pool.contexts[row].sent1} {pool.text(row, 0)}") for row in rows) > len(rows)

    def meanings(self, is_latin: bool) -> Mapping[Rating, str]:
        """What each rating means, of texts in Latin script or in another."""
        meanings = MEANINGS_OF_ANSWERS if self.asks else MEANINGS
        return meanings if is_latin else {**meanings, "gibberish": IN_ANOTHER_SCRIPT}

    @property
    def n_endings(self) -> int:
        """Endings that an item has at most."""
        return min(N_ENDINGS, self.run.start.shape[1])

    @property
    def text(self) -> AcceptedText:
        """What people accept before they begin."""
        return AcceptedText(self.instructions, self.consent)

    def has_accepted(self, annotator: str) -> bool:
        """Whether `annotator` has accepted the text as it is now."""
        return has_accepted(self.desk.store, annotator, self.text)

    @property
    def has_completion(self) -> bool:
        """Whether there is a completion link or code."""
        return bool(self.completion_url or self.completion_code or self.payment.code_per_annotator)

    def is_enough(self, n: int) -> bool:
        """Whether `n` items answered are enough for the completion link and code."""
        enough = self.payment.n_items or self.desk.screening.most_items or min(ENOUGH_ITEMS, self.desk.n_items())
        return n > 0 and n >= enough

    def outcome(self, annotator: str, state: str, n: int) -> tuple[str, str | None, str | None]:
        """`(outcome, url, code)` for who has answered `n` items and goes: what the last page and exports say.

        complete: enough items; early: some, but not enough, or dequalified; screened_out: the trial was not passed;
        none: nothing was answered.
        """
        pay = self.payment
        if state == "failed":
            outcome, url, code = "screened_out", pay.screen_out_url, pay.screen_out_code
        elif not n:
            return "none", None, None
        elif state == "dequalified" or not self.is_enough(n):
            outcome, url, code = "early", pay.early_end_url, pay.early_end_code
        else:
            outcome, url, code = "complete", self.completion_url, self.completion_code
        return outcome, url, self.signer.completion_code(annotator, outcome) if pay.code_per_annotator else code

    def other_codes(self, annotator: str, outcome: str) -> str:
        """The codes of a person's other outcomes, where each has codes of their own: `complete PPNFHYYSBP`."""
        if not self.payment.code_per_annotator:
            return ""
        others = [one for one in ("complete", "early", "screened_out") if one != outcome]
        return ", ".join(f"{one} {self.signer.completion_code(annotator, one)}" for one in others)


def keep_site(app: FastAPI, site: Site) -> None:
    """Make `site` the one that the routes of `app` receive."""
    app.state.site = site


async def site_of(request: Request) -> Site:
    """The site of the application that serves this request."""
    site: Site = request.app.state.site
    return site


async def fields_of(request: Request) -> dict[str, str]:
    """The text fields of a posted form; uploaded files are refused."""
    form = await request.form(max_files=0, max_fields=40)
    return {name: value for name, value in form.items() if isinstance(value, str)}


SiteDep = Annotated[Site, Depends(site_of)]
FieldsDep = Annotated[dict[str, str], Depends(fields_of)]


def page(name: str, status: int = 200, **values: Any) -> HTMLResponse:
    """The template `name` filled with `values`; every value is escaped."""
    return HTMLResponse(_environment().get_template(name).render(**values), status)


def set_cookie(response: Response, request: Request, name: str, signer: Signer, session: Session) -> None:
    """Add the signed cookie `name` to a response; scripts cannot read it, and other sites cannot send it along."""
    value, secure = signer.seal(session, name), request.url.scheme == "https"
    response.set_cookie(name, value, max_age=LIFETIME_SECONDS[name], httponly=True, samesite="lax", secure=secure)


def session_in(request: Request, site: Site, name: str, signer: Signer) -> Session | None:
    """The session that the cookie `name` proves; None if there is none, it has expired, or it has ended."""
    session = signer.unseal(request.cookies.get(name), name)
    return None if session is None or site.desk.store.has_ended(session.number) else session


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
