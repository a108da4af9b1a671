"""Branch names of exchanges that are translated from another protocol."""

from __future__ import annotations

from workbench import regex
from workbench.named_tuple import NamedTuple

_BRANCH = regex.compile(r"([a-z0-9-]+) to ([a-z0-9-]+)(?: at (\S+))?")


class Translation(NamedTuple):
    """Content of a translated exchange's branch name.

    Attributes:
        client: protocol of the original exchange.
        spoken: protocol of this exchange.
        contract: label of its contract; empty if not given.
    """

    client: str
    spoken: str
    contract: str = ""

    @property
    def branch(self) -> str:
        """The branch name."""
        return f"{self.client} to {self.spoken}" + (f" at {self.contract}" if self.contract else "")


def translation_of(branch: str) -> Translation | None:
    """Parse a branch name; None if it is of another kind."""
    found = _BRANCH.fullmatch(branch)
    return Translation(found[1], found[2], found[3] or "") if found else None
