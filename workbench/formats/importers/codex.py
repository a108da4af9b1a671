"""Importer for Codex CLI rollouts (``~/.codex/sessions/…/rollout-*.jsonl``): exchanges of the Responses API.

Items are sent back to the API unchanged; the file has neither tools nor response ids.

Groups the lines of a Codex rollout, which are Responses items, into model output and client input.
The file has no id for a model turn: the items between two client items are one response.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.formats.importers._files import ImportDamage, Line, first_objects, objects
from workbench.formats.importers._http import epoch
from workbench.formats.importers._transcript import (
    SharedHistory,
    TranscriptSession,
    TranscriptTurn,
    extend_history,
    reconstructed_exchange,
)
from workbench.formats.importers._values import mapping, mappings, rest, text, token_count
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.wire import Exchange, State, dumps

NAME = "codex"
TITLE = "Codex CLI rollout"
LACKS = ("tools", "parameters", "headers", "streaming")
_PROTOCOL = "openai-responses"
_TYPES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")


def sniff(head: bytes) -> float:
    """Lines of type and payload; older versions start with instructions and bare items."""
    first = first_objects(head)
    enveloped = [v for v in first if v.get("type") in _TYPES and isinstance(v.get("payload"), dict)]
    if first and 2 * len(enveloped) > len(first):
        return 0.95
    is_old = len(first) > 1 and {"id", "timestamp", "instructions"} <= first[0].keys() and "model" not in first[0]
    return 0.92 if is_old and any("record_type" in v or "type" in v for v in first[1:]) else 0.0


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange per response, and one for the next request. Raises UnreadableInput if there is no item."""
    damage = ImportDamage()
    turns = list(_turns(steps(objects(data, damage))))
    if not turns:
        raise damage.refuse("the file contains no conversation items")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def _turns(codex_steps: Iterable[CodexStep]) -> Iterator[TranscriptTurn]:
    history: SharedHistory | None = None
    pending: TranscriptTurn | None = None
    is_open = False
    last: CodexStep | None = None
    beside: dict[str, JsonValue] = {}
    for step in codex_steps:
        beside |= step.unsent
        if step.kind == "aborted" and pending:
            pending = _aborted_turn(pending)
        if step.kind == "said":
            if pending:
                yield pending
            step.unsent, beside = beside, {}
            pending = _answered_turn(step, history)
        if step.kind == "compacted":
            history = None
        for item in step.items:
            history = extend_history(history, dumps(as_sent(item)))
        is_open = step.kind != "said" if step.items else is_open
        last = step if step.items else last
    if pending:
        yield pending
    if history and is_open and last:
        last.unsent = beside
        like = _like(last, f"after line {last.number}", "the rollout ends here; this next request was not sent")
        yield _turn(last, history, replace(like, state=State.INCOMPLETE))


def _answered_turn(step: CodexStep, history: SharedHistory | None) -> TranscriptTurn:
    items = [rest(item, "internal_chat_message_metadata_passthrough") for item in step.items]
    body: dict[str, JsonValue] = {"object": "response", "status": "completed", "output": items}
    model = text(step.context.get("model"))
    body |= {"model": model} if model else {}
    body |= {"usage": _usage(step.usage)} if step.usage else {}
    turn = _turn(
        step,
        history,
        _like(step, f"line {step.number}", "model items between two client items are treated as one response"),
    )
    return TranscriptTurn(turn.like, _PROTOCOL, history, turn.model, members=turn.members, response=dumps(body))


def _turn(step: CodexStep, history: SharedHistory | None, like: Exchange) -> TranscriptTurn:
    """Settings of a turn that are known to be sent: instructions and reasoning."""
    meta = mapping(step.context.get("session_meta"))
    base = meta.get("base_instructions")
    instructions = text(mapping(base).get("text")) or text(base) or text(meta.get("instructions"))
    members: dict[str, JsonValue] = {"instructions": instructions} if instructions else {}
    settings = {
        k: v for k, v in (("effort", step.context.get("effort")), ("summary", step.context.get("summary"))) if v
    }
    reasoning = {k: v for k, v in settings.items() if isinstance(v, str)}
    members |= {"reasoning": reasoning} if reasoning else {}
    return TranscriptTurn(like, _PROTOCOL, history, text(step.context.get("model")) or None, members=members)


def _like(step: CodexStep, id: str, note: str) -> Exchange:
    meta = mapping(step.context.get("session_meta"))
    version = text(meta.get("cli_version"))
    about = {"context": rest(step.context, "session_meta")} | ({"beside": step.unsent} if step.unsent else {})
    client = f"codex {version}" if version else "codex"
    return reconstructed_exchange(id, lacks=LACKS, note=note, started_at=step.time, client=client, meta=about)


def _aborted_turn(turn: TranscriptTurn) -> TranscriptTurn:
    note = f"{turn.like.note}; the turn was aborted"
    return replace(turn, like=replace(turn.like, state=State.ABORTED, note=note))


def _usage(usage: dict[str, JsonValue]) -> JsonValue:
    """Token counts under the API's names; the client's are flat."""
    flat = {key: token_count(value) for key, value in usage.items()}
    counts: dict[str, JsonValue] = {
        key: flat[key] for key in ("input_tokens", "output_tokens", "total_tokens") if flat.get(key) is not None
    }
    for name, inner, key in (
        ("input_tokens_details", "cached_tokens", "cached_input_tokens"),
        ("output_tokens_details", "reasoning_tokens", "reasoning_output_tokens"),
    ):
        if flat.get(key) is not None:
            counts[name] = {inner: flat[key]}
    return counts


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
        context: settings of the turn.
    """

    kind: str
    number: int
    items: list[dict[str, JsonValue]] = field(default_factory=list)
    time: float | None = None
    context: dict[str, JsonValue] = field(default_factory=dict)
    usage: dict[str, JsonValue] = field(default_factory=dict)
    unsent: dict[str, JsonValue] = field(default_factory=dict)


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
            yield CodexStep("other", line.number, unsent={f"line {line.number}": line.value})
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
            open_step.unsent |= step.unsent
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
    return CodexStep("other", line.number, [], time, unsent={f"line {line.number}": line.value})


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
