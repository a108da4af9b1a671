"""One conversation on every wire: a question, calls, their results, the tools; answers whole and as a stream."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse, Origin
from workbench.wire.stream import aws_message

Json = dict[str, Any]

SCHEMA: Json = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


ARGUMENTS: Json = {"city": "Oslo"}


class Call(NamedTuple):
    """A tool call."""

    id: str = "call_aaaaaaa1"
    name: str = "weather"
    arguments: Any = ARGUMENTS


class Result(NamedTuple):
    """A tool result."""

    id: str = "call_aaaaaaa1"
    name: str = "weather"
    text: Any = "cold"


@dataclass(frozen=True)
class Tool:
    """A declared tool."""

    name: str = "weather"
    schema: Any = field(default_factory=lambda: json.loads(json.dumps(SCHEMA)))


CALL, RESULT, TOOL = Call(), Result(), Tool()


class Wire:
    """One protocol.

    Attributes:
        name: of the protocol.
        provider: the contract of its vendor.
        list_key: of the messages in a request.
        container: arguments are a "string" or an "object".
        cut: finish reason at the output limit.
        streams_text: arguments are JSON text in a stream, whatever they are in a whole answer.
    """

    name = provider = url = stream_url = model = ""
    list_key = "messages"
    container = "object"
    content_type = "text/event-stream"
    has_ids = True
    streams_text = True
    cut = "length"

    def user(self, text: str = "How is it?") -> Json:
        return {"role": "user", "content": text}

    def turn(self, calls: Sequence[Call] = (CALL,), text: str = "") -> list[Json]:
        raise NotImplementedError

    def results(self, results: Sequence[Result] = (RESULT,)) -> list[Json]:
        raise NotImplementedError

    def tool(self, tool: Tool) -> Json:
        raise NotImplementedError

    def request(self, messages: Iterable[Json], tools: Sequence[Tool] = (TOOL,), **more: Any) -> Json:
        return {"model": self.model, self.list_key: list(messages), **self.tools(tools), **more}

    def tools(self, tools: Sequence[Tool]) -> Json:
        return {"tools": [self.tool(each) for each in tools]} if tools else {}

    def whole(self, tools: Sequence[Tool] = (TOOL,)) -> Json:
        """A healthy request: question, call, result."""
        return self.request([self.user(), *self.turn(), *self.results()], tools)

    def answer(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> Json:
        raise NotImplementedError

    def events(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> list[Json]:
        raise NotImplementedError

    def stream(self, events: Sequence[Json]) -> bytes:
        return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)

    def exchange(self, name: str, request: Any, response: Any = None, status: int = 200) -> Exchange:
        """An exchange of bodies: objects are JSON, bytes a stream."""
        is_stream = isinstance(response, bytes)
        kind = self.content_type if is_stream else "application/json"
        asked = HttpRequest("POST", self.stream_url if is_stream else self.url, body=Body(_bytes(request)))
        got = (
            None
            if response is None
            else HttpResponse(status, Headers((("content-type", kind),)), Body(_bytes(response)))
        )
        return Exchange(id=name, request=None if request is None else asked, response=got, origin=Origin.IMPORTED)


def _bytes(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def as_text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


class Messages(Wire):
    name, provider, model = "anthropic-messages", "anthropic", "claude-sonnet-4-5"
    cut = "max_tokens"
    url = stream_url = "/v1/messages"

    def request(self, messages: Iterable[Json], tools: Sequence[Tool] = (TOOL,), **more: Any) -> Json:
        return super().request(messages, tools, **({"max_tokens": 4096} | more))

    def _blocks(self, calls: Sequence[Call], text: str) -> list[Json]:
        said = [{"type": "text", "text": text}] if text else []
        return said + [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in calls]

    def turn(self, calls: Sequence[Call] = (CALL,), text: str = "") -> list[Json]:
        return [{"role": "assistant", "content": self._blocks(calls, text)}]

    def results(self, results: Sequence[Result] = (RESULT,)) -> list[Json]:
        blocks = [{"type": "tool_result", "tool_use_id": r.id, "content": r.text} for r in results]
        return [{"role": "user", "content": blocks}]

    def tool(self, tool: Tool) -> Json:
        return {"name": tool.name, "description": "Weather.", "input_schema": tool.schema}

    def answer(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> Json:
        reason = stop or ("tool_use" if calls else "end_turn")
        return {
            "id": "msg_01", "type": "message", "role": "assistant", "model": self.model,
            "content": self._blocks(calls, text),
            "stop_reason": reason, "stop_sequence": None, "usage": {"input_tokens": 90, "output_tokens": 9},
        }  # fmt: skip

    def events(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> list[Json]:
        whole = self.answer(calls, text, stop)
        found: list[Json] = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}]
        for n, block in enumerate(whole["content"]):
            is_call = block["type"] == "tool_use"
            start = {**block, "input": {}} if is_call else {**block, "text": ""}
            pieces = as_text(block["input"]) if is_call else block["text"]
            kind, key = ("input_json_delta", "partial_json") if is_call else ("text_delta", "text")
            found.append({"type": "content_block_start", "index": n, "content_block": start})
            found += (
                {"type": "content_block_delta", "index": n, "delta": {"type": kind, key: p}} for p in halves(pieces)
            )
            found.append({"type": "content_block_stop", "index": n})
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        return [
            *found,
            {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}},
            {"type": "message_stop"},
        ]

    def stream(self, events: Sequence[Json]) -> bytes:
        return sse_of(events, "type")


def _function(tool: Tool) -> Json:
    return {"name": tool.name, "description": "Weather.", "parameters": tool.schema}


def sse_of(events: Sequence[Json], key: str) -> bytes:
    """A stream whose events are named by one of their keys."""
    return b"".join(f"event: {e.get(key, 'x')}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


def halves(text: str) -> list[str]:
    half = len(text) // 2
    return [piece for piece in (text[:half], text[half:]) if piece]


class Chat(Wire):
    name, provider, model = "openai-chat", "openai", "gpt-4.1"
    url = stream_url = "/v1/chat/completions"
    container = "string"

    def _message(self, calls: Sequence[Call], text: str) -> Json:
        made: Json = {"role": "assistant", "content": text or None}
        if calls:
            made["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": as_text(c.arguments)}}
                for c in calls
            ]
        return made

    def turn(self, calls: Sequence[Call] = (CALL,), text: str = "") -> list[Json]:
        return [self._message(calls, text)]

    def results(self, results: Sequence[Result] = (RESULT,)) -> list[Json]:
        return [{"role": "tool", "tool_call_id": r.id, "content": r.text} for r in results]

    def tool(self, tool: Tool) -> Json:
        return {
            "type": "function",
            "function": {"name": tool.name, "description": "Weather.", "parameters": tool.schema},
        }

    def answer(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> Json:
        reason = stop or ("tool_calls" if calls else "stop")
        choice = {"index": 0, "message": self._message(calls, text), "finish_reason": reason}
        usage = {"prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99}
        return {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": self.model,
            "choices": [choice],
            "usage": usage,
        }

    def events(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> list[Json]:
        deltas: list[Json] = [{"role": "assistant", "content": ""}, *({"content": p} for p in halves(text))]
        for n, call in enumerate(calls):
            head = {"index": n, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
            deltas.append({"tool_calls": [head]})
            pieces = halves(as_text(call.arguments))
            deltas += ({"tool_calls": [{"index": n, "function": {"arguments": p}}]} for p in pieces)
        reason = stop or ("tool_calls" if calls else "stop")
        return [*(self._chunk(delta) for delta in deltas), self._chunk({}, reason)]

    def _chunk(self, delta: Json, reason: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": self.model, "choices": [choice]}

    def stream(self, events: Sequence[Json]) -> bytes:
        return super().stream(events) + b"data: [DONE]\n\n"


class Responses(Wire):
    name, provider, model = "openai-responses", "openai", "gpt-4.1"
    url = stream_url = "/v1/responses"
    list_key = "input"
    container = "string"

    def turn(self, calls: Sequence[Call] = (CALL,), text: str = "") -> list[Json]:
        said = [{"role": "assistant", "content": [{"type": "output_text", "text": text}]}] if text else []
        return said + [
            {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": as_text(c.arguments)} for c in calls
        ]

    def results(self, results: Sequence[Result] = (RESULT,)) -> list[Json]:
        return [{"type": "function_call_output", "call_id": r.id, "output": r.text} for r in results]

    def tool(self, tool: Tool) -> Json:
        return {"type": "function", "name": tool.name, "description": "Weather.", "parameters": tool.schema}

    def answer(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> Json:
        items: list[Json] = []
        if text:
            part = {"type": "output_text", "text": text, "annotations": []}
            items.append(
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
            )
        items += (
            {"type": "function_call", "id": f"fc_{n}", "call_id": c.id, "name": c.name,
             "arguments": as_text(c.arguments), "status": "completed"} for n, c in enumerate(calls)
        )  # fmt: skip
        status = "incomplete" if stop == "length" else "completed"
        details = {"reason": "max_output_tokens"} if stop == "length" else None
        return {
            "id": "resp_1", "object": "response", "created_at": 1, "model": self.model, "status": status,
            "output": items, "error": None, "incomplete_details": details, "parallel_tool_calls": True,
            "tool_choice": "auto", "tools": [],
            "usage": {"input_tokens": 90, "output_tokens": 9, "total_tokens": 99},
        }  # fmt: skip

    def events(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> list[Json]:
        whole = self.answer(calls, text, stop)
        found: list[Json] = [
            {"type": "response.created", "response": {**whole, "status": "in_progress", "output": [], "usage": None}}
        ]
        for n, item in enumerate(whole["output"]):
            at = {"output_index": n, "item_id": item["id"]}
            is_call = item["type"] == "function_call"
            start = {**item, "status": "in_progress"} | ({"arguments": ""} if is_call else {"content": []})
            found.append({"type": "response.output_item.added", "output_index": n, "item": start})
            if is_call:
                kind = "response.function_call_arguments"
                found += ({"type": f"{kind}.delta", **at, "delta": p} for p in halves(item["arguments"]))
                found.append({"type": f"{kind}.done", **at, "arguments": item["arguments"]})
            else:
                part = item["content"][0]
                at = {**at, "content_index": 0}
                found.append({"type": "response.content_part.added", **at, "part": {**part, "text": ""}})
                found += ({"type": "response.output_text.delta", **at, "delta": p} for p in halves(part["text"]))
                found.append({"type": "response.output_text.done", **at, "text": part["text"]})
                found.append({"type": "response.content_part.done", **at, "part": part})
            found.append({"type": "response.output_item.done", "output_index": n, "item": item})
        ended = "response.incomplete" if stop == "length" else "response.completed"
        found.append({"type": ended, "response": whole})
        return [{**event, "sequence_number": n} for n, event in enumerate(found)]

    def stream(self, events: Sequence[Json]) -> bytes:
        return sse_of(events, "type")


class Gemini(Wire):
    name, provider, model = "gemini", "gemini", "gemini-2.5-pro"
    cut = "MAX_TOKENS"
    url = "/v1beta/models/gemini-2.5-pro:generateContent"
    stream_url = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
    list_key = "contents"
    has_ids = streams_text = False

    def user(self, text: str = "How is it?") -> Json:
        return {"role": "user", "parts": [{"text": text}]}

    def _parts(self, calls: Sequence[Call], text: str) -> list[Json]:
        said: list[Json] = [{"text": text}] if text else []
        return said + [{"functionCall": {"name": c.name, "args": c.arguments}} for c in calls]

    def turn(self, calls: Sequence[Call] = (CALL,), text: str = "") -> list[Json]:
        return [{"role": "model", "parts": self._parts(calls, text)}]

    def results(self, results: Sequence[Result] = (RESULT,)) -> list[Json]:
        parts = [{"functionResponse": {"name": r.name, "response": {"output": r.text}}} for r in results]
        return [{"role": "user", "parts": parts}]

    def tool(self, tool: Tool) -> Json:
        return {"name": tool.name, "description": "Weather.", "parameters": tool.schema}

    def tools(self, tools: Sequence[Tool]) -> Json:
        return {"tools": [{"functionDeclarations": [self.tool(each) for each in tools]}]} if tools else {}

    def request(self, messages: Iterable[Json], tools: Sequence[Tool] = (TOOL,), **more: Any) -> Json:
        return {key: value for key, value in super().request(messages, tools, **more).items() if key != "model"}

    def answer(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> Json:
        content = {"role": "model", "parts": self._parts(calls, text)}
        usage = {"promptTokenCount": 90, "candidatesTokenCount": 9, "totalTokenCount": 99}
        candidate = {"content": content, "finishReason": stop or "STOP", "index": 0}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": self.model}

    def events(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> list[Json]:
        whole = self.answer(calls, text, stop)
        pieces = [
            {"candidates": [{"content": {"role": "model", "parts": [{"text": p}]}, "index": 0}]} for p in halves(text)
        ]
        last = self.answer(calls, "", stop)
        return [*pieces, last] if text else [whole]


class Ollama(Wire):
    name, provider, model = "ollama", "ollama", "qwen3:8b"
    url = stream_url = "/api/chat"
    content_type = "application/x-ndjson"
    has_ids = streams_text = False

    def _message(self, calls: Sequence[Call], text: str) -> Json:
        made: Json = {"role": "assistant", "content": text}
        if calls:
            made["tool_calls"] = [{"function": {"name": c.name, "arguments": c.arguments}} for c in calls]
        return made

    def turn(self, calls: Sequence[Call] = (CALL,), text: str = "") -> list[Json]:
        return [self._message(calls, text)]

    def results(self, results: Sequence[Result] = (RESULT,)) -> list[Json]:
        return [{"role": "tool", "tool_name": r.name, "content": r.text} for r in results]

    def tool(self, tool: Tool) -> Json:
        return {
            "type": "function",
            "function": {"name": tool.name, "description": "Weather.", "parameters": tool.schema},
        }

    def answer(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> Json:
        made = {"model": self.model, "created_at": "2026-01-01T00:00:00Z", "message": self._message(calls, text)}
        return {**made, "done": True, "done_reason": stop or "stop", "prompt_eval_count": 90, "eval_count": 9}

    def events(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> list[Json]:
        head = {"model": self.model, "created_at": "2026-01-01T00:00:00Z"}
        said = [self._message((), piece) for piece in halves(text)]
        called = [self._message((call,), "") for call in calls]
        last = {**head, "message": self._message((), ""), "done": True, "done_reason": stop or "stop", "eval_count": 9}
        return [*({**head, "message": m, "done": False} for m in (*said, *called)), {**last, "prompt_eval_count": 90}]

    def stream(self, events: Sequence[Json]) -> bytes:
        return b"".join(json.dumps(event).encode() + b"\n" for event in events)

    def exchange(self, name: str, request: Any, response: Any = None, status: int = 200) -> Exchange:
        """An answer is streamed unless the request says otherwise."""
        is_whole = isinstance(request, dict) and isinstance(response, dict)
        return super().exchange(name, {**request, "stream": False} if is_whole else request, response, status)


class Converse(Wire):
    name, provider, model = "bedrock-converse", "bedrock", ""
    cut = "max_tokens"
    url, stream_url = (
        "/model/anthropic.claude-sonnet-4-5/converse",
        "/model/anthropic.claude-sonnet-4-5/converse-stream",
    )
    content_type = "application/vnd.amazon.eventstream"

    def user(self, text: str = "How is it?") -> Json:
        return {"role": "user", "content": [{"text": text}]}

    def _blocks(self, calls: Sequence[Call], text: str) -> list[Json]:
        said: list[Json] = [{"text": text}] if text else []
        return said + [{"toolUse": {"toolUseId": c.id, "name": c.name, "input": c.arguments}} for c in calls]

    def turn(self, calls: Sequence[Call] = (CALL,), text: str = "") -> list[Json]:
        return [{"role": "assistant", "content": self._blocks(calls, text)}]

    def results(self, results: Sequence[Result] = (RESULT,)) -> list[Json]:
        blocks = [{"toolResult": {"toolUseId": r.id, "content": [{"text": r.text}]}} for r in results]
        return [{"role": "user", "content": blocks}]

    def tool(self, tool: Tool) -> Json:
        return {"toolSpec": {"name": tool.name, "description": "Weather.", "inputSchema": {"json": tool.schema}}}

    def tools(self, tools: Sequence[Tool]) -> Json:
        return {"toolConfig": {"tools": [self.tool(each) for each in tools]}} if tools else {}

    def request(self, messages: Iterable[Json], tools: Sequence[Tool] = (TOOL,), **more: Any) -> Json:
        return {key: value for key, value in super().request(messages, tools, **more).items() if key != "model"}

    def answer(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> Json:
        message = {"role": "assistant", "content": self._blocks(calls, text)}
        usage = {"inputTokens": 90, "outputTokens": 9, "totalTokens": 99}
        reason = stop or ("tool_use" if calls else "end_turn")
        return {"output": {"message": message}, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 1}}

    def events(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> list[Json]:
        whole = self.answer(calls, text, stop)
        found: list[Json] = [{"messageStart": {"role": "assistant"}}]
        for n, block in enumerate(whole["output"]["message"]["content"]):
            if "toolUse" in block:
                use = block["toolUse"]
                start = {"toolUse": {"toolUseId": use["toolUseId"], "name": use["name"]}}
                found.append({"contentBlockStart": {"start": start, "contentBlockIndex": n}})
                pieces: list[Json] = [{"toolUse": {"input": p}} for p in halves(as_text(use["input"]))]
            else:
                pieces = [{"text": p} for p in halves(block["text"])]
            found += ({"contentBlockDelta": {"delta": p, "contentBlockIndex": n}} for p in pieces)
            found.append({"contentBlockStop": {"contentBlockIndex": n}})
        found.append({"messageStop": {"stopReason": whole["stopReason"]}})
        return [*found, {"metadata": {"usage": whole["usage"], "metrics": {"latencyMs": 1}}}]

    def stream(self, events: Sequence[Json]) -> bytes:
        return b"".join(aws_message(kind, _bytes(value)) for event in events for kind, value in event.items())


WIRES: tuple[Wire, ...] = (Messages(), Chat(), Responses(), Gemini(), Ollama(), Converse())
