"""What a target answered, as a session of its own: behind what came before it in its conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.ir import NOTHING
from workbench.wire.exchange import Exchange, Summary, summarize

if TYPE_CHECKING:
    from workbench.inspection import Inspector
    from workbench.targets.outgoing import Outgoing
    from workbench.wire.session import Session


@dataclass(slots=True)
class Resent:
    """Some exchanges of a session, read when they are looked at, and one more.

    Args:
        name: of the session.
        source: whose exchanges they are; it stays open.
        earlier: their indexes.
        last: the one that was sent.
    """

    name: str
    source: Session
    earlier: Sequence[int]
    last: Exchange
    damage: tuple[str, ...] = ()
    about: Mapping[str, str] = NOTHING
    is_live: bool = False

    def __len__(self) -> int:
        return len(self.earlier) + 1

    def summaries(self) -> Sequence[Summary]:
        known = self.source.summaries()
        return (
            *(replace(known[at], index=n) for n, at in enumerate(self.earlier)),
            summarize(len(self) - 1, self.last),
        )

    def exchange(self, index: int) -> Exchange:
        return self.last if index == len(self.earlier) else self.source.exchange(self.earlier[index])

    def refresh(self) -> frozenset[int]:
        """Nothing changes."""
        return frozenset()

    def close(self) -> None:
        """The source stays open: others look at it."""


def resent(inspector: Inspector, index: int, outgoing: Outgoing, exchange: Exchange) -> Resent:
    """An exchange in the place of the recorded one that it was made of; said in another protocol it stands alone."""
    here = inspector.rows[index].conversation
    rows = () if outgoing.is_converted else inspector.rows[:index]
    earlier = tuple(row.index for row in rows if row.conversation == here is not None)
    return Resent(f"{inspector.session.name} → {outgoing.target.name}", inspector.session, earlier, exchange)
