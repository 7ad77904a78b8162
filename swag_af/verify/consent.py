"""Which text an annotator accepted, and when: consent and instructions, by a hash of both.

Whoever has accepted another text than the one that is shown now is asked again. The texts are kept beside the hashes.
"""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from swag_af.data.disk.manifests import sha256_json
from swag_af.verify.schema import consents, texts
from swag_af.verify.store import Store


@dataclass(frozen=True, slots=True)
class AcceptedText:
    """What stands on the first page: the paragraphs of the study's owner."""

    instructions: tuple[str, ...] = ()
    consent: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """Hex SHA-256 of the text."""
        return sha256_json(asdict(self))


def keep_consent(connection: Connection, annotator: str, text: AcceptedText, now: float) -> None:
    """Record that `annotator` accepted this text, unless it is the one accepted last."""
    last = _last(connection, annotator)
    if last is not None and last.sha256 == text.sha256:
        return
    if connection.scalar(select(texts.c.sha256).where(texts.c.sha256 == text.sha256)) is None:
        connection.execute(insert(texts).values(sha256=text.sha256, content=asdict(text)))
    connection.execute(insert(consents).values(annotator=annotator, sha256=text.sha256, at=now))


def has_accepted(store: Store, annotator: str, text: AcceptedText) -> bool:
    """Whether this text is the one that `annotator` accepted last; always where there is none to accept."""
    if not text.instructions and not text.consent:
        return True
    with store.engine.connect() as connection:
        last = _last(connection, annotator)
    return last is not None and last.sha256 == text.sha256


def last_consents(store: Store) -> dict[str, Any]:
    """By annotator: the row with `sha256` of the text accepted last, and `at`, when, in seconds since 1970."""
    accepted = select(consents.c.annotator, consents.c.sha256, consents.c.at).order_by(consents.c.id)
    with store.engine.connect() as connection:
        return {line.annotator: line for line in connection.execute(accepted)}


def all_consents(store: Store) -> list[dict[str, object]]:
    """Every text that somebody accepted, in order, with who accepted it and when."""
    whole = select(consents, texts.c.content).join(texts, texts.c.sha256 == consents.c.sha256)
    with store.engine.connect() as connection:
        return [
            {"annotator": line.annotator, "at": line.at, "sha256": line.sha256, **line.content}
            for line in connection.execute(whole.order_by(consents.c.id))
        ]


def _last(connection: Connection, annotator: str) -> Row[Any] | None:
    mine = select(consents.c.sha256).where(consents.c.annotator == annotator).order_by(consents.c.id.desc())
    return connection.execute(mine.limit(1)).one_or_none()
