"""The annotator's pages: the way in, instructions, one item at a time, and the end.

Plain forms; the script in `static` only makes them quicker. What a page may show is asked of the desk with the
annotator and the session of its signed cookie, so nobody can ask for what another browser answered.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy import Row, select

from swag_af.data.errors import InputError
from swag_af.data.run import Run
from swag_af.judging.verdicts import RATINGS
from swag_af.verify.desk import Answer, Desk
from swag_af.verify.presentation import Shown, shown_item, shown_question
from swag_af.verify.schema import items
from swag_af.verify.security import ANNOTATOR, ID_PATTERN, Session, Signer, same

HERE = Path(__file__).parent

ID_PARAMETERS = ("annotator", "PROLIFIC_PID", "workerId")
"""Names under which a link may carry the annotator's id: ours, Prolific's, Mechanical Turk's."""

TASK_PATTERN = re.compile(r"[\w-]{1,32}", re.ASCII)

COOKIE_SECONDS = 14 * 24 * 3600

Fields = dict[str, str]


@dataclass(frozen=True)
class Site:
    """All that the pages need."""

    desk: Desk
    run: Run
    signer: Signer
    seed: int = 0
    completion_url: str | None = None
    completion_code: str | None = None


async def fields_of(request: Request) -> Fields:
    """The fields of a posted form; files are not among what we take."""
    form = await request.form(max_files=0, max_fields=40)
    return {name: value for name, value in form.items() if isinstance(value, str)}


