"""Inputs that grow, and what it costs to read them: the parts of the growth gate."""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

from tests.tool_hops import HopSession, said
from workbench import protocols
from workbench.config import safeyaml
from workbench.contracts import error_texts
from workbench.convert.convert import convert
from workbench.errors import WorkbenchError
from workbench.filters.parser import parse
from workbench.formats import importers
from workbench.ir import Carrier, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.protocols.decode import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.history import GrowingHistory, MergedTurns, RepeatedMessage
from workbench.protocols.places_of_ids import IdPlaces
from workbench.rules.inspection import Inspector
from workbench.rules.reasoning_origin import UnprovedTexts
from workbench.toolcalls import formats
from workbench.wire.encoding import decode_partial
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.http1.body import ChunkedBody
from workbench.wire.jsontext import JsonIndex, loads
from workbench.wire.redaction import Redactor
from workbench.wire.session import MemorySession
from workbench.wire.sse import SseReader
from workbench.wire.stream import read_stream

Run = Callable[[], object]
Made = Callable[[int], Run]
"""Size → what is measured; making the input is not."""

MOST = 6.0
"""Times the cost of four times the input: linear is 4, sorting 4.5, comparing all with all 16."""


def steps(run: Run) -> int:
    """Lines of Python that run: the same on every machine and under any load."""
    count = 0

    def local(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += 1
        return local

    before = sys.gettrace()
    sys.settrace(local)
    try:
        with suppress(WorkbenchError):
            run()
    finally:
        sys.settrace(before)
    return count


def seconds(run: Run) -> float:
    """Processor time, for what costs outside of Python: copying, searching, comparing strings."""
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        with suppress(WorkbenchError):
            run()
        best = min(best, time.process_time() - began)
    return best


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def call_ids(n: int, kind: str) -> list[str]:
    return {"unique": [f"call_{i}" for i in range(n)], "same": ["call_1"] * n, "empty": [""] * n}[kind]


# -- requests: protocol → how many calls and results with such ids become a body


def chat(n: int, ids: str, has: str) -> Any:
    names = call_ids(n, ids)
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in names]
    said: list[Any] = [{"role": "user", "content": "x"}]
    said += [{"role": "assistant", "content": None, "tool_calls": calls}] if "calls" in has else []
    said += [{"role": "tool", "tool_call_id": i, "content": "y"} for i in names] if "results" in has else []
    return {"model": "gpt-4.1", "messages": said}


def blocks(n: int, ids: str, has: str) -> Any:
    names = call_ids(n, ids)
    calls = [{"type": "tool_use", "id": i, "name": "f", "input": {}} for i in names]
    results = [{"type": "tool_result", "tool_use_id": i, "content": "y"} for i in names]
    said: list[Any] = [{"role": "user", "content": "x"}]
    said += [{"role": "assistant", "content": calls}] if "calls" in has else []
    said += [{"role": "user", "content": results}] if "results" in has else []
    return {"model": "claude-opus-4-5", "max_tokens": 9, "messages": said}


def items(n: int, ids: str, has: str) -> Any:
    names = call_ids(n, ids)
    said: list[Any] = [{"role": "user", "content": "x"}]
    made = [{"type": "function_call", "call_id": i, "name": "f", "arguments": "{}"} for i in names]
    told = [{"type": "function_call_output", "call_id": i, "output": "y"} for i in names]
    return {"model": "gpt-5", "input": said + made * ("calls" in has) + told * ("results" in has)}


def contents(n: int, ids: str, has: str) -> Any:
    made = [{"functionCall": {"name": "f", "args": {}, "id": i}} for i in call_ids(n, ids)]
    told = [{"functionResponse": {"name": "f", "response": {}, "id": i}} for i in call_ids(n, ids)]
    said: list[Any] = [{"role": "user", "parts": [{"text": "x"}]}]
    said += [{"role": "model", "parts": made}] if "calls" in has else []
    said += [{"role": "user", "parts": told}] if "results" in has else []
    return {"contents": said}


def native(n: int, ids: str, has: str) -> Any:
    said: list[Any] = [{"role": "user", "content": "x"}]
    said += [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}] * n}] * ("calls" in has)
    said += [{"role": "tool", "tool_name": "f", "content": "y"}] * (n * ("results" in has))
    return {"model": "llama3", "messages": said}


