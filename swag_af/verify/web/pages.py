"""The annotator's pages: the link that leads in, instructions, one item at a time, and the end.

Plain HTML forms; the script in `static` only makes them quicker. Every query to the desk names the annotator and the
session of the signed cookie, so that nobody can see what was answered in another browser.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from sqlalchemy import Row, select
from sqlalchemy.exc import DBAPIError

from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.data.text.scripts import is_latin
from swag_af.judging.verdicts import RATINGS
from swag_af.verify.checks import check_of
from swag_af.verify.desk import Answer, Desk
from swag_af.verify.presentation import Shown, shown_item, shown_question
from swag_af.verify.schema import checks, items
from swag_af.verify.web.media import Beside
from swag_af.verify.web.security import ANNOTATOR, ID_PATTERN, LIFETIME_SECONDS, Session
from swag_af.verify.web.site import FieldsDep, Site, SiteDep, page, session_in, set_cookie

ID_PARAMETERS = ("annotator", "PROLIFIC_PID", "workerId")
"""Query parameters that may carry the annotator's id: our own, Prolific's, Mechanical Turk's."""

TASK_PATTERN = re.compile(r"[\w-]{1,32}", re.ASCII)

PLATFORM_PARAMETERS = {"study": ("STUDY_ID", "hitId"), "submission": ("SESSION_ID", "assignmentId")}
"""Query parameters of the link that are kept with the annotator: Prolific's, Mechanical Turk's."""

NOTES = {
    "1": "Your answer is kept.",
    "2": "That answer was kept before; nothing has changed.",
    "3": "You answered this item before, perhaps in another tab: what you chose now is not kept. Here is that answer, "
    "which you may change.",
}
"""What the next page says of the answer sent last, by the parameter `kept`; where an answer is not taken there is none,
and the script keeps the choices in the browser."""

router = APIRouter()
"""The routes of annotators."""


@dataclass(frozen=True)
class Visit:
    """A request with a valid cookie: the site, and the session of the cookie."""

    site: Site
    session: Session

    @property
    def desk(self) -> Desk:
        """The desk of the site."""
        return self.site.desk

    @property
    def form_token(self) -> str:
        """The token that the forms of this session must send."""
        return self.site.signer.form_token(self.session, ANNOTATOR)

    @property
    def can_finish(self) -> bool:
        """Whether the last page has the completion link or code for what is answered by now."""
        return self.site.has_completion and self.site.is_enough(self.desk.n_answered(self.session.who))


async def visit_of(request: Request, site: SiteDep) -> Visit:
    """The visit that the cookie of this request proves; 401 if it has none, or an expired one."""
    session = session_in(request, site, ANNOTATOR, site.signer)
    if session is None:
        raise HTTPException(401, "Please come in by the link that you were given.")
    return Visit(site, session)


async def posting_visit_of(fields: FieldsDep, visit: Annotated[Visit, Depends(visit_of)]) -> Visit:
    """The visit that posts a form; 403 if the form was not made for its session."""
    if not visit.site.signer.accepts_form(fields.get("token", ""), visit.session, ANNOTATOR):
        raise HTTPException(403, "This form is not of this browser's session. Load the page again.")
    return visit


VisitDep = Annotated[Visit, Depends(visit_of)]
PostingDep = Annotated[Visit, Depends(posting_visit_of)]


@router.get("/")
def root(visit: VisitDep) -> Response:
    """The address without a path: on to the instructions."""
    return RedirectResponse("/start", 303)


@router.get("/enter")
def enter(request: Request, site: SiteDep, key: str = "") -> Response:
    """The link with the annotator's id in a query parameter."""
    annotator = next((request.query_params[p] for p in ID_PARAMETERS if p in request.query_params), "")
    return come_in(request, site, annotator, key)


