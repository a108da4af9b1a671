"""Rule pages: what is wrong, why it matters, what to look for, how to fix it, who refuses it, and two examples.

Each rule has one ``rule_pages/SLUG.yaml``. Refusals of providers with a contract come from the contracts; a page adds
those of other providers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from workbench.config import resources
from workbench.contracts import loading
from workbench.contracts.reader import Node
from workbench.errors import UnknownName
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
        provider, protocol: contract and protocol that they are checked by.
        exchanges: each with ``request`` (a JSON value) or ``raw`` (the request's JSON text), and with ``response`` (a
            JSON value), ``sse`` (event-stream text) or ``text`` (anything that is not JSON), or none of them;
            ``status`` of the response (200), its content ``type`` and further ``headers``, ``request_headers``, ``hop``
            it was recorded at,
            ``state`` and ``note`` of how it ended, and ``at``: seconds at which each block of the stream arrived. Or
            one with ``mcp``: the lines between a client and a tool server, each ``sent`` or ``received`` (a JSON
            value), or ``printed`` by the server (text).
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
        """The exchanges as a session, for an inspection."""
        from workbench.wire import Body, Exchange, Headers, HttpRequest, HttpResponse, State
        from workbench.wire.session import MemorySession

        def request(example: Mapping[str, JsonValue]) -> HttpRequest | None:
            body = _bytes(example, "raw", "request")
            headers = Headers(tuple(example.get("request_headers", {}).items()))
            return None if body is None else HttpRequest(headers=headers, body=Body(body))

        def response(example: Mapping[str, JsonValue]) -> HttpResponse | None:
            body = _bytes(example, "sse" if "sse" in example else "text", "response")
            if body is None:
                return None
            mime = str(example.get("type") or ("text/event-stream" if "sse" in example else "application/json"))
            chunks = tuple(_chunks(body, example.get("at", ())))
            headers = Headers((("content-type", mime), *example.get("headers", {}).items()))
            return HttpResponse(int(example.get("status", 200)), headers, Body(body, chunks=chunks))

        exchanges = list[Exchange]()
        for n, e in enumerate(self.exchanges, 1):
            if "mcp" in e:
                exchanges += _tool_hop(e["mcp"])
                continue
            if "socket" in e:
                exchanges += _socket(e)
                continue
            state, hop, note = State(e.get("state", State.COMPLETE)), str(e.get("hop", "")), str(e.get("note", ""))
            exchanges.append(Exchange(f"example-{n}", request(e), response(e), state=state, hop=hop, note=note))
        return MemorySession("example", tuple(exchanges))


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


def _socket(example: Mapping[str, JsonValue]) -> Iterator[Exchange]:
    """A WebSocket with its turns, or a handshake that was refused with a ``status``.

    ``sent_close`` and ``received_close`` are a code with a reason.
    """
    from workbench.protocols import with_turns
    from workbench.wire import Exchange, ExchangeKind, Frame, Headers, HttpRequest, HttpResponse, dumps

    frames = []
    for at, message in enumerate(example["socket"]):
        for key, value in message.items():
            direction = "sent" if key.startswith("sent") else "received"
            if key.endswith("_close"):
                code, _, reason = str(value).partition(" ")
                frames.append(Frame(direction, "close", int(code).to_bytes(2) + reason.encode(), float(at)))
            else:
                frames.append(Frame(direction, "text", dumps(value), float(at)))
    headers = Headers(tuple(example.get("request_headers", {}).items()))
    shaken = HttpRequest("GET", str(example.get("url", "")), headers)
    kind, status = ExchangeKind.WEBSOCKET, int(example.get("status", 101))
    if status == 101:
        yield from with_turns([Exchange("socket", shaken, HttpResponse(status), kind=kind, frames=tuple(frames))])
    else:
        yield Exchange("socket", shaken, HttpResponse(status))


_PARTS = ("raw", "request", "response", "sse", "text")


def _chunks(body: bytes, times: Sequence[float]) -> Iterator[Chunk]:
    """Arrivals of the blocks of a stream."""
    from workbench.wire import Chunk

    end = 0
    for at in times:
        end = body.index(b"\n\n", end) + 2
        yield Chunk(end, float(at))


def _bytes(example: Mapping[str, JsonValue], text: str, value: str) -> bytes | None:
    from workbench.wire import dumps

    if text in example:
        return str(example[text]).encode("utf-8")
    return dumps(example[value]) if value in example else None


@dataclass(frozen=True, slots=True)
class Page:
    """All sections of the page of a rule.

    Attributes:
        summary: one sentence.
        what, why, fix: a few sentences each.
        finds: the faults that it finds, one line each, if they are several; else empty.
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
    finds: tuple[str, ...] = ()


__all__ = ["DocumentedRefusal", "Example", "Page", "lines", "others", "page", "slugs"]


@cache
def slugs() -> tuple[str, ...]:
    """Slugs of the rules that have a page, sorted."""
    return resources.pages()


@cache
def page(slug: str) -> Page:
    """The page of a rule.

    Raises:
        UsageError: no rule of this name has a page.
    """
    if slug not in slugs():
        raise UnknownName("rule", slug, slugs())
    node = read(slug)
    return Page(
        slug=slug,
        summary=node.get("summary").text(),
        what=node.get("what").text(),
        why=node.get("why").text(),
        look_for=node.get("look_for").texts(),
        fix=node.get("fix").text(),
        refusals=(*_contract_refusals(slug), *others(slug)),
        sources=node.get("sources").texts(),
        failing=_example(node.get("failing")),
        passing=_example(node.get("passing")),
        finds=node.get("finds").texts(),
    )


