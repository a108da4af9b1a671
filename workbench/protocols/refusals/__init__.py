"""Kinds of refusals and failures that exist at every provider.

In: the status, code words and text of an error. Out: what happened, where the cause lies, who says it, and when to
retry. It knows no provider; the kinds are data (folder ``kinds``). Code words decide first, then the text, the status
last. It may import what ``protocols`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.protocols.refusals._classify import (
        REFUSED,
        KnownRefusal,
        classify,
        complaint_of,
        duration,
        guess,
        of_error,
        of_exchange,
        refusal_of_complaint,
        speaker_of,
        speaks_of_models,
        told_wait,
    )
    from workbench.protocols.refusals._kinds import FailureSide, RefusalKind, RetryAdvice, Speaker, kind, kinds
    from workbench.protocols.refusals._validators import Complaint
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "REFUSED",
    "Complaint",
    "FailureSide",
    "KnownRefusal",
    "RefusalKind",
    "RetryAdvice",
    "Speaker",
    "classify",
    "complaint_of",
    "duration",
    "guess",
    "kind",
    "kinds",
    "of_error",
    "of_exchange",
    "refusal_of_complaint",
    "speaker_of",
    "speaks_of_models",
    "told_wait",
]