@router.get("/a/{annotator}")
def come_in(request: Request, site: SiteDep, annotator: str, key: str = "") -> Response:
    """The link with the annotator's id in the path: sets the cookie, or renews it in a browser that has one."""
    if not ID_PATTERN.fullmatch(annotator):
        raise HTTPException(400, "This link carries no id that can be used. Copy it again, all of it.")
    if site.invited_only and not site.signer.accepts_invitation(annotator, key):
        raise HTTPException(403, "This link is not an invitation to this study. Copy it again, all of it.")
    known = session_in(request, site, ANNOTATOR, site.signer)
    session = known if known is not None and known.who == annotator else Session.new(annotator)
    kept = {name: _platform_id(request, of) for name, of in PLATFORM_PARAMETERS.items()}
    query = urlencode({name: value for name, value in kept.items() if value})
    response = RedirectResponse(f"/start?{query}" if query else "/start", 303)
    set_cookie(response, request, ANNOTATOR, site.signer, session)
    return response


def _platform_id(request: Request, names: tuple[str, ...]) -> str:
    """The first of these query parameters that is an id; empty if there is none."""
    given = (request.query_params.get(name, "") for name in names)
    return next((value for value in given if ID_PATTERN.fullmatch(value)), "")


@router.api_route("/healthz", methods=["GET", "HEAD"])
def health(site: SiteDep) -> Response:
    """For programs that watch the server: `ok` while it answers and its database can be read."""
    try:
        site.desk.n_items()
    except DBAPIError:
        return PlainTextResponse("the database cannot be read", 503)
    return PlainTextResponse("ok")


@router.get("/start")
def start(request: Request, visit: VisitDep) -> Response:
    """The instructions, with a worked example."""
    platform = {name: _platform_id(request, (name,)) for name in PLATFORM_PARAMETERS}
    who = visit.session.who
    begun, n_questions = visit.desk.state_of(who) is not None, len(visit.desk.screening.questions_for(who))
    return page(
        "start.html",
        token=visit.form_token,
        begun=begun,
        accepted=visit.site.has_accepted(who),
        n_questions=n_questions,
        platform=platform,
        who=who,
        meanings=visit.site.meanings(visit.site.is_latin),
        site=visit.site,
    )


@router.post("/start")
def begin(visit: PostingDep, fields: FieldsDep) -> Response:
    """The instructions were read, and the text agreed to; shown again where it has changed in the meantime."""
    site, who = visit.site, visit.session.who
    accepted = site.has_accepted(who)
    if not accepted and site.consent and fields.get("consent") != "yes":
        raise HTTPException(400, "You can begin once you have agreed. Go back, and mark that you agree.")
    if not accepted and fields.get("text", "") != site.text.sha256:
        return RedirectResponse("/start", 303)
    ids = [value if ID_PATTERN.fullmatch(value := fields.get(name, "")) else None for name in PLATFORM_PARAMETERS]
    visit.desk.admit(who, *ids, accepted=None if accepted else site.text)
    return RedirectResponse("/item", 303)


@router.post("/leave")
def leave(visit: PostingDep) -> Response:
    """Sign out: the cookie, and any copy of it, counts no more."""
    visit.desk.store.end_session(visit.session.number, now := visit.desk.clock(), now + LIFETIME_SECONDS[ANNOTATOR])
    text = "Your answers are kept. To go on, come in by your link again; the item that you were at begins anew."
    response = page("message.html", title="You are signed out", text=text, onward=False)
    response.delete_cookie(ANNOTATOR)
    return response


@router.get("/item")
def next_item(visit: VisitDep, kept: str = "") -> Response:
    """The next item, or where the annotator goes instead."""
    state = visit.desk.state_of(visit.session.who)
    if state is None or (state in ("new", "active") and not visit.site.has_accepted(visit.session.who)):
        return _onward("/start", kept)
    if state == "paused":
        text = "Your work is paused for the moment. Look in again later."
        return page("message.html", title="A pause", text=text, onward=False)
    task = visit.desk.next_task(visit.session.who, visit.session.number)
    if task is None and visit.desk.is_paused() and not visit.can_finish:
        text = "The study is paused for the moment. Your answers are kept; look in again later."
        return page("message.html", title="A pause", text=text, onward=False)
    if task is None:
        return _onward("/done", kept)
    return _task_page(visit, task, note=NOTES.get(kept, ""))


def _onward(path: str, kept: str) -> Response:
    """On to another page, with what became of the answer sent last."""
    return RedirectResponse(f"{path}?{urlencode({'kept': kept})}" if kept in NOTES else path, 303)