def keyed(n: int, ids: str, has: str) -> Any:
    names = call_ids(n, ids)
    said: list[Any] = [{"role": "user", "content": [{"text": "x"}]}]
    made = [{"toolUse": {"toolUseId": i, "name": "f", "input": {}}} for i in names]
    told = [{"toolResult": {"toolUseId": i, "content": [{"text": "y"}]}} for i in names]
    said += [{"role": "assistant", "content": made}] * ("calls" in has) + [{"role": "user", "content": told}] * (
        "results" in has
    )
    return {"messages": said}


def interactions(n: int, ids: str, has: str) -> Any:
    names = call_ids(n, ids)
    made = [{"type": "function_call", "id": i, "name": "f", "arguments": {}} for i in names]
    told = [{"type": "function_result", "call_id": i, "result": "y"} for i in names]
    said: list[Any] = [{"type": "user_input", "content": [{"type": "text", "text": "x"}]}]
    return {"model": "gemini-3-pro", "input": said + made * ("calls" in has) + told * ("results" in has)}


REQUESTS: Mapping[str, Callable[[int, str, str], Any]] = {
    "openai-chat": chat, "anthropic-messages": blocks, "openai-responses": items, "gemini": contents,
    "gemini-interactions": interactions, "ollama": native, "bedrock-converse": keyed, "cohere-v2": chat,
    "bedrock-invoke": blocks,
}  # fmt: skip
HAS = ("calls", "results", "calls and results")


def decoded(protocol: str, side: str, body: bytes, kind: str = "application/json") -> DecodedExchange:
    request = HttpRequest("POST", "https://x.example/", body=Body(body if side == REQUEST else b"{}"))
    headers = Headers((("content-type", kind),))
    response = HttpResponse(200, headers, Body(body)) if side == RESPONSE else None
    return DecodedExchange(0, Exchange("a", request, response), protocol)


def reading(protocol: str, ids: str, has: str) -> Made:
    def made(n: int) -> Run:
        body = dumped(REQUESTS[protocol](n, ids, has))
        return lambda: protocols.get(protocol).decode_request(body)

    return made


def converting(protocol: str, target: str) -> Made:
    def made(n: int) -> Run:
        body = dumped(REQUESTS[protocol](n, "unique", "calls and results"))
        return lambda: convert(decoded(protocol, REQUEST, body), target, side=REQUEST)

    return made


def inspecting(protocol: str, ids: str, has: str) -> Made:
    def made(n: int) -> Run:
        body = dumped(REQUESTS[protocol](n, ids, has))
        exchange = decoded(protocol, REQUEST, body).exchange
        return lambda: Inspector(MemorySession("x", (exchange,)), protocol=protocol).run()

    return made


# -- streams: protocol → events


def sse(events: list[Any]) -> bytes:
    return b"".join(
        (f"event: {e['type']}\n".encode() if "type" in e else b"") + b"data: " + dumped(e) + b"\n\n" for e in events
    )