def page(name: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A template, filled in; every value is escaped."""
    return HTMLResponse(_environment().get_template(name).render(**values), status)


def set_cookie(response: Response, request: Request, name: str, value: str, seconds: int) -> None:
    """A cookie that scripts cannot read and other sites cannot send along."""
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=seconds, httponly=True, samesite="lax", secure=secure)


def annotator_pages(site: Site) -> APIRouter:
    """The routes of annotators."""
    router = APIRouter()
    desk = site.desk

    def session_of(request: Request) -> Session:
        session = site.signer.unseal(request.cookies.get(ANNOTATOR), ANNOTATOR)
        if session is None:
            raise HTTPException(401, "Please come in by the link that you were given.")
        return session

    def checked(request: Request, fields: Annotated[Fields, Depends(fields_of)]) -> Session:
        session = session_of(request)
        if not same(fields.get("token", ""), site.signer.form_token(session, ANNOTATOR)):
            raise HTTPException(403, "This form is not of this browser's session. Load the page again.")
        return session

    Mine = Annotated[Session, Depends(session_of)]
    Posting = Annotated[Session, Depends(checked)]
    Posted = Annotated[Fields, Depends(fields_of)]

    @router.get("/")
    def door(request: Request) -> Response:
        session_of(request)
        return RedirectResponse("/start", 303)

    @router.get("/enter")
    def enter(request: Request) -> Response:
        return come_in(request, next((request.query_params[p] for p in ID_PARAMETERS if p in request.query_params), ""))

    @router.get("/a/{annotator}")
    def come_in(request: Request, annotator: str) -> Response:
        if not ID_PATTERN.fullmatch(annotator):
            raise HTTPException(400, "This link carries no id that can be used. Copy it again, all of it.")
        known = site.signer.unseal(request.cookies.get(ANNOTATOR), ANNOTATOR)
        session = known if known is not None and known.who == annotator else Session.new(annotator)
        response = RedirectResponse("/start", 303)
        set_cookie(response, request, ANNOTATOR, site.signer.seal(session, ANNOTATOR), COOKIE_SECONDS)
        return response

    @router.get("/start")
    def start(session: Mine) -> Response:
        begun = desk.state_of(session.who) is not None
        return page("start.html", token=site.signer.form_token(session, ANNOTATOR), begun=begun, site=site)

    @router.post("/start")
    def begin(session: Posting) -> Response:
        desk.admit(session.who)
        return RedirectResponse("/item", 303)

    @router.get("/item")
    def work(session: Mine, kept: str = "") -> Response:
        state = desk.state_of(session.who)
        if state is None:
            return RedirectResponse("/start", 303)
        if state == "paused":
            return page(
                "message.html",
                title="A pause",
                text="Your work is paused for the moment. Look in again later.",
                onward=False,
            )
        task = desk.next_task(session.who, session.number)
        if task is None:
            return RedirectResponse("/done", 303)
        notes = {"1": "Your answer is kept.", "2": "That answer was kept before; nothing has changed."}
        return work_page(session, task, note=notes.get(kept, ""))

    @router.get("/item/{number}")
    def look_back(session: Mine, number: str) -> Response:
        return work_page(session, own_task(session, number))

    @router.post("/item/{number}")
    def answer(session: Posting, fields: Posted, number: str) -> Response:
        task = own_task(session, number)
        shown = shown_of(session, task)
        given, problems = read_answer(fields, shown)
        if given is None:
            desk.keep_draft(task.id, session.who, session.number, draft_of(fields))
            return work_page(session, task, draft=draft_of(fields), problems=problems, status=422)
        try:
            new = desk.take(task.id, session.who, session.number, _number(fields.get("revision"), -1), given)
        except InputError:  # somebody is paused: the answer is there when they go on
            desk.keep_draft(task.id, session.who, session.number, draft_of(fields))
            return RedirectResponse("/item", 303)  # it says what is the matter
        return RedirectResponse(f"/item?kept={1 if new else 2}", 303)

    @router.post("/item/{number}/draft")
    def draft(session: Posting, fields: Posted, number: str) -> Response:
        kept = desk.keep_draft(own_task(session, number).id, session.who, session.number, draft_of(fields))
        return Response(status_code=204 if kept else 409)

    @router.get("/done")
    def done(session: Mine) -> Response:
        state, n = desk.state_of(session.who), desk.n_answered(session.who)
        if state is None or state == "paused":
            return RedirectResponse("/item", 303)
        if state in ("new", "active") and desk.next_task(session.who, session.number) is not None:
            return RedirectResponse("/item", 303)
        back = desk.before(session.who, session.number, None) if state == "active" else None
        return page("done.html", state=state, n=n, back=back, site=site)

    def own_task(session: Session, number: str) -> Row[Any]:
        task = desk.task(number, session.who, session.number) if TASK_PATTERN.fullmatch(number) else None
        if task is None or (task.row is None and task.answered_at is not None):
            raise HTTPException(404, "There is no such page here. An item goes to the browser that opened it last.")
        return task

    def shown_of(session: Session, task: Row[Any]) -> Shown:
        if task.row is None:
            known = {question.id: question for question in desk.screening.questions}
            if task.item not in known:
                raise HTTPException(404, "There is no such page for you.")
            return shown_question(known[task.item], seed=site.seed, annotator=session.who)
        with desk.store.engine.connect() as connection:
            columns = connection.scalars(select(items.c.columns).where(items.c.id == task.item)).one()
        return shown_item(site.run, task.row, columns, seed=site.seed, item=task.item, annotator=session.who)

    def work_page(
        session: Session,
        task: Row[Any],
        *,
        draft: Mapping[str, str] | None = None,
        problems: tuple[str, ...] = (),
        note: str = "",
        status: int = 200,
    ) -> Response:
        shown = shown_of(session, task)
        return page(
            "work.html",
            status,
            token=site.signer.form_token(session, ANNOTATOR),
            task=task,
            shown=shown,
            chosen=draft or _chosen(task, shown),
            problems=problems,
            note=note,
            back=None if task.row is None else desk.before(session.who, session.number, task.id),
            progress=progress_of(session, task),
            ratings=RATINGS,
        )

    def progress_of(session: Session, task: Row[Any]) -> tuple[str, int, int | None]:
        """What is counted, how much of it is done, and of how much, where that is known."""
        if task.row is None:
            ids = [question.id for question in desk.screening.questions]
            return "Trial question", ids.index(task.item), len(ids)
        return "Item", desk.n_answered(session.who), desk.screening.most_items

    return router


def read_answer(fields: Mapping[str, str], shown: Shown) -> tuple[Answer | None, tuple[str, ...]]:
    """The answer that a form holds, in the order of the item, or what is missing in it."""
    n = len(shown.order)
    given = [fields.get(f"rating-{i}") for i in range(n)]
    best, second = _number(fields.get("best"), -1), _number(fields.get("second"), -1)
    unrated = [str(i + 1) for i, rating in enumerate(given) if rating not in RATINGS]
    problems = (
        *((f"Rate ending {', '.join(unrated)}.",) if unrated else ()),
        *(("Choose the best ending.",) if not 0 <= best < n else ()),
        *(("Choose the second best ending.",) if not 0 <= second < n else ()),
        *(("Best and second best are two different endings.",) if 0 <= best == second < n else ()),
    )
    if problems:
        return None, problems
    rating_at = {place: rating for place, rating in zip(shown.order, given, strict=True) if rating in RATINGS}
    ratings = tuple(rating_at[place] for place in range(n))
    return Answer(ratings, shown.order[best], shown.order[second], _seconds(fields.get("seconds"))), ()


def draft_of(fields: Mapping[str, str]) -> dict[str, str]:
    """What of a form is kept as a draft: what an answer may hold, and nothing else."""
    numbers = {name: fields[name] for name in ("best", "second", "seconds") if _number(fields.get(name), -1) >= 0}
    ratings = {name: fields[name] for i in range(9) if fields.get(name := f"rating-{i}") in RATINGS}
    return {**numbers, **ratings}


def _chosen(task: Row[Any], shown: Shown) -> dict[str, str]:
    """What a task's form has chosen when it is shown."""
    if task.answered_at is None:
        return dict(task.draft or {})
    ratings = {f"rating-{i}": task.ratings[place] for i, place in enumerate(shown.order)}
    return ratings | {"best": str(shown.order.index(task.best)), "second": str(shown.order.index(task.second))}


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and text.isascii() and text.isdecimal() and len(text) < 9 else otherwise


def _seconds(text: str | None) -> float | None:
    """Whole seconds that the script counted; none where there is no script."""
    seconds = _number(text, -1)
    return None if seconds < 0 else float(seconds)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
