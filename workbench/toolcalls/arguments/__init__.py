"""Arguments of tool calls: the ladder strict parse, repair, coercion, validation, refusal.

In: the argument text that a model wrote, and the tool's schema. Out: the value for the tool and each rung that was
used, or an error that a model can read. Repair and hostile schemas run in a child process with a deadline. It may
import what ``toolcalls`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy
from workbench.toolcalls.arguments.ladder import (
    ArgumentRefusal,
    ArgumentStep,
    Ladder,
    LadderStep,
    climb,
    is_plain_object,
    judge,
    steps,
)

if TYPE_CHECKING:
    from workbench.toolcalls.arguments import ladder
    from workbench.toolcalls.arguments._schema import COERCIBLE, DOUBLE_ENCODED, SchemaFault
    from workbench.toolcalls.arguments.ladder import Code, is_cut
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "COERCIBLE",
    "DOUBLE_ENCODED",
    "ArgumentRefusal",
    "ArgumentStep",
    "Code",
    "Ladder",
    "LadderStep",
    "SchemaFault",
    "climb",
    "is_cut",
    "is_plain_object",
    "judge",
    "ladder",
    "steps",
]
