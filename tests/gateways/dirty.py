"""One defect each, as public gateways have them."""

from __future__ import annotations

import gzip
import json
import re
import unicodedata
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

from tests.gateways.proxy import Gateway, Message


def rewriting(change: Callable[[Any], Any], **spelled: Any) -> Callable[[Gateway, Message], None]:
    """A step that changes the JSON of a body; bodies it leaves alone keep their bytes."""

    def step(gateway: Gateway, message: Message) -> None:
        if message.reader is None and message.is_json:
            value = json.loads(message.body)
            changed = change(json.loads(message.body))
            if spelled or changed != value:
                message.body = json.dumps(changed, **(spelled or COMPACT)).encode("utf-8", "surrogatepass")

    return step


COMPACT: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":")}


def each(value: Any, change: Callable[[dict[str, Any]], object]) -> Any:
    """Every object inside, changed."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        each(inner, change)
    if isinstance(value, dict):
        change(value)
    return value


def texts(value: Any, change: Callable[[str], str]) -> Any:
    """Every ``text`` and ``content`` that is a text, changed."""

    def one(inner: dict[str, Any]) -> None:
        for key in ("text", "content"):
            if isinstance(inner.get(key), str):
                inner[key] = change(inner[key])

    return each(value, one)


def drop(*names: str) -> Callable[[Any], Any]:
    return lambda value: each(value, lambda inner: [inner.pop(name, None) for name in names])


def only(*names: str) -> Callable[[Any], Any]:
    return lambda value: {key: inner for key, inner in value.items() if key in names}


def merged(value: Any) -> Any:
    """Texts side by side become one."""

    def one(inner: dict[str, Any]) -> None:
        parts = inner.get("content")
        if isinstance(parts, list) and len(parts) > 1 and all(part.get("type") == "text" for part in parts):
            inner["content"] = [{"type": "text", "text": "\n".join(part["text"] for part in parts)}]

    return each(value, one)


def renumbered(value: Any) -> Any:
    """Calls and results get ids of the gateway's own."""
    seen: dict[str, str] = {}

    def one(inner: dict[str, Any]) -> None:
        for key in ("id", "tool_use_id", "tool_call_id"):
            if isinstance(inner.get(key), str):
                inner[key] = seen.setdefault(inner[key], f"call_{len(seen)}")

    return each(value, one)


def first_call(value: Any) -> Any:
    """Of several calls in a turn one is left."""
    for message in value.get("messages", []):
        if len(message.get("tool_calls", ())) > 1:
            message["tool_calls"] = message["tool_calls"][:1]
    return value


def parsed_arguments(value: Any) -> Any:
    """Arguments are read and written again."""

    def one(inner: dict[str, Any]) -> None:
        if isinstance(inner.get("arguments"), str) and inner["arguments"]:
            inner["arguments"] = json.dumps(json.loads(inner["arguments"]))

    return each(value, one)


def unless_empty(value: Any) -> Any:
    """Null and empty members are left out."""

    def one(inner: dict[str, Any]) -> None:
        for key in [key for key, held in inner.items() if held in (None, "", [], {})]:
            del inner[key]

    return each(value, one)


def without_header(name: str, side: str = "request") -> dict[str, Callable[[Gateway, Message], None]]:
    return {side: lambda gateway, message: message.drop(name)}


def respelled_floats(gateway: Gateway, message: Message) -> None:
    message.body = re.sub(rb"(?<=[:,\[])(-?\d+)\.0(?=[,}\]])", rb"\1", message.body)


