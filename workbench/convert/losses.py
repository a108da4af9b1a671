"""Report of what a conversion could not carry, with the places of it in the source body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench import regex
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.provenance import escape
from workbench.wire import loads

LEFT_OUT = "left out"
_DEFAULTS = (
    ("status", "completed"),
    ("detail", "auto"),
    ("type", "custom_tool_call_output"),
    ("type", "message"),
    ("name", "document"),
)
"""Key and value pairs that carry no information, so that dropping them is no loss.

A replayed item is completed (Responses), and an item with a role is a message; "auto" is the default detail of a
picture (its API reference), the type of a result follows from the call it answers, and "document" is the name given to
a document that must have one.
"""

_NUMBER = regex.compile(r"\d+")


class Loss(NamedTuple):
    """One thing that the target cannot express.

    Attributes:
        pointer: JSON pointer into the body it was read from.
        what: what is lost, for people.
        instead: what was done ("left out", "moved into a user message after the tool results" …).
    """

    pointer: str
    what: str
    instead: str


class FreeTextLoss(Loss):
    """The free-text input of a tool, which became a function with one string argument."""

    __slots__ = ()


class UnknownKeyLoss(Loss):
    """A key that is not known to have an equivalent in the target, and was left out."""

    __slots__ = ()


class LossReport:
    """Collects losses; each one once."""

    def __init__(self) -> None:
        self._losses: dict[Loss, None] = {}

    def lose(self, pointer: str, what: str, instead: str = LEFT_OUT) -> None:
        """Add a loss."""
        self._losses[Loss(pointer, what, instead)] = None

    def add(self, loss: Loss) -> None:
        """Add a loss, with its type."""
        self._losses[loss] = None

    def lose_keys(self, pointer: str, extra: Mapping[str, JsonValue]) -> None:
        """Add a loss for each key that the target cannot represent; null and empty values are no loss."""
        for at, value in keys(extra, pointer) if extra else ():
            name = at.rpartition("/")[2]
            what = f"the key {name!r:.80}" + (f" ({value!r:.60})" if isinstance(value, str) else "")
            self.add(UnknownKeyLoss(at, what, LEFT_OUT))

    def losses(self) -> tuple[Loss, ...]:
        """All losses in pointer order; list indices are ordered as numbers."""
        return tuple(sorted(self._losses, key=lambda loss: _order(loss.pointer)))


def keys(extra: Mapping[str, JsonValue], pointer: str) -> Iterator[tuple[str, JsonValue]]:
    """Yield (pointer, value) for each key with information; objects are descended into."""
    for key, value in extra.items():
        at = f"{pointer}/{escape(key)}"
        if isinstance(value, Mapping):
            yield from keys(value, at)
        elif value is not None and value != [] and value != "" and (key, value) not in _DEFAULTS:
            yield at, value


def _order(pointer: str) -> list[tuple[int, str]]:
    return [
        (int(step), "") if _NUMBER.fullmatch(step) and len(step) < 19 else (-1, step) for step in pointer.split("/")
    ]


_PLACES: Mapping[str, tuple[str, ...]] = {
    "model": ("/model", "/modelId", "/modelVersion", "/response/modelVersion"),
    "id": ("/id", "/responseId", "/response/responseId"),
    "created": ("/created", "/created_at"),
    "parallel": ("/parallel_tool_calls", "/tool_choice/disable_parallel_tool_use"),
    "thinking": (
        "/thinking/type",
        "/enable_thinking",
        "/chat_template_kwargs/enable_thinking",
        "/chat_template_kwargs/thinking",
        "/reasoning/enabled",
        "/reasoning/effort",
        "/reasoning_effort",
        "/think",
        "/thinking",
        "/generationConfig/thinkingConfig",
        "/additionalModelRequestFields/thinking",
    ),
    "thinking_budget": (
        "/thinking/budget_tokens",
        "/thinking/token_budget",
        "/thinking_budget",
        "/reasoning/max_tokens",
        "/generationConfig/thinkingConfig/thinkingBudget",
        "/additionalModelRequestFields/thinking/budget_tokens",
    ),
    "effort": (
        "/reasoning_effort",
        "/reasoning/effort",
        "/output_config/effort",
        "/outputConfig/effort",
        "/generationConfig/thinkingConfig/thinkingLevel",
        "/think",
    ),
    "tool_choice": (
        "/tool_choice",
        "/function_call",
        "/toolConfig/toolChoice",
        "/toolConfig/functionCallingConfig",
        "/tool_config",
    ),
    "previous_id": ("/previous_response_id", "/thread", "/conversation", "/previous_interaction_id"),
    "stream": ("/stream",),
    "finish_reason": (
        "/stop_reason",
        "/choices/0/finish_reason",
        "/candidates/0/finishReason",
        "/response/candidates/0/finishReason",
        "/promptFeedback/blockReason",
        "/incomplete_details/reason",
        "/stopReason",
        "/done_reason",
        "/finish_reason",
        "/status",
    ),
    "usage": ("/usage", "/usageMetadata", "/response/usageMetadata"),
    "error": ("/error",),
}
_WRAPS = ("function", "custom", "toolSpec")
_SCHEMAS = ("parameters", "parametersJsonSchema", "parameters_json_schema", "input_schema", "inputSchema/json")


class FieldPlaces:
    """Finds fields in one body; the body is parsed only when something is lost."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._value: JsonValue = None
        self._is_read = False

    def of(self, name: str) -> str:
        """Pointer of a field; the first candidate if the body is a stream or does not hold it."""
        return self._first(_PLACES[name])

    def holds(self, pointer: str) -> bool:
        """True if the body has a value at this pointer."""
        return self.at(pointer) is not None

    def at(self, pointer: str) -> JsonValue:
        """Value at a pointer; None if absent, or if the body is a stream."""
        self._read()
        return _at(self._value, pointer)

    def inside(self, pointer: str, key: str) -> str:
        """Pointer of a key of a tool; some protocols nest it in another object, or have one key for all tools."""
        wrapped = (f"{pointer}/{wrap}/{key}" for wrap in _WRAPS)
        return self._first((f"{pointer}/{key}", *wrapped, f"/{key}_tools"))

    def schema(self, pointer: str) -> str:
        """Pointer of the schema of a tool; every protocol has its own key."""
        return self._first(
            tuple(f"{pointer}{wrap}/{key}" for key in _SCHEMAS for wrap in ("", *(f"/{w}" for w in _WRAPS)))
        )

    def _first(self, places: tuple[str, ...]) -> str:
        self._read()
        return next((place for place in places if _at(self._value, place) is not None), places[0])

    def _read(self) -> None:
        if not self._is_read:
            self._is_read = True
            try:
                self._value = loads(self._body)
            except WireError:
                self._value = None

    def below(self, name: str, key: str) -> str:
        """Pointer of a key inside a field."""
        return f"{self.of(name)}/{escape(key)}"


def _at(value: JsonValue, pointer: str) -> JsonValue:
    for step in pointer.split("/")[1:]:
        if isinstance(value, list) and step.isdecimal() and len(step) < 9 and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return None
    return value
