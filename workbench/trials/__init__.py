"""Trials: requests sent again with one difference, or made smaller each time.

In: a request of an inspected session, and a target's response to each trial. Out: variants with their outcomes, and the
smallest request that still fails. It may import the core and the rooms up to ``send``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.trials import whatif
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "whatif",
]
