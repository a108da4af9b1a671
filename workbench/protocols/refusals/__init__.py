"""Kinds of refusals and failures that exist at every provider: what happened, where the cause lies, who says it.

A layer below contracts: it reads the status, the code words and the text, and knows no provider. The kinds are data
(``kinds.yaml``). Code words decide first, then the text, the status last.
"""

from __future__ import annotations

from workbench.protocols.refusals._classify import Refusal, classify, of_error, of_exchange
from workbench.protocols.refusals._kinds import Again, Cause, Kind, Speaker, kind, kinds
from workbench.protocols.refusals._reset import duration, told_wait

__all__ = [
    "Again",
    "Cause",
    "Kind",
    "Refusal",
    "Speaker",
    "classify",
    "duration",
    "kind",
    "kinds",
    "of_error",
    "of_exchange",
    "told_wait",
]
