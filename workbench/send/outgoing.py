"""What would go to a target: another protocol where the target speaks another, its URL, its headers, no key yet.

Only what is asked for changes: of a request that is sent in its own protocol every byte stays, but for the values of
``model`` and ``stream`` where others are asked for. A body that cannot be read goes as it is, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from workbench import contracts, protocols
from workbench.contracts import Contract, choose
from workbench.convert import Loss, convert
from workbench.convert.dialect import rename_fields
from workbench.diff.wire import common
from workbench.edits import with_body
from workbench.errors import LocalProtocolError, UsageError
from workbench.ir import ModelRequest
from workbench.protocols import Adapter, Capabilities
from workbench.protocols.decode import DecodedExchange
from workbench.send import urls
from workbench.send.headers import carried, with_headers
from workbench.send.target import Target
from workbench.wire import patch
from workbench.wire.exchange import HttpRequest
from workbench.wire.jsontext import JsonIndex
from workbench.wire.jsontext import replace as replaced
from workbench.wire.urls import split


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request on its way to a target.

    Attributes:
        request: absolute URL (of a simulator: the path), headers without credentials, body as it will be sent.
        protocol: what it is written in; "" where nobody knows, as of a body that cannot be read.
        losses: what converting it cost; () where it was not converted.
        ids: call ids that were changed on the way, old → new.
        notes: what else was changed or is worth a word before sending, one line each.
        model: what is asked for; "" where the request does not say.
        is_stream: it asks for a stream.
        is_converted: it was recorded in another protocol.
    """

    target: Target
    request: HttpRequest
    protocol: str
    losses: tuple[Loss, ...] = ()
    ids: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    model: str = ""
    is_stream: bool = False
    is_converted: bool = False

    @property
    def asks_first(self) -> bool:
        """It leaves this program: people are asked once in a session before that happens."""
        return not self.target.is_simulator

    @property
    def contract(self) -> Contract:
        """The contract that the target judges it by: its own, or the one that fits URL and model."""
        clues = contracts.Clues(url=self.request.url, model=self.model or None)
        if self.target.contract:
            return contracts.get(self.target.contract, protocol=self.protocol or None, clues=clues)
        return choose(clues, self.protocol or None)[0]


def prepare(
    decoded: DecodedExchange, target: Target, *, protocol: str = "", stream: bool | None = None, model: str = ""
) -> Outgoing:
    """The request of a decoded exchange as it would go to a target.

    Args:
        decoded: its request may be unreadable: then the bytes go as they are, in the protocol asked for.
        protocol: to write it in; "" for what the target speaks, of several the request's own if it is among them.
        stream: ask for a stream, or for none; None as the request has it.
        model: to ask for; "" for the target's, or else the request's own.

    Raises:
        LocalProtocolError: there is no request, or it cannot be said in that protocol.
        UsageError: the target does not speak that protocol.
    """
    asked = decoded.exchange.request
    if asked is None:
        raise LocalProtocolError("no request was recorded", where=f"exchange {decoded.index + 1}")
    wanted = _wanted(decoded, target, protocol)
    model = model or target.model
    if decoded.request is None or wanted not in protocols.protocols():
        made = _as_it_is(decoded, asked, wanted, model, stream)
    elif wanted == decoded.protocol:
        made = _same(decoded, decoded.request, asked, model, stream)
    else:
        made = _converted(decoded, target, wanted, model, stream)
    url = urls.joined(target.base(wanted), made.path) if target.url else made.path
    request = replace(with_body(asked, made.body, decoded.request_text), url=url)
    headers, left_out = carried(request, wanted, is_converted=made.is_converted)
    return Outgoing(
        target,
        replace(request, headers=with_headers(headers, target.headers), redactions=()),
        wanted,
        losses=made.losses,
        ids=made.ids,
        notes=(*made.notes, *left_out, *_warnings(asked, made, target, url)),
        model=made.model,
        is_stream=made.is_stream,
        is_converted=made.is_converted,
    )