def chunk(delta: Any, index: int = 0) -> Any:
    choice = {"index": index, "delta": delta}
    return {"id": "a", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def block_events(starts: list[tuple[int, Any]], deltas: list[tuple[int, Any]], stops: bool = True) -> list[Any]:
    found: list[Any] = [{"type": "message_start", "message": {"role": "assistant", "content": []}}]
    found += [{"type": "content_block_start", "index": i, "content_block": b} for i, b in starts]
    found += [{"type": "content_block_delta", "index": i, "delta": d} for i, d in deltas]
    return found + [{"type": "content_block_stop", "index": i} for i, _ in starts] * stops


USE = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
PIECE = {"type": "input_json_delta", "partial_json": '{"a'}
STREAMS: Mapping[str, tuple[str, Callable[[int], list[Any]]]] = {
    "deltas of text": ("openai-chat", lambda n: [chunk({"content": "x"}) for _ in range(n)]),
    "deltas of one call": (
        "openai-chat",
        lambda n: [chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"arguments": "1"}}]}) for _ in range(n)],
    ),
    "calls": (
        "openai-chat",
        lambda n: [chunk({"tool_calls": [{"index": i, "id": f"c{i}", "function": {"name": "f"}}]}) for i in range(n)],
    ),
    "calls of one index": (
        "openai-chat",
        lambda n: [chunk({"tool_calls": [{"index": 0, "id": f"c{i}", "function": {"name": "f"}}]}) for i in range(n)],
    ),
    "choices": ("openai-chat", lambda n: [chunk({"content": "x"}, i) for i in range(n)]),
    "text and reasoning by turns": (
        "openai-chat",
        lambda n: [chunk({("content", "reasoning_content")[i % 2]: "x"}) for i in range(n)],
    ),
    "details of reasoning": (
        "openai-chat",
        lambda n: [
            chunk({"reasoning_details": [{"type": "reasoning.text", "text": "x", "index": i}]}) for i in range(n)
        ],
    ),
    "blocks": (
        "anthropic-messages",
        lambda n: block_events([(i, {"type": "text", "text": ""}) for i in range(n)], []),
    ),
    "blocks that never stop": ("anthropic-messages", lambda n: block_events([(i, USE) for i in range(n)], [], False)),
    "blocks of one index": ("anthropic-messages", lambda n: block_events([(0, USE) for _ in range(n)], [(0, PIECE)])),
    "deltas of one block": ("anthropic-messages", lambda n: block_events([(0, USE)], [(0, PIECE)] * n)),
    "deltas of no block": ("anthropic-messages", lambda n: block_events([], [(i, PIECE) for i in range(n)])),
    "items": (
        "openai-responses",
        lambda n: [
            {
                "type": f"response.output_item.{word}",
                "output_index": i,
                "item": {"type": "function_call", "id": f"i{i}"},
            }
            for i in range(n)
            for word in ("added", "done")
        ],
    ),
    "items that are never done": (
        "openai-responses",
        lambda n: [
            {"type": "response.output_item.added", "output_index": i, "item": {"type": "function_call", "id": f"i{i}"}}
            for i in range(n)
        ],
    ),
    "deltas of one item": (
        "openai-responses",
        lambda n: (
            [
                {
                    "type": "response.output_text.delta",
                    "output_index": 0,
                    "item_id": "a",
                    "content_index": 0,
                    "delta": "x",
                }
            ]
            * n
        ),
    ),
    "parts": (
        "gemini",
        lambda n: [{"candidates": [{"content": {"role": "model", "parts": [{"text": "x"}]}}]} for _ in range(n)],
    ),
    "calls in parts": (
        "gemini",
        lambda n: [
            {"candidates": [{"content": {"parts": [{"functionCall": {"name": f"f{i}", "args": {}}}]}}]}
            for i in range(n)
        ],
    ),
    "pieces of arguments": (
        "gemini",
        lambda n: [
            {
                "candidates": [
                    {
                        "content": {
                            "parts": [
                                {
                                    "functionCall": {
                                        **({"name": "f"} if not i else {}),
                                        "partialArgs": [{"jsonPath": f"$.a{i}", "stringValue": "x"}],
                                        "willContinue": True,
                                    }
                                }
                            ]
                        }
                    }
                ]
            }
            for i in range(n)
        ],
    ),
    "steps": (
        "gemini-interactions",
        lambda n: [
            {"event_type": f"step.{word}", "index": i, "step": {"type": "function_call", "id": f"c{i}", "name": "f"}}
            for i in range(n)
            for word in ("start", "stop")
        ],
    ),
    "deltas of one step": (
        "gemini-interactions",
        lambda n: (
            [{"event_type": "step.start", "index": 0, "step": {"type": "model_output"}}]
            + [{"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "x"}}] * n
        ),
    ),
    "content of one step": (
        "gemini-interactions",
        lambda n: (
            [{"event_type": "step.start", "index": 0, "step": {"type": "model_output"}}]
            + [{"event_type": "step.delta", "index": 0, "delta": {"type": "image", "uri": "x"}}] * n
        ),
    ),
    "texts of events": (
        "cohere-v2",
        lambda n: (
            [{"type": "message-start", "delta": {"message": {"role": "assistant"}}}]
            + [{"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "x"}}}}] * n
        ),
    ),
    "calls of events": (
        "cohere-v2",
        lambda n: [
            {
                "type": f"tool-call-{word}",
                "index": i,
                "delta": {"message": {"tool_calls": {"id": f"c{i}", "function": {"name": "f", "arguments": "{"}}}},
            }
            for i in range(n)
            for word in ("start", "delta", "end")
        ],
    ),
    "lines": (
        "ollama",
        lambda n: [{"model": "m", "message": {"role": "assistant", "content": "x"}, "done": False}] * n,
    ),
}


def streaming(name: str, *, is_inspected: bool = False) -> Made:
    protocol, events = STREAMS[name]

    def made(n: int) -> Run:
        found = events(n)
        body = b"".join(dumped(e) + b"\n" for e in found) if protocol == "ollama" else sse(found)
        kind = "application/x-ndjson" if protocol == "ollama" else "text/event-stream"
        if is_inspected:
            exchange = decoded(protocol, RESPONSE, body, kind).exchange
            return lambda: Inspector(MemorySession("x", (exchange,)), protocol=protocol).run()

        def run() -> object:
            decoder = protocols.get(protocol).stream_decoder()
            for event in read_stream(body, kind).events:
                decoder.feed(event)
            return decoder.result()

        return run

    return made


# -- texts


TOKENS = (
    "]{", "[{", '{"name": "f", "arguments": {', "<tool_call>", "</tool_call>", '<tool_call>{"name": "f"}</tool_call>',
    "<|tool_call|>", "<think>", "```json\n", "[TOOL_CALLS]", "<function=f>", "<parameter=a>", "f(a=1), ", "[f(",
    "\\u00", "<|channel|>commentary to=f<|message|>{}<|call|>", "<invoke name=\"f\">", "&lt;",
    "'''", "<｜tool▁calls▁begin｜>",
)  # fmt: skip


def text_calls(name: str, token: str, *, in_pieces: bool) -> Made:
    def made(n: int) -> Run:
        text = token * n

        def run() -> object:
            parser = formats.get(name).parser()
            found = (
                [parser.feed(text[at : at + 7]) for at in range(0, len(text), 7)] if in_pieces else parser.feed(text)
            )
            return found, parser.close()

        return run

    return made


def depth(n: int) -> Run:
    body = b"[" * n + b"]" * n
    return lambda: loads(body)


def index_of_members(n: int) -> Run:
    body = dumped({f"k{i}": [i] for i in range(n)})

    def run() -> None:
        index = JsonIndex(body)
        for i in range(n):
            index.span(f"/k{i}/0")

    return run


def index_of_elements(n: int) -> Run:
    body = dumped({"messages": [{"a": i} for i in range(n)]})

    def run() -> None:
        index = JsonIndex(body)
        for i in range(n):
            index.span(f"/messages/{i}/a")

    return run


def chunked(data: Callable[[int], bytes], size: int) -> Made:
    def made(n: int) -> Run:
        body = data(n)

        def run() -> None:
            reader = ChunkedBody()
            for at in range(0, len(body), size):
                reader.feed(body[at : at + size])

        return run

    return made


def sse_in_pieces(data: Callable[[int], bytes], size: int) -> Made:
    def made(n: int) -> Run:
        body = data(n)

        def run() -> None:
            reader = SseReader()
            for at in range(0, len(body), size):
                list(reader.feed(body[at : at + size]))
            reader.close()

        return run

    return made


def importing(name: str, data: Callable[[int], bytes]) -> Made:
    def made(n: int) -> Run:
        body = data(n)
        return lambda: importers.load(name).read(body, "x")

    return made


def har(n: int) -> bytes:
    request = {"method": "POST", "url": "https://api.openai.com/v1/chat/completions", "headers": []}
    entry = {
        "startedDateTime": "2026-01-01T00:00:00Z",
        "request": request | {"postData": {"text": '{"model": "m", "messages": []}'}},
        "response": {"status": 200, "headers": [], "content": {"text": "{}"}},
    }
    return dumped({"log": {"version": "1.2", "entries": [entry] * n}})


def claude_lines(n: int) -> bytes:
    lines = []
    for i in range(n):
        said = {"role": ("user", "assistant")[i % 2], "content": [{"type": "text", "text": f"word {i}"}], "id": f"m{i}"}
        entry = {"type": said["role"], "uuid": f"u{i}", "parentUuid": f"u{i - 1}" if i else None, "message": said}
        lines.append(dumped(entry | {"sessionId": "s", "timestamp": "2026-01-01T00:00:00Z"}))
    return b"\n".join(lines)


def codex_lines(n: int) -> bytes:
    head = {"type": "session_meta", "payload": {"id": "s"}, "timestamp": "2026-01-01T00:00:00Z"}
    said = [
        {
            "type": "response_item",
            "timestamp": "2026-01-01T00:00:00Z",
            "payload": {
                "type": "message",
                "role": ("user", "assistant")[i % 2],
                "content": [{"type": "input_text", "text": f"{i}"}],
            },
        }
        for i in range(n)
    ]
    return b"\n".join(map(dumped, [head, *said]))


def session_lines(n: int) -> bytes:
    line = {"id": "a", "request": {"method": "POST", "url": "/", "body": {"text": "{}"}}}
    return b"\n".join([dumped({"workbench": "session", "version": 1}), *[dumped(line)] * n])


def cassette(n: int) -> bytes:
    entry = (
        "- request:\n    body: '{}'\n    headers: {}\n    method: POST\n    uri: https://api.openai.com/v1/responses\n"
        "  response:\n    body: {string: '{}'}\n    headers: {}\n    status: {code: 200, message: OK}\n"
    )
    return b"interactions:\n" + entry.encode() * n + b"version: 1\n"


def records(n: int) -> bytes:
    asked = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    return dumped([{"id": f"r{i}", "request": asked, "response": SAID["openai-chat"]} for i in range(n)])


def records_inside(n: int) -> bytes:
    """As many values that are no exchange around one as there are levels, up to what is looked through."""
    value: Any = json.loads(records(1))
    for i in range(min(n, 5)):
        value = {f"k{i}": value, "other": [{"a": [i]}] * n}
    return dumped(value)


def yaml_of(token: str) -> Made:
    def made(n: int) -> Run:
        text = (token * n).encode()
        return lambda: safeyaml.load(text, name="x")

    return made


def filtering(token: str) -> Made:
    def made(n: int) -> Run:
        return lambda: parse(token * n)

    return made


def redacting(token: str, kind: str = "application/json") -> Made:
    def made(n: int) -> Run:
        redactor = Redactor(b"salt" * 8)
        body = token.encode() * n
        asked = HttpRequest("POST", "https://x.example/", Headers((("content-type", kind),)), Body(body))
        return lambda: redactor.exchange(Exchange("a", asked))

    return made


def explaining(token: str) -> Made:
    return lambda n: lambda: error_texts.explain(token * n)


def undoing(codings: str, made: Callable[[bytes], bytes]) -> Made:
    def run(n: int) -> Run:
        raw = made(b'{"a": 1}' * n)
        return lambda: decode_partial(Body(raw, codings))

    return run


BY_HOST = {
    "openai-chat": "https://api.openai.com/v1/chat/completions",
    "anthropic-messages": "https://api.anthropic.com/v1/messages",
}
SAID: Mapping[str, Any] = {
    "openai-chat": {"choices": [{"index": 0, "message": {"role": "assistant", "content": "x"}}]},
    "anthropic-messages": {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "x"}]},
}


def passed(protocol: str, body: bytes, hop: str = "", status: int = 200) -> Exchange:
    """An exchange with a known provider, answered; what it sends is accepted where the status is 200."""
    said = SAID[protocol] if status == 200 else {"error": {"message": "call_3 has no result", "type": "x"}}
    headers = Headers((("content-type", "application/json"),))
    request = HttpRequest("POST", BY_HOST[protocol], headers, Body(body))
    parent = "client" if hop == "upstream" else None
    return Exchange(
        hop or "a", request, HttpResponse(status, headers, Body(dumped(said))), started_at=1.0, hop=hop, parent=parent
    )


def judging(protocol: str, has: str, how: str) -> Made:
    """Ids that the provider's contract refuses: accepted all the same, refused, or spoiled on the way by a gateway."""

    def made(n: int) -> Run:
        body = dumped(REQUESTS[protocol](n, "unique", has))
        spoiled = body.replace(b"call_", b"call bad " + b"x" * 50)
        sessions = {
            "accepted": (passed(protocol, spoiled),),
            "refused": (passed(protocol, spoiled, status=400),),
            "at two hops": (passed(protocol, body, "client"), passed(protocol, spoiled, "upstream")),
        }
        return lambda: Inspector(MemorySession("x", sessions[how])).run()

    return made


TURNS: Mapping[str, Callable[[int], tuple[Any, Any]]] = {
    "anthropic-messages": lambda n: (
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": f"toolu_{n:020d}", "name": "f", "input": {"n": n}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{n:020d}", "content": "y"}]},
    ),
    "openai-chat": lambda n: (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": f"call_{n:020d}", "type": "function", "function": {"name": "f", "arguments": f'{{"n": {n}}}'}}
            ],
        },
        {"role": "tool", "tool_call_id": f"call_{n:020d}", "content": "y"},
    ),
    "openai-responses": lambda n: (
        {"type": "function_call", "call_id": f"call_{n:020d}", "name": "f", "arguments": f'{{"n": {n}}}'},
        {"type": "function_call_output", "call_id": f"call_{n:020d}", "output": "y"},
    ),
    "gemini": lambda n: (
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"n": n}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"result": "y"}}}]},
    ),
}
"""Protocol → the call and the result of a turn."""


