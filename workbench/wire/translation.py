"""An exchange that is another one in the words of another protocol: how its branch says so."""

from __future__ import annotations

import re
from typing import NamedTuple

_BRANCH = re.compile(r"([a-z0-9-]+) to ([a-z0-9-]+)(?: at (\S+))?")


class Translation(NamedTuple):
    """What the branch of a translated exchange says.

    Attributes:
        client: protocol of the exchange that it was made from.
        spoken: its own.
        contract: label of the contract that it is judged by, "" where nobody said.
    """

    client: str
    spoken: str
    contract: str = ""

    @property
    def branch(self) -> str:
        """For the exchange."""
        return f"{self.client} to {self.spoken}" + (f" at {self.contract}" if self.contract else "")


def translation(branch: str) -> Translation | None:
    """What a branch says; None where it is of another kind."""
    found = _BRANCH.fullmatch(branch)
    return Translation(found[1], found[2], found[3] or "") if found else None
