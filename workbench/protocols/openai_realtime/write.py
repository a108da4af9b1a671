"""New Realtime bodies, from requests and responses in normal form.

Facts: ``types/realtime`` of the official ``openai`` SDK 3.54. Contents are lists of typed parts; function tools have no
``strict``; a response has neither a model nor the parameters that it was made with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.ir import ApiError, JsonValue, ModelRequest, ModelResponse, Text, Usage
from workbench.protocols._params import write_params
from workbench.protocols.shapes.items.write import Item, request_items, said_call, with_id, write_tool_choice
from workbench.protocols.shapes.items.write_stream import ItemWriter
from workbench.wire import dumps

UNKNOWN: Mapping[str, JsonValue] = {"id": ""}
"""Fields that a response always has → default value."""

_INCOMPLETE = {"length": "max_output_tokens", "filter": "content_filter"}


def write_request(request: ModelRequest) -> Item:
    """A new body for a request in normal form."""
    body: Item = {} if request.model is None else {"model": request.model}
    if request.system:
        body["instructions"] = "\n\n".join(part.text for part in request.system if isinstance(part, Text))
    body["input"] = [_with_list(item) for item in request_items(request)]
    if request.tools:
        body["tools"] = [_tool(t.name, t.description, t.schema, t.extra) for t in request.tools]
    if request.tool_choice:
        body["tool_choice"] = write_tool_choice(request.tool_choice)
    own = {"parallel_tool_calls": request.parallel, "stream": request.stream or None}
    body |= {key: value for key, value in own.items() if value is not None}
    write_params(dict(request.params), {"max_tokens": "/max_output_tokens"}, body)
    return body


def _tool(name: str | None, description: str | None, schema: JsonValue, extra: Mapping[str, JsonValue]) -> Item:
    own = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", **{key: value for key, value in own.items() if value is not None}, **extra}


def _with_list(item: Item) -> Item:
    """An item whose content is a list, as all of them have it here."""
    if "content" not in item:
        return item
    content, kind = item["content"], "output_text" if item["role"] == "assistant" else "input_text"
    parts = [{"type": kind, "text": content}] if isinstance(content, str) else content
    return {"type": "message", **item, "content": parts}


def write_response(response: ModelResponse) -> Item:
    """A new body for a response in normal form; for an error without a response, an error event."""
    if response.error and not response.messages:
        return {"type": "error", "error": error_json(response.error)}
    items = [with_id(item, response.id, n) for n, item in enumerate(_output(response))]
    return envelope(response, items)


def _output(response: ModelResponse) -> Iterator[Item]:
    texts: list[Text] = []
    for part in (*(part for message in response.messages[:1] for part in message.parts), None):
        if isinstance(part, Text):
            texts.append(part)
            continue
        if texts:
            yield message_item(texts)
            texts = []
        if part is not None:
            yield said_call(part)  # type: ignore[arg-type]  # normal form has nothing else here


def envelope(response: ModelResponse, items: Sequence[Item]) -> Item:
    """A response around its items."""
    reason = _INCOMPLETE.get(response.stop or "")
    is_cut = reason is not None or response.stop in ("pause", "other")
    status = "failed" if response.error else "incomplete" if is_cut else "completed"
    details: Item = {"type": status}
    if reason and not response.error:
        details["reason"] = reason
    if response.error:
        details["error"] = error_json(response.error)
    return {
        "object": "realtime.response",
        "id": response.id or "",
        "status": status,
        "status_details": details if status != "completed" else None,
        "output": [*items],
        "usage": _usage(response.usage) if response.usage else None,
    }


def message_item(texts: Sequence[Text]) -> Item:
    """A message of a response."""
    own = {"id": texts[0].extra["id"]} if "id" in texts[0].extra else {}
    content = [said_text(text) for text in texts]
    return {**own, "type": "message", "role": "assistant", "status": "completed", "content": content}


def said_text(text: Text) -> Item:
    """A text in a message of a response."""
    return {"type": "output_text", "text": text.text}


def error_json(error: ApiError) -> Item:
    """An error as events have it."""
    return {"message": error.message, "type": error.type, "param": error.param, "code": error.code}


def _usage(usage: Usage) -> Mapping[str, JsonValue]:
    asked = sum(count or 0 for count in (usage.input, usage.cache_read, usage.cache_write))
    return {
        "input_tokens": asked,
        "input_token_details": {"cached_tokens": usage.cache_read or 0},
        "output_tokens": usage.output or 0,
        "total_tokens": asked + (usage.output or 0),
    }


class RealtimeWriter(ItemWriter):
    """Writes the events of one response."""

    text_extras: Mapping[str, JsonValue] = {}

    def start(self, response: ModelResponse) -> bytes:
        self._answer = response.id
        opening = envelope(response, []) | {"status": "in_progress", "status_details": None, "usage": None}
        return self._event("response.created", response=opening)

    def end(self, response: ModelResponse) -> bytes:
        """The last event holds the whole response; without it the response is not complete."""
        encoded = self.start(response) if self._number < 0 else b""
        encoded += b"" if self._is_open and not response.is_complete else self._close_item()
        if response.error:
            encoded += self._event("error", error=error_json(response.error))
        elif response.is_complete:
            encoded += self._event("response.done", response=envelope(response, self._items))
        return encoded

    def _message(self, texts: Sequence[Text]) -> Item:
        return message_item(texts)

    def _text_part(self, text: Text) -> Item:
        return said_text(text)

    def _own(self) -> Item:
        named = {"call_id": self._item["call_id"]} if self._item and "call_id" in self._item else {}
        return {"response_id": self._answer or "", **super()._own(), **named}

    def _event(self, kind: str, **value: JsonValue) -> bytes:
        self._number += 1
        named = {"response_id": self._answer or ""} if "item" in value else {}
        if kind == "response.function_call_arguments.done" and self._item:
            named = {"name": self._item.get("name", "")}
        event = {"type": kind, "event_id": f"event_{self._number}", **named, **value}
        return b"event: %s\ndata: %s\n\n" % (kind.encode(), dumps(event))
