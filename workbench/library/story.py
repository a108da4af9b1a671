"""The story of a session: its verdict and first break in words. Told within bounds, for a list must not wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from workbench.contracts import UNREAD, Finding, Severity
from workbench.errors import SessionFormatError, WorkbenchError
from workbench.formats.importers import open_input
from workbench.library import verdict
from workbench.protocols.clients.known import client_of
from workbench.rules.inspection import Inspected, Inspector
from workbench.wire.session import Session
from workbench.wire.session.opening import MAGIC

MOST_BYTES = 24 * 1024 * 1024
"""A file that is read whole and is larger is not read for a line of a list: a second, and ten times its size in
memory. Recordings are read piece by piece and have no such bound."""

MOST_SECONDS = 4.0
"""Time spent on the story of one session."""


class Story(NamedTuple):
    """What a session shows.

    Attributes:
        severity: of the first break ("error", "warning"); "" where there is none, or nothing is known.
        verdict: a few words.
        text: the first break in a sentence, or why there is nothing to say.
        exchanges: how many there are, None where that is not known.
        origin: provider and model.
        client: who sent the requests, as they say themselves.
        about: what its maker says of it: story, source, and how it was made.
        is_clean: everything was judged, and nothing is broken.
    """

    severity: str
    verdict: str
    text: str
    exchanges: int | None = None
    origin: str = ""
    client: str = ""
    about: str = ""
    is_clean: bool = False


def _never() -> bool:
    return False


def tell_file(path: Path, is_stopped: Callable[[], bool] = _never) -> Story | None:
    """The story of a file; None when stopped before it was told. Never raises for what is wrong with the file."""
    try:
        if path.exists() and not path.is_file():
            return Story("", "not read", "this is no regular file")
        if path.is_file() and path.stat().st_size > MOST_BYTES and not _is_recording(path):
            size = path.stat().st_size / 1_000_000
            return Story("", "not read", f"{size:,.0f} MB are not read for a list: open it to see")
        session = open_input(str(path))
    except (WorkbenchError, OSError) as error:
        return Story("", "cannot be read", _reason(error))
    try:
        return tell(session, is_stopped)
    finally:
        session.close()


def _is_recording(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _reason(error: WorkbenchError | OSError) -> str:
    """What is wrong, without the path: it stands beside it."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"{error.what}; {error.hint}" if error.hint else error.what


def tell(session: Session, is_stopped: Callable[[], bool] = _never, seconds: float = MOST_SECONDS) -> Story | None:
    """The story of a session, as far as it is known at its first error or when the time is over; None when stopped."""
    inspector = Inspector(session)
    until = time.monotonic() + seconds
    try:
        for row in inspector.steps():
            if is_stopped():
                return None
            if time.monotonic() > until or any(f.severity is Severity.ERROR for f in row.findings):
                break
        client = _client(session)
    except (SessionFormatError, OSError) as error:
        return Story("", "cannot be read", str(error), len(session))
    return _judge(session, inspector.rows)._replace(
        exchanges=len(session), origin=_origin(inspector.rows), client=client, about=_about(session)
    )


def _about(session: Session) -> str:
    return " · ".join(session.about[name] for name in ("story", "made", "source") if session.about.get(name))


def _judge(session: Session, rows: list[Inspected]) -> Story:
    found = _first_break(f for row in rows for f in row.findings)
    if found:
        return Story(found.severity.value, found.rule, f"exchange {found.exchange + 1}: {found.message}")
    if not len(session):
        return Story("", "nothing yet", "it holds no exchange")
    if len(rows) < len(session):
        text = f"no break in the first {len(rows):,} of {len(session):,} exchanges; open it to go on"
        return Story("", "no break so far", text)
    is_clean = not verdict.gaps(rows, session.damage)
    words = "no breaks" if is_clean else "not all was judged"
    return Story("", words, verdict.verdict(rows, session.damage), is_clean=is_clean)


def _first_break(findings: Iterable[Finding]) -> Finding | None:
    """What the session opens at: the first error, else the first warning. What was not decoded is no break."""
    first = None
    for finding in findings:
        if finding.rule in UNREAD:
            continue
        if finding.severity is Severity.ERROR:
            return finding
        if finding.severity is Severity.WARNING and first is None:
            first = finding
    return first


def _origin(rows: list[Inspected]) -> str:
    """``anthropic · claude-sonnet-4-5 +1``: the first provider and model, and how many others there are."""
    pairs = list(dict.fromkeys((r.provider, r.model or "") for r in rows if r.provider))
    if not pairs:
        return ""
    first = " · ".join(word for word in pairs[0] if word)
    return f"{first} +{len(pairs) - 1}" if len(pairs) > 1 else first


def _client(session: Session) -> str:
    """What the first request calls its sender."""
    if not len(session):
        return ""
    exchange = session.exchange(0)
    agent = exchange.request.headers.get("user-agent") if exchange.request else None
    return exchange.client or client_of(agent or "")
