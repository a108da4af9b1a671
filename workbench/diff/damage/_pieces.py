"""What became of a text that comes in pieces."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from workbench.diff.damage._texts import of_texts
from workbench.diff.damage.kinds import Kind
from workbench.diff.wire import common, common_end


class Made(NamedTuple):
    """What happened: ``places`` pieces are concerned; ``is_tail``: all that is lost stood at the end."""

    kind: Kind
    words: str
    places: int = 1
    is_tail: bool = False

    @property
    def is_same_meaning(self) -> bool:
        """It adds up to the same."""
        return self.kind in (Kind.EVENTS_RECUT, Kind.ARGUMENTS_RESPELLED)


def of_pieces(olds: list[str], news: list[str]) -> Made:
    """What happened to a text whose pieces are others now."""
    old, new = "".join(olds), "".join(news)
    if old == new:
        return Made(Kind.EVENTS_RECUT, f"{len(olds):,} pieces became {len(news):,}")
    if len(olds) == len(news) and Counter(olds) == Counter(news):
        return Made(Kind.EVENTS_REORDERED, "its pieces came in another order")
    missing = _missing(olds, new)
    if missing is not None and (len(olds) > 1 or not new):
        is_tail = missing == list(range(len(olds) - len(missing), len(olds)))
        return Made(Kind.DELTAS_LOST, _count(missing, olds), len(missing), is_tail and len(missing) > 0)
    more = _missing(news, old)
    known = set(olds)
    if more is not None and len(news) > 1 and all(news[n] in known for n in more):
        return Made(Kind.DELTAS_REPEATED, _count(more, news), len(more))
    kind, words = of_texts(old, new)
    if kind in (Kind.TEXT_CUT, Kind.VALUE_CHANGED) and len(new) < len(old):
        head = common(old, new)
        if head + common_end(old[head:], new[head:]) == len(new) and len(news) > 1:
            count = len(old) - len(new)
            return Made(Kind.DELTAS_LOST, f"{count:,} characters", 1, head == len(new))
    return Made(kind, words)


def _count(rows: list[int], pieces: list[str]) -> str:
    if len(rows) == len(pieces):
        return f"all {len(pieces):,} pieces"
    return f"{len(rows):,} of {len(pieces):,} pieces"


def _missing(pieces: list[str], text: str) -> list[int] | None:
    """Which pieces are left out where the others make up the text; None where they do not."""
    at, left = 0, list[int]()
    for n, piece in enumerate(pieces):
        if text.startswith(piece, at):
            at += len(piece)
        else:
            left.append(n)
    return left if at == len(text) and left else None
