"""A session that reports what is read of it, so that long work on it can be shown and cancelled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from workbench.wire import Exchange, Summary
from workbench.wire.session import Session


class CountedSession:
    """A session that calls a function before each exchange that is read; it may raise to end the work."""

    def __init__(self, inner: Session, advance: Callable[[], None]) -> None:
        self.inner, self._advance = inner, advance
        self.name, self.damage, self.is_live = inner.name, inner.damage, inner.is_live
        self.about: Mapping[str, str] = inner.about

    @property
    def id(self) -> str:
        return self.inner.id

    def __len__(self) -> int:
        return len(self.inner)

    def summaries(self) -> Sequence[Summary]:
        return self.inner.summaries()

    def exchange(self, index: int) -> Exchange:
        self._advance()
        return self.inner.exchange(index)

    def refresh(self) -> frozenset[int]:
        return self.inner.refresh()

    def close(self) -> None:
        """Do nothing: the opener of the inner session closes it."""
