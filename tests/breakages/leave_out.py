"""Scores without what an entry itself has taught: its relations that cite the entry's own source are switched off.

What is left is what the other facts, the mechanisms and the words of the error say: an estimate of how a failure scores
that nobody has read yet. Checks and terms of contracts, and known texts, stay: a text that was taught with an entry
counts as known.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from tests import breakages
from tests.breakages import Entry, scoring
from workbench.contracts import Relation
from workbench.rules import relations
from workbench.rules._shared.context import RuleContext

PROFILES = Path(__file__).resolve().parent.parent.parent / "profiles"
OUTCOMES = {"hit": "named", "rule": "near", "near": "near", "miss": "silent", "error": "silent"}
"""Grade → what a person got: the rule at its place, something close to it, or nothing."""


def grades(entries: Iterable[Entry]) -> Counter[str]:
    """How many entries are named, near or silent without the relations of their own sources.

    Verdicts are kept from one run of ``check`` to the next, so each entry gets a cache of its own.
    """
    counts: Counter[str] = Counter()
    for entry in entries:
        with TemporaryDirectory() as folder, _without_facts_of(entry["source"], Path(folder) / "cache"):
            counts.update(OUTCOMES[one.grade] for one in scoring.score([entry], Path(folder)).scored)
    return counts


def line(counts: Counter[str]) -> str:
    """The counts in words."""
    told = ", ".join(f"{counts[name]} {name}" for name in ("named", "near", "silent"))
    return f"without own facts: {told} ({100 * counts['named'] // (counts.total() or 1)} % named)"


@contextmanager
def _without_facts_of(source: str, caches: Path) -> Iterator[None]:
    may_hold, own = relations._may_hold, _names_of(source)

    def may_hold_without(case: RuleContext, relation: Relation) -> bool:
        return not own & set(relation.source.split("; ")) and may_hold(case, relation)

    patched = mock.patch.object(relations, "_may_hold", may_hold_without)
    with mock.patch.dict(os.environ, XDG_CACHE_HOME=str(caches)), patched:
        yield


@cache
def _titles() -> dict[str, frozenset[str]]:
    """Address of a source → what contracts call it."""
    found: dict[str, set[str]] = {}
    for path in (*PROFILES.glob("*.yaml"), *PROFILES.glob("shared/*.yaml")):
        data: Any = breakages.load(path)
        for one in (data.get("sources") or {}).values():
            if "url" in one:
                found.setdefault(one["url"], set()).add(one["title"])
    return {url: frozenset(titles) for url, titles in found.items()}


def _names_of(source: str) -> frozenset[str]:
    """How relations name a source: by its address, with or without a part of the page, or by its title."""
    page = re.sub(r"#.*", "", source)
    return frozenset({source, page}) | _titles().get(page, frozenset()) | _titles().get(source, frozenset())
