"""Places of nodes on the wire."""

from __future__ import annotations

from workbench.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class WirePlace:
    """Place of a node on the wire: every byte range it was built from, and the stream blocks it came in."""

    spans: tuple[tuple[int, int], ...] = ()
    events: tuple[int, ...] = ()

    @property
    def span(self) -> tuple[int, int] | None:
        """The range from the first to the last byte."""
        return (min(s for s, _ in self.spans), max(e for _, e in self.spans)) if self.spans else None
