"""Summary of a session for a list: verdict and first break. Bounded in time and size, because a list must not wait."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.config import cache_files, resources
from workbench.errors import SessionFormatError, WorkbenchError
from workbench.library.program_digest import program_digest
from workbench.wire import ExchangeKind, plain_form
from workbench.wire.session import is_written

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.rules import InspectedExchange
    from workbench.wire.session import Session


NAME = "summaries.json"

MOST = 512
"""Summaries kept, those used last."""

Identity = Sequence[int]


def identity(path: Path) -> Identity | None:
    """Identity of a file, which changes with its content; None if other files hold a part of it, or it is none."""
    try:
        if not path.is_file() or is_written(path):
            return None
        return cache_files.identity(path)
    except (OSError, ValueError):
        return None


def stored_summary(path: Path, identity: Identity | None) -> Sequence[Any] | None:
    """The fields of the summary of a file with this identity; None if there is none."""
    entry = _entries().get(_key(path)) if identity else None
    return entry[1] if entry and entry[0] == identity else None


def save(path: Path, identity: Identity, fields: Sequence[Any]) -> None:
    """Keep the fields of a summary. A failure is ignored."""
    entries = dict(_entries())  # of now: another window may have written
    entries.pop(_key(path), None)
    entries[_key(path)] = [list(identity), list(fields)]
    newest = dict(list(entries.items())[-MOST:])
    cache_files.write(NAME, plain_form.encode([program_digest(), newest], ()).encode())


def _key(path: Path) -> str:
    return os.path.abspath(path)


def _entries() -> Mapping[str, list[Any]]:
    try:
        return _read_stored(tuple(cache_files.identity(resources.cache_folder() / NAME)))
    except OSError:
        return {}


@lru_cache(maxsize=1)
def _read_stored(_: Identity) -> Mapping[str, list[Any]]:
    with suppress(ValueError, TypeError, KeyError, IndexError, RecursionError):
        program, entries = plain_form.decode(cache_files.read(NAME) or b"", ())
        if program == program_digest():
            return {str(key): entry for key, entry in entries.items() if len(entry) == 2}
    return {}


MOST_BYTES = 24 * 1024 * 1024
"""Larger files are not read for a line of a list: that takes a second, and ten times their size in memory. Recordings
are read piece by piece and have no such bound."""

MOST_SECONDS = 4.0
"""CPU time spent on one session, so that what else runs on the machine does not change what is said."""


class SessionSummary(NamedTuple):
    """One session in a list.

    Attributes:
        severity: of the first break ("error", "warning"); empty if there is no break, or nothing is known.
        verdict: a few words.
        text: the first break in a sentence, or why there is none.
        exchanges: their number; None if unknown.
        origin: provider and model, and the tool servers.
        client: the client, from its own user agent.
        about: story, source and how it was made, as noted in the file.
        is_clean: every exchange was checked, and nothing is broken.
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


def describe_file(path: Path, is_stopped: Callable[[], bool] = _never) -> SessionSummary | None:
    """Summary of a file; None if stopped before it is done. Never raises for a fault of the file.

    It is kept for later starts, and returned from there as long as the file is the same.
    """
    known = identity(path)
    fields = stored_summary(path, known)
    if fields is not None:
        with suppress(TypeError):  # of a file of the cache that was changed
            return SessionSummary(*fields)
    return _read(path, is_stopped, known)


def file_size(path: Path) -> int:
    """Bytes of a file: small ones are summarised first. 0 if unknown."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0


def _read(path: Path, is_stopped: Callable[[], bool], known: Identity | None) -> SessionSummary | None:
    from workbench.formats.importers import open_input, reads_other_files

    try:
        if path.exists() and not path.is_file():
            return SessionSummary("", "not read", "not a regular file")
        if path.is_file() and path.stat().st_size > MOST_BYTES and not _is_recording(path):
            size = path.stat().st_size / 1_000_000
            return SessionSummary("", "not read", f"too large to preview ({size:,.0f} MB); open it to inspect")
        session = open_input(str(path))
    except (WorkbenchError, OSError) as error:
        return SessionSummary("", "cannot be read", _reason(error))
    try:
        summary = describe(session, is_stopped)
        is_whole = not session.is_live and not reads_other_files(session)
        if summary and known and is_whole and identity(path) == known:
            save(path, known, summary)
        return summary
    finally:
        session.close()


def _is_recording(path: Path) -> bool:
    from workbench.wire.session import MAGIC

    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _reason(error: WorkbenchError | OSError) -> str:
    """The error without the path, which the list shows anyway."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"{error.what}; {error.hint}" if error.hint else error.what


