"""Reads messages of an Inspect log into the IR.

Facts: the message types of inspect_ai (``ChatMessageSystem`` … ``ChatMessageTool``, content items and ``ToolCall``).
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench import protocols
from workbench.formats.importers._providers import reasoning
from workbench.formats.importers._transcript import answer_of
from workbench.formats.importers._values import as_list, content_parts, count, mapping, mappings, text
from workbench.ir import JsonValue, Message, ModelResponse, Part, Text, ToolCallIR, ToolDef, ToolResultIR, Usage

_STOPS = {"stop": "stop", "tool_calls": "tool_calls", "max_tokens": "length", "model_length": "length"}
_ROLES = ("system", "user", "assistant", "tool")


def message_of(value: dict[str, JsonValue], protocol: str) -> Message | None:
    """A message in normal form; None if the value is not a message."""
    role = text(value.get("role"))
    if role not in _ROLES:
        return None
    if role == "tool":
        return Message("tool", (_result(value, protocol),))
    said = tuple(_content(value.get("content"), protocol))
    if role != "assistant":
        return Message(role, said)
    thought = text(value.get("reasoning"))
    before = (reasoning(protocol, thought),) if thought else ()
    return Message("assistant", (*before, *said, *_calls(value.get("tool_calls"))))


def _content(content: JsonValue, protocol: str) -> Iterator[Part]:
    for item in content if isinstance(content, list) else [content]:
        if isinstance(item, dict) and item.get("type") == "reasoning":
            said, redacted = text(item.get("reasoning")), item.get("redacted") is True
            yield reasoning(protocol, said, text(item.get("signature")), is_redacted=redacted)
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


def _calls(held: JsonValue) -> Iterator[ToolCallIR]:
    for call in mappings(held):
        id, name = text(call.get("id")) or None, text(call.get("function")) or None
        kind = "custom" if call.get("type") == "custom" else "function"
        yield ToolCallIR(id, name, call.get("arguments"), kind)


def _result(value: dict[str, JsonValue], protocol: str) -> ToolResultIR:
    """A tool result; a failed one has its error as text, as the client sends it."""
    error = text(mapping(value.get("error")).get("message"))
    said = protocols.get(protocol).import_hints.error_prefix + error
    return ToolResultIR(
        text(value.get("tool_call_id")) or None,
        (Text(said),) if error else content_parts(value.get("content")),
        is_error=True if value.get("error") else None,
        name=text(value.get("function")) or None,
    )


def answer_in(output: dict[str, JsonValue], protocol: str) -> ModelResponse | None:
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


def _usage(held: dict[str, JsonValue]) -> Usage | None:
    names = ("input_tokens", "output_tokens", "input_tokens_cache_read", "input_tokens_cache_write", "reasoning_tokens")
    return Usage(*(count(held.get(n)) for n in names)) if held else None  # type: ignore[arg-type]


def tools_of(held: JsonValue) -> tuple[ToolDef, ...]:
    """Tools declared in a model event."""
    return tuple(
        ToolDef(text(t.get("name")) or None, text(t.get("description")) or None, t.get("parameters"))
        for t in as_list(held)
        if isinstance(t, dict)
    )
