"""Damage to a text that arrives in pieces."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from workbench.diff.damage._texts import text_change
from workbench.diff.damage.kinds import DamageKind
from workbench.diff.wire import common, common_end


class PiecesDamage(NamedTuple):
    """Damage to ``places`` pieces; ``is_tail``: all that is lost was at the end."""

    kind: DamageKind
    words: str
    places: int = 1
    is_tail: bool = False

    @property
    def is_same_meaning(self) -> bool:
        """True if the pieces add up to the same value."""
        return self.kind in (DamageKind.EVENTS_RECUT, DamageKind.ARGUMENTS_RESPELLED)


def of_pieces(olds: list[str], news: list[str]) -> PiecesDamage:
    """Classify the damage to a text whose pieces differ."""
    old, new = "".join(olds), "".join(news)
    if old == new:
        return PiecesDamage(DamageKind.EVENTS_RECUT, f"{len(olds):,} deltas became {len(news):,}")
    if len(olds) == len(news) and Counter(olds) == Counter(news):
        return PiecesDamage(DamageKind.EVENTS_REORDERED, "its deltas are in a different order")
    missing = _missing(olds, new)
    if missing is not None and (len(olds) > 1 or not new):
        is_tail = missing == list(range(len(olds) - len(missing), len(olds)))
        return PiecesDamage(DamageKind.DELTAS_LOST, _count(missing, olds), len(missing), is_tail and len(missing) > 0)
    more = _missing(news, old)
    known = set(olds)
    if more is not None and len(news) > 1 and all(news[n] in known for n in more):
        return PiecesDamage(DamageKind.DELTAS_REPEATED, _count(more, news), len(more))
    kind, words = text_change(old, new)
    if kind in (DamageKind.TEXT_CUT, DamageKind.VALUE_CHANGED) and len(new) < len(old):
        head = common(old, new)
        if head + common_end(old[head:], new[head:]) == len(new) and len(news) > 1:
            count = len(old) - len(new)
            return PiecesDamage(DamageKind.DELTAS_LOST, f"{count:,} characters", 1, head == len(new))
    return PiecesDamage(kind, words)


def _count(rows: list[int], pieces: list[str]) -> str:
    if len(rows) == len(pieces):
        return f"all {len(pieces):,} deltas"
    return f"{len(rows):,} of {len(pieces):,} deltas"


def _missing(pieces: list[str], text: str) -> list[int] | None:
    """Numbers of the pieces that are missing, if the others make up the text; None otherwise."""
    at, left = 0, list[int]()
    for n, piece in enumerate(pieces):
        if text.startswith(piece, at):
            at += len(piece)
        else:
            left.append(n)
    return left if at == len(text) and left else None
