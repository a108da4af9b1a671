"""Summaries of sessions, kept in the user's cache: a list of large recordings is summarised once, not at each start.

A summary counts for the file that has the same path, size, time and inode, and for the program, contracts and plug-ins
that made it. Deleting the file of the cache costs nothing but time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from workbench import __version__, plugins
from workbench.config import cache_files, resources
from workbench.wire import plain_form

NAME = "summaries.json"

MOST = 512
"""Summaries kept, those used last."""

Identity = Sequence[int]


def identity(path: Path) -> Identity | None:
    """Identity of a file, which changes with its content; None if other files hold a part of it, or it is none."""
    try:
        log = path.with_name(f"{path.name}-wal")
        if not path.is_file() or (log.exists() and log.stat().st_size):
            return None
        return cache_files.identity(path)
    except (OSError, ValueError):
        return None


def find(path: Path, known: Identity | None) -> Sequence[Any] | None:
    """The fields of the summary of a file with this identity; None if there is none."""
    entry = _entries().get(_key(path)) if known else None
    return entry[1] if entry and entry[0] == known else None


def save(path: Path, known: Identity, fields: Sequence[Any]) -> None:
    """Keep the fields of a summary. A failure is ignored."""
    entries = dict(_entries())  # of now: another window may have written
    entries.pop(_key(path), None)
    entries[_key(path)] = [list(known), list(fields)]
    kept = dict(list(entries.items())[-MOST:])
    cache_files.write(NAME, plain_form.encode([_program(), kept], ()).encode())


def _key(path: Path) -> str:
    return os.path.abspath(path)


def _entries() -> Mapping[str, list[Any]]:
    try:
        return _read(tuple(cache_files.identity(resources.cache_folder() / NAME)))
    except OSError:
        return {}


@lru_cache(maxsize=1)
def _read(_: Identity) -> Mapping[str, list[Any]]:
    with suppress(ValueError, TypeError, KeyError, IndexError, RecursionError):
        program, entries = plain_form.decode(cache_files.read(NAME) or b"", ())
        if program == _program():
            return {str(key): entry for key, entry in entries.items() if len(entry) == 2}
    return {}


@cache
def _program() -> str:
    """Digest of everything except the session that influences its findings: program, contracts, settings."""
    digest = hashlib.sha256(__version__.encode())
    for path in sorted(_files()):
        with suppress(OSError):
            digest.update(f"{path} {cache_files.identity(Path(path))}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


def _files() -> Iterator[str]:
    """Modules and tables of the program, contracts, and modules of plug-ins."""
    for folder, folders, names in os.walk(Path(__file__).parents[1]):
        folders[:] = [name for name in folders if name not in ("__pycache__", "_data", "tui", "cli")]
        yield from (f"{folder}/{name}" for name in names if name.endswith((".py", ".yaml")))
    yield from map(str, (*resources.shipped_profiles().values(), *resources.own_profiles().values()))
    for package in plugins.PARTS:
        for module in plugins.third_party(package).values():
            yield from map(str, Path(module.__file__ or "").parent.glob("*.py"))