def growing(protocol: str, how: str = "") -> Made:
    """A conversation that is never compacted: each request repeats the one before it and has one turn more.

    Args:
        how: "unanswered": no answer was recorded; "rewritten": the client changes ids and arguments of each call;
            "marked": the last message has a block more than when it is repeated.
    """

    def made(n: int) -> Run:
        body = REQUESTS[protocol](0, "unique", "")
        key = next(key for key in ("messages", "input", "contents") if key in body)
        exchanges, answer = [], ANSWERS[protocol]
        for number in range(n):
            last = body[key][-1]
            said = last["content"] if isinstance(last.get("content"), list) else [{"type": "text", "text": "x"}]
            marked = {**last, "content": [*said, {"type": "text", "text": f"<note>{number}</note>"}]}
            sent = dumped(body | {key: [*body[key][:-1], marked]} if how == "marked" else body)
            request = HttpRequest("POST", "https://x.example/", body=Body(sent))
            call, result = TURNS[protocol](number)
            response = HttpResponse(200, Headers((("content-type", "application/json"),)), Body(dumped(answer(call))))
            exchanges.append(Exchange(f"e{number}", request, None if how == "unanswered" else response))
            if how == "rewritten":
                call, result = TURNS[protocol](10**9 + number)
            body = body | {key: [*body[key], call, result]}
        return lambda: Inspector(MemorySession("x", tuple(exchanges)), protocol=protocol).run()

    return made


