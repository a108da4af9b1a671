"""The score card of an audit: a row for each theme, and the damage, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.audit.case import Theme
from workbench.audit.judging import Found, Verdict
from workbench.audit.running import Audit
from workbench.rules import Severity


@dataclass(frozen=True, slots=True)
class Row:
    """One theme.

    Attributes:
        passed, of: cases without damage, and all that say something about it.
        kinds: of the damage, the most frequent first.
    """

    theme: Theme
    passed: int
    of: int
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One kind of damage at places that are alike, with the cases that show it.

    Attributes:
        first: as it was first found.
        verdicts: the cases; those that are about it first.
        why: what it breaks, "" where the case does not say.
        rule: slug of the rule that says more, "" for none.
    """

    first: Found
    verdicts: tuple[Verdict, ...]
    why: str
    rule: str


@dataclass(frozen=True, slots=True)
class Card:
    """All of it.

    Attributes:
        passed, of: cases.
    """

    rows: tuple[Row, ...]
    entries: tuple[Entry, ...]
    passed: int
    of: int

    def fails(self, level: str) -> bool:
        """Whether there is damage of a severity ("error", "warning"), or worse; "any": whether there is any."""
        worst = min((entry.first.severity.rank for entry in self.entries), default=None)
        wanted = Severity.INFO if level == "any" else Severity(level)
        return worst is not None and worst <= wanted.rank


def card(audit: Audit) -> Card:
    """Sum an audit up."""
    verdicts = audit.verdicts
    rows = (_row(theme, verdicts) for theme in Theme)
    passed = sum(not verdict.found for verdict in verdicts)
    return Card(tuple(row for row in rows if row.of), tuple(_entries(verdicts)), passed, len(verdicts))


def _row(theme: Theme, verdicts: Sequence[Verdict]) -> Row:
    kinds: dict[str, int] = {}
    passed = of = 0
    for verdict in verdicts:
        own = [found for found in verdict.found if found.theme is theme]
        for kind in {found.kind for found in own}:
            kinds[kind] = kinds.get(kind, 0) + 1
        if own or verdict.case.theme is theme:
            of += 1
            passed += not own
    return Row(theme, passed, of, tuple(sorted(kinds, key=lambda kind: -kinds[kind])))


def _entries(verdicts: Iterable[Verdict]) -> list[Entry]:
    groups: dict[tuple[str, str, str, str], list[tuple[Verdict, Found]]] = {}
    for verdict in verdicts:
        for found in verdict.found:
            shape = "" if found.kind in _EVERYWHERE else found.shape
            groups.setdefault((found.kind, found.side, shape, found.severity), []).append((verdict, found))
    entries = [_entry(group) for group in groups.values()]
    return sorted(entries, key=lambda entry: (entry.first.severity.rank, -len(entry.verdicts)))


_EVERYWHERE = frozenset(
    {"key order", "number spelling", "escapes", "whitespace", "spelled anew", "buffered", "events re-cut"}
)
"""Kinds that say the same wherever they are."""


def _entry(group: list[tuple[Verdict, Found]]) -> Entry:
    """The case that is about it stands for all."""
    own = [pair for pair in group if pair[0].case.theme is pair[1].theme] or group
    verdict, first = own[0]
    others = [v for v, _ in group if v is not verdict]
    said = verdict.case if verdict.case.theme is first.theme else None
    return Entry(first, tuple(dict.fromkeys((verdict, *others))), said.why if said else "", said.rule if said else "")