@cache
def read(slug: str) -> Node:
    """The page as parsed from its file."""
    from workbench.config import safeyaml

    name = f"{slug}.yaml"
    keys = ("summary", "what", "finds", "why", "look_for", "fix", "others", "sources", "failing", "passing")
    return Node(safeyaml.load(resources.page(slug), name=name), name).only(*keys)


@cache
def others(slug: str) -> tuple[DocumentedRefusal, ...]:
    """Refusals of providers without a contract, or on endpoints that their contract does not cover."""
    return tuple(
        DocumentedRefusal(
            provider=node.only("provider", "status", "message", "where", "source").get("provider").text(),
            status=node.get("status").number(),
            message=node.get("message").text(),
            source=node.get("source").text(),
            where=node.get("where").text(""),
        )
        for node in read(slug).get("others").items()
    )


def _contract_refusals(slug: str) -> Iterator[DocumentedRefusal]:
    for name in loading.names():
        file = loading.read(name)
        for holds, check in file.checks:
            if check.rule == slug:
                who = ", ".join(f"{name}:{variant}" for variant in holds.variants) or name
                where = ", ".join(holds.protocols) if len(file.protocols) > 1 else ""
                yield DocumentedRefusal(who, check.status, check.template, check.source, check.when, where)


_EXCHANGE = frozenset(
    (
        *("hop", "request", "raw", "status", "response", "sse", "text", "type", "headers", "request_headers"),
        *("state", "note", "at", "mcp", "socket", "url"),
    )
)


def _example(node: Node) -> Example | None:
    if node.value is None:
        return None
    node.only("provider", "protocol", "exchanges", *_EXCHANGE)
    nodes = [e.only(*_EXCHANGE) for e in node.get("exchanges").items()]
    own = {key: value.value for key, value in node.members() if key not in ("provider", "protocol", "exchanges")}
    return Example(node.get("provider").text(), node.get("protocol").text(), tuple(e.value for e in nodes) or (own,))


def section(title: str, body: Iterable[str]) -> Iterator[str]:
    """A section: blank line, title, indented lines."""
    yield ""
    yield title
    yield from body


def wrap(text: str, width: int, first: str = "  ", rest: str = "  ") -> list[str]:
    """A paragraph in lines of at most ``width``; words are never broken."""
    import textwrap

    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def lines(page: Page, width: int = 80) -> Iterator[str]:
    """The page as text, no line longer than ``width`` except for what cannot be broken (URLs, event data)."""
    yield from wrap(f"{page.slug}: {page.summary}", width, "", "  ")
    yield from section("What is wrong", wrap(page.what, width))
    yield from _list_lines(page.finds, width)
    yield from section("Why it matters", wrap(page.why, width))
    yield from section("What to look for", _list_lines(page.look_for, width))
    yield from section("How to fix it", wrap(page.fix, width))
    if page.refusals:
        yield from section("Who refuses it", _refusals(page.refusals, width))
    yield from section("Sources", _list_lines(page.sources, width))
    if page.failing and page.passing:
        yield from section("Wrong", _example_lines(page.failing, width))
        yield from section("Correct, as a diff", _difference(page.failing, page.passing, width))
    else:
        yield from section("Examples", ["  None: this version does not check the rule yet."])


def _list_lines(items: Iterable[str], width: int) -> Iterator[str]:
    for item in items:
        yield from wrap(item, width, "  - ", "    ")


def _refusals(refusals: Iterable[DocumentedRefusal], width: int) -> Iterator[str]:
    """Each text once, with everybody who says it."""
    providers_by_refusal: dict[tuple[int, str], list[str]] = {}
    for refusal in refusals:
        who = f"{refusal.provider} ({refusal.where})" if refusal.where else refusal.provider
        providers_by_refusal.setdefault((refusal.status, refusal.message), []).append(who)
    for (status, message), providers in providers_by_refusal.items():
        who = f"{'; '.join(dict.fromkeys(providers))}, status {status}"
        yield from wrap(f"{who}: {message or '(error text not captured)'}", width, "  - ", "    ")


def _example_lines(example: Example, width: int) -> Iterator[str]:
    yield f"  {example.protocol}, checked with {example.provider}"
    for exchange in example.exchanges:
        for key, value in exchange.items():
            yield f"  {key}:"
            text = value.rstrip("\n").split("\n") if isinstance(value, str) else _json(value, width - 4)
            yield from (f"    {line}".rstrip() for line in text)


def _difference(wrong: Example, right: Example, width: int) -> Iterator[str]:
    """Changes that correct the failing example, with two lines of context each."""
    import difflib

    before, after = (list(_example_lines(example, width - 2)) for example in (wrong, right))
    for line in difflib.unified_diff(before, after, n=2, lineterm=""):
        if not line.startswith(("---", "+++")):
            yield "  ⋮" if line.startswith("@@") else f"{line[0]} {line[1:]}".rstrip()


def _json(value: JsonValue, width: int, prefix: int = 0) -> list[str]:
    """JSON with everything on one line that fits there; ``prefix``: what is before it on its first line."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + prefix <= width or not isinstance(value, dict | list):
        return [flat]
    keys = [f"{json.dumps(k, ensure_ascii=False)}: " for k in value] if isinstance(value, dict) else [""] * len(value)
    lines = [flat[0]]
    for n, (key, item) in enumerate(zip(keys, value.values() if isinstance(value, dict) else value, strict=True)):
        inner = _json(item, width - 2, len(key) + 1)
        inner[-1] += "," if n + 1 < len(value) else ""
        lines += [f"  {key}{inner[0]}", *(f"  {line}" for line in inner[1:])]
    return [*lines, flat[-1]]
