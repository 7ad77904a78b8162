"""The admin's pages: progress, which annotators may go on, and the verdicts as a file.

The admin token opens them: typed once into a form and kept as a signed cookie, or sent by programs that read as
`Authorization: Bearer TOKEN`. Changes are posted from the forms of these pages only.
"""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from sqlalchemy import Row

from swag_af.data.context import phrase
from swag_af.data.text.scripts import is_latin
from swag_af.judging.agreement import INTERVALS, kinds_of
from swag_af.judging.screening import NOBODY_SCREENED, chance_of
from swag_af.judging.verdicts import Verdict, as_record
from swag_af.verify.consent import all_consents
from swag_af.verify.overview import overview
from swag_af.verify.web.measured import MeasuredStore
from swag_af.verify.web.security import ADMIN, ID_PATTERN, LIFETIME_SECONDS, RateLimit, Session, Signer, same
from swag_af.verify.web.site import FieldsDep, Site, SiteDep, page, session_in, set_cookie

OUTSIDE, INSIDE = "outside", "admin"
"""Who a session of these pages is: a browser at the login page, or the admin."""

TRIES_PER_MINUTE = 10
"""Wrong admin tokens that one client may try."""

PEOPLE_COLUMNS = (
    *("annotator", "study", "submission", "state", "items", "gold_share", "median_seconds", "too_fast"),
    *(
        "outcome",
        "code",
        "other_codes",
        "begun_at",
        "last_at",
        "checks",
        "checks_passed",
        "flagged",
        "accepted",
        "accepted_at",
    ),
)
"""The columns of annotators.csv; times are seconds since 1970. `items` counts checks too: both are paid.
`other_codes`: with codes for each person, those of other outcomes, one of which the last page may have shown before the
outcome became this one."""

CHANGES = {
    "pause": "paused",
    "resume": "let go on",
    "dequalify": "dequalified",
    "requalify": "let in again, exempt from the rules",
    "undo": "dequalification undone",
    "screen": "dequalified",
    "pause all": "study paused",
    "resume all": "study resumed",
}
"""What the page says of each action in the log of changes."""

WHY = {"rule": "gold too seldom in the top 2", "attention checks": "too few attention checks passed"}
"""By which rule an action was taken that was nobody's, as the log names it."""

router = APIRouter(prefix="/admin")
"""The routes of the admin."""


@dataclass(frozen=True)
class AdminAccess:
    """What the application checks before it lets the admin in."""

    token: str
    signer: Signer
    tries: RateLimit
    measured: MeasuredStore

    def admits(self, request: Request, given: str) -> bool:
        """Whether `given` is the admin token; 429 if this client has sent too many wrong ones.

        The right one is always taken: others at the same address cannot lock the admin out.
        """
        client = request.client.host if request.client else "unknown"
        if same(given, self.token):
            self.tries.buckets.pop(client, None)
            return True
        if not self.tries.allows(client):
            raise HTTPException(429, "Too many tries. Wait a minute.")
        return False


def keep_access(app: FastAPI, site: Site, token: str) -> None:
    """Make `token` the one that opens the admin's pages of `app`; with another token, all their cookies are invalid."""
    signer, tries = Signer(f"{site.signer.secret} {token}"), RateLimit(TRIES_PER_MINUTE)
    measured = MeasuredStore(site.desk.store, kinds=kinds_of(site.run))
    app.state.admin_access = AdminAccess(token, signer, tries, measured)


async def access_of(request: Request) -> AdminAccess:
    """The admin access of the application that serves this request."""
    access: AdminAccess = request.app.state.admin_access
    return access


AccessDep = Annotated[AdminAccess, Depends(access_of)]


def session_of(request: Request, access: AccessDep, site: SiteDep) -> Session | None:
    """The session of the cookie: the admin's, or one of the login page; None if there is none, or it has ended."""
    return session_in(request, site, ADMIN, access.signer)


SessionDep = Annotated[Session | None, Depends(session_of)]


def check_reading(request: Request, access: AccessDep, session: SessionDep) -> None:
    """401 unless the admin token is sent along, or the admin is logged in."""
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    if not (kind.lower() == "bearer" and access.admits(request, given)):
        _check_inside(session)


