"""Sources of the Compare screen: two hops of a session, two of its exchanges, or the session and another file.

Everything here runs in the inspector's thread, except for creating a source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from workbench.tui.models.comparing import ComparedTurn, Pairing

if TYPE_CHECKING:
    from workbench.diff import Comparison
    from workbench.protocols import DecodedExchange
    from workbench.rules import Inspector
    from workbench.wire.session import Session


class CollationSource(Protocol):
    """Two sides to compare.

    Attributes:
        pairing: their names.
        is_own: True if both sides are of the open session.
    """

    pairing: Pairing
    is_own: bool

    def turns(self, inspector: Inspector) -> Iterator[ComparedTurn]:
        """Every turn, in order."""
        ...

    def both(self, inspector: Inspector, turn: ComparedTurn) -> tuple[DecodedExchange | None, DecodedExchange | None]:
        """Both exchanges of a turn."""
        ...

    def close(self) -> None:
        """Release the source."""
        ...


class _Own:
    """A source with both sides in the open session."""

    is_own = True

    def both(self, inspector: Inspector, turn: ComparedTurn) -> tuple[DecodedExchange | None, DecodedExchange | None]:
        before, after = (None if n is None else inspector.detail(n).decoded for n in (turn.before, turn.after))
        return before, after

    def close(self) -> None:
        """Do nothing: no file was opened."""


class CollatedHops(_Own):
    """Two hops of the session, the one nearer to the client first."""

    def __init__(self, outer: str, inner: str) -> None:
        self.pairing = Pairing(outer or "(no name)", inner or "(no name)", are_places=True)
        self.names = outer, inner

    def turns(self, inspector: Inspector) -> Iterator[ComparedTurn]:
        from workbench.diff import compare_hops

        return map(_turn, compare_hops(inspector.session, *self.names))


class Exchanges(_Own):
    """Two exchanges of the session.

    Args:
        branch: names the branch of an exchange, for titles; empty for the recorded one.
    """

    def __init__(self, before: int, after: int, branch: Callable[[int], str] = lambda _: "") -> None:
        one, other = (f"exchange {index + 1}{branch(index)}" for index in (before, after))
        self.pairing = Pairing(one, other)
        self._indexes = before, after

    def turns(self, inspector: Inspector) -> Iterator[ComparedTurn]:
        from workbench.diff import compare_exchanges

        yield _turn(compare_exchanges(*(inspector.detail(n).decoded for n in self._indexes)))


class File:
    """The session, or one exchange of it, and another file, or one exchange of that.

    Args:
        name: name of the session.
        path: path of the file.
        mine: index of the exchange of the session; None for all.
        number: index of the exchange of the file, from zero; None for all.
    """

    is_own = False

    def __init__(self, name: str, path: Path, mine: int, number: int | None) -> None:
        mine_too = f", exchange {mine + 1}" if number is not None else ""
        theirs = f", exchange {number + 1}" if number is not None else ""
        self.pairing = Pairing(f"{name}{mine_too}", f"{path.name}{theirs}")
        self._path, self._mine, self._number = path, mine, number
        self._session: Session | None = None

    def turns(self, inspector: Inspector) -> Iterator[ComparedTurn]:
        from workbench.chain import Conversations
        from workbench.diff import compare_exchanges, compare_sessions

        other = self._other()
        if self._number is None:
            yield from map(_turn, compare_sessions(inspector.session, other, Conversations))
            return
        before, after = self.both(inspector, ComparedTurn(self._mine, self._number))
        assert before and after
        yield _turn(compare_exchanges(before, after))

    def both(self, inspector: Inspector, turn: ComparedTurn) -> tuple[DecodedExchange | None, DecodedExchange | None]:
        from workbench.protocols import DecodedExchange

        before = None if turn.before is None else inspector.detail(turn.before).decoded
        after = None if turn.after is None else DecodedExchange(turn.after, self._other().exchange(turn.after))
        return before, after

    def _other(self) -> Session:
        from workbench.errors import UnreadableInput
        from workbench.formats.importers import open_input

        if self._session is None:
            self._session = open_input(str(self._path))
            if self._number is not None and self._number >= len(self._session):
                raise UnreadableInput(f"the file has no exchange {self._number + 1}", where=str(self._path))
        return self._session

    def close(self) -> None:
        if self._session:
            self._session.close()


def _turn(one: Comparison) -> ComparedTurn:
    return ComparedTurn(one.before, one.after, one.damages, one.tries, one.outer)
