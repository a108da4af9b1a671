"""The same turn at another place of its session: before and after a gateway, or in another protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.rules import Inspector
    from workbench.wire import Summary


def find_at_other_hop(inspector: Inspector, index: int) -> int | None:
    """Where else the turn of an exchange is: one place nearer to the model; from the innermost place the outermost.

    What a recorder made of an exchange names it; else the turn is found by what it says (``chain.hops``). None where
    nobody saw it elsewhere.
    """
    summaries = inspector.session.summaries()
    linked = _linked_exchange(summaries, index)
    if linked is not None:
        return linked
    mine = summaries[index].hop
    if all(summary.hop == mine for summary in summaries):
        return None
    found = _inner(inspector, index)
    return _outermost(inspector, index) if found is None else found


def _linked_exchange(summaries: Sequence[Summary], index: int) -> int | None:
    """By the names that the recorder gave: what was made of it, else what it was made of at another place."""
    mine = summaries[index]
    made = (s.index for s in summaries[index + 1 :] if s.parent == mine.id and s.hop != mine.hop)
    of = (s.index for s in summaries[:index] if mine.parent == s.id and s.hop != mine.hop)
    return next(made, next(of, None))


def _inner(inspector: Inspector, index: int) -> int | None:
    inner = inspector.judged(inspector.detail(index).decoded).case.hops.inner
    return inner.index if inner else None


def _outermost(inspector: Inspector, index: int) -> int | None:
    seen = [index]
    while outer := inspector.judged(inspector.detail(seen[-1]).decoded).case.hops.outer:
        if outer.index in seen:
            break
        seen.append(outer.index)
    return seen[-1] if len(seen) > 1 else None
