"""Healthy sessions: a correct client and the simulator of each contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from workbench import contracts, protocols
from workbench.convert import rename_fields
from workbench.ir import Message, ModelRequest, Text, ToolDef
from workbench.lazy_dataclass import dataclass
from workbench.send.loop import AnswerCall, CallResult, ConversationLoop, EndReason, Limits, Say, Send
from workbench.wire import Body, Exchange, Headers, HttpRequest, HttpResponse, dumps
from workbench.wire.session import MemorySession

if TYPE_CHECKING:
    from workbench.protocols import Adapter
    from workbench.simulator import Simulator

QUESTIONS = (
    "Please read_file the notes in docs/notizen.md, and say what is in them — in full, please.",
    "And now list_dir the folder, then sum it up: what is it for? Größe zählt.",
)
"""User messages: each names a tool and contains non-ASCII characters."""

RESULTS = ("the first line — naïve\nthe second line", "größe.py\nb.py\nREADME.md")

MOST_STEPS = 12
"""Most requests of a session, however willing the model is."""


@dataclass(frozen=True, slots=True)
class HealthySession:
    """A session without a fault, and its contract."""

    name: str
    provider: str
    session: MemorySession


def sessions(names: Iterable[str] = ()) -> Iterator[HealthySession]:
    """Sessions with every variant of every contract, in each of its protocols, streaming and not. Raises UsageError."""
    from workbench.send import labels

    for label in labels(names):
        name = label.partition(":")[0]
        supported = contracts.read(name).protocols if name in contracts.names() else ()
        for protocol in supported or protocols.protocols():
            if protocol in protocols.protocols():
                yield from _sessions_of(label, protocol)


def _sessions_of(label: str, protocol: str) -> Iterator[HealthySession]:
    from workbench.simulator import Dials, ScriptedModel, Simulator

    for stream in (False, True):
        simulator = Simulator(label, model=ScriptedModel(Dials(parallel=2)))
        exchanges = tuple(_conversation(simulator, protocols.get(protocol), stream=stream))
        name = f"{label}, {protocol}{', streamed' if stream else ''}"
        yield HealthySession(name, label, MemorySession(name, exchanges))


def _conversation(simulator: Simulator, adapter: Adapter, *, stream: bool) -> Iterator[Exchange]:
    """A conversation of two questions, each with its calls; yields its exchanges."""
    waiting = list(QUESTIONS)
    first = Exchange("exchange-0", first_request(simulator, adapter, waiting.pop(0), stream=stream))
    loop = ConversationLoop(first, adapter.name, simulator.label, limits=Limits(MOST_STEPS, repeats=0))
    while True:
        step = loop.step
        if isinstance(step, AnswerCall):
            loop = loop.after(CallResult(RESULTS[step.number % len(RESULTS)]))
        elif isinstance(step, Send):
            exchange = _send(simulator, step.request, loop.turns + 1)
            yield exchange
            loop = loop.after(exchange)
        elif step.reason is EndReason.DONE and waiting:
            loop = loop.after(Say(waiting.pop(0)))
        else:
            return


def first_request(simulator: Simulator, adapter: Adapter, question: str, *, stream: bool) -> HttpRequest:
    """The first request of a session: two tools, and a question."""
    request = _first_model_request(adapter.name, simulator.names()[0], question, stream=stream)
    knows = simulator.contract_for(adapter.name, request, simulator.label).knows_field
    body = rename_fields(dumps(adapter.write_request(request)), knows)
    headers = Headers((("content-type", "application/json"),))
    return HttpRequest("POST", simulator.url(adapter.path(request)), headers, Body(body))


def _first_model_request(protocol: str, model: str, question: str, *, stream: bool) -> ModelRequest:
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
        thinking=protocols.get(protocol).traits.thinking_request,
        params={"max_tokens": 4000},
    )


def _send(simulator: Simulator, http: HttpRequest, number: int) -> Exchange:
    path = http.url.removeprefix(simulator.url(""))
    reply = simulator.send("POST", path, http.headers, http.body.raw)
    return Exchange(f"exchange-{number}", http, HttpResponse(reply.status, Headers(reply.headers), Body(reply.body())))