async def changing_fields_of(fields: FieldsDep, access: AccessDep, session: SessionDep) -> dict[str, str]:
    """The form that the admin posts; 401 if nobody is logged in, 403 if the form was not made for this session."""
    _check_form(fields, access, _check_inside(session))
    return fields


ChangeDep = Annotated[dict[str, str], Depends(changing_fields_of)]


def _check_inside(session: Session | None) -> Session:
    if session is None or session.who != INSIDE:
        raise HTTPException(401, "This is for the admin.")
    return session


def _check_form(fields: dict[str, str], access: AdminAccess, session: Session) -> None:
    if not access.signer.accepts_form(fields.get("token", ""), session, ADMIN):
        raise HTTPException(403, "This form is not of this browser's session. Load the page again.")


@router.get("/login")
def login_form(request: Request, access: AccessDep, session: SessionDep) -> Response:
    """The form that asks for the admin token; on to the overview where the admin is logged in, in another tab."""
    if session is not None and session.who == INSIDE:
        return RedirectResponse("/admin", 303)
    return _login_page(request, access, session, "")


@router.post("/login")
def login(request: Request, fields: FieldsDep, access: AccessDep, session: SessionDep) -> Response:
    """Log in with the admin token."""
    if session is None:
        return _login_page(request, access, None, "Once more, please: this browser had lost the page's session.")
    if session.who == INSIDE and access.admits(request, fields.get("admin_token", "").strip()):  # in another tab
        return RedirectResponse("/admin", 303)
    _check_form(fields, access, session)
    if not access.admits(request, fields.get("admin_token", "").strip()):
        return _login_page(
            request, access, session, "That is not the token. The server printed it when it started.", 403
        )
    response = RedirectResponse("/admin", 303)
    set_cookie(response, request, ADMIN, access.signer, Session.new(INSIDE))
    return response


@router.post("/logout")
def logout(fields: ChangeDep, session: SessionDep, site: SiteDep) -> Response:
    """Log out; copies of the cookie count no more either."""
    if session is not None:
        now = site.desk.clock()
        site.desk.store.end_session(session.number, now, now + LIFETIME_SECONDS[ADMIN])
    response = RedirectResponse("/admin/login", 303)
    response.delete_cookie(ADMIN)
    return response


@router.get("")
def front(request: Request, site: SiteDep, access: AccessDep, session: SessionDep) -> Response:
    """The overview: progress, annotators, agreement so far."""
    if session is None or session.who != INSIDE:
        if not request.headers.get("authorization", "").lower().startswith("bearer "):
            return RedirectResponse("/admin/login", 303)
        check_reading(request, access, session)
        session = Session(OUTSIDE, "")  # a program: its forms would not be taken
    desk, figures = site.desk, access.measured.figures()
    item = {site.n_endings: 1}
    return page(
        "admin.html",
        token=access.signer.form_token(session, ADMIN),
        run=site.run.path,
        overview=overview(desk.store, desk.clock(), site.min_seconds),
        min_seconds=site.min_seconds,
        context=lambda row: phrase(site.run.pool.contexts[row]),
        is_latin=is_latin,
        is_paused=desk.is_paused(),
        agreement=figures.agreement,
        distribution=figures.distribution,
        measured=_ago(access.measured.age(figures)),
        intervals=INTERVALS,
        screening=desk.screening,
        n_endings=site.n_endings,
        needed=desk.screening.needed(item),
        chance=chance_of(item),
        nobody_screened=NOBODY_SCREENED,
        attention=desk.attention,
        rules=desk.rules,
        ago=lambda at: _ago(desk.clock() - at),
        who=lambda event: "by rule" if event.who in WHY else event.who,
        change=_change,
    )