def changing_ends(n: int) -> Run:
    """A history that grows while its last message is another one in each request, and what is read along it."""

    def run() -> None:
        history = GrowingHistory()
        for number in range(n):
            history = history.fork(max(len(history.messages) - 1, 0))
            thought = Reasoning(Carrier.REASONING_CONTENT, f"thought {number // 2}")
            call = ToolCallIR(f"call_{number}", "f", {}, "openai")
            said = (
                ("assistant", thought),
                ("assistant", call),
                ("tool", ToolResultIR(call.id, ())),
                ("user", Text("x")),
            )
            for role, part in said:
                history.append(b"", RepeatedMessage(role, (part,)), ())
            for fold in FOLDS:
                history.fold(fold)

    return run


FOLDS = (IdPlaces, MergedTurns, UnprovedTexts)


ANSWERS: Mapping[str, Callable[[Any], Any]] = {
    "anthropic-messages": lambda said: {"type": "message", "model": "m", "stop_reason": "tool_use", **said},
    "openai-chat": lambda said: {
        "object": "chat.completion", "choices": [{"index": 0, "message": said, "finish_reason": "tool_calls"}]
    },
    "openai-responses": lambda said: {"object": "response", "status": "completed", "output": [said]},
    "gemini": lambda said: {"candidates": [{"index": 0, "content": said, "finishReason": "STOP"}]},
}  # fmt: skip
"""Protocol → an answer that holds a call."""


