"""Healthy sessions: a client that keeps to the protocol, and the simulator of each contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench import adapters
from workbench.conversion.dialect import spelled
from workbench.conversion.normal import normal_response
from workbench.decode import Decoded
from workbench.ir import Message, ModelRequest, Reasoning, Text, ToolCallIR, ToolDef, ToolResultIR
from workbench.rules import Contract, contracts
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.jsontext import dumps
from workbench.wire.session import MemorySession

if TYPE_CHECKING:
    from workbench.adapters import Adapter
    from workbench.targets.simulator import Simulator

QUESTIONS = (
    "Please read_file the notes in docs/notizen.md, and say what is in them — in full, please.",
    "And now list_dir the folder, then sum it up: what is it for? Größe zählt.",
)
"""What the user says: each names a tool, and holds characters outside of ASCII."""

RESULTS = ("the first line — naïve\nthe second line", "größe.py\nb.py\nREADME.md")

MOST_STEPS = 12
"""Requests after which a session ends, however willing the model is."""


@dataclass(frozen=True, slots=True)
class Healthy:
    """A session without a fault, and the contract it was made under."""

    name: str
    provider: str
    session: MemorySession


def sessions(wanted: Iterable[str] = ()) -> Iterator[Healthy]:
    """With every variant of every contract, in each protocol it speaks, streaming and not. Raises UsageError."""
    from workbench.matrix import labels

    for label in labels(wanted):
        name = label.partition(":")[0]
        spoken = contracts.read(name).protocols if name in contracts.names() else ()
        for protocol in spoken or adapters.protocols():
            if protocol in adapters.protocols():
                yield from _of(label, protocol)


def _of(label: str, protocol: str) -> Iterator[Healthy]:
    from workbench.targets.simulator import Dials, ScriptedModel, Simulator

    for stream in (False, True):
        simulator = Simulator(label, model=ScriptedModel(Dials(parallel=2)))
        made = tuple(_talk(simulator, adapters.get(protocol), stream=stream))
        name = f"{label}, {protocol}{', streamed' if stream else ''}"
        yield Healthy(name, label, MemorySession(name, made))


def _talk(simulator: Simulator, adapter: Adapter, *, stream: bool) -> Iterator[Exchange]:
    """A conversation of two questions, each with its calls; one exchange after another."""
    waiting = list(QUESTIONS)
    request = _first(adapter.name, simulator.names()[0], waiting.pop(0), stream=stream)
    for number in range(MOST_STEPS):
        exchange = _send(simulator, adapter, request, number)
        yield exchange
        answer = Decoded(number, exchange, adapter.name).response
        if answer is None or answer.error:
            return
        (said,) = normal_response(answer).response.messages[:1]
        calls = [call for _, call in said.tool_calls()]
        if calls:
            reply = Message("tool", tuple(_result(call, n) for n, call in enumerate(calls)))
        elif waiting:
            reply = Message("user", (Text(waiting.pop(0)),))
        else:
            return
        said = _without_refused(said, simulator.resolved(adapter.name, request, simulator.label))
        request = replace(request, messages=(*request.messages, said, reply))


def _first(protocol: str, model: str, question: str, *, stream: bool) -> ModelRequest:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = (
        ToolDef("read_file", "Read a file.", schema),
        ToolDef("list_dir", "List the files of a folder.", schema),
    )
    return ModelRequest(
        protocol=protocol,
        model=model,
        messages=(Message("user", (Text(question),)),),
        system=(Text("You help with a repository."),),
        tools=tools,
        stream=stream,
        thinking="adaptive" if protocol == "anthropic-messages" else None,  # elsewhere models think unasked
        params={"max_tokens": 4000},
    )


def _without_refused(said: Message, contract: Contract) -> Message:
    """What came in without the reasoning that this provider does not want back."""
    refused = contract.term("reasoning.refused-carriers")
    unwanted = refused if isinstance(refused, list) else []
    parts = (p for p in said.parts if not isinstance(p, Reasoning) or p.carrier not in unwanted)
    return replace(said, parts=tuple(parts))


def _result(call: ToolCallIR, number: int) -> ToolResultIR:
    return ToolResultIR(call.id, (Text(RESULTS[number % len(RESULTS)]),), name=call.name)


def _send(simulator: Simulator, adapter: Adapter, request: ModelRequest, number: int) -> Exchange:
    fields = simulator.resolved(adapter.name, request, simulator.label).term("params.fields")
    body = spelled(dumps(adapter.write_request(request)), fields if isinstance(fields, list) else None)
    path = adapter.path(request)
    headers = Headers((("content-type", "application/json"),))
    reply = simulator.send("POST", path, headers, body)
    asked = HttpRequest("POST", simulator.url(path), headers, Body(body))
    said = HttpResponse(reply.status, Headers(reply.headers), Body(reply.body()))
    return Exchange(f"exchange-{number + 1}", asked, said)
