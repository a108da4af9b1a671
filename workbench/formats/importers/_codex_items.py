"""Groups the lines of a Codex rollout, which are Responses items, into model output and client input.

The file has no id for a model turn: the items between two client items are one response.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from workbench.formats.importers._http import epoch
from workbench.formats.importers._lines import Line
from workbench.formats.importers._values import mapping, mappings, rest, text
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass

SAID_TYPES = frozenset(
    {
        "reasoning",
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "web_search_call",
        "image_generation_call",
        "mcp_call",
        "computer_call",
        "tool_search_call",
        "code_interpreter_call",
        "file_search_call",
    }
)
_ENVELOPED = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
_REPEATED = frozenset(
    {"user_message", "agent_message", "agent_reasoning", "token_count", "task_started", "task_complete"}
)
"""Events that repeat the content of items."""

_BARE_TYPES = SAID_TYPES | {"message", "function_call_output", "custom_tool_call_output", "tool_search_output"}


@dataclass(slots=True)
class CodexStep:
    """Adjacent lines of one kind.

    Attributes:
        kind: "said" (items of one response), "sent" (items of the client), "compacted", "aborted" or "other".
        items: as in the file, without fields that the API would not accept back.
        keep: for "compacted", the history that replaces the old one.
    """

    kind: str
    number: int
    items: list[dict[str, JsonValue]] = field(default_factory=list)
    time: float | None = None
    context: dict[str, JsonValue] = field(default_factory=dict)
    usage: dict[str, JsonValue] = field(default_factory=dict)
    kept: dict[str, JsonValue] = field(default_factory=dict)


def steps(lines: Iterable[Line]) -> Iterator[CodexStep]:
    """Split the rollout into steps, each with the settings of its turn."""
    open_step: CodexStep | None = None
    context: dict[str, JsonValue] = {}
    for line in lines:
        kind, payload = _payload(line.value)
        if kind == "turn_context":
            context = {**context, **payload}
        elif kind == "session_meta":
            context = {**context, "session_meta": payload}
            yield CodexStep("other", line.number, kept={f"line {line.number}": line.value})
        elif kind == "event_msg" and open_step and payload.get("type") == "token_count":
            open_step.usage = mapping(mapping(payload.get("info")).get("last_token_usage")) or open_step.usage
        step = _step(kind, payload, line)
        if step is None:
            continue
        step.context = context
        if open_step and step.kind == open_step.kind and step.kind in ("said", "sent"):
            open_step.items += step.items
            continue
        if open_step and step.kind == "other":
            open_step.kept |= step.kept
            continue
        if open_step:
            yield open_step
        open_step = step
    if open_step:
        yield open_step


def _payload(value: dict[str, JsonValue]) -> tuple[str, dict[str, JsonValue]]:
    """(type, payload) of a line; older versions have items without an envelope."""
    kind = text(value.get("type"))
    if kind in _ENVELOPED or "payload" in value:
        return kind, mapping(value.get("payload"))
    if kind in _BARE_TYPES:
        return "response_item", value
    return ("session_meta", value) if "instructions" in value and "id" in value else (kind or "state", value)


def _step(kind: str, payload: dict[str, JsonValue], line: Line) -> CodexStep | None:
    time = epoch(line.value.get("timestamp"))
    if kind == "response_item":
        is_said = text(payload.get("type")) in SAID_TYPES or _is_answer(payload)
        return CodexStep("said" if is_said else "sent", line.number, [payload], time)
    if kind == "compacted":
        return CodexStep("compacted", line.number, list(_history_after_compaction(payload)), time)
    if kind == "event_msg" and payload.get("type") == "turn_aborted":
        return CodexStep("aborted", line.number, [], time)
    if kind in ("session_meta", "turn_context") or (kind == "event_msg" and text(payload.get("type")) in _REPEATED):
        return None
    return CodexStep("other", line.number, [], time, kept={f"line {line.number}": line.value})


def _is_answer(item: dict[str, JsonValue]) -> bool:
    return item.get("type", "message") == "message" and item.get("role") == "assistant"


def _history_after_compaction(payload: dict[str, JsonValue]) -> Iterator[dict[str, JsonValue]]:
    """The history after a compaction: the recorded replacement, else the summary alone."""
    if isinstance(payload.get("replacement_history"), list):
        yield from mappings(payload["replacement_history"])
    elif text(payload.get("message")):
        content = [{"type": "input_text", "text": text(payload["message"])}]
        yield {"type": "message", "role": "user", "content": content}


def as_sent(item: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """An item as it is sent back to the API, without null keys."""
    return rest(item, "internal_chat_message_metadata_passthrough")
