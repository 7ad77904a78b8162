"""The verb `verify serve`: puts the web application together and runs it.

One process serves at a time; all answers are in the store, so that another can go on.
"""

import contextlib
import errno
import re
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from ipaddress import ip_address
from pathlib import Path

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException as StarletteHTTPException

from swag_af.data.disk.files import named_by, read_text
from swag_af.data.disk.urls import command
from swag_af.data.errors import InputError, several
from swag_af.data.pool.folder import GUARD_TABLES, TEXT_TABLES
from swag_af.data.pool.guarded import guards_of
from swag_af.data.runs.run import Run, open_run
from swag_af.data.secrets import secret_rng
from swag_af.data.work.locks import alone
from swag_af.data.work.watching import every
from swag_af.judging.verdicts import N_ENDINGS
from swag_af.verify.checks import Attention, draw_checks, keep_checks, read_checks
from swag_af.verify.desk import Desk, Screening
from swag_af.verify.items import check_limit, is_begun, lay_out, rows_left_out, rules_of
from swag_af.verify.options import ServeOptions, unbracketed
from swag_af.verify.prospects import check_prospects, unseen_media
from swag_af.verify.qualification import (
    DRAWN,
    N_DRAWN_EACH,
    QualificationQuestion,
    draw_questions,
    read_questions,
)
from swag_af.verify.store import FOLDER, Store, begin_store, read_keys
from swag_af.verify.web import admin, pages
from swag_af.verify.web.connections import BACKLOG, limit_log, limited_protocol
from swag_af.verify.web.media import Media, open_media
from swag_af.verify.web.security import App, Guard, Signer
from swag_af.verify.web.site import HERE, Payment, Site, keep_site, page

CHECKPOINT_SECONDS = 60.0
"""Seconds between checkpoints, which move answers from SQLite's write-ahead log into the database file."""


def serve(options: ServeOptions, *, say: Callable[..., None]) -> None:
    """Serve the pages until interrupted; `say` prints lines."""
    with listen(options.host, options.port) as listener:
        run = open_run(options.run)
        run.pool.check_tables((*TEXT_TABLES, *GUARD_TABLES))
        with _alone(options):
            _serve(listener, run, options, say)


def _serve(listener: socket.socket, run: Run, options: ServeOptions, say: Callable[..., None]) -> None:
    questions = read_questions(options.qualification)
    media, lacking = open_media(options.media, run) if options.media else (None, None)
    store = open_verification(run, options)
    check_limit(store, len(run.pool.contexts), options.limit)
    warning = check_prospects(run, options.iteration, is_begun=is_begun(store))
    keys = read_keys(options.run)
    token = options.admin_token or keys.admin_token
    site = _site(run, store, questions, keys.secret, options, media)  # refuses before anything is laid out for good
    n_items = lay_out(store, rules_of(run, options), limit=options.limit, seed=options.seed)
    say(*welcome(options, listener.getsockname()[1], token, n_items, site.desk.n_linked()), *of_guards(run))
    if n := site.desk.screen_again():
        say("", f"The rule of gold's share is another one: {several(n, 'person is', 'people are')} dequalified by it.")
    for told in filter(None, (warning, lacking if media else unseen_media(run))):
        say("", f"Warning: {told}")
    config = config_of(make_app(site, token, options.requests_per_minute, options.hosts), options)
    with checkpoints(store), contextlib.suppress(KeyboardInterrupt):  # uvicorn has ended what was under way
        uvicorn.Server(config).run(sockets=[listener])
    store.close()
    say("", "Stopped. Every answer is kept; the same command goes on.")


def _alone(options: ServeOptions) -> contextlib.AbstractContextManager[None]:
    """One server at a time for the answers in a run's folder: a second one would lay out items by its own options, for
    both."""
    if options.database is not None:
        return contextlib.nullcontext()
    folder = options.run / FOLDER
    return alone(folder, waits=False, called=folder, advice="Stop that server first; its options hold for the study.")


@contextlib.contextmanager
def checkpoints(store: Store, seconds: float = CHECKPOINT_SECONDS) -> Iterator[None]:
    """Within the block, and at its end: every so many seconds the database file holds all answers so far."""

    def checkpoint() -> None:
        with contextlib.suppress(DBAPIError):  # the log goes on until the next time
            store.checkpoint()

    try:
        with every(seconds, checkpoint):
            yield
    finally:
        checkpoint()


