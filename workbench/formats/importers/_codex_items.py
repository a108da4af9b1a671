"""Lines of a Codex rollout: items of the Responses API, told apart into what the model said and what was sent to it.

There is no id of a model's turn: the items between two of the client's are one answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from workbench.formats.importers._http import epoch
from workbench.formats.importers._lines import Line
from workbench.formats.importers._values import mapping, mappings, rest, text
from workbench.ir import JsonValue

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
"""Events that say again what items say."""

_BARE_TYPES = SAID_TYPES | {"message", "function_call_output", "custom_tool_call_output", "tool_search_output"}


@dataclass(slots=True)
class Step:
    """Neighbouring lines of one kind.

    Attributes:
        kind: "said" (items of one answer), "sent" (items of the client), "compacted", "aborted" or "other".
        items: as they stand in the file, without what the API would not take back.
        keep: for "compacted", the history in the old one's place.
    """

    kind: str
    number: int
    items: list[dict[str, JsonValue]] = field(default_factory=list)
    time: float | None = None
    context: dict[str, JsonValue] = field(default_factory=dict)
    usage: dict[str, JsonValue] = field(default_factory=dict)
    kept: dict[str, JsonValue] = field(default_factory=dict)


def steps(lines: Iterable[Line]) -> Iterator[Step]:
    """The rollout as a row of steps, each with the settings of its turn."""
    open_step: Step | None = None
    context: dict[str, JsonValue] = {}
    for line in lines:
        kind, payload = _payload(line.value)
        if kind == "turn_context":
            context = {**context, **payload}
        elif kind == "session_meta":
            context = {**context, "session_meta": payload}
            yield Step("other", line.number, kept={f"line {line.number}": line.value})
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
    """(type, payload) of a line; older generations have items without an envelope."""
    kind = text(value.get("type"))
    if kind in _ENVELOPED or "payload" in value:
        return kind, mapping(value.get("payload"))
    if kind in _BARE_TYPES:
        return "response_item", value
    return ("session_meta", value) if "instructions" in value and "id" in value else (kind or "state", value)


def _step(kind: str, payload: dict[str, JsonValue], line: Line) -> Step | None:
    time = epoch(line.value.get("timestamp"))
    if kind == "response_item":
        is_said = text(payload.get("type")) in SAID_TYPES or _is_answer(payload)
        return Step("said" if is_said else "sent", line.number, [payload], time)
    if kind == "compacted":
        return Step("compacted", line.number, list(_replaced(payload)), time)
    if kind == "event_msg" and payload.get("type") == "turn_aborted":
        return Step("aborted", line.number, [], time)
    if kind in ("session_meta", "turn_context") or (kind == "event_msg" and text(payload.get("type")) in _REPEATED):
        return None
    return Step("other", line.number, [], time, kept={f"line {line.number}": line.value})


def _is_answer(item: dict[str, JsonValue]) -> bool:
    return item.get("type", "message") == "message" and item.get("role") == "assistant"


def _replaced(payload: dict[str, JsonValue]) -> Iterator[dict[str, JsonValue]]:
    """The history after a compaction: the one that is written down, else the summary alone."""
    if isinstance(payload.get("replacement_history"), list):
        yield from mappings(payload["replacement_history"])
    elif text(payload.get("message")):
        content = [{"type": "input_text", "text": text(payload["message"])}]
        yield {"type": "message", "role": "user", "content": content}


def as_sent(item: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """An item as it goes back to the API: keys that are null are not sent."""
    return rest(item, "internal_chat_message_metadata_passthrough")