async def whole(gateway: Gateway, message: Message, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield b"".join([chunk async for chunk in chunks])


async def by_twos(gateway: Gateway, message: Message, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Two text deltas become one."""
    held = b""
    async for chunk in chunks:
        delta = re.search(rb'"(?:text|content)":"((?:[^"\\]|\\.)+)"}', chunk)
        if delta and held:
            before = re.search(rb'"(?:text|content)":"((?:[^"\\]|\\.)+)"}', held)
            assert before
            yield held.replace(before[1], before[1] + delta[1], 1)
            held = b""
        elif delta:
            held = chunk
        else:
            if held:
                yield held
            held = b""
            yield chunk
    if held:
        yield held


def without(pattern: bytes) -> Callable[..., AsyncIterator[bytes]]:
    async def step(gateway: Gateway, message: Message, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            yield b"" if re.match(pattern, chunk) else chunk

    return step


async def rewritten_events(gateway: Gateway, message: Message, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Every event is read and written again."""
    async for chunk in chunks:
        yield re.sub(
            rb"(?m)^data: (\{.*\})$", lambda found: b"data: " + json.dumps(json.loads(found[1])).encode(), chunk
        )


async def decoded(gateway: Gateway, message: Message, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    reader = zlib.decompressobj(wbits=47) if message.get("x-was-gzip") else None
    message.drop("x-was-gzip")
    async for chunk in chunks:
        yield reader.decompress(chunk) if reader else chunk


def unpacked(gateway: Gateway, message: Message) -> None:
    if message.get("content-encoding") == "gzip" and message.start[0].startswith("HTTP") and message.reader is None:
        message.body = gzip.decompress(message.body)
        message.drop("content-encoding")


def own_error(gateway: Gateway, message: Message) -> None:
    if int(message.start[1]) >= 400:
        message.start = (message.start[0], "500", "Internal Server Error")
        message.body = b'{"error":{"message":"upstream error","type":"gateway_error"}}'
        message.set("Content-Type", "application/json")


def own_words(gateway: Gateway, message: Message) -> None:
    if int(message.start[1]) >= 400 and message.is_json:
        message.body = b'{"error":{"message":"litellm.BadRequestError","type":null,"param":null,"code":"400"}}'


def without_query(gateway: Gateway, message: Message) -> None:
    method, target, version = message.start
    message.start = (method, target.partition("?")[0], version)


def got(gateway: Gateway, message: Message) -> None:
    method, *rest = message.start
    message.start = ("GET" if method == "HEAD" else method, rest[0], rest[1])


def added_system(value: Any) -> Any:
    if "messages" in value:
        value["messages"].insert(0, {"role": "user", "content": "Be helpful."})
    return value


def one_body(gateway: Gateway, message: Message) -> None:
    if message.is_stream:
        message.set("Content-Type", "application/json")


async def added_up(gateway: Gateway, message: Message, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    raw = b"".join([chunk async for chunk in chunks])
    found = re.findall(rb'"delta":\{[^}]*"content":"((?:[^"\\]|\\.)*)"', raw)
    said = "".join(json.loads(b'"%s"' % text) for text in found)
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    yield json.dumps({"id": "chatcmpl-audit", "object": "chat.completion", "choices": [choice]}).encode()


def answer_before(gateway: Gateway, message: Message) -> None:
    if message.is_json:
        message.body, gateway.kept = getattr(gateway, "kept", b"") or message.body, message.body


def cut_long(text: str) -> str:
    return text[:8000] + "… [truncated]" if len(text) > 8000 else text


CHAT, CLAUDE = "openai-chat", "anthropic-messages"

KNOWN = (
    "model",
    "messages",
    "stream",
    "tools",
    "tool_choice",
    "max_tokens",
    "stream_options",
    "system",
    "metadata",
    "thinking",
)


class Dirty(NamedTuple):
    """One defect.

    Attributes:
        kind: what an audit has to call it.
        steps: what of the clean gateway is replaced.
        cases: in which it shows.
        protocol: in which it is looked for.
    """

    kind: str
    steps: dict[str, Any]
    cases: tuple[str, ...]
    protocol: str = CHAT


GATEWAYS: dict[str, Dirty] = {
    "drops-unknown-fields": Dirty(
        "field dropped", {"request": rewriting(only(*KNOWN))}, ("unknown-members", "response-format")
    ),
    "writes-json-anew": Dirty(
        "whitespace", {"request": rewriting(lambda v: v, ensure_ascii=False)}, ("unknown-members",)
    ),
    "sorts-keys": Dirty("key order", {"request": rewriting(lambda v: v, sort_keys=True, **COMPACT)}, ("key-order",)),
    "floats-to-integers": Dirty("number spelling", {"request": respelled_floats}, ("number-spelling",)),
    "escapes-unicode": Dirty(
        "escapes", {"request": rewriting(lambda v: v, separators=(",", ":"))}, ("plain-unicode", "escapes")
    ),
    "trims-texts": Dirty("text trimmed", {"request": rewriting(lambda v: texts(v, str.strip))}, ("text-edges",)),
    "merges-texts": Dirty("texts merged", {"request": rewriting(merged)}, ("adjacent-texts",)),
    "normalises-unicode": Dirty(
        "Unicode normalised",
        {"request": rewriting(lambda v: texts(v, lambda t: unicodedata.normalize("NFC", t)))},
        ("unicode-forms",),
    ),
    "cuts-long-texts": Dirty(
        "text cut", {"request": rewriting(lambda v: texts(v, cut_long))}, ("long-text", "long-result")
    ),
    "drops-signatures": Dirty(
        "field dropped", {"request": rewriting(drop("signature"))}, ("signature", "empty-thinking"), CLAUDE
    ),
    "drops-reasoning": Dirty(
        "field dropped", {"request": rewriting(drop("reasoning_content"))}, ("reasoning-content",)
    ),
    "drops-cache-control": Dirty(
        "field dropped", {"request": rewriting(drop("cache_control"))}, ("cache-control",), CLAUDE
    ),
    "drops-empty-members": Dirty("null or empty dropped", {"request": rewriting(unless_empty)}, ("empty-values",)),
    "renames-ids": Dirty("ids mapped", {"request": rewriting(renumbered)}, ("odd-id", "many-turns")),
    "loses-parallel-calls": Dirty("field dropped", {"request": rewriting(first_call)}, ("parallel-calls",)),
    "parses-arguments": Dirty(
        "JSON in a text written anew", {"request": rewriting(parsed_arguments)}, ("argument-spelling",)
    ),
    "adds-a-message": Dirty("field added", {"request": rewriting(added_system)}, ("many-turns",)),
    "drops-beta-header": Dirty(
        "header dropped", without_header("anthropic-beta"), ("beta-header", "beta-headers"), CLAUDE
    ),
    "drops-query": Dirty("query changed", {"request": without_query}, ("query",), CLAUDE),
    "gets-for-head": Dirty("method changed", {"request": got}, ("head",)),
    "drops-request-id": Dirty("header dropped", without_header("x-request-id", "answer"), ("answer-headers",)),
    "drops-retry-after": Dirty("header dropped", without_header("retry-after", "answer"), ("rate-limit",)),
    "buffers-streams": Dirty("buffered", {"chunks": whole}, ("first-event", "call-by-pieces")),
    "merges-events": Dirty("events re-cut", {"chunks": by_twos}, ("small-events",)),
    "writes-events-anew": Dirty("whitespace", {"chunks": rewritten_events}, ("stream",)),
    "drops-comments": Dirty("events dropped", {"chunks": without(rb":")}, ("comments",)),
    "drops-pings": Dirty("events dropped", {"chunks": without(rb"event: ping")}, ("pings",), CLAUDE),
    "drops-done": Dirty("events dropped", {"chunks": without(rb"data: \[DONE\]")}, ("usage-and-done",)),
    "drops-usage": Dirty("events dropped", {"chunks": without(rb'data: .*"choices":\[\]')}, ("usage-and-done",)),
    "stream-to-body": Dirty(
        "stream became one body", {"answer": one_body, "chunks": added_up, "streams_as_body": True}, ("stream",)
    ),
    "mixes-answers": Dirty(
        "answer of another request", {"answer": answer_before}, ("answer-members", "answer-spelling")
    ),
    "own-status": Dirty("status changed", {"answer": own_error}, ("refusal",)),
    "own-error-words": Dirty("error rewritten", {"answer": own_words}, ("refusal",)),
    "ends-broken-streams": Dirty(
        "broken answer ended as whole", {"ends_cleanly": True}, ("broken-stream", "broken-call")
    ),
    "keeps-upstream-running": Dirty("hang-up not passed on", {"lets_go": False}, ("hang-up",)),
    "asks-again": Dirty(
        "repeated by the gateway",
        {"tries": 2, "is_refused": lambda gateway, answer: answer.start[1] in ("429", "529", "503")},
        ("overloaded",),
    ),
    "decodes-gzip": Dirty("content coding changed", {"answer": unpacked}, ("gzip-body",)),
}


def made(name: str, upstream: int) -> Gateway:
    """A gateway with that defect; "" for the clean one."""
    steps = GATEWAYS[name].steps if name else {}
    kind = type("Dirty" if name else "Clean", (Gateway,), {k: v for k, v in steps.items() if k != "tries"})
    gateway: Gateway = kind(upstream)
    gateway.tries = steps.get("tries", 1)
    return gateway