def _site(
    run: Run,
    store: Store,
    questions: tuple[QualificationQuestion, ...],
    secret: str,
    options: ServeOptions,
    media: Media | None = None,
) -> Site:
    n_questions = options.qualification_questions
    drawn: dict[int, QualificationQuestion] = {}
    if options.qualification == DRAWN:
        drawn = draw_questions(run, rows_to_draw_of(run, store, secret, options, of_checks=False), secret)
        questions = tuple(drawn.values())
    if options.qualification is not None and (n_questions or 0) > len(questions):
        raise InputError(f"--qualification-questions {n_questions}: there are {len(questions)}. Ask for fewer.")
    if drawn:
        keep_checks(store, drawn.items())
        n_questions = n_questions or N_DRAWN_EACH
    screening = Screening(
        questions,
        options.qualification_share,
        options.min_gold_share,
        options.min_gold_items,
        options.items_per_annotator,
        n_questions,
        secret,
    )
    desk = Desk(
        store,
        rules_of(run, options),
        screening,
        options.lease_minutes * 60,
        closes_at=None if options.deadline is None else closes_at(options),
        attention=attention_of(run, store, secret, options),
    )
    return Site(
        desk,
        run,
        Signer(secret, " invited" if options.invited_only else ""),
        options.seed,
        options.completion_url,
        options.completion_code,
        options.invited_only,
        Payment(
            options.completion_items,
            options.early_end_url,
            options.early_end_code,
            options.screen_out_url,
            options.screen_out_code,
            options.code_per_annotator,
        ),
        options.min_seconds,
        _paragraphs(options.instructions, "--instructions"),
        _paragraphs(options.consent, "--consent"),
        media,
    )


def closes_at(options: ServeOptions) -> float:
    """When the deadline is, in seconds."""
    assert options.deadline is not None
    return datetime.fromisoformat(options.deadline).timestamp()


def rows_to_draw_of(run: Run, store: Store, secret: str, options: ServeOptions, *, of_checks: bool) -> list[int]:
    """The rows that no item shows, for questions or for checks; drawn by the secret where both are made of them."""
    left = rows_left_out(store, len(run.pool.contexts), limit=options.limit, seed=options.seed)
    if options.qualification != DRAWN or not options.check_every or options.checks != DRAWN:
        return left
    is_for_checks = secret_rng(secret, "halves").random(len(run.pool.contexts)) < 0.5  # whatever --limit is later
    return [row for row in left if is_for_checks[row] == of_checks]


def attention_of(run: Run, store: Store, secret: str, options: ServeOptions) -> Attention:
    """How annotators are checked; the checks are kept in the store."""
    found: list[tuple[int | None, QualificationQuestion]] = []
    assignment = run.assignment(options.iteration)
    if options.check_every and options.checks == DRAWN:
        rows = rows_to_draw_of(run, store, secret, options, of_checks=True)
        found += draw_checks(run, rows, secret, assignment=assignment, seed=options.seed).items()
    elif options.check_every:
        n_endings = min(N_ENDINGS, assignment.shape[1])
        found += ((None, question) for question in read_checks(options.checks, n_endings))
    keep_checks(store, found)
    return Attention(
        tuple(question for _, question in found),
        options.check_every,
        options.min_check_share,
        options.min_checks,
        options.failed_checks,
        secret,
    )


