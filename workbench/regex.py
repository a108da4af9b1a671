"""Regular expressions of modules, compiled when they are first used, and a quick search for one of many texts.

The program has about 600 of them, a short command uses 50, and to compile all takes a third of its time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split")

if TYPE_CHECKING:
    compile = re.compile
else:

    def compile(source: str | bytes, flags: int = 0) -> _Pattern:
        """Return what ``re.compile`` returns, but for its type: the source is read at the first use."""
        return _Pattern(source, flags)


class _Pattern:
    """A pattern whose methods are those of the compiled one: looked up once, so that a call costs nothing more."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self.pattern, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        vars(self).update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return re.compile, (self.pattern, self._flags)


_FREQUENT = b' etaoinsrhdluc"mfpgwyb,.v_'
"""Bytes of prose, of programs and of JSON, the most frequent first."""
_COMMON = 9
"""Of them, the first that are too frequent to look for."""


class AnyOf:
    """Tells whether one of some texts may be in another one, in less time than looking for each.

    Each is found by its end, from its rarest byte on: such a byte is seldom met.

    Args:
        texts: of at least one byte each.
    """

    def __init__(self, texts: Iterable[bytes]) -> None:
        ends = {text: _from_rarest(text) for text in texts}
        self._common = [text for text, end in ends.items() if end[:1] in _FREQUENT[:_COMMON]]
        begun: dict[bytes, set[bytes]] = {}
        for text, end in ends.items():
            if text not in self._common:
                begun.setdefault(end[:1], set()).add(end[1:])
        source = b"|".join(
            re.escape(first) + b"(?:" + b"|".join(map(re.escape, sorted(rest))) + b")" for first, rest in begun.items()
        )
        self._rare: re.Pattern[bytes] = compile(source or b"(?!)")

    def may_be_in(self, whole: bytes) -> bool:
        """False if none of them is in there."""
        return self._rare.search(whole) is not None or any(map(whole.__contains__, self._common))


def _from_rarest(text: bytes) -> bytes:
    """The end of a text, of four bytes at least where it has so many, from its rarest byte on."""
    return text[max(range(max(1, len(text) - 3)), key=lambda at: _FREQUENT.find(text[at]) % 256) :]
