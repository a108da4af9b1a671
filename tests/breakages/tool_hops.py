"""How well the hop between agent and tool server is judged: published failures, each with both sides of its chain.

An entry has what the server listed and what the client declared (``tools_list`` or ``tools_list_entry``,
``declared_tool`` or ``declared_tools``), the model's call, the messages with the server (``mcp``), and the result that
the model got. They become a session, which is inspected. An entry is a *hit* if a finding has its rule (or one that
``SAME`` names) at its place: the same node, its parent or its child, or, for what a result lost, the part of the
server's response that the finding names; *rule* if the place is another; else a *miss*.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from tests import breakages
from workbench.contracts import Finding
from workbench.protocols.mcp import McpChannel
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse, State
from workbench.wire.session import MemorySession

CATALOGUES = (
    "tool-hops-2.yaml",
    "tool-hops-3.yaml",
    "tool-hops-4.yaml",
    "tool-hops-5.yaml",
    "tool-hops-6.yaml",
    "tool-hops-7.yaml",
    "tool-hops-8.yaml",
    "tool-hops-9.yaml",
    "tool-hops-10.yaml",
    "tool-hops-11.yaml",
    "tool-hops-12.yaml",
    "tool-hops-13.yaml",
    "tool-hops-14.yaml",
    "tool-hops-15.yaml",
    "tool-hops-16.yaml",
    "tool-hops-17.yaml",
    "tool-hops-18.yaml",
    "tool-hops-19.yaml",
    "tool-hops-20.yaml",
    "tool-hops-21.yaml",
    "tool-hops-22.yaml",
    "tool-hops-23.yaml",
    "tool-hops-24.yaml",
)
"""Files in this folder. ``first`` of a file, or of an entry, is what it was before anything was taught for it."""

Entry = Mapping[str, Any]
JSON = Headers((("content-type", "application/json"),))
BEGAN = 1_764_000_000.0
LOST = ("closed", "dropped", "exited", "ended", "no answer")
"""Words of an event after which the client hears nothing of the connection any more."""

MISSED = {
    "L008": "an object that says nothing of other members is closed by many clients, and most validators accept it",
    "X017": "a connection whose beginning was not recorded looks the same",
    "F010": "_meta is for programs: no client that was measured tells it to the model",
    "H030": "of a gateway and its server only what both list, and what passes through both, is compared",
    "H031": "of a gateway and its server only what both list, and what passes through both, is compared",
    "F026": "nothing follows the response to initialize: a recording that was ended there looks the same",
}
"""Entries that are not named, and why."""

UNSEEN = ("mcp.result-oversize",)
"""Rules of entries whose artefact stands for what only a real size shows."""

SAME: Mapping[str, tuple[str, ...]] = {
    "mcp.name": ("schema.name", "schema.duplicate-name"),
    "mcp.schema-rejected": ("schema.",),
    "mcp.schema-changed": ("schema.",),
    "mcp.args-changed": ("mcp.arguments-refused",),
    "mcp.tool-missing": ("mcp.schema-rejected",),
    "mcp.content-shadowed": ("mcp.result-dropped",),
    "mcp.result-dropped": ("mcp.result-truncated",),
    "mcp.structured-dropped": ("mcp.result-altered",),
    "mcp.protocol-error": ("mcp.no-answer", "mcp.message"),
}
"""Rule → rules that say the same of the same place."""


class Place(NamedTuple):
    """An exchange, a side of it ("" for either) and a pointer there."""

    exchange: int
    side: str
    pointer: str


@dataclass
class Scored:
    """An entry with its grade, and what was found."""

    entry: Entry
    grade: str
    found: list[Finding] = field(default_factory=list)

    def line(self) -> str:
        """What was expected and what was found."""
        found = [f"{f.rule}@{f.exchange}{f.pointer}" for f in self.found]
        at = self.entry["at"]
        return (
            f"{self.entry['id']} {self.grade:5} expected {self.entry['rule']} ({at['side']}) {at['pointer']}: {found}"
        )


def is_scorable(entry: Entry) -> bool:
    """The artefact has what the failure consists of."""
    return entry["rule"] not in UNSEEN and "/stored_event" not in entry["at"]["pointer"]


def score(path: Path) -> list[Scored]:
    """Every entry of a catalogue that is scorable."""
    return [grade(entry) for entry in breakages.load(path)["entries"] if is_scorable(entry)]


def first_hits(path: Path) -> tuple[int, int]:
    """How many entries of a catalogue were hits before anything was taught for them, and of how many."""
    held = breakages.load(path)
    if "first" in held:
        return held["first"]["hits"], held["first"]["of"]
    grades = [entry["first"] for entry in held["entries"]]
    return grades.count("hit"), len(grades)


def grade(entry: Entry) -> Scored:
    """Inspect the session of an entry and look for its rule."""
    made = HopArtefact(entry["artefact"])
    found = list(Inspector(made.session()).run().findings)
    rules = (entry["rule"], *SAME.get(entry["rule"], ()))
    right = [f for f in found if f.rule.startswith(rules)]
    places = made.places(entry["at"]["pointer"])
    hits = [f for f in right if any(_is_at(f, place) for place in places)]
    return Scored(entry, "hit" if hits else "rule" if right else "miss", found)


def twin(entry: Entry) -> list[Finding]:
    """Findings on an entry without its fault: ``mended`` has pointers, each with a value, or none to remove it."""
    artefact = deepcopy(dict(entry["artefact"]))
    for pointer, *value in entry["mended"]:
        *path, last = pointer.split("/")[1:]
        holder: Any = artefact
        for step in path:
            holder = holder[int(step) if isinstance(holder, list) else step]
        _put(holder, int(last) if isinstance(holder, list) else last, *value)
    return list(Inspector(HopArtefact(artefact).session()).run().findings)


def _put(holder: Any, key: Any, *value: Any) -> None:
    if not value:
        del holder[key]
    elif isinstance(holder, list):
        holder[key : key + 1] = value
    else:
        holder[key] = value[0]


def _is_at(finding: Finding, place: Place) -> bool:
    if f"{place.pointer} in exchange {place.exchange + 1} " in f"{finding.message} " and place.pointer:
        return True
    is_named = f"in exchange {place.exchange + 1}" in finding.message
    if is_named and (not place.pointer or _names(finding.message, place)):
        return True
    is_there = finding.exchange == place.exchange and place.side in ("", finding.side)
    one, other = finding.pointer, place.pointer
    return is_there and (one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/") or not one)


def _names(message: str, place: Place) -> bool:
    """A word of a message is the pointer, or one above or below it."""
    words = (word.strip("(),:") for word in message.split() if word.lstrip("(").startswith("/"))
    return any(f"{w}/".startswith(f"{place.pointer}/") or f"{place.pointer}/".startswith(f"{w}/") for w in words)


class HopArtefact:
    """The session of an artefact, and where its parts are."""

    def __init__(self, artefact: Mapping[str, Any]) -> None:
        self.artefact = artefact
        self._at = 0.0
        self._exchanges: list[Exchange | tuple[str, int]] = []
        self._channels: dict[str, McpChannel] = {}
        self._places: dict[int, tuple[str, int, str]] = {}
        self._https: dict[int, int] = {}
        self._is_deaf = False
        call, result = artefact.get("model_call"), artefact.get("model_result")
        self.protocol = _protocol(artefact)
        lines = artefact.get("mcp", ())
        self._list()
        before = _lines_before_call(lines) if call else len(lines)
        self._play(lines[:before])
        self._model(call, None)
        self._play(lines[before:], before)
        if result is not None and call is not None:
            self._model(call, result)

    def _list(self) -> None:
        tools = self.artefact.get("tools_list") or [e for e in (self.artefact.get("tools_list_entry"),) if e]
        if tools:
            self._feed("", "sent", {"jsonrpc": "2.0", "id": "list", "method": "tools/list"})
            self._feed("", "received", {"jsonrpc": "2.0", "id": "list", "result": {"tools": tools}})

    def _play(self, lines: Sequence[Mapping[str, Any]], first: int = 0) -> None:
        for number, line in enumerate(lines, start=first):
            if "event" in line:
                self._is_deaf = any(word in line["event"] for word in LOST)
            elif "http" in line:
                self._http(number, line)
            elif "raw" in line:
                self._raw(number, line["dir"], line["raw"])
            elif not (self._is_deaf and line["dir"] == "s2c"):
                direction = "sent" if line["dir"] == "c2s" else "received"
                hop = str(line.get("hop", "")).replace("upstream->gateway", "gateway->upstream")
                self._feed(hop.replace("gateway->client", "client->gateway"), direction, line["msg"], number)
                self._is_deaf = self._is_deaf and direction != "sent"

    def _channel(self, hop: str) -> McpChannel:
        return self._channels.setdefault(
            hop, McpChannel(Exchange(f"c{len(self._channels)}", started_at=BEGAN), hop or "s")
        )

    def _feed(self, hop: str, direction: str, message: Any, number: int = -1) -> None:
        channel = self._channel(hop)
        before = len(channel)
        channel.feed(direction, "text", json.dumps(message).encode() + b"\n", self._at)
        self._at += 1
        self._exchanges += [(hop, each) for each in range(before + 1, len(channel) + 1)]
        self._places[number] = (hop, _call_of(channel, message), "request" if "method" in message else "response")

    def _raw(self, number: int, direction: str, text: str) -> None:
        self._channel("").feed("sent" if direction == "c2s" else "received", "text", text.encode(), self._at)
        self._at += 1
        self._places[number] = ("", 0, "")

    def _http(self, number: int, line: Mapping[str, Any]) -> None:
        http = line["http"]
        body = http["body"] if isinstance(http["body"], str) else json.dumps(http["body"])
        stated = http.get("headers", {})
        headers = Headers((*(() if "content-type" in stated else JSON), *stated.items()))
        if line["dir"] == "c2s":
            url = f"https://tools.example.com{http.get('path', '/mcp')}"
            request = HttpRequest(http["method"], url, headers, Body(body.encode()))
            begun = Exchange(f"h{number}", request, state=State.ABORTED, started_at=BEGAN + self._at)
            self._exchanges.append(begun)
        else:
            asked = self._exchanges[-1]
            assert isinstance(asked, Exchange)
            response = HttpResponse(http["status"], headers, Body(body.encode()))
            lasted = http.get("seconds")
            self._exchanges[-1] = replace(asked, response=response, state=State.COMPLETE, duration=lasted)
        self._at += 1
        self._https[number] = len(self._exchanges) - 1

    def _model(self, call: Mapping[str, Any] | None, result: Any) -> None:
        if not (call or "declared_tool" in self.artefact or "declared_tools" in self.artefact):
            return
        request, answer, url = _model_bodies(self.protocol, self._declared(call), call, result)
        self._exchanges.append(
            Exchange(
                f"m{len(self._exchanges)}",
                HttpRequest("POST", url, JSON, Body(json.dumps(request).encode())),
                HttpResponse(200, JSON, Body(json.dumps(answer).encode())) if call else None,
                state=State.COMPLETE if call else State.INCOMPLETE,
                started_at=BEGAN + self._at,
                duration=1.0,
            )
        )
        self._at += 1

    def _declared(self, call: Mapping[str, Any] | None) -> list[Any]:
        if "declared_tools" in self.artefact or "declared_tool" in self.artefact:
            tools = self.artefact.get("declared_tools") or [t for t in (self.artefact.get("declared_tool"),) if t]
            return [_named(t, _SCHEMA[self.protocol]) for t in tools]
        name = (call or {}).get("name") or (call or {}).get("functionCall", {}).get("name")
        schema = self.artefact.get("tools_list_entry", {}).get("inputSchema", {"type": "object"})
        return [{"name": name, _SCHEMA[self.protocol]: schema}]

    def session(self) -> MemorySession:
        """The connections, then everything else in its order."""
        for channel in self._channels.values():
            channel.end(self._at)
        made = [
            one if isinstance(one, Exchange) else self._channels[one[0]].exchange(one[1]) for one in self._exchanges
        ]
        return MemorySession("artefact", (*(c.connection() for c in self._channels.values()), *made))

    # Places.

    def places(self, pointer: str) -> list[Place]:
        """Where a pointer of the entry is in the session."""
        return list(self._found(pointer.removeprefix("/artefact")))

    def _found(self, pointer: str) -> Iterator[Place]:
        shift = len(self._channels)
        part, _, rest = pointer.removeprefix("/").partition("/")
        models = [n + shift for n, one in enumerate(self._exchanges) if isinstance(one, Exchange) and one.id[0] == "m"]
        if part == "mcp":
            yield from self._of_message(rest, shift)
        elif part == "model_result" and models:
            at = {"anthropic": "/messages/2/content/0", "gemini": "/contents/2/parts/0", "responses": "/input/2"}
            yield Place(
                models[-1], "request", at[self.protocol] + (f"/{rest}" if rest and "content" not in rest else "")
            )
        elif part.startswith("declared_tool"):
            number, _, rest = rest.partition("/") if part.endswith("s") else ("0", "", rest)
            at = f"/tools/0/functionDeclarations/{number}" if self.protocol == "gemini" else f"/tools/{number or 0}"
            inside = _SCHEMA[self.protocol] + rest.removeprefix("input_schema") if rest.startswith("input_") else rest
            yield Place(models[0], "request", f"{at}/{inside}".rstrip("/"))
        elif part == "model_call":
            yield Place(models[0], "response", "")
        elif part in ("tools_list", "tools_list_entry"):
            number, _, inside = rest.partition("/") if part == "tools_list" else ("0", "", rest)
            yield Place(shift, "response", f"/result/tools/{number}/{inside}")

    def _of_message(self, rest: str, shift: int) -> Iterator[Place]:
        text, _, inside = rest.partition("/")
        number = int(text or 0)
        if number in self._https:
            yield Place(self._https[number] + shift, "", "")
        while number >= 0 and number not in self._places:
            number -= 1
        if number < 0:
            return
        hop, call, side = self._places[number]
        connection = list(self._channels).index(hop)
        yield Place(connection, "", "")
        if call:
            index = self._exchanges.index((hop, call)) + shift
            is_message = inside.startswith("msg/")
            yield Place(index, side if is_message else "", f"/{inside.partition('/')[2]}" if is_message else "")


_SCHEMA = {"anthropic": "input_schema", "gemini": "parameters", "responses": "parameters"}


def _named(tool: Mapping[str, Any], member: str) -> Any:
    """A declared tool with its schema in the member that the protocol has for it."""
    return {member if name in _SCHEMA.values() else name: value for name, value in tool.items()}


def _lines_before_call(lines: Sequence[Mapping[str, Any]]) -> int:
    """How many lines come before the model calls: those before the first call, if tools are listed there; else none."""
    if not any(_method(line) == "tools/list" for line in lines):
        return 0
    return next((number for number, line in enumerate(lines) if _method(line) == "tools/call"), len(lines))


def _method(line: Mapping[str, Any]) -> str:
    message = line.get("msg")
    return str(message.get("method", "")) if isinstance(message, dict) else ""


def _call_of(channel: McpChannel, message: Any) -> int:
    """Number of the call that a message belongs to; 0 if it belongs to none."""
    if not isinstance(message, dict) or "id" not in message:
        return 0
    for number in range(len(channel), 0, -1):
        request = channel.exchange(number).request
        if request and json.loads(request.body.raw)["id"] == message["id"]:
            return number
    return 0


def _protocol(artefact: Mapping[str, Any]) -> str:
    call = artefact.get("model_call") or {}
    declared = artefact.get("declared_tool") or next(iter(artefact.get("declared_tools") or ()), {})
    if "functionCall" in call or str(declared.get("parameters", {}).get("type", "")).isupper():
        return "gemini"
    return "responses" if call.get("type") == "function_call" else "anthropic"


def _model_bodies(protocol: str, tools: list[Any], call: Any, result: Any) -> tuple[Any, Any, str]:
    """Request and answer of the model, before its call or with the result of it, and the URL."""
    is_told = result is not None
    if protocol == "anthropic":
        messages: list[Any] = [{"role": "user", "content": "go"}]
        if is_told:
            messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        content = [call] if call and not is_told else [{"type": "text", "text": "done"}]
        stop = "tool_use" if call and not is_told else "end_turn"
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
        answer = {**head, "content": content, "stop_reason": stop, "usage": {"input_tokens": 1, "output_tokens": 1}}
        request = {"model": "claude-sonnet-4-5", "max_tokens": 9, "tools": tools, "messages": messages}
        return request, answer, "https://api.anthropic.com/v1/messages"
    if protocol == "gemini":
        contents: list[Any] = [{"role": "user", "parts": [{"text": "go"}]}]
        if is_told:
            contents += [{"role": "model", "parts": [call]}, {"role": "user", "parts": [result]}]
        parts = [call] if call and not is_told else [{"text": "done"}]
        answer = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}]}
        url = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent"
        return {"contents": contents, "tools": [{"functionDeclarations": tools}]}, answer, url
    items: list[Any] = [{"role": "user", "content": "go"}, *((call, result) if is_told else ())]
    said = {"type": "message", "id": "m_1", "role": "assistant", "status": "completed"}
    text = {"type": "output_text", "text": "done", "annotations": []}
    output = [{"id": "fc_1", "status": "completed", **call}] if call and not is_told else [{**said, "content": [text]}]
    answer = {"id": "resp_1", "object": "response", "status": "completed", "model": "gpt-5", "output": output}
    tools = [{"type": "function", **tool} for tool in tools]
    return {"model": "gpt-5", "input": items, "tools": tools}, answer, "https://api.openai.com/v1/responses"