@router.post("/annotators")
def change(request: Request, fields: ChangeDep, site: SiteDep) -> Response:
    """Pause, resume, dequalify (once that is confirmed) or requalify an annotator, or undo a dequalification."""
    annotator, action = fields.get("annotator", ""), fields.get("action", "")
    if not ID_PATTERN.fullmatch(annotator) or site.desk.state_of(annotator) is None:
        raise HTTPException(404, "There is no such annotator.")
    if action in ("pause", "resume"):
        site.desk.pause(annotator, action == "pause", _who(request))
    elif action == "dequalify" and fields.get("sure") != "yes":
        n = site.desk.n_answered(annotator)
        return page("confirm.html", token=fields["token"], annotator=annotator, n=n)
    elif action in ("dequalify", "requalify"):
        site.desk.qualify(annotator, action == "requalify", _who(request))
    elif action == "undo":
        if not site.desk.undo(annotator, _who(request)):
            raise HTTPException(400, "There is nothing to undo.")
    else:
        raise HTTPException(400, "There is no such action.")
    return RedirectResponse("/admin", 303)


@router.post("/study")
def change_study(request: Request, fields: ChangeDep, site: SiteDep) -> Response:
    """Pause the whole study, or go on."""
    if fields.get("action") not in ("pause", "resume"):
        raise HTTPException(400, "There is no such action.")
    site.desk.pause_all(fields["action"] == "pause", _who(request))
    return RedirectResponse("/admin", 303)


@router.get("/annotators.csv", dependencies=[Depends(check_reading)])
def export_people(site: SiteDep) -> Response:
    """The annotators as a table, for paying them: what they did, their codes, and the platform's ids."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(PEOPLE_COLUMNS)
    for one in overview(site.desk.store, site.desk.clock(), site.min_seconds).annotators:
        outcome, _, code = site.outcome(one.annotator, one.state, one.n_done)
        others = site.other_codes(one.annotator, outcome)
        ids = one.study, one.submission
        figures = one.n_done, one.gold_share, one.median_seconds, one.n_fast
        flagged = int(site.desk.attention.flags(one.n_checks, one.n_passed))
        last = one.begun_at, one.last_at, one.n_checks, one.n_passed, flagged, one.accepted, one.accepted_at
        writer.writerow((one.annotator, *ids, one.state, *figures, outcome, code, others, *last))
    headers = {"content-disposition": 'attachment; filename="annotators.csv"'}
    return Response(file.getvalue(), media_type="text/csv", headers=headers)


@router.get("/consents.jsonl", dependencies=[Depends(check_reading)])
def export_consents(site: SiteDep) -> Response:
    """Who accepted which text, and when; the text stands there in full."""
    lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in all_consents(site.desk.store))
    headers = {"content-disposition": 'attachment; filename="consents.jsonl"'}
    return StreamingResponse(lines, media_type="application/jsonl", headers=headers)


@router.get("/verdicts.jsonl", dependencies=[Depends(check_reading)])
def export(site: SiteDep, all: bool = False) -> Response:
    """The verdicts as a file; with `all`, also those of dequalified annotators."""
    store = site.desk.store
    lines = _lines(store.verdicts(include_dequalified=all), store.settings["pool_identity"])
    headers = {"content-disposition": 'attachment; filename="verdicts.jsonl"'}
    return StreamingResponse(lines, media_type="application/jsonl", headers=headers)


def _change(event: Row[Any]) -> str:
    """A change in words, with the rule that asked for it."""
    what = CHANGES.get(event.action, event.action)
    return f"{what}: {WHY[event.who]}" if event.who in WHY else what


def _who(request: Request) -> str:
    """Whom the log names: the admin, and the address."""
    return f"admin ({request.client.host})" if request.client else "admin"


def _login_page(
    request: Request, access: AdminAccess, session: Session | None, problem: str, status: int = 200
) -> Response:
    """The login form, with a session of its own, so that it has a form token too; one for all tabs of a browser."""
    session = session or Session.new(OUTSIDE)
    response = page("login.html", status, token=access.signer.form_token(session, ADMIN), problem=problem)
    set_cookie(response, request, ADMIN, access.signer, session)
    return response


def _lines(verdicts: list[Verdict], pool_identity: str) -> Iterator[str]:
    for verdict in verdicts:
        yield json.dumps(as_record(verdict) | {"pool": pool_identity}, ensure_ascii=False) + "\n"


def _ago(seconds: float) -> str:
    """How long ago, in the largest unit that fits."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit} ago"
    return "just now"
