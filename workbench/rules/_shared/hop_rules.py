"""Rules on what a gateway did between two hops."""

from __future__ import annotations

from workbench.contracts import Basis, Breaks, Severity
from workbench.rules._shared.context import Rule

ERROR, WARNING = Severity.ERROR, Severity.WARNING

DROPPED = Rule(
    "gateway.dropped-field",
    ERROR,
    "A field is lost between client and provider.",
    breaks=Breaks.CONVERSATION,
    basis=Basis.RECORDING,
)
ALTERED = Rule(
    "gateway.altered-bytes",
    ERROR,
    "A value is changed between client and provider.",
    breaks=Breaks.CONVERSATION,
    basis=Basis.RECORDING,
)
RESHAPED = Rule(
    "gateway.altered-shape",
    WARNING,
    "A gateway wraps the body or changes its structure.",
    breaks=Breaks.CONVERSATION,
    basis=Basis.RECORDING,
)
