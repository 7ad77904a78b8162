"""The admin's pages: how it goes, who may go on, and the answers as a file.

Behind the admin token: given once in a form, and kept as a signed cookie, or sent as `Authorization: Bearer TOKEN` by
programs that read. What changes something is posted by a form of these pages only.
"""

import json
from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse

from swag_af.judging.agreement import agreement_rows, distribution_rows, measure
from swag_af.judging.verdicts import Verdict, as_record
from swag_af.verify.overview import overview
from swag_af.verify.pages import Fields, Site, fields_of, page, set_cookie
from swag_af.verify.security import ADMIN, ID_PATTERN, RateLimit, Session, Signer, same

OUTSIDE, INSIDE = "outside", "admin"

COOKIE_SECONDS = 12 * 3600

TRIES_PER_MINUTE = 10
"""Wrong tokens that one client may send."""


def admin_pages(site: Site, token: str) -> APIRouter:
    """The routes of the admin."""
    router = APIRouter(prefix="/admin")
    desk = site.desk
    signer = Signer(f"{site.signer.secret} {token}")  # another token ends every session
    tries = RateLimit(TRIES_PER_MINUTE)

    def session_of(request: Request) -> Session | None:
        return signer.unseal(request.cookies.get(ADMIN), ADMIN)

    def reading(request: Request) -> None:
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and guess(request, given):
            return
        session = session_of(request)
        if session is None or session.who != INSIDE:
            raise HTTPException(401, "This is for the admin.")

    def changing(request: Request, fields: Annotated[Fields, Depends(fields_of)]) -> Fields:
        session = session_of(request)
        if session is None or session.who != INSIDE:
            raise HTTPException(401, "This is for the admin.")
        check_form(session, fields)
        return fields

    def check_form(session: Session, fields: Fields) -> None:
        if not same(fields.get("token", ""), signer.form_token(session, ADMIN)):
            raise HTTPException(403, "This form is not of this browser's session. Load the page again.")

    def guess(request: Request, given: str) -> bool:
        client = request.client.host if request.client else "unknown"
        if not tries.allows(client):
            raise HTTPException(429, "Too many tries. Wait a minute.")
        right = same(given, token)
        if right:
            tries.buckets.pop(client, None)
        return right

    @router.get("/login")
    def login_form(request: Request) -> Response:
        return login_page(request, "")

    @router.post("/login")
    def login(request: Request, fields: Annotated[Fields, Depends(fields_of)]) -> Response:
        session = session_of(request)
        if session is None:
            return login_page(request, "Once more, please: this browser had lost the page's session.")
        check_form(session, fields)
        if not guess(request, fields.get("admin_token", "").strip()):
            return login_page(request, "That is not the token. The server printed it when it started.", 403)
        response = RedirectResponse("/admin", 303)
        set_cookie(response, request, ADMIN, signer.seal(Session.new(INSIDE), ADMIN), COOKIE_SECONDS)
        return response

    @router.post("/logout")
    def logout(fields: Annotated[Fields, Depends(changing)]) -> Response:
        response = RedirectResponse("/admin/login", 303)
        response.delete_cookie(ADMIN)
        return response

    @router.get("")
    def front(request: Request) -> Response:
        session = session_of(request)
        if session is None or session.who != INSIDE:
            if not request.headers.get("authorization", "").lower().startswith("bearer "):
                return RedirectResponse("/admin/login", 303)
            reading(request)
            session = Session(OUTSIDE, "")  # a program: its forms would not be taken
        verdicts = desk.store.verdicts()
        measured = measure(verdicts) if verdicts else None
        return page(
            "admin.html",
            token=signer.form_token(session, ADMIN),
            run=site.run.path,
            overview=overview(desk.store, desk.clock()),
            agreement=agreement_rows(measured) if measured else [],
            distribution=distribution_rows(measured) if measured else [],
            screening=desk.screening,
            rules=desk.rules,
            ago=lambda at: _ago(desk.clock() - at),
        )

    @router.post("/annotators")
    def change(fields: Annotated[Fields, Depends(changing)]) -> Response:
        annotator, action = fields.get("annotator", ""), fields.get("action", "")
        if not ID_PATTERN.fullmatch(annotator) or desk.state_of(annotator) is None:
            raise HTTPException(404, "There is no such annotator.")
        if action in ("pause", "resume"):
            desk.pause(annotator, action == "pause")
        elif action in ("dequalify", "requalify"):
            desk.qualify(annotator, action == "requalify")
        else:
            raise HTTPException(400, "There is no such action.")
        return RedirectResponse("/admin", 303)

    @router.get("/verdicts.jsonl", dependencies=[Depends(reading)])
    def export(all: bool = False) -> Response:
        lines = _lines(desk.store.verdicts(include_dequalified=all), desk.store.settings["pool_identity"])
        return StreamingResponse(
            lines,
            media_type="application/jsonl",
            headers={"content-disposition": 'attachment; filename="verdicts.jsonl"'},
        )

    def login_page(request: Request, problem: str, status: int = 200) -> Response:
        session = Session.new(OUTSIDE)
        response = page("login.html", status, token=signer.form_token(session, ADMIN), problem=problem)
        set_cookie(response, request, ADMIN, signer.seal(session, ADMIN), COOKIE_SECONDS)
        return response

    return router


def _lines(verdicts: list[Verdict], pool_identity: str) -> Iterator[str]:
    for verdict in verdicts:
        yield json.dumps(as_record(verdict) | {"pool": pool_identity}, ensure_ascii=False) + "\n"


def _ago(seconds: float) -> str:
    """How long ago, in the largest unit that fits."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit} ago"
    return "just now"