def tools(n: int) -> Run:
    declared = [
        {"type": "function", "function": {"name": f"f{i}", "parameters": {"type": "object", "properties": {}}}}
        for i in range(n)
    ]
    exchange = decoded("openai-chat", REQUEST, dumped(chat(1, "unique", "calls") | {"tools": declared})).exchange
    return lambda: Inspector(MemorySession("x", (exchange,)), protocol="openai-chat").run()


def local_calls(n: int) -> Run:
    """Calls of a local tool beside calls to a tool server that fit none of them."""
    made, local = HopSession("s"), [(f"t{i}", "Grep", {"q": i}) for i in range(n)]
    made.model([], *local)
    for i in range(n):
        made.call("s", "search", {"z": i}, {"content": [said(f"result number {i}")]})
    made.model([], told=[(id_, f"local {id_}") for id_, *_ in local])
    return lambda: Inspector(made.session()).run()


def members(n: int) -> bytes:
    return b"".join(gzip.compress(b'{"a": 1}') for _ in range(n))


def by_steps() -> Iterator[tuple[str, int, Made]]:
    """(name, size, input) of all whose cost is lines of Python."""
    for protocol in REQUESTS:
        for has in HAS:
            yield f"{protocol} request: {has}", 200, reading(protocol, "unique", has)
    for ids in ("same", "empty"):
        yield f"anthropic-messages request: {ids} ids", 200, reading("anthropic-messages", ids, "calls and results")
    for protocol in ("openai-chat", "anthropic-messages", "gemini", "openai-responses"):
        others = [
            p for p in ("openai-chat", "anthropic-messages", "gemini", "openai-responses", "ollama") if p != protocol
        ]
        for target in others[:2]:
            yield f"{protocol} converted into {target}", 150, converting(protocol, target)
    for protocol in TURNS:
        yield f"{protocol} conversation", 30, growing(protocol)
    for how in ("unanswered", "rewritten", "marked"):
        yield f"{how} conversation", 30, growing("anthropic-messages", how)
    yield "history whose end changes", 100, changing_ends
    for name in STREAMS:
        yield f"stream: {name}", 240, streaming(name)
    for name in formats.formats():
        for token in TOKENS[::4]:
            yield f"text calls {name}: {token!r}", 150, text_calls(name, token, in_pieces=True)
    yield "tools", 40, tools
    yield "local calls beside a tool server", 40, local_calls
    yield "gzip", 400_000, undoing("gzip", gzip.compress)
    for form, data in (
        ("har", har), ("claude_code", claude_lines), ("codex", codex_lines),
        ("workbench_session", session_lines), ("vcr", cassette), ("records", records), ("records", records_inside),
    ):  # fmt: skip
        yield f"importer {form}: {data.__name__}", 40, importing(form, data)
    for token in ("- a\n", "a: [b]\n", "[", "- - a\n", "&a [*a]\n", "? ", "'", "a"):
        yield f"YAML: {token!r}", 100, yaml_of(token)
    for token in ("(", "not ", "a or ", "status:200 ", "'", "(a ", "~u x & "):
        yield f"filter: {token!r}", 100, filtering(token)


