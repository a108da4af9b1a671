"""Requests of every protocol, spelled in many ways: what edits are tried on."""

from __future__ import annotations

import json
import re
from random import Random

from workbench import protocols
from workbench.edits import Splice, apply_splices
from workbench.ir import Message, ModelRequest, Text, ToolCallIR, ToolDef, ToolResultIR
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.jsontext import dumps, loads

STYLES = ("compact", "indented", "odd", "escaped")

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
PARAMS = {"max_tokens": 5, "temperature": 0.5}
_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


def conversation(protocol: str) -> bytes:
    """Two calls and their results, between texts, with a tool, a system prompt and parameters."""
    adapter = protocols.get(protocol)
    is_text = adapter.capabilities.tools.arguments == "string"
    paths = [{"path": f"{n}/é"} for n in (1, 2)]
    texts = [dumps(p).decode() if is_text else None for p in paths]
    calls = [ToolCallIR(f"call_{n + 1}", "read", paths[n], "function", texts[n]) for n in (0, 1)]
    results = [ToolResultIR(f"call_{n}", (Text(f"result {n} ☃"),), None, "read") for n in (1, 2)]
    messages = (
        Message("user", (Text("look MARK at it"),)),
        Message("assistant", (Text("I will"), *calls)),
        Message("tool", tuple(results)),
        Message("user", (Text("go on"),)),
    )
    request = ModelRequest(
        protocol,
        "m",
        messages,
        system=(Text("be terse"),),
        tools=(ToolDef("read", "reads", _SCHEMA),),
        params={k: v for k, v in PARAMS.items() if k in adapter.capabilities.request.params},
    )
    return dumps(adapter.write_request(request))


def spelled(body: bytes, style: str, seed: int = 0) -> bytes:
    """The same body in another spelling, with a big number, a repeated key, and bytes that are no UTF-8."""
    value = loads(body)
    value["metadata"] = {"n": 0, "big": 1}
    if style == "indented":
        text = json.dumps(value, indent=2, ensure_ascii=False).encode()
    elif style == "escaped":
        text = json.dumps(value, ensure_ascii=True).replace("/", r"\/").encode()
    else:
        text = dumps(value)
    text = re.sub(rb'("big"\s*:\s*)1', rb"\g<1>12345678901234567890.10E+2", text)
    if style in ("odd", "escaped"):
        text = re.sub(rb'("metadata"\s*:)', rb'\g<1> "twice", \g<1>', text)
    if style == "odd":
        draw = Random(seed)
        text = b"".join(token + draw.choice((b"", b"", b" ", b"\n", b" \t ")) for token in _TOKEN.findall(text))
    return text.replace(b"MARK", b"\xff\xe9")


def decoded(body: bytes, protocol: str) -> DecodedExchange:
    """The body as the request of an exchange."""
    return DecodedExchange(0, Exchange("e", HttpRequest(body=Body(body))), protocol)


def made(body: bytes, splices: tuple[Splice, ...]) -> bytes:
    """The body after an edit."""
    return apply_splices(body, splices)