@router.get("/item/{number}")
def one_item(visit: VisitDep, number: str, kept: str = "") -> Response:
    """An item in hand, or an earlier answer, which may be changed."""
    return _task_page(visit, _task_of(visit, number), note=NOTES.get(kept, ""))


@router.post("/item/{number}")
def post_answer(request: Request, visit: PostingDep, fields: FieldsDep, number: str) -> Response:
    """An answer: kept, or shown again with what is missing in it."""
    task = _task_of(visit, number)
    given, problems = read_answer(fields, _shown_of(visit, task))
    who, session = visit.session.who, visit.session.number
    if given is None:
        visit.desk.keep_draft(task.id, who, session, draft_of(fields))
        return _task_page(visit, task, draft=draft_of(fields), problems=problems, status=422)
    try:
        new = visit.desk.take(task.id, who, session, _number(fields.get("revision"), -1), given)
    except InputError:  # paused or shut out: the draft is there if they are let in again
        visit.desk.keep_draft(task.id, who, session, draft_of(fields))
        return RedirectResponse("/item", 303)  # which says why
    response = RedirectResponse("/item?kept=1" if new else _where_kept(visit, task, given), 303)
    set_cookie(response, request, ANNOTATOR, visit.site.signer, visit.session)  # nobody at work is logged out
    return response


def _where_kept(visit: Visit, task: Row[Any], given: Answer) -> str:
    """Where to go on with an answer that came after another: on where it is the same, sent twice; back to the kept one
    where it differs, and may be changed."""
    if _is_question(task) or (known := _task_of(visit, task.id)).answered_at is None:
        return "/item?kept=2"
    is_same = (list(known.ratings), known.best, known.second) == (list(given.ratings), given.best, given.second)
    return "/item?kept=2" if is_same else f"/item/{task.id}?kept=3"


@router.get("/item/{number}/media/{place}")
def one_file(visit: VisitDep, number: str, place: str) -> Response:
    """A picture or video of a task, to whom the task is shown alone."""
    media, context = visit.site.media, _context_of(visit, _task_of(visit, number))
    found = media.file(context, _number(place, -1)) if media is not None and context is not None else None
    if found is None:
        raise HTTPException(404, "There is no such picture here.")
    kind, file = found
    return FileResponse(file, media_type=kind)


@router.post("/item/{number}/draft")
def post_draft(visit: PostingDep, fields: FieldsDep, number: str) -> Response:
    """What the script sends as it is chosen; 409 if the task is answered already."""
    task = _task_of(visit, number)
    kept = visit.desk.keep_draft(task.id, visit.session.who, visit.session.number, draft_of(fields))
    return Response(status_code=204 if kept else 409)


@router.get("/done")
def done(visit: VisitDep) -> Response:
    """The last page; back to the items if there are any left, unless enough of them are answered."""
    desk, who, session = visit.desk, visit.session.who, visit.session.number
    state, n = desk.state_of(who), desk.n_answered(who)
    if state is None or state == "paused":
        return RedirectResponse("/item", 303)
    is_at_work = state in ("new", "active") and not visit.can_finish
    if is_at_work and (desk.is_paused() or desk.next_task(who, session) is not None):
        return RedirectResponse("/item", 303)
    back = desk.before(who, session, None) if state == "active" else None
    outcome, url, code = visit.site.outcome(who, state, n)
    return page(
        "done.html",
        state=state,
        n=n,
        is_over=desk.is_over(),
        is_told=is_at_work and desk.is_told(who),
        in_hand=state == "active" and desk.has_in_hand(who),
        back=back,
        outcome=outcome,
        url=url,
        code=code,
        who=who,
        token=visit.form_token,
    )


def _task_of(visit: Visit, number: str) -> Row[Any]:
    """The task with this number, if this session may look at it; 404 otherwise."""
    known = TASK_PATTERN.fullmatch(number) is not None
    task = visit.desk.task(number, visit.session.who, visit.session.number) if known else None
    if task is None or (_is_question(task) and task.answered_at is not None):
        raise HTTPException(404, "There is no such page here. An item goes to the browser that opened it last.")
    return task


def _is_question(task: Row[Any]) -> bool:
    """Whether the task is a question of the qualification."""
    return task.row is None and not task.is_check