def by_time() -> Iterator[tuple[str, int, Made]]:
    """(name, size, input) of all whose cost is in what Python calls."""
    for how in ("accepted", "refused", "at two hops"):
        yield f"calls that are {how}", 60, judging("anthropic-messages", "calls", how)
    yield "many calls accepted", 60, judging("openai-chat", "calls", "accepted")
    yield "depth", 100, depth
    yield "JSON index: members", 4_000, index_of_members
    yield "JSON index: elements", 4_000, index_of_elements
    yield "gzip members", 2_000, lambda n: partial(decode_partial, Body(members(n), "gzip"))
    yield "one huge string", 200_000, lambda n: partial(loads, dumped("x\\" * n))
    yield "brackets that never close", 20_000, lambda n: partial(loads, b"[{" * min(n, 400) + b'"' * n)
    for token in ("data: x\n\n", ": c\n", "data: x\n", "\n", "\r", "event"):
        yield f"SSE in pieces: {token!r}", 6_000, sse_in_pieces(lambda n, t=token: t.encode() * n, 11)
    yield "SSE byte by byte: one long line", 40_000, sse_in_pieces(lambda n: b"data: " + b"x" * n, 1)
    yield "chunks byte by byte", 6_000, chunked(lambda n: b"1\r\nx\r\n" * n, 1)
    yield "a chunk extension byte by byte", 4_000, chunked(lambda n: b"1;" + b"x" * n, 1)
    for name in formats.formats():
        for token in TOKENS[1::5]:
            yield f"text calls {name} whole: {token!r}", 1_500, text_calls(name, token, in_pieces=False)
    for token in ("the model ", "400 {", '{"error": "', "\\", "'type': "):
        yield f"explain: {token!r}", 300, explaining(token)
    for token in (
        "sk-",
        "xoxb-",
        "a",
        '"password": "',
        "Bearer ",
        "AKIA",
        "eyJ",
        "https://u:p@",
        "\\u0061",
        "-----BEGIN ",
    ):
        yield f"redactor: {token!r}", 8_000, redacting(token)
    for token in ("| api_key ", "api_key,", "a,api_key\\n", "1,api_key;"):
        yield f"redactor: tables of {token!r}", 4_000, redacting(token)
    yield "redactor: cookies among cookies", 2_000, redacting("cookie: a=word; ")
