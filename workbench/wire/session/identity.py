"""Identity of a session: the id in its file, or a digest of its first exchange.

An id is written when a session is started or imported; copies and conversions keep it. Files of other programs and
sessions of format 1 get a derived id: the same on every opening, also after the file has grown.
"""

from __future__ import annotations

from hashlib import sha256

from workbench import regex
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.wire.exchange import Exchange, State
from workbench.wire.session import Session

MAX_ID = 200
"""Limit of characters of an id, all printable ASCII; other ids are ignored."""


_RECORDED = regex.compile(r"[0-9a-f]{8}-")
"""Prefix of exchange ids made by our recorder, which are unique to a recording."""


class Former(NamedTuple):
    """A former id of a session. ``is_certain``: no other session can have had it."""

    id: str
    is_certain: bool


def valid_id(value: JsonValue) -> str:
    """The id in a session file; empty string if invalid."""
    is_id = isinstance(value, str) and len(value) <= MAX_ID and value.isascii() and value.isprintable()
    return str(value) if is_id else ""


def session_id(session: Session) -> str:
    """Id of a session; empty string if it has none and no exchange.

    Raises:
        SessionFormatError: the first exchange cannot be read.
    """
    if session.id or not len(session):
        return session.id
    first = session.exchange(0)
    return _digest(first, has_answer=first.state is State.COMPLETE)


def former_ids(session: Session) -> tuple[Former, ...]:
    """Earlier ids of a session: before its file had one, while its first response arrived, in format 1.

    Raises:
        SessionFormatError: the first exchange cannot be read.
    """
    if not len(session):
        return ()
    first = session.exchange(0)
    derived = (Former(_digest(first, has_answer=answered), is_certain=True) for answered in (True, False))
    oldest = Former(_before_ids(first), is_certain=_RECORDED.match(first.id) is not None)
    return tuple(former for former in (*derived, oldest) if former.id != session_id(session))


def file_name(id: str) -> str:
    """File name for data of the session with this id; any characters are allowed in the id."""
    return id if len(id) == 32 and all(c in "0123456789abcdef" for c in id) else _hash(id)


def _digest(exchange: Exchange, *, has_answer: bool) -> str:
    """Digest of an exchange's bytes and start time."""
    request, response = exchange.request, exchange.response if has_answer else None
    head = (request.method, request.url) if request else ("", "")
    status = response.status if response else 0
    raw, answered = request.body.raw if request else b"", response.body.raw if response else b""
    words = "\0".join((*head, str(status), repr(exchange.started_at), str(len(raw))))
    return _hash(words, raw, answered)


def _before_ids(exchange: Exchange) -> str:
    """Id of a session before ids existed; equal for sessions that start at the same time with the same URL."""
    request = exchange.request
    head = (request.method, request.url) if request else ("", "")
    words = "\0".join((exchange.id, *head, exchange.hop, repr(exchange.started_at)))
    return _hash(words, request.body.raw if request and exchange.started_at is None else b"")


def _hash(words: str, *parts: bytes) -> str:
    digest = sha256(words.encode("utf-8", "surrogatepass"))
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:32]
