"""Contents of a rule page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from workbench.wire import Chunk, Exchange
    from workbench.wire.session import MemorySession


@dataclass(frozen=True, slots=True)
class DocumentedRefusal:
    """Refusal of a fault by a provider.

    Attributes:
        provider: contract name, with its variant if it is specific to one.
        status: HTTP status.
        message: its text, with ``{name}`` for variable parts; "" if it was never captured.
        source: source of the text.
        when: fault of the rule that it is for; "" for any.
        where: protocol or endpoint, if the provider has several; else "".
    """

    provider: str
    status: int
    message: str
    source: str
    when: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """Exchanges that show the fault, or its repair.

    Attributes:
        provider, protocol: what they are judged by.
        exchanges: each with ``request`` (a JSON value) or ``raw`` (the request's JSON text), and with ``response`` (a
            JSON value), ``sse`` (event-stream text) or ``text`` (what is no JSON), or none of them; ``status`` of the
            answer (200), its content ``type``, ``hop`` it was recorded at, ``state`` and ``note`` of how it ended, and
            ``at``: seconds at which each block of the stream arrived. Or one with ``mcp``: the lines between a client
            and a tool server, each ``sent`` or ``received`` (a JSON value), or ``printed`` by the server (text).
    """

    provider: str
    protocol: str
    exchanges: tuple[Mapping[str, JsonValue], ...]

    @property
    def kind(self) -> str:
        """``"request"``, ``"response"``, ``"sse"`` or ``"session"`` (more than one of them)."""
        parts = [key for exchange in self.exchanges for key in exchange if key in _PARTS]
        return {"raw": "request"}.get(parts[0], parts[0]) if len(parts) == 1 else "session"

    def session(self) -> MemorySession:
        """The exchanges as a session, to be inspected."""
        from workbench.wire import Body, Exchange, Headers, HttpRequest, HttpResponse, State
        from workbench.wire.session import MemorySession

        def request(given: Mapping[str, JsonValue]) -> HttpRequest | None:
            body = _bytes(given, "raw", "request")
            return None if body is None else HttpRequest(body=Body(body))

        def response(given: Mapping[str, JsonValue]) -> HttpResponse | None:
            body = _bytes(given, "sse" if "sse" in given else "text", "response")
            if body is None:
                return None
            mime = str(given.get("type") or ("text/event-stream" if "sse" in given else "application/json"))
            chunks = tuple(_chunks(body, given.get("at", ())))
            return HttpResponse(
                int(given.get("status", 200)), Headers((("content-type", mime),)), Body(body, chunks=chunks)
            )

        made = list[Exchange]()
        for n, e in enumerate(self.exchanges, 1):
            if "mcp" in e:
                made += _tool_hop(e["mcp"])
                continue
            state, hop, note = State(e.get("state", State.COMPLETE)), str(e.get("hop", "")), str(e.get("note", ""))
            made.append(Exchange(f"example-{n}", request(e), response(e), state=state, hop=hop, note=note))
        return MemorySession("example", tuple(made))


def _tool_hop(lines: Sequence[Mapping[str, JsonValue]]) -> Iterator[Exchange]:
    """A connection to a tool server, and the requests in it."""
    from workbench.protocols.mcp import McpChannel
    from workbench.wire import Exchange, dumps

    channel = McpChannel(Exchange("example"), "example")
    for at, line in enumerate(lines):
        for key, value in line.items():
            data = str(value).encode() if key == "printed" else dumps(value)
            channel.feed("sent" if key == "sent" else "received", "text", data + b"\n", float(at))
    channel.end(float(len(lines)))
    yield channel.connection()
    yield from (exchange for _, exchange in channel.exchanges(1))


_PARTS = ("raw", "request", "response", "sse", "text")


def _chunks(body: bytes, times: Sequence[float]) -> Iterator[Chunk]:
    """Arrivals of the blocks of a stream."""
    from workbench.wire import Chunk

    end = 0
    for at in times:
        end = body.index(b"\n\n", end) + 2
        yield Chunk(end, float(at))


def _bytes(given: Mapping[str, JsonValue], text: str, value: str) -> bytes | None:
    from workbench.wire import dumps

    if text in given:
        return str(given[text]).encode("utf-8")
    return dumps(given[value]) if value in given else None


@dataclass(frozen=True, slots=True)
class Page:
    """Everything there is to say about a rule.

    Attributes:
        summary: one sentence.
        what, why, fix: a few sentences each.
        look_for: usual causes, one line each.
        refusals: every known text, in the order of the contracts.
        sources: documents and reports.
        failing, passing: examples; None for a rule that this version does not check.
    """

    slug: str
    summary: str
    what: str
    why: str
    look_for: tuple[str, ...]
    fix: str
    refusals: tuple[DocumentedRefusal, ...]
    sources: tuple[str, ...]
    failing: Example | None = None
    passing: Example | None = None