def describe(
    session: Session, is_stopped: Callable[[], bool] = _never, seconds: float = MOST_SECONDS
) -> SessionSummary | None:
    """Summary of a session up to its first error or until the time is over; None if stopped."""
    from workbench.contracts import Severity
    from workbench.rules import Inspector

    inspector = Inspector(session)
    until = time.thread_time() + seconds
    try:
        for row in inspector.steps():
            if is_stopped():
                return None
            if time.thread_time() > until or any(f.severity is Severity.ERROR for f in row.findings):
                break
        client = _client(session)
    except (SessionFormatError, OSError) as error:
        return SessionSummary("", "cannot be read", str(error), len(session))
    return _summarize(session, inspector.rows)._replace(
        exchanges=len(session),
        origin=" · ".join(filter(None, (_origin(inspector.rows), _servers(inspector.rows)))),
        client=client,
        about=_about(session),
    )


def _about(session: Session) -> str:
    about = session.about
    kind = about.get("made", "").partition(":")[0]
    origin = " after ".join(words for words in (kind, about.get("source", "")) if words)
    return "\n".join(words for words in (about.get("story", ""), origin) if words)


def _summarize(session: Session, rows: list[InspectedExchange]) -> SessionSummary:
    found = _first_break(f for row in rows for f in row.findings)
    if found:
        return SessionSummary(found.severity.value, found.rule, f"exchange {found.exchange + 1}: {found.message}")
    if not len(session):
        return SessionSummary("", "no exchanges yet", "no exchanges yet")
    if len(rows) < len(session):
        text = f"no breaks in the first {len(rows):,} of {len(session):,} exchanges; open to inspect the rest"
        return SessionSummary("", "no breaks so far", text)
    from workbench.library import clean_verdict

    is_clean = not clean_verdict.gaps(rows, session.damage)
    words = "no breaks" if is_clean else "partly checked"
    return SessionSummary("", words, clean_verdict.verdict(rows, session.damage), is_clean=is_clean)


def _first_break(findings: Iterable[Finding]) -> Finding | None:
    """First error, else first warning: the session opens there. An undecoded exchange is not a break."""
    from workbench.contracts import UNREAD, Severity

    first = None
    for finding in findings:
        if finding.rule in UNREAD:
            continue
        if finding.severity is Severity.ERROR:
            return finding
        if finding.severity is Severity.WARNING and first is None:
            first = finding
    return first


def _origin(rows: list[InspectedExchange]) -> str:
    """``anthropic · claude-sonnet-4-5 +1``: the first provider and model, and the number of others."""
    pairs = list(dict.fromkeys((r.provider, r.model or "") for r in rows if r.provider))
    if not pairs:
        return ""
    first = " · ".join(word for word in pairs[0] if word)
    return f"{first} +{len(pairs) - 1}" if len(pairs) > 1 else first


def _servers(rows: list[InspectedExchange]) -> str:
    """``MCP files, git``: the tool servers that are recorded; empty without any."""
    from workbench.protocols.mcp import server_of

    names = dict.fromkeys(server_of(row.summary.url) for row in rows if row.summary.kind is ExchangeKind.MCP)
    return f"MCP {', '.join(names)}" if names else ""


def _client(session: Session) -> str:
    """Client of the first request, by its name in the recording or its user agent."""
    from workbench.protocols.clients import client_of

    if not len(session):
        return ""
    exchange = session.exchange(0)
    agent = exchange.request.headers.get("user-agent") if exchange.request else None
    return exchange.client or client_of(agent or "")