def streamed(decoded: DecodedExchange, stream: bool) -> HttpRequest:
    """A request that asks for a stream, or for none; nothing else of it changes.

    Raises:
        LocalProtocolError: it is no request of a model.
    """
    request, http = decoded.request, decoded.exchange.request
    if request is None or http is None:
        raise LocalProtocolError("no request of a model")
    adapter = protocols.get(request.protocol)
    body, meant, _ = _otherwise(decoded.request_text, adapter, request, "", stream)
    before, after = (adapter.path(each).partition("?")[0] for each in (request, meant))
    url = http.url
    if before != after and adapter.claims_url(url):
        parts, same = split(url), common(before.encode(), after.encode())
        path = parts.path.removesuffix(before[same:]) + after[same:]
        query = urls.with_query_of(adapter.path(meant), url, is_same=False).partition("?")[2]
        url = parts._replace(path=path, query=query).geturl()
    return replace(with_body(http, body, decoded.request_text), url=url)


@dataclass(frozen=True, slots=True)
class _Made:
    body: bytes
    path: str
    model: str = ""
    is_stream: bool = False
    notes: tuple[str, ...] = ()
    losses: tuple[Loss, ...] = ()
    ids: tuple[tuple[str, str], ...] = ()
    is_converted: bool = False
    is_read: bool = True


def _wanted(decoded: DecodedExchange, target: Target, protocol: str) -> str:
    """The protocol it is sent in. Raises UsageError."""
    spoken = target.protocols
    if protocol:
        protocols.get(protocol)
        if spoken and protocol not in spoken:
            raise UsageError(f"{target.name} does not speak {protocol}", hint=f"it speaks {', '.join(spoken)}")
        return protocol
    own = decoded.protocol or ""
    return own if own in spoken or not spoken else spoken[0]


def _as_it_is(decoded: DecodedExchange, asked: HttpRequest, wanted: str, model: str, stream: bool | None) -> _Made:
    """A body that cannot be read: not one byte of it changes."""
    why = next((p.message.removeprefix("request: ") for p in decoded.problems), "no model can be asked this")
    notes = [f"the body goes as it is: {why}"]
    if wanted not in protocols.protocols():
        return _Made(decoded.request_text, urls.path_of(asked.url) or "/", notes=tuple(notes), is_read=False)
    adapter = protocols.get(wanted)
    facts = adapter.read_url(asked.url)
    named, is_stream = model or facts.model or "", facts.stream is True if stream is None else stream
    bare = ModelRequest(wanted, named or None, (), stream=is_stream)
    path = adapter.path(bare)
    if not named and adapter.path(replace(bare, model="m")) != path:
        raise LocalProtocolError("the path names the model, and nothing says which", hint="name it with --model")
    in_path = adapter.path(replace(bare, stream=not is_stream)) != path
    if model and adapter.path(replace(bare, model=f"{model}-")) == path:
        notes.append("it cannot be asked for another model: the body cannot be read")
    if stream is not None and not in_path:
        notes.append("whether it asks for a stream stays as it is: the body cannot be read")
    return _Made(decoded.request_text, path, named, is_stream and in_path, tuple(notes), is_read=False)


def _same(
    decoded: DecodedExchange, request: ModelRequest, asked: HttpRequest, model: str, stream: bool | None
) -> _Made:
    """The request in its own protocol: the bytes that were recorded, but for what is asked for otherwise."""
    adapter = protocols.get(request.protocol)
    body, meant, notes = _otherwise(decoded.request_text, adapter, request, model, stream)
    path = adapter.path(meant)
    if adapter.claims_url(asked.url):
        path = urls.with_query_of(path, asked.url, is_same=meant.stream == request.stream)
    return _Made(body, path, meant.model or "", meant.stream, notes)


