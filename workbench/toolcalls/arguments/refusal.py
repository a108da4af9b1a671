"""Error results for unusable arguments, written so that a model can act on them."""

from __future__ import annotations

from enum import StrEnum

from workbench import limits
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.toolcalls.arguments._schema import SchemaFault

MOST_NAMED = 3
"""Limit of faults named in one message; a model fixes them one by one anyway."""


class Code(StrEnum):
    """Reasons for refusing a call before its tool runs."""

    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    INVALID_JSON = "INVALID_JSON"
    AMBIGUOUS_JSON = "AMBIGUOUS_JSON"  # readable, but part of it would be lost, or there are two readings
    TRUNCATED = "TRUNCATED"  # the text stops in the middle
    NOT_AN_OBJECT = "NOT_AN_OBJECT"
    SCHEMA_VALIDATION_FAILED = "SCHEMA_VALIDATION_FAILED"
    SCHEMA_UNUSABLE = "SCHEMA_UNUSABLE"  # the tool's own schema is at fault: trying again does not help
    TOO_LARGE = "TOO_LARGE"
    TIMEOUT = "TIMEOUT"
    ONE_CALL_AT_A_TIME = "ONE_CALL_AT_A_TIME"
    TOOL_NOT_ENABLED = "TOOL_NOT_ENABLED"


@dataclass(frozen=True, slots=True)
class ArgumentRefusal:
    """Refusal of a call.

    Attributes:
        message: one or a few sentences for the model: what, where, and what was expected.
        retryable: the model can do better by trying again.
    """

    code: Code
    message: str
    retryable: bool = True

    def as_json(self) -> dict[str, JsonValue]:
        """The content of an error result."""
        return {
            "is_error": True,
            "error_code": self.code.value,
            "message": self.message,
            "retryable": self.retryable,
        }


def of_faults(faults: tuple[SchemaFault, ...]) -> ArgumentRefusal:
    """Refusal that names the schema faults of the arguments."""
    named = [f"{_place(fault.pointer)} {fault.message}" for fault in faults[:MOST_NAMED]]
    rest = len(faults) - len(named)
    more = f"; and {rest} more" if rest > 0 else ""
    return ArgumentRefusal(Code.SCHEMA_VALIDATION_FAILED, "; ".join(named) + more)


def _place(pointer: str) -> str:
    """``input.items[2].path`` for ``/items/2/path``."""
    steps = [s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:]]
    place = "input" + "".join(f"[{s}]" if s.isdecimal() else f".{s}" for s in steps)
    return place if len(place) <= limits.SNIPPET else place[: limits.SNIPPET] + "…"