def _paragraphs(path: Path | None, flag: str) -> tuple[str, ...]:
    """The paragraphs of a text file; none where no file was named."""
    if path is None:
        return ()
    with named_by(flag):
        text = read_text(path)
    paragraphs = tuple(" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip())
    if not paragraphs:
        raise InputError(f"{flag} {path}: nothing in it. Write the text, or leave {flag} away.")
    return paragraphs


def config_of(app: App, options: ServeOptions) -> uvicorn.Config:
    """How uvicorn runs the application: its limits, and whom it believes what they forward."""
    config = uvicorn.Config(
        app,
        http=limited_protocol(options.connections_per_client, frozenset(map(unbracketed, options.proxies))),
        backlog=BACKLOG,
        log_level="warning",
        lifespan="off",  # there is none, and ended by a second Ctrl-C it would print a traceback
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=3,
        proxy_headers=bool(options.proxies),
        forwarded_allow_ips=list(map(unbracketed, options.proxies)),
    )
    limit_log()
    return config


def open_verification(run: Run, options: ServeOptions) -> Store:
    """The run's verification, begun now or before."""
    iteration = run.n_finished if options.iteration is None else options.iteration
    run.assignment(iteration)  # raises if there is no such iteration
    begun_with = {"pool_identity": run.pool.unguarded_identity, "iteration": iteration, "seed": options.seed}
    return begin_store(options.run, options.database, begun_with)


def make_app(site: Site, token: str, requests_per_minute: float, hosts: Sequence[str] = ()) -> App:
    """The application: pages, admin, static files, and the guard around them; `token` opens the admin's pages."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)  # those name any Host
    keep_site(app, site)
    admin.keep_access(app, site, token)
    app.include_router(pages.router)
    app.include_router(admin.router)
    app.mount("/static", StaticFiles(directory=HERE / "static"))
    app.add_exception_handler(StarletteHTTPException, _error_page)
    app.add_exception_handler(RequestValidationError, _error_page)
    return Guard(app, site.signer, requests_per_minute, frozenset(unbracketed(name.lower()) for name in hosts))


def _error_page(request: Request, error: Exception) -> Response:
    """An error as a page; it never repeats what the request contained."""
    status = error.status_code if isinstance(error, HTTPException | StarletteHTTPException) else 422
    texts = {404: "There is no such page.", 405: "There is no such page.", 422: "This address cannot be read."}
    detail = error.detail if isinstance(error, HTTPException) else ""
    titles = {401: "Not let in", 403: "Not taken", 404: "Not found", 429: "Too quick"}
    text = detail or texts.get(status, "This cannot be done.")
    is_task = status in (403, 404) and request.url.path.startswith("/item/")
    return page("message.html", status, title=titles.get(status, "That did not work"), text=text, onward=is_task)


def listen(host: str, port: int) -> socket.socket:
    """A socket at the address, taken before any work is done."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError):
        raise InputError(f"--host {host}: no such address here. 127.0.0.1 is this machine only.") from None
    listener = socket.socket(family, kind, socket.IPPROTO_TCP)  # without it asyncio delays small responses by 40 ms
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        why = {
            errno.EADDRINUSE: "something listens there already. Choose another --port, or stop that.",
            errno.EACCES: "not allowed. Choose a --port from 1024 on.",
            errno.EADDRNOTAVAIL: "not an address of this machine. Choose another --host.",
        }.get(error.errno or 0, f"{error.strerror}.")
        raise InputError(f"--host {host} --port {port}: {why}") from None
    return listener


def welcome(options: ServeOptions, port: int, token: str, n_items: int, n_linked: int = 0) -> list[str]:
    """The lines printed at the start: addresses, admin token, and where answers are kept."""
    address = f"http://{f'[{options.host}]' if ':' in options.host else options.host}:{port}"
    place = options.database and make_url(options.database).render_as_string()  # without the password
    invited = f"by the links of: {command('verify', 'invite', options.run, '--n', 50, '--out', 'links.csv')}"
    lines = [
        f"Annotators  {invited if options.invited_only else f'{address}/enter?annotator=NAME'}",
        f"Admin       {address}/admin",
        f"Token       {token}",
        f"Answers     {place or Path(options.run) / FOLDER / 'answers.db'} ({n_items:,} items)",
    ]
    if options.database is None:
        backup = command("verify", "backup", options.run, "--out", "FILE")
        lines.append(f"Backup      {backup} (a copy of answers.db may lack the latest)")
    if n_linked:
        lines.append(
            f"Linked      {n_linked:,} of these items: the answer of one stands in the first sentence of another, and "
            "nobody gets both. Ask two people or more."
        )
    if options.limit is not None and options.limit < n_items:
        lines.append(f"            --limit {options.limit} is fewer than were laid out before; all of these stay.")
    if options.completion_items is not None and options.completion_items > n_items:
        lines.append(
            f"            --completion-items {options.completion_items} is more than the {n_items:,} items there are, "
            "each of which a person gets once."
        )
    if options.deadline is not None and closes_at(options) < time.time():
        lines.append(f"            --deadline {options.deadline} is over: nobody is handed anything.")
    if not _is_loopback(options.host):
        lines += [
            "",
            f"Warning: {options.host} is reached by other machines, and what they send is not encrypted. Put a server "
            "with TLS before it (docs/VERIFY.md).",
        ]
    return [*lines, "", "Ctrl-C stops; the same command goes on."]


def of_guards(run: Run) -> list[str]:
    """That questions with marked endings come first, where the pool was guarded."""
    if not guards_of(run.pool):
        return []
    return [
        "",
        "Questions with endings that `swag-af guard` has marked come first. Until all are answered, what people said "
        "is of no random sample.",
    ]


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
