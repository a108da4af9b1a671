"""Reads a sample of an Inspect log: resolves its pools and attachments, and reads messages into the IR.

Facts: the message types of inspect_ai (``ChatMessageSystem`` … ``ChatMessageTool``, content items and ``ToolCall``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

from workbench import protocols
from workbench.errors import UnreadableInput
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._transcript import SharedHistory, answer_of, extend_history, reasoning
from workbench.formats.importers._values import as_list, content_parts, mapping, mappings, text, token_count
from workbench.ir import JsonValue, Message, ModelResponse, Part, Text, ToolCallIR, ToolDef, ToolResultIR, Usage
from workbench.wire import dumps

PREFIX = "attachment://"
MAX_POOLED = 64 * 1024 * 1024
"""Limit of message bytes that one event may reference in the pool."""

MAX_REPEATED = 512 * 1024 * 1024
"""Limit of message bytes in all distinct histories of a sample: a hostile file can repeat a pool endlessly."""

MAX_ATTACHED = 64 * 1024 * 1024
"""Limit of attachment characters in one body; 32 MB is the largest request that a provider accepts."""

_DEEPEST = 200
_STEP = 64


class InspectSample:
    """One sample.

    Attributes:
        attachments: reference → the large string it stands for.
        damage: content that no exchange contains.
    """

    def __init__(self, value: dict[str, JsonValue], damage: ImportDamage) -> None:
        self.value = value
        self.attachments = {k: v for k, v in mapping(value.get("attachments")).items() if isinstance(v, str)}
        data = mapping(value.get("events_data"))
        self._messages = as_list(value.get("message_pool")) or as_list(data.get("messages"))
        self._calls = as_list(value.get("call_pool")) or as_list(data.get("calls"))
        self.damage = damage
        self._nodes: dict[tuple[int, bytes], SharedHistory] = {}
        self._keys: dict[int, tuple[bytes, int]] = {}
        self._budget = MAX_REPEATED

    def events(self) -> Iterator[dict[str, JsonValue]]:
        """Model events; older logs have them under "transcript"."""
        events = self.value.get("events")
        older = self.value.get("transcript")
        found = events if isinstance(events, list) else mapping(older).get("events") or older
        return (e for e in self.damage.objects(as_list(found), "an event") if e.get("event") == "model")

    def whole(self, value: JsonValue) -> JsonValue:
        """A value with its attachments inserted; beyond the limit references are kept."""
        return _resolve(value, self.attachments, [MAX_ATTACHED], 0)

    def call(self, event: dict[str, JsonValue], side: str) -> bytes:
        """Body of the provider's call, with messages from the pool inserted."""
        call = mapping(event.get("call"))
        body = call.get(side)
        refs, key = call.get("call_refs"), text(call.get("call_key")) or "messages"
        if side == "request" and isinstance(body, dict) and isinstance(refs, list):
            body = {**body, key: [*self._pool_items(refs, self._calls), *as_list(body.get(key))]}
        return dumps(self.whole(body))

    def input_of(self, event: dict[str, JsonValue]) -> list[JsonValue]:
        """The messages of an event."""
        refs = event.get("input_refs")
        messages = list(self._pool_items(refs, self._messages)) if isinstance(refs, list) else []
        return [*messages, *as_list(event.get("input"))]

    def history_of(self, values: Iterable[JsonValue], protocol: str) -> tuple[tuple[Part, ...], SharedHistory | None]:
        """(system, history) of messages. Equal beginnings of histories are shared."""
        system: tuple[Part, ...] = ()
        history: SharedHistory | None = None
        for value in values:
            system, history = self.extend(system, history, value, protocol)
        return system, history

    def extend(
        self, system: tuple[Part, ...], history: SharedHistory | None, value: JsonValue, protocol: str
    ) -> tuple[tuple[Part, ...], SharedHistory | None]:
        """(system, history) with one more message. Raises UnreadableInput if there are too many."""
        if not isinstance(value, dict):
            self.damage.leave_out("a message that is not an object")
            return system, history
        if history is None and value.get("role") == "system":
            message = self._message(value, protocol)
            return (*system, *(message.parts if message else ())), None
        key, size = self._key(value)
        place = (id(history), key + protocol.encode())
        self._budget -= _STEP if place in self._nodes else size
        if self._budget < 0:
            raise UnreadableInput(f"the events of a sample repeat more than {MAX_REPEATED:,} bytes of messages")
        if place not in self._nodes:
            longer = extend_history(history, self._message(value, protocol))
            if longer is None or longer is history:
                return system, history
            self._nodes[place] = longer
        return system, self._nodes[place]

    def _message(self, value: dict[str, JsonValue], protocol: str) -> Message | None:
        message = message_of(self.whole(value), protocol)
        if message is None:
            self.damage.unknown("a message", value.get("role"))
        return message

    def _key(self, value: JsonValue) -> tuple[bytes, int]:
        """Digest and size of a message; computed once, valid as long as the sample."""
        if id(value) not in self._keys:
            data = dumps(value)
            self._keys[id(value)] = sha256(data).digest(), len(data)
        return self._keys[id(value)]

    def _pool_items(self, refs: JsonValue, pool: list[JsonValue]) -> Iterator[JsonValue]:
        budget = MAX_POOLED
        for ref in as_list(refs):
            if not (isinstance(ref, list) and len(ref) == 2 and all(type(n) is int for n in ref)):
                continue
            for number in range(max(ref[0], 0), min(ref[1], len(pool))):
                budget -= self._key(pool[number])[1]
                if budget < 0:
                    self.damage.leave_out(f"entries of the message pool beyond {MAX_POOLED:,} bytes in one event")
                    return
                yield pool[number]


