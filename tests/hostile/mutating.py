"""Valid traffic with one thing wrong in it: a value of another type, a member twice, a line out of order."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from workbench import protocols
from workbench.convert.convert import convert
from workbench.errors import WorkbenchError
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Body, Exchange, Headers
from workbench.wire.session import MemorySession, exchanges_of, store

ROOT = Path(__file__).resolve().parents[2]

Json = Any


class Twice(list[tuple[str, Json]]):
    """An object as pairs: the only way to say a key twice."""


DEEP = json.loads("[" * 60 + "]" * 60)
ODD: Sequence[Json] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**40, 0.5, -0.0, float("nan"), float("inf"), 1e308,
    "", "x", " ", "\ud83d", "\x00", "\u202e", "null", "[]", '{"a":', "tool", "user", "assistant", "text", "object",
    "tool_use", "function", "http://[", "a" * 300, "data:image/png;base64,!!!", "9" * 30, "$ref", "#/a/b",
    [], {}, [None], [[]], [{}], ["x"], [1, "x", None], {"": ""}, {"type": []}, {"type": {}}, {"type": "text"},
    {"a": {"b": []}}, {"type": "text", "text": None}, {"$ref": "#"}, DEEP,
)  # fmt: skip


_WORDS = """type role name id status finish_reason stop_reason finishReason mode kind format call_id tool_call_id
tool_use_id index output_index effort mimeType media_type object"""
WORDS = frozenset(_WORDS.split())
"""Members by whose words traffic is told apart: where most of what reads it looks."""


def paths(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of every value inside, the outermost first."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths(item, (*path, key))
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from paths(item, (*path, n))


def at(value: Json, path: tuple[Any, ...]) -> Json:
    for step in path:
        value = value[step]
    return value


def put(value: Json, path: tuple[Any, ...], new: Json) -> Json:
    """A copy with a new value at a path; () is the whole."""
    if not path:
        return new
    step, *rest = path
    if isinstance(value, dict):
        return {k: put(v, tuple(rest), new) if k == step else v for k, v in value.items()}
    return [put(v, tuple(rest), new) if n == step else v for n, v in enumerate(value)]


def mutated(value: Json, chance: random.Random) -> Json:
    """A copy with one thing wrong."""
    known = list(paths(value))
    words = [path for path in known if path and path[-1] in WORDS]
    path = chance.choice(words if words and chance.random() < 0.3 else known)
    there = at(value, path)
    kind = chance.randrange(12)
    if kind < 6:
        new = chance.choice(ODD)
    elif kind == 6:
        new = at(value, chance.choice(known))
    elif kind == 7:
        new = chance.choice(([there], {"type": there}, [there, there], str(there), {"a": there}))
    elif kind == 8 and isinstance(there, dict) and there:
        key = chance.choice(list(there))
        new = {k: v for k, v in there.items() if k != key}
    elif kind == 9 and isinstance(there, list) and there:
        new = chance.choice((there[1:], there[::-1], there * 2, [*there, chance.choice(ODD)]))
    elif kind == 10 and isinstance(there, dict) and there:
        key = chance.choice(list(there))
        new = Twice([*there.items(), (key, chance.choice(ODD))])
    elif kind == 11 and isinstance(there, dict):
        new = there | {chance.choice(("type", "id", "name", "x", "", "content", "input", "role")): chance.choice(ODD)}
    else:
        new = chance.choice(ODD)
    return put(value, path, new)


def written(value: Json) -> str:
    """As JSON text, keys said twice and half characters included."""
    if isinstance(value, Twice):
        return "{" + ", ".join(f"{json.dumps(k)}: {written(v)}" for k, v in value) + "}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value)


def mutated_body(body: bytes, chance: random.Random) -> bytes:
    """A body of JSON, of JSON lines or of server-sent events with one thing wrong, sometimes with two."""
    for _ in range(chance.choice((1, 1, 1, 2))):
        body = _mutated_body(body, chance)
    return body


def _mutated_body(body: bytes, chance: random.Random) -> bytes:
    try:
        return written(mutated(json.loads(body), chance)).encode()
    except (ValueError, RecursionError):
        pass
    lines = body.split(b"\n")
    data = [n for n, line in enumerate(lines) if line[:6] == b"data: " or line[:1] == b"{"]
    if not data:
        return bytes(b ^ (chance.random() < 0.01) for b in body)
    n = chance.choice(data)
    start = 6 if lines[n][:6] == b"data: " else 0
    kind = chance.randrange(10)
    if kind == 0:
        del lines[n]
    elif kind == 1:
        lines.insert(chance.choice(data), lines[n])
        lines.insert(n, b"")
    elif kind == 2:
        other = chance.choice(data)
        lines[n], lines[other] = lines[other], lines[n]
    elif kind == 3 and n:
        lines[n - 1] = chance.choice((b"event: x", b"event: error", b"event:", b"id: 1", b"retry: x"))
    else:
        try:
            value = json.loads(lines[n][start:])
        except ValueError:
            return body
        lines[n] = lines[n][:start] + written(mutated(value, chance)).encode()
    return b"\n".join(lines)


def mutated_exchange(exchange: Exchange, chance: random.Random) -> Exchange:
    """An exchange with something wrong around or in its bodies."""
    request, response = exchange.request, exchange.response
    kind = chance.randrange(12)
    if kind == 0 and request:
        return replace(exchange, request=replace(request, url=chance.choice(URLS)))
    if kind == 1 and response:
        status = chance.choice((0, 1, 99, 100, 101, 204, 304, 400, 401, 404, 413, 429, 500, 529, 999, 2**62))
        return replace(exchange, response=replace(response, status=status))
    if kind == 2 and (side := chance.choice([s for s in (request, response) if s])):
        name = chance.choice(("content-type", "content-encoding", "retry-after", "authorization", "host", "", "x\n"))
        headers = Headers((*side.headers, (name, chance.choice(HEADERS))))
        changed = replace(side, headers=headers)
        return replace(exchange, **{"request" if side is request else "response": changed})
    if kind == 3:
        return replace(exchange, meta={chance.choice(("digests", "sent", "hop", "x")): chance.choice(ODD)})
    if kind == 4:
        return replace(exchange, **chance.choice(AROUND))
    if request and (kind < 9 or not response):
        return replace(exchange, request=replace(request, body=Body(mutated_body(request.body.raw, chance))))
    if response:
        return replace(
            exchange,
            response=replace(
                response, body=replace(response.body, chunks=(), raw=mutated_body(response.body.raw, chance))
            ),
        )
    return exchange


URLS = ("", "/", "x", "http://[", "//", "https://api.openai.com", "wss://x/v1/responses", "/v1/models", "http://a:b/",
        "https://x/v1/chat/completions?x=\udcff", "/v1beta/models/:generateContent", "https://\x00/",
        "/model/%/invoke")  # fmt: skip
HEADERS = ("", "text/event-stream", "application/json; charset=x", "gzip, gzip", "\ud83d", "9" * 400, "x", "-1", "NaN")
AROUND: Sequence[dict[str, Any]] = (
    {"started_at": None}, {"started_at": -1e9}, {"started_at": 253402300799.0}, {"duration": -5.0}, {"duration": 0.0},
    {"hop": "x"}, {"parent": "x"}, {"branch": "\ud83d"}, {"id": ""}, {"request": None}, {"response": None},
)  # fmt: skip


@cache
def sessions() -> Sequence[MemorySession]:
    """Valid sessions: the examples, what tests recorded, and the examples as every other protocol says them."""
    found = [
        _held(path.stem, list(exchanges_of(store.open_session(path))))
        for path in sorted((ROOT / "sessions").glob("*.jsonl"))
    ]
    found += _recorded()
    return [*found, *(made for session in found[:17] for made in _elsewhere(session))]


def _held(name: str, exchanges: list[Exchange]) -> MemorySession:
    return MemorySession(name, tuple(exchanges))


def _recorded() -> Iterator[MemorySession]:
    from workbench.formats.importers import open_input

    for path in sorted((ROOT / "tests" / "data").rglob("*.request.json")):
        protocol = (
            path.parent.name.replace("_", "-").replace("cohere", "cohere-v2").replace("anthropic", "anthropic-messages")
        )
        answer = next(iter(path.parent.glob(path.name.replace(".request.json", ".response.*"))), None)
        asked = open_input(str(path)).exchange(0)
        if asked.request is None:
            continue
        adapter = protocols.get(protocol)
        request = replace(asked.request, url=f"https://x.example{_path(adapter, asked.request.body.raw)}")
        from workbench.wire.exchange import HttpResponse

        body = answer.read_bytes() if answer else b"{}"
        yield _held(
            path.stem, [Exchange("a", request, HttpResponse(400 if "refused" in path.name else 200, body=Body(body)))]
        )


def _path(adapter: Any, body: bytes) -> str:
    return str(adapter.path(adapter.decode_request(body)))


def _elsewhere(session: MemorySession) -> Iterator[MemorySession]:
    for protocol in protocols.protocols():
        made = []
        for n, exchange in enumerate(session.exchanges):
            decoded = DecodedExchange(n, exchange)
            if decoded.protocol in (None, protocol) or not exchange.request or not exchange.response:
                continue
            try:
                asked = convert(decoded, protocol, side="request")
                told = convert(decoded, protocol, side="response")
            except WorkbenchError:
                continue
            request = replace(
                exchange.request, url=f"https://x.example{asked.path}", body=Body(asked.body), headers=Headers()
            )
            response = replace(
                exchange.response, body=Body(told.body), headers=Headers((("content-type", told.content_type),))
            )
            made.append(replace(exchange, request=request, response=response))
        if made:
            yield _held(f"{session.name} as {protocol}", made)