def _converted(decoded: DecodedExchange, target: Target, wanted: str, model: str, stream: bool | None) -> _Made:
    """The request in another protocol, in the fields that this provider knows."""
    adapter = protocols.get(wanted)
    asked = model or (decoded.request.model if decoded.request else None) or ""
    url = urls.joined(target.base(wanted), adapter.path(ModelRequest(wanted, asked, ()))) if target.url else ""
    contract = Outgoing(target, HttpRequest(url=url), wanted, model=asked).contract
    made = convert(decoded, wanted, capabilities=_taken(adapter, contract if model or is_known(target, url) else None))
    assert isinstance(made.normal, ModelRequest)
    body, meant, notes = _otherwise(made.body, adapter, made.normal, model, stream)
    path = adapter.path(meant)
    known = contract.term("params.fields")
    body = rename_fields(body, known if isinstance(known, list) else None)
    renamed = tuple((old, new) for new, old in made.ids.items() if old is not None)
    notes = (f"converted from {decoded.protocol} to {wanted}", *notes)
    if not target.is_simulator and not model and meant.model:
        notes = (*notes, f"model {meant.model} is asked for as it was recorded: name another one with --model")
    return _Made(body, path, meant.model or "", meant.stream, notes, made.losses, renamed, is_converted=True)


def is_known(target: Target, url: str) -> bool:
    """Who answers there is known, whatever model is asked for."""
    return bool(target.contract) or choose(contracts.Clues(url=url), None)[0].name != contracts.GENERIC


def _taken(adapter: Adapter, contract: Contract | None) -> Capabilities:
    """What a provider takes of a protocol: of Chat Completions most know functions alone, and no free text."""
    kinds = contract.term("schema.tool-types") if contract else None
    is_free = "custom" in kinds if isinstance(kinds, list) else not adapter.traits.custom_tools_are_rare
    held = adapter.capabilities
    return held if is_free or not held.tools.custom else replace(held, tools=replace(held.tools, custom=False))


@dataclass(slots=True)
class _Members:
    """Changes of the top-level members of a body."""

    body: bytes
    values: dict[str, object] = field(default_factory=dict)
    changes: list[patch.Change] = field(default_factory=list)

    def has(self, name: str) -> bool:
        return JsonIndex(self.body).span(f"/{name}") is not None

    def put(self, name: str, value: object) -> None:
        if self.has(name):
            self.values[f"/{name}"] = value
        else:
            self.changes.append(patch.Insert(f"/{name}", value))

    def done(self) -> bytes:
        body = replaced(self.body, self.values) if self.values else self.body
        return patch.apply(body, self.changes) if self.changes else body


def _otherwise(
    body: bytes, adapter: Adapter, request: ModelRequest, model: str, stream: bool | None
) -> tuple[bytes, ModelRequest, tuple[str, ...]]:
    """Body and request asking for another model, for a stream or for none; only those bytes change."""
    members, notes = _Members(body), list[str]()
    if model and model != request.model:
        notes.append(f"model {model} in place of {request.model or 'none'}")
        other = replace(request, model=model)
        if adapter.path(other) == adapter.path(request):
            members.put("model", model)
        request = other
    if stream is not None and stream != request.stream:
        notes.append("asks for a stream" if stream else "asks for no stream")
        other = replace(request, stream=stream)
        if adapter.path(other) == adapter.path(request) or members.has("stream"):
            members.put("stream", stream)
        if not stream and members.has("stream_options"):
            members.changes.append(patch.Remove("/stream_options"))
            notes.append("stream_options is left out: it is refused without a stream")
        request = other
    return members.done(), request, tuple(notes)


def _warnings(asked: HttpRequest, made: _Made, target: Target, url: str) -> Iterator[str]:
    if made.is_read and not made.model:
        yield "no model is asked for: name one with --model"
    if any(mark.where == "body" for mark in asked.redactions):
        yield "the body holds stand-ins of secrets that were replaced when it was recorded"
    if not asked.body.is_raw and asked.body.note:
        yield f"the body is not byte for byte what was recorded: {asked.body.note}"
    if target.key_variable and urlsplit(url).scheme == "http" and not target.is_loopback:
        yield f"the key goes unencrypted: {urlsplit(url).hostname} is asked over plain http"
