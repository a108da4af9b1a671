"""Search for the same turn at another hop: before and after a gateway, or in another protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.rules import Inspector
    from workbench.wire import Summary


def find_at_other_hop(inspector: Inspector, index: int) -> int | None:
    """Index of the same turn one hop nearer to the model; from the innermost hop, of the outermost one.

    Exchanges that a recorder derived from another name their parent; else the turn is found by its content
    (``chain.hops``). None if it was not recorded at another hop.
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
    """Exchange at another hop linked by the recorder: one derived from this one, else its parent."""
    mine = summaries[index]
    derived = (s.index for s in summaries[index + 1 :] if s.parent == mine.id and s.hop != mine.hop)
    parents = (s.index for s in summaries[:index] if mine.parent == s.id and s.hop != mine.hop)
    return next(derived, next(parents, None))


def _inner(inspector: Inspector, index: int) -> int | None:
    inner = inspector.judge(inspector.detail(index).decoded).case.hops.inner
    return inner.index if inner else None


def _outermost(inspector: Inspector, index: int) -> int | None:
    seen = [index]
    while outer := inspector.judge(inspector.detail(seen[-1]).decoded).case.hops.outer:
        if outer.index in seen:
            break
        seen.append(outer.index)
    return seen[-1] if len(seen) > 1 else None
