"""New bodies whose conversation is a list of items, from requests and answers in normal form.

Facts: ``ResponseInputParam``, ``ToolParam`` and ``Response`` of the official ``openai`` SDK 3.54. A required field that
the IR does not have is written as the empty value of its type. Items of an answer have ids: the SDK refuses messages of
one id, and clients that bring an item back under its id have to find one there. Missing ids are made from the id of the
response and the position of the item, so that a stream and a single body have the same ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from workbench import regex
from workbench.ir import (
    ApiError,
    JsonValue,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols.shapes.items.item import CUSTOM, INPUT_TEXT, OUTPUT_TEXT
from workbench.protocols.shapes.items.request import choice_json, write_item_params
from workbench.wire import dumps

Item = dict[str, Any]
_INCOMPLETE = {"length": "max_output_tokens", "filter": "content_filter"}
"""``ModelResponse.stop`` → reason why an answer is incomplete."""

_PREFIXES = {"function_call": "fc", "custom_tool_call": "ctc", "message": "msg", "reasoning": "rs"}
"""Type of an item → how its id begins."""

_ODD, _LONGEST = regex.compile(r"^resp_|[^a-zA-Z0-9]"), 40

UNKNOWN: Mapping[str, JsonValue] = {
    "id": "",
    "created_at": 0,
    "model": "",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
"""Fields that the SDK's type requires in a response → default value."""


def request_items(request: ModelRequest) -> list[Item]:
    """The items of a request in normal form."""
    custom = _custom_tools(request)
    ids = {c.id for m in request.messages for _, c in m.tool_calls() if _is_custom(c) or c.name in custom}
    return [item for message in request.messages for item in _items(message, ids)]


def _custom_tools(request: ModelRequest) -> set[str | None]:
    return {tool.name for tool in request.tools if tool.kind == "custom"}


def write_request(request: ModelRequest) -> Item:
    """A new body for a request in normal form."""
    body: Item = {} if request.model is None else {"model": request.model}
    if request.system:
        body["instructions"] = "\n\n".join(part.text for part in request.system if isinstance(part, Text))
    body["input"] = request_items(request)
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.tool_choice:
        body["tool_choice"] = write_tool_choice(request.tool_choice, _custom_tools(request))
    own = {
        "parallel_tool_calls": request.parallel,
        "previous_response_id": request.previous_id,
        "stream": request.stream or None,
    }
    body |= {key: value for key, value in own.items() if value is not None}
    write_item_params(request.params, body)
    if request.thinking == "off":
        body.setdefault("reasoning", {}).setdefault("effort", "none")
    return body


def write_tool_choice(choice: ToolChoice, custom: Set[str | None] = frozenset()) -> JsonValue:
    """A tool choice. ``custom``: names of the tools whose input is free text."""
    choice_value = choice_json(ToolChoice(choice.mode, choice.name))
    return {**choice_value, "type": "custom"} if choice.mode == "tool" and choice.name in custom else choice_value


def _tool(tool: ToolDef) -> Item:
    described = {} if tool.description is None else {"description": tool.description}
    if tool.kind == "custom":
        return {"type": "custom", "name": tool.name, **described, **tool.extra}
    shape = {"parameters": tool.schema, "strict": tool.strict}
    return {"type": "function", "name": tool.name, **described, **shape, **tool.extra}


def _items(message: Message, custom: set[str | None]) -> Iterator[Item]:
    """The items that a message of a request becomes; ``custom``: ids of calls of custom tools."""
    if message.role == "assistant":
        yield from (_call(p, custom) if isinstance(p, ToolCallIR) else p for p in _answer_items(message.parts))
    elif message.role == "tool":
        yield from (_result(part, custom) for _, part in message.tool_results())
    else:
        yield {"role": message.role, "content": _content(message.parts, is_result=False)}


def _answer_items(parts: Sequence[Part]) -> Iterator[Any]:
    """Items of an answer that is replayed; calls as they are."""
    for part in _group(parts):
        if isinstance(part, Text):
            yield {"type": "message", "role": "assistant", "content": part.text}  # llama.cpp refuses it without a type
        elif isinstance(part, list):
            yield reasoning_item(part)
        elif isinstance(part, ToolCallIR):
            yield part


def _group(parts: Sequence[Part]) -> Iterator[Part | list[Reasoning]]:
    """The parts, with the texts of one reasoning item together: only the first has anything beside its text."""
    reasoning: list[Reasoning] = []
    for part in parts:
        goes_on = reasoning and isinstance(part, Reasoning) and not part.extra and part.data is None
        if reasoning and not goes_on:
            yield reasoning
            reasoning = []
        if isinstance(part, Reasoning):
            reasoning = [*reasoning, part]
        else:
            yield part
    if reasoning:
        yield reasoning


def reasoning_item(parts: Sequence[Reasoning]) -> Item:
    """A reasoning item as it was: its texts put back into the lists that they were in."""
    first, texts = parts[0], [part.text for part in parts if part.text is not None]
    item = {"type": "reasoning", **first.extra}
    for key in ("summary", "content"):
        entries = item.get(key)
        if isinstance(entries, list):
            item[key] = [e if "text" in e or not texts else {**e, "text": texts.pop(0)} for e in entries]
    if texts or "summary" not in item:
        item["summary"] = [*item.get("summary", ()), *({"type": "summary_text", "text": text} for text in texts)]
    if first.data is not None:
        item["encrypted_content"] = first.data
    return item


def _is_custom(call: ToolCallIR) -> bool:
    return call.format == CUSTOM or (call.raw is None and isinstance(call.input, str))