def _resolve(value: JsonValue, attachments: dict[str, str], budget: list[int], depth: int) -> JsonValue:
    if isinstance(value, str):
        if not value.startswith(PREFIX) or len(value) > 200:
            return value
        found = attachments.get(value[len(PREFIX) :])
        if found is None or len(found) > budget[0]:
            return value
        budget[0] -= len(found)
        return found
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return value
    if isinstance(value, dict):
        whole: dict[str, JsonValue] = {}
        for key, inner in value.items():
            whole[key] = _resolve(inner, attachments, budget, depth + 1)
        return whole
    items: list[JsonValue] = []
    for inner in value:
        items.append(_resolve(inner, attachments, budget, depth + 1))
    return items


_STOPS = {"stop": "stop", "tool_calls": "tool_calls", "max_tokens": "length", "model_length": "length"}
_ROLES = ("system", "user", "assistant", "tool")


def message_of(value: dict[str, JsonValue], protocol: str) -> Message | None:
    """A message in normal form; None if the value is not a message."""
    role = text(value.get("role"))
    if role not in _ROLES:
        return None
    if role == "tool":
        return Message("tool", (_result(value, protocol),))
    parts = tuple(_content(value.get("content"), protocol))
    if role != "assistant":
        return Message(role, parts)
    thinking = text(value.get("reasoning"))
    before = (reasoning(protocol, thinking),) if thinking else ()
    return Message("assistant", (*before, *parts, *_calls(value.get("tool_calls"))))


def _content(content: JsonValue, protocol: str) -> Iterator[Part]:
    for item in content if isinstance(content, list) else [content]:
        if isinstance(item, dict) and item.get("type") == "reasoning":
            thinking, redacted = text(item.get("reasoning")), item.get("redacted") is True
            yield reasoning(protocol, thinking, text(item.get("signature")), is_redacted=redacted)
        elif isinstance(item, dict) and item.get("type") == "tool_use":
            yield ToolCallIR(
                text(item.get("id")) or None,
                text(item.get("name")) or None,
                item.get("arguments"),
                "function",
                is_server=True,
            )
        else:
            yield from content_parts([item])


def _calls(calls: JsonValue) -> Iterator[ToolCallIR]:
    for call in mappings(calls):
        id, name = text(call.get("id")) or None, text(call.get("function")) or None
        kind = "custom" if call.get("type") == "custom" else "function"
        yield ToolCallIR(id, name, call.get("arguments"), kind)


def _result(value: dict[str, JsonValue], protocol: str) -> ToolResultIR:
    """A tool result; a failed one has its error as text, as the client sends it."""
    error = text(mapping(value.get("error")).get("message"))
    error_text = protocols.get(protocol).import_hints.error_prefix + error
    return ToolResultIR(
        text(value.get("tool_call_id")) or None,
        (Text(error_text),) if error else content_parts(value.get("content")),
        is_error=True if value.get("error") else None,
        name=text(value.get("function")) or None,
    )


def event_response(output: dict[str, JsonValue], protocol: str) -> ModelResponse | None:
    """The response that a model event records; None if there was none."""
    choice = next(mappings(output.get("choices")), None)
    message = message_of(mapping(choice.get("message")), protocol) if choice else None
    error = text(output.get("error"))
    if message is None and not error:
        return None
    stop = text(mapping(choice).get("stop_reason"))
    return answer_of(
        protocol,
        message.parts if message else (),
        model=text(output.get("model")) or None,
        error="" if message else error,
        stop=_STOPS.get(stop, "filter" if stop == "content_filter" else None),
        usage=_usage(mapping(output.get("usage"))),
    )


def _usage(counts: dict[str, JsonValue]) -> Usage | None:
    names = ("input_tokens", "output_tokens", "input_tokens_cache_read", "input_tokens_cache_write", "reasoning_tokens")
    return Usage(*(token_count(counts.get(n)) for n in names)) if counts else None  # type: ignore[arg-type]


def tools_of(tools: JsonValue) -> tuple[ToolDef, ...]:
    """Tools declared in a model event."""
    return tuple(
        ToolDef(text(t.get("name")) or None, text(t.get("description")) or None, t.get("parameters"))
        for t in as_list(tools)
        if isinstance(t, dict)
    )
