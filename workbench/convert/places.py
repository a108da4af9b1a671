"""Finds the pointer of a field of ``ModelRequest`` or ``ModelResponse`` in a source body."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.provenance import escape
from workbench.wire import loads

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
