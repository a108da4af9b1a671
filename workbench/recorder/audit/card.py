"""The score card of an audit: a row for each theme, and the damage, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.contracts import Severity
from workbench.diff.damage import DamageKind
from workbench.lazy_dataclass import dataclass
from workbench.recorder.audit.case import Theme
from workbench.recorder.audit.run import AuditResult
from workbench.recorder.audit.verdicts import CaseDamage, CaseVerdict


@dataclass(frozen=True, slots=True)
class CardRow:
    """One theme.

    Attributes:
        passed, of: cases of the theme without such damage, and all of its cases.
        elsewhere: cases of other themes that show such damage too.
        kinds: of the damage, the most frequent first.
    """

    theme: Theme
    passed: int
    of: int
    elsewhere: int
    kinds: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        """True if no case shows such damage."""
        return not self.kinds


@dataclass(frozen=True, slots=True)
class CardEntry:
    """One kind of damage at similar places, with the cases that show it.

    Attributes:
        first: as it was first found.
        places: where it was found, without numbers; the first one's first.
        verdicts: the cases; those of its theme first.
        why: what it breaks; empty if the case does not say.
        rule: slug of the rule that explains more; empty if none.
    """

    first: CaseDamage
    places: tuple[str, ...]
    verdicts: tuple[CaseVerdict, ...]
    why: str
    rule: str


@dataclass(frozen=True, slots=True)
class ScoreCard:
    """Result of an audit: a row for each theme, and the damage.

    Attributes:
        passed, of: cases.
    """

    rows: tuple[CardRow, ...]
    entries: tuple[CardEntry, ...]
    passed: int
    of: int

    def fails(self, level: str) -> bool:
        """There is damage of a severity ("error", "warning") or worse; of any severity for "any"."""
        worst = min((entry.first.severity.rank for entry in self.entries), default=None)
        wanted = Severity.INFO if level == "any" else Severity(level)
        return worst is not None and worst <= wanted.rank


def score_card(audit: AuditResult) -> ScoreCard:
    """The score card of an audit."""
    verdicts = audit.verdicts
    rows = (_row(theme, verdicts) for theme in Theme)
    passed = sum(not verdict.damages for verdict in verdicts)
    return ScoreCard(
        tuple(row for row in rows if row.of or row.kinds), tuple(_entries(verdicts)), passed, len(verdicts)
    )


def _row(theme: Theme, verdicts: Sequence[CaseVerdict]) -> CardRow:
    kinds: dict[str, int] = {}
    passed = of = elsewhere = 0
    for verdict in verdicts:
        own = {found.kind for found in verdict.damages if found.theme is theme}
        for kind in own:
            kinds[kind] = kinds.get(kind, 0) + 1
        if verdict.case.theme is theme:
            of += 1
            passed += not own
        else:
            elsewhere += bool(own)
    return CardRow(theme, passed, of, elsewhere, tuple(sorted(kinds, key=lambda kind: -kinds[kind])))


def _entries(verdicts: Iterable[CaseVerdict]) -> list[CardEntry]:
    groups: dict[tuple[str, str, str, str], list[tuple[CaseVerdict, CaseDamage]]] = {}
    for verdict in verdicts:
        for found in verdict.damages:
            groups.setdefault((found.kind, found.side, _likeness(found), found.severity), []).append((verdict, found))
    entries = [_entry(group) for group in groups.values()]
    return sorted(entries, key=lambda entry: (entry.first.severity.rank, -len(entry.verdicts)))


def _likeness(found: CaseDamage) -> str:
    """Key by which damages of a kind become one entry: the name of the member, or how it was changed."""
    if found.kind in _EVERYWHERE or found.kind in _MANY:
        return ""
    if found.kind == DamageKind.VALUE_CHANGED and found.words:
        return found.words
    return next((step for step in reversed(found.shape.split("/")) if step not in ("", "*")), "")


_EVERYWHERE: frozenset[str] = frozenset(
    {
        *(DamageKind.KEY_ORDER, DamageKind.NUMBER_SPELLING, DamageKind.ESCAPES, DamageKind.WHITESPACE),
        *(DamageKind.RESPELLED, DamageKind.BUFFERED, DamageKind.EVENTS_RECUT),
    }
)
"""Kinds with the same meaning at every place."""

_ADDED: frozenset[str] = frozenset({DamageKind.HEADER_ADDED, DamageKind.FIELD_ADDED, DamageKind.EVENTS_ADDED})
"""Kinds that lose nothing: the consequence of a loss does not follow."""

_MANY: frozenset[str] = _ADDED | {
    *(DamageKind.EMPTY_DROPPED, DamageKind.HEADER_DROPPED, DamageKind.IDS_MAPPED, DamageKind.ERROR_REWRITTEN),
    *(DamageKind.TRUNCATED, DamageKind.DELTAS_LOST, DamageKind.DELTAS_REPEATED, DamageKind.EVENTS_REORDERED),
}
"""Kinds that a gateway causes at many places: these are one list."""


def _entry(group: list[tuple[CaseVerdict, CaseDamage]]) -> CardEntry:
    """An entry, represented by a case of its theme; with a consequence only if no case of another theme shows it."""
    own = [pair for pair in group if pair[0].case.theme is pair[1].theme] or group
    verdict, first = own[0]
    others = (v for v, _ in group if v is not verdict)
    places = dict.fromkeys((first.shape, *(found.shape for _, found in group)))
    case = verdict.case
    is_alone = first.kind in _EVERYWHERE or all(v.case.why == case.why for v, _ in group)
    is_told = case.theme is first.theme and is_alone and first.kind not in _ADDED
    why, rule = (case.why, case.rule) if is_told else ("", "")
    return CardEntry(first, tuple(places), tuple(dict.fromkeys((verdict, *others))), why, rule)
