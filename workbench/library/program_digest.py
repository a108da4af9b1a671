"""Digest of everything except the session that determines its findings: program, contracts, plug-ins, settings."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from workbench import __version__, plugins
from workbench.config import cache_files, resources


def program_digest() -> str:
    """The digest, by the sizes and times of the files: what is kept of findings counts as long as it is the same."""
    return hashlib.sha256(f"{_program_files()} {_identities(_own_files())}".encode()).hexdigest()


@cache
def _program_files() -> str:
    return f"{__version__} {sys.version} {_identities(_shipped_files())}"


def _identities(files: Iterable[str]) -> str:
    """Digest of paths, with what changes with the content of each file."""
    lines = []
    for path in sorted(files):
        try:
            lines.append(f"{path} {cache_files.identity(path)}")
        except OSError:
            continue
    return hashlib.sha256("\n".join(lines).encode(errors="surrogateescape")).hexdigest()


def _shipped_files() -> Iterator[str]:
    """Modules and tables of the program, its contracts, and the folders of installed packages."""
    for folder, folders, names in os.walk(Path(__file__).parents[1]):
        folders[:] = [name for name in folders if name not in ("__pycache__", "_data", "tui", "cli")]
        yield from (f"{folder}/{name}" for name in names if name.endswith((".py", ".yaml", ".json")))
    yield from map(str, (*resources.shipped_profiles().values(), *resources.shared_profiles().values()))
    yield from (folder for folder in sys.path if folder.endswith("-packages"))


def _own_files() -> Iterator[str]:
    """The user's own contracts and prices, and modules of plug-ins."""
    yield from map(str, (*resources.own_profiles().values(), resources.own_prices()))
    for package in plugins.PARTS:
        for module in plugins.third_party(package).values():
            yield from map(str, Path(module.__file__ or "").parent.glob("*.py"))