def _call(call: ToolCallIR, custom: set[str | None]) -> Item:
    own = {"call_id": call.id, "name": call.name}
    named = {key: value for key, value in own.items() if value is not None}
    if _is_custom(call) or (call.id is not None and call.id in custom):
        return {"type": "custom_tool_call", **named, "input": call.input if call.raw is None else call.raw}
    return {"type": "function_call", **named, "arguments": arguments(call)}


def arguments(call: ToolCallIR) -> str:
    """The argument text of a call: as it was sent, else its arguments as JSON; "" where it has none."""
    if call.raw is not None:
        return call.raw
    return "" if call.input is None else dumps(call.input).decode("utf-8", "surrogatepass")


def _result(part: ToolResultIR, custom: set[str | None]) -> Item:
    is_custom = part.tool_call_id is not None and part.tool_call_id in custom
    named = {} if part.tool_call_id is None else {"call_id": part.tool_call_id}
    kind = "custom_tool_call_output" if is_custom else "function_call_output"
    return {"type": kind, **named, "output": _content(part.content, is_result=True)}


def _content(parts: Sequence[Part], *, is_result: bool) -> JsonValue:
    """A string where that says it all, else a list of typed parts."""
    if not parts:
        return ""
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return [*_blocks(parts, is_result=is_result)]


def _blocks(parts: Sequence[Part], *, is_result: bool) -> Iterator[Item]:
    for part in parts:
        if isinstance(part, Text):
            yield {"type": INPUT_TEXT, "text": part.text}
        elif isinstance(part, Media) and part.kind == "image":
            detail = {} if is_result else {"detail": "auto"}  # required here, and the default
            yield {"type": "input_image", **detail, **_origin(part, "image_url", "image_url")}
        elif isinstance(part, Media):
            yield {"type": "input_file", **part.extra, **_origin(part, "file_url", "file_data")}


def _origin(media: Media, url: str, data: str) -> Item:
    """Origin of a medium: below ``url`` or ``data``, or as an id."""
    if media.file_id is not None:
        return {"file_id": media.file_id}
    if media.url is not None:
        return {data if media.url.startswith("data:") else url: media.url}
    prefix = f"data:{media.media_type};base64," if media.media_type else ""
    return {data: f"{prefix}{media.data or ''}"}


# -- answers


def write_response(response: ModelResponse) -> Item:
    """A new body for an answer in normal form; for an error without an answer, an error body."""
    if response.error and not response.messages:
        return {"error": _error(response.error)}
    return envelope(response, [*_output(response)])


def envelope(response: ModelResponse, items: Sequence[Item]) -> Item:
    """An answer around its items."""
    reason = _INCOMPLETE.get(response.stop or "")
    is_cut = reason is not None or response.stop in ("pause", "other")
    return {
        **UNKNOWN,
        **{key: value for key, value in (("id", response.id), ("model", response.model)) if value is not None},
        "object": "response",
        "status": "failed" if response.error else "incomplete" if is_cut else "completed",
        "error": _error(response.error) if response.error else None,
        "incomplete_details": {"reason": reason} if reason and not response.error else None,
        "instructions": None,
        "metadata": {},
        "output": [*items],
        "temperature": None,
        "top_p": None,
        "usage": _usage(response.usage) if response.usage else None,
    }


def _output(response: ModelResponse) -> Iterator[Item]:
    """The items of an answer in normal form; whoever makes one up may give calls and texts an id in ``extra``."""
    return (with_id(item, response.id, number) for number, item in enumerate(_said_items(response)))


def _said_items(response: ModelResponse) -> Iterator[Item]:
    texts: list[Text] = []
    for part in (*_group([part for message in response.messages[:1] for part in message.parts]), None):
        if isinstance(part, Text):
            texts.append(part)
            continue
        if texts:
            yield message_item(texts)
            texts = []
        if isinstance(part, list):
            yield reasoning_item(part)
        elif isinstance(part, ToolCallIR):
            yield said_call(part)


def with_id(item: Item, answer: str | None, number: int) -> Item:
    """An item of an answer with an id. ``number``: of the item, from zero."""
    if item.get("id"):
        return item
    of = _ODD.sub("", answer or "")[:_LONGEST]
    return {"id": "_".join(filter(None, (_PREFIXES[item["type"]], of, str(number)))), **item}


def said_call(call: ToolCallIR) -> Item:
    """The item of a call in an answer."""
    return {**call.extra, **_call(call, set()), "status": "completed"}


def said_text(text: Text) -> Item:
    """A text in a message of an answer."""
    return {"type": OUTPUT_TEXT, "text": text.text, "annotations": []}


def message_item(texts: Sequence[Text]) -> Item:
    """A message of an answer."""
    own = {"id": texts[0].extra["id"]} if "id" in texts[0].extra else {}
    content = [said_text(text) for text in texts]
    return {**own, "type": "message", "role": "assistant", "status": "completed", "content": content}


def _error(error: ApiError) -> Item:
    return {"message": error.message, "type": error.type, "param": error.param, "code": error.code}


def _usage(usage: Usage) -> Mapping[str, JsonValue]:
    asked = sum(count or 0 for count in (usage.input, usage.cache_read, usage.cache_write))
    return {
        "input_tokens": asked,
        "input_tokens_details": {"cached_tokens": usage.cache_read or 0, "cache_write_tokens": usage.cache_write or 0},
        "output_tokens": usage.output or 0,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
        "total_tokens": asked + (usage.output or 0),
    }