def _shown_of(visit: Visit, task: Row[Any]) -> Shown:
    """The context and the endings of a task as this annotator sees them."""
    desk, seed, who = visit.desk, visit.site.seed, visit.session.who
    if _is_question(task):
        known = {question.id: question for question in desk.screening.questions_for(who)}
        if task.item not in known:
            raise HTTPException(404, "There is no such page for you.")
        return shown_question(known[task.item], secret=visit.site.signer.secret, annotator=who)
    with desk.store.engine.connect() as connection:
        if task.is_check:
            return shown_question(check_of(connection, task.item), secret=visit.site.signer.secret, annotator=who)
        columns = connection.scalars(select(items.c.columns).where(items.c.id == task.item)).one()
    secret = visit.site.signer.secret if desk.store.has_secret_orders else None
    return shown_item(visit.site.run, task.row, columns, seed=seed, item=task.item, annotator=who, secret=secret)


def _context_of(visit: Visit, task: Row[Any]) -> Context | None:
    """The context of a task, and of a question or check that was drawn; None for one from a file."""
    row = task.row
    if row is None:
        with visit.desk.store.engine.connect() as connection:
            row = connection.scalars(select(checks.c.row).where(checks.c.id == task.item)).one_or_none()
    return None if row is None else visit.site.run.pool.contexts[row]


def _beside(visit: Visit, task: Row[Any]) -> Beside:
    """What is shown with the texts of a task."""
    if (media := visit.site.media) is None or (context := _context_of(visit, task)) is None:
        return Beside()
    return media.beside(context)


def _task_page(
    visit: Visit,
    task: Row[Any],
    *,
    draft: Mapping[str, str] | None = None,
    problems: tuple[str, ...] = (),
    note: str = "",
    status: int = 200,
) -> Response:
    """The form of a task, filled with `draft`, or with what is kept of it."""
    shown, is_item = _shown_of(visit, task), not _is_question(task)
    return page(
        "work.html",
        status,
        token=visit.form_token,
        task=task,
        shown=shown,
        beside=_beside(visit, task),
        chosen=draft or _chosen(task, shown),
        problems=problems,
        note=note,
        back=visit.desk.before(visit.session.who, visit.session.number, task.id) if is_item else None,
        can_finish=visit.can_finish,
        progress=_progress_of(visit, task),
        ratings=RATINGS,
        meanings=visit.site.meanings(is_latin(" ".join((shown.sent1, shown.start, *shown.endings)))),
        is_latin=is_latin,
        who=visit.session.who,
    )


def _progress_of(visit: Visit, task: Row[Any]) -> tuple[str, int, int | None]:
    """What is counted, how many of it are done, and of how many, if that is known."""
    screening = visit.desk.screening
    if _is_question(task):
        ids = [question.id for question in screening.questions_for(visit.session.who)]
        return "Trial question", ids.index(task.item), len(ids)
    return "Item", visit.desk.n_answered(visit.session.who), screening.most_items


def read_answer(fields: Mapping[str, str], shown: Shown) -> tuple[Answer | None, tuple[str, ...]]:
    """The answer in a form, with the endings in the order of the item; or None, and what is missing."""
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
    """The fields of a form that are kept as a draft: those of an answer, and no others."""
    numbers = {name: fields[name] for name in ("best", "second", "seconds") if _number(fields.get(name), -1) >= 0}
    ratings = {name: fields[name] for i in range(9) if fields.get(name := f"rating-{i}") in RATINGS}
    return {**numbers, **ratings}


def _chosen(task: Row[Any], shown: Shown) -> dict[str, str]:
    """The fields that are filled in when the form of a task is shown: from its answer, or from its draft."""
    if task.answered_at is None:
        return dict(task.draft or {})
    ratings = {f"rating-{i}": task.ratings[place] for i, place in enumerate(shown.order)}
    return ratings | {"best": str(shown.order.index(task.best)), "second": str(shown.order.index(task.second))}


def _number(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isascii() and text.isdecimal() and len(text) < 9 else default


def _seconds(text: str | None) -> float | None:
    """The seconds that the script counted; None in a browser without scripts."""
    seconds = _number(text, -1)
    return None if seconds < 0 else float(seconds)
