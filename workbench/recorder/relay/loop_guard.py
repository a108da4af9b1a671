"""Detects recorders of this machine that lead to each other, in which a request would circle forever.

Each recorder writes a note with its port and its upstreams into its user's folder of runtime files, and reads the notes
of the others before it forwards to one of them. Nothing is added to what it forwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from workbench.errors import UsageError, WireError, WorkbenchError
from workbench.recorder import runtime_files
from workbench.recorder.relay.routes import Routes, parse_upstream
from workbench.wire import dumps, loads
from workbench.wire.session import writers

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class _RecorderNote(NamedTuple):
    """Port and upstreams of one recorder.

    Attributes:
        mark: of its process, see ``writers.mark``.
        port: where it listens.
        upstreams: name → base URL.
    """

    mark: str
    port: int
    upstreams: Mapping[str, str]


def write_note(port: int, upstreams: Mapping[str, str], mark: str = "") -> Callable[[], None]:
    """Write the note of this recorder, if there is a folder for it; returns a function that removes it."""
    for path in _paths("*"):
        if not _read(path):
            path.unlink(missing_ok=True)  # of one that was killed
    try:
        path = runtime_files.private_path(f"leads-{port}.json")
        path.write_bytes(dumps({"mark": mark or writers.mark(), "port": port, "upstreams": dict(upstreams)}))
    except (OSError, UsageError):
        return lambda: None
    return partial(path.unlink, missing_ok=True)


def is_loop(peer: int, name: str) -> bool:
    """The upstream ``name`` of this process, reached at port ``peer``, is a recorder that leads back to this one."""
    if not _find_note(peer):
        return False
    ours = [found for found in map(_read, _paths("*")) if found and found.mark == writers.mark()]
    return any(_is_ring(own, name) for own in ours if name in own.upstreams)


def _is_ring(own: _RecorderNote, name: str) -> bool:
    start = at = (own.port, name)
    url, seen = own.upstreams[name], set[tuple[int, str]]()
    while at not in seen:
        seen.add(at)
        step = _next_recorder(url)
        if step is None:
            return False
        at, url = step
    return at == start


def _next_recorder(url: str) -> tuple[tuple[int, str], str] | None:
    """The recorder that a base URL leads to: (port, name of the upstream there), and the URL of that upstream."""
    with suppress(WorkbenchError):  # no upstream of that name; or the note was not written by this version
        upstream = parse_upstream("", url)
        found = _find_note(upstream.port) if upstream.host in LOOPBACK else None
        if found:
            name = Routes(found.upstreams).find(upstream.prefix + b"/")[0].name
            return (found.port, name), found.upstreams[name]
    return None


def _find_note(port: int) -> _RecorderNote | None:
    return next(filter(None, map(_read, _paths(port))), None)


def _paths(port: int | str) -> Iterator[Path]:
    for folder in runtime_files.folders():
        yield from folder.glob("leads-*.json") if port == "*" else [folder / f"leads-{port}.json"]


def _read(path: Path) -> _RecorderNote | None:
    """Note of a recorder that still runs; None for any other file."""
    try:
        found = _RecorderNote(**loads(path.read_bytes()))
    except (OSError, WireError, TypeError):
        return None
    return found if writers.is_alive(found.mark) else None
