"""Regular expressions of modules, compiled when they are first used.

The program has about 600 of them, a short command uses 50, and to compile all takes a third of its time.
"""

from __future__ import annotations

import re
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
