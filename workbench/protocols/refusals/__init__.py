"""Kinds of refusals and failures that exist at every provider.

In: the status, code words and text of an error. Out: what happened, where the cause lies, who says it, and when to
retry. It knows no provider; the kinds are data (``kinds.yaml``). Code words decide first, then the text, the status
last. It may import what ``protocols`` may.
"""

from __future__ import annotations

from workbench.protocols.refusals._classify import KnownRefusal, classify, of_error, of_exchange
from workbench.protocols.refusals._kinds import FailureSide, RefusalKind, RetryAdvice, Speaker, kind, kinds
from workbench.protocols.refusals._reset import duration, told_wait

__all__ = [
    "FailureSide",
    "KnownRefusal",
    "RefusalKind",
    "RetryAdvice",
    "Speaker",
    "classify",
    "duration",
    "kind",
    "kinds",
    "of_error",
    "of_exchange",
    "told_wait",
]
