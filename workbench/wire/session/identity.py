"""Identity of a session: the id in its file, or a digest of its first exchange where the file holds none.

An id is written when a session is begun or imported, and copies and conversions keep it. Files of other programs and
sessions of format 1 get a derived one: the same whenever the file is opened, also after it has grown.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import NamedTuple

from workbench.ir import JsonValue
from workbench.wire.exchange import Exchange, State
from workbench.wire.session import Session

MAX_ID = 200
"""Characters of an id, all printable ASCII; any other is not taken."""


_RECORDED = re.compile(r"[0-9a-f]{8}-")
"""Beginning of an exchange's id that our recorder made: no two recordings share it."""


class Former(NamedTuple):
    """What a session may have been known by before. ``is_certain``: no other session can have been known by it."""

    id: str
    is_certain: bool


def valid_id(value: JsonValue) -> str:
    """The id that a session file holds; empty string where that is none."""
    is_id = isinstance(value, str) and len(value) <= MAX_ID and value.isascii() and value.isprintable()
    return str(value) if is_id else ""


def session_id(session: Session) -> str:
    """The id of a session; empty string for one that has none and holds no exchange.

    Raises:
        SessionFormatError: the first exchange cannot be read.
    """
    if session.id or not len(session):
        return session.id
    first = session.exchange(0)
    return _digest(first, has_answer=first.state is State.COMPLETE)


def former_ids(session: Session) -> tuple[Former, ...]:
    """What a session may have been known by: before its file had an id, while its first answer arrived, to format 1.

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
    """A name for files that belong to the session with this id, whatever characters the id has."""
    return id if len(id) == 32 and all(c in "0123456789abcdef" for c in id) else _hash(id)


def _digest(exchange: Exchange, *, has_answer: bool) -> str:
    """Of the bytes of an exchange and its start time."""
    request, response = exchange.request, exchange.response if has_answer else None
    head = (request.method, request.url) if request else ("", "")
    status = response.status if response else 0
    asked, answered = request.body.raw if request else b"", response.body.raw if response else b""
    words = "\0".join((*head, str(status), repr(exchange.started_at), str(len(asked))))
    return _hash(words, asked, answered)


def _before_ids(exchange: Exchange) -> str:
    """What a session was known by before it had an id; equal for all that begin at the same time, with the same URL."""
    request = exchange.request
    head = (request.method, request.url) if request else ("", "")
    words = "\0".join((exchange.id, *head, exchange.hop, repr(exchange.started_at)))
    return _hash(words, request.body.raw if request and exchange.started_at is None else b"")


def _hash(words: str, *parts: bytes) -> str:
    digest = sha256(words.encode("utf-8", "surrogatepass"))
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:32]
