"""The three tools of probes: pure functions of their arguments and a secret of the sample.

No real tool is ever run. ``probe_add`` returns a receipt that no model can compute, so that an answer with it has read
the result; ``probe_fail_once`` returns a helpful error until it is called correctly.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable, Mapping

from workbench.ir import JsonValue, ToolDef
from workbench.lazy_dataclass import dataclass
from workbench.send.loop import AnswerCall, CallResult, refusal_result
from workbench.toolcalls.arguments import ArgumentRefusal, Code
from workbench.wire import dumps

COLOURS = ("red", "green", "blue")

ECHO = ToolDef(
    "probe_echo",
    "Returns the text that it is given.",
    {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The text to return."}},
        "required": ["text"],
    },
)
ADD = ToolDef(
    "probe_add",
    "Adds two whole numbers; returns the sum, and a receipt number.",
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
)
FAIL_ONCE = ToolDef(
    "probe_fail_once",
    "Reads a file.",
    {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Path of the file."}},
        "required": ["path"],
    },
)
SHAPES = ToolDef(
    "probe_echo",
    "Returns what it is given.",
    {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "colour": {"type": "string", "enum": list(COLOURS)},
            "count": {"type": "integer"},
            "place": {
                "type": "object",
                "properties": {"line": {"type": "integer"}, "file": {"type": "string"}},
                "required": ["line", "file"],
            },
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["text", "colour", "count", "place", "tags"],
    },
)
"""``probe_echo`` with all shapes that tell schema levels apart: enum, integer, nested object, array, required."""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of one sample. ``secret`` determines the receipts."""

    secret: str

    def receipt(self, a: int, b: int) -> int:
        """The receipt of a sum: six digits."""
        digest = hmac.digest(self.secret.encode(), f"{a}+{b}".encode(), "sha256")
        return 100_000 + int.from_bytes(digest[:4], "big") % 900_000

    def receipts(self, argument_values: Iterable[JsonValue]) -> set[str]:
        """Receipts of calls to ``probe_add``, given their arguments."""
        pairs = (both for arguments in argument_values if (both := numbers(arguments)))
        return {str(self.receipt(a, b)) for a, b in pairs}

    def run(self, step: AnswerCall) -> CallResult:
        """The result of a call; a structured error for unusable arguments and unknown tools."""
        if step.refusal:
            return refusal_result(step.refusal)
        tools: Mapping[str, Callable[[JsonValue], CallResult]] = {
            "probe_echo": self._echo,
            "probe_add": self._add,
            "probe_fail_once": self._fail_once,
        }
        tool = tools.get(step.call.name or "")
        if tool is None:
            return refusal_result(ArgumentRefusal(Code.UNKNOWN_TOOL, f"there is no tool {step.call.name!r:.60}", False))
        return tool(step.arguments)

    def _echo(self, arguments: JsonValue) -> CallResult:
        return CallResult(dumps(arguments).decode("utf-8", "replace"))

    def _add(self, arguments: JsonValue) -> CallResult:
        both = numbers(arguments)
        if both is None:
            return _wrong("a and b have to be whole numbers")
        a, b = both
        return CallResult(dumps({"sum": a + b, "receipt": self.receipt(a, b)}).decode())

    def _fail_once(self, arguments: JsonValue) -> CallResult:
        path = arguments.get("path") if isinstance(arguments, dict) else None
        if not isinstance(path, str) or not path.startswith("/"):
            return refusal_result(
                ArgumentRefusal(Code.SCHEMA_VALIDATION_FAILED, "the path has to be absolute: files are in /srv", True)
            )
        return CallResult(f"42 lines in {path}")


def numbers(arguments: JsonValue) -> tuple[int, int] | None:
    """The operands of a call to ``probe_add``; None if they are no integers."""
    a, b = (arguments.get(name) if isinstance(arguments, dict) else None for name in ("a", "b"))
    if isinstance(a, bool) or isinstance(b, bool) or not (isinstance(a, int) and isinstance(b, int)):
        return None
    return a, b


def digits(text: str) -> str:
    """A text without separators between the digits of numbers."""
    return re.sub(r"(?<=\d)[ ,._'\u00a0\u202f](?=\d)", "", text)


def _wrong(message: str) -> CallResult:
    return refusal_result(ArgumentRefusal(Code.SCHEMA_VALIDATION_FAILED, message))
