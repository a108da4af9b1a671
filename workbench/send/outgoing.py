"""The request as it would go to a target: converted if necessary, with URL and headers, still without the key.

A request that is sent in its own protocol keeps every byte, except for ``model`` and ``stream`` if others are
requested. An unreadable body is sent unchanged, with a note.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from workbench import contracts, protocols
from workbench.contracts import Contract, choose
from workbench.convert import Loss, convert, rename_fields
from workbench.diff import common
from workbench.edits import with_body
from workbench.errors import LocalProtocolError, UsageError
from workbench.ir import ModelRequest
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import Adapter, Capabilities, DecodedExchange
from workbench.send import target as urls
from workbench.send.headers import forwarded_headers, with_headers
from workbench.send.send_note import NoteKind, SendNote
from workbench.send.target import Target
from workbench.wire import HttpRequest, JsonIndex, patch, split_url
from workbench.wire import replace as replaced


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request on its way to a target.

    Attributes:
        request: absolute URL (for a simulator: the path), headers without credentials, body as it will be sent.
        protocol: of the body; empty if unknown.
        losses: of the conversion; empty if it was not converted.
        ids: call ids changed by the conversion, old → new.
        notes: other changes and warnings, one line each.
        model: requested; empty if the request names none.
        is_stream: it requests a stream.
        is_converted: it was recorded in another protocol.
    """

    target: Target
    request: HttpRequest
    protocol: str
    losses: tuple[Loss, ...] = ()
    ids: tuple[tuple[str, str], ...] = ()
    notes: tuple[SendNote, ...] = ()
    model: str = ""
    is_stream: bool = False
    is_converted: bool = False

    @property
    def asks_first(self) -> bool:
        """True if the request leaves this program: the user confirms that once per session."""
        return not self.target.is_simulator

    @property
    def contract(self) -> Contract:
        """Contract of the target: its own, or the one that fits URL and model."""
        clues = contracts.Clues(url=self.request.url, model=self.model or None)
        if self.target.contract:
            return contracts.get(self.target.contract, protocol=self.protocol or None, clues=clues)
        return choose(clues, self.protocol or None)[0]


def prepare(
    decoded: DecodedExchange, target: Target, *, protocol: str = "", stream: bool | None = None, model: str = ""
) -> Outgoing:
    """Prepare the request of a decoded exchange for a target.

    Args:
        decoded: if its request is unreadable, the bytes are sent unchanged.
        protocol: to write it in; empty for the request's own if the target supports it, else the target's.
        stream: request a stream or not; None as in the request.
        model: to request; empty for the target's, else the request's own.

    Raises:
        LocalProtocolError: there is no request, or it cannot be converted to that protocol.
        UsageError: the target does not support that protocol.
    """
    http = decoded.exchange.request
    if http is None:
        raise LocalProtocolError("no request was recorded", where=f"exchange {decoded.index + 1}")
    target_protocol = _target_protocol(decoded, target, protocol)
    model = model or target.model
    if decoded.request is None or target_protocol not in protocols.protocols():
        body = _prepare_unreadable(decoded, http, target_protocol, model, stream)
    elif target_protocol == decoded.protocol:
        body = _prepare_same(decoded, decoded.request, http, model, stream)
    else:
        body = _prepare_converted(decoded, target, target_protocol, model, stream)
    url = urls.join_url(target.base(target_protocol), body.path) if target.url else body.path
    request = replace(with_body(http, body.body, decoded.request_text), url=url)
    headers, left_out = forwarded_headers(request, target_protocol, is_converted=body.is_converted)
    return Outgoing(
        target,
        replace(request, headers=with_headers(headers, target.headers), redactions=()),
        target_protocol,
        losses=body.losses,
        ids=body.ids,
        notes=(*body.notes, *left_out, *map(SendNote, _warnings(http, body, target, url))),
        model=body.model,
        is_stream=body.is_stream,
        is_converted=body.is_converted,
    )


def with_stream(decoded: DecodedExchange, stream: bool) -> HttpRequest:
    """The same request with or without streaming.

    Raises:
        LocalProtocolError: it is no request to a model.
    """
    request, http = decoded.request, decoded.exchange.request
    if request is None or http is None:
        raise LocalProtocolError("not a request to a model")
    adapter = protocols.get(request.protocol)
    body, final, _ = _with_model_and_stream(decoded.request_text, adapter, request, "", stream)
    before, after = (adapter.path(each).partition("?")[0] for each in (request, final))
    url = http.url
    if before != after and adapter.claims_url(url):
        parts, same = split_url(url), common(before.encode(), after.encode())
        path = parts.path.removesuffix(before[same:]) + after[same:]
        query = urls.with_query_of(adapter.path(final), url, is_same=False).partition("?")[2]
        url = parts._replace(path=path, query=query).geturl()
    return replace(with_body(http, body, decoded.request_text), url=url)


@dataclass(frozen=True, slots=True)
class _PreparedBody:
    body: bytes
    path: str
    model: str = ""
    is_stream: bool = False
    notes: tuple[SendNote, ...] = ()
    losses: tuple[Loss, ...] = ()
    ids: tuple[tuple[str, str], ...] = ()
    is_converted: bool = False
    is_read: bool = True


def _target_protocol(decoded: DecodedExchange, target: Target, protocol: str) -> str:
    """Protocol to send in. Raises UsageError."""
    supported = target.protocols
    if protocol:
        protocols.get(protocol)
        if supported and protocol not in supported:
            raise UsageError(f"{target.name} does not support {protocol}", hint=f"supported: {', '.join(supported)}")
        return protocol
    own = decoded.protocol or ""
    return own if own in supported or not supported else supported[0]


def _prepare_unreadable(
    decoded: DecodedExchange, http: HttpRequest, protocol: str, model: str, stream: bool | None
) -> _PreparedBody:
    """An unreadable body, sent without changes."""
    why = next((p.message.removeprefix("request: ") for p in decoded.problems), "not a request to a model")
    notes = [SendNote(f"the body is sent unchanged: {why}")]
    if protocol not in protocols.protocols():
        return _PreparedBody(decoded.request_text, urls.path_of(http.url) or "/", notes=tuple(notes), is_read=False)
    adapter = protocols.get(protocol)
    facts = adapter.read_url(http.url)
    named, is_stream = model or facts.model or "", facts.stream is True if stream is None else stream
    bare = ModelRequest(protocol, named or None, (), stream=is_stream)
    path = adapter.path(bare)
    if not named and adapter.path(replace(bare, model="m")) != path:
        raise LocalProtocolError(
            "the model is part of the path, and its name is unknown", hint="set the model with --model"
        )
    in_path = adapter.path(replace(bare, stream=not is_stream)) != path
    if model and adapter.path(replace(bare, model=f"{model}-")) == path:
        notes.append(SendNote("the model cannot be changed: the body is unreadable"))
    if stream is not None and not in_path:
        notes.append(SendNote("streaming cannot be changed: the body is unreadable"))
    return _PreparedBody(decoded.request_text, path, named, is_stream and in_path, tuple(notes), is_read=False)


def _prepare_same(
    decoded: DecodedExchange, request: ModelRequest, http: HttpRequest, model: str, stream: bool | None
) -> _PreparedBody:
    """The request in its own protocol: the recorded bytes, except for model and stream."""
    adapter = protocols.get(request.protocol)
    body, final, notes = _with_model_and_stream(decoded.request_text, adapter, request, model, stream)
    path = adapter.path(final)
    if adapter.claims_url(http.url):
        path = urls.with_query_of(path, http.url, is_same=final.stream == request.stream)
    return _PreparedBody(body, path, final.model or "", final.stream, notes)


def _prepare_converted(
    decoded: DecodedExchange, target: Target, protocol: str, model: str, stream: bool | None
) -> _PreparedBody:
    """The request in another protocol, with the fields that this provider knows."""
    adapter = protocols.get(protocol)
    name = model or (decoded.request.model if decoded.request else None) or ""
    url = urls.join_url(target.base(protocol), adapter.path(ModelRequest(protocol, name, ()))) if target.url else ""
    contract = Outgoing(target, HttpRequest(url=url), protocol, model=name).contract
    result = convert(
        decoded,
        protocol,
        capabilities=_accepted_capabilities(adapter, contract if model or is_known(target, url) else None),
    )
    assert isinstance(result.normal, ModelRequest)
    body, final, notes = _with_model_and_stream(result.body, adapter, result.normal, model, stream)
    path = adapter.path(final)
    body = rename_fields(body, contract.knows_field)
    renamed = tuple((old, new) for new, old in result.ids.items() if old is not None)
    notes = (SendNote(f"converted from {decoded.protocol} to {protocol}", NoteKind.CONVERSION), *notes)
    if not target.is_simulator and not model and final.model:
        notes = (
            *notes,
            SendNote(f"the request names the recorded model {final.model}; choose a different model with --model"),
        )
    return _PreparedBody(body, path, final.model or "", final.stream, notes, result.losses, renamed, is_converted=True)


def is_known(target: Target, url: str) -> bool:
    """The provider at the target is known, for any model."""
    return bool(target.contract) or choose(contracts.Clues(url=url), None)[0].name != contracts.GENERIC


def _accepted_capabilities(adapter: Adapter, contract: Contract | None) -> Capabilities:
    """Capabilities of a protocol that the provider accepts: most Chat Completions servers have no free-text tools."""
    kinds = contract.term("schema.tool-types") if contract else None
    is_free = "custom" in kinds if isinstance(kinds, list) else not adapter.traits.custom_tools_are_rare
    full = adapter.capabilities
    return full if is_free or not full.tools.custom else replace(full, tools=replace(full.tools, custom=False))


@dataclass(slots=True)
class _TopLevelChanges:
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

    def apply(self) -> bytes:
        body = replaced(self.body, self.values) if self.values else self.body
        return patch.apply(body, self.changes) if self.changes else body


def _with_model_and_stream(
    body: bytes, adapter: Adapter, request: ModelRequest, model: str, stream: bool | None
) -> tuple[bytes, ModelRequest, tuple[SendNote, ...]]:
    """Body and request with another model or streaming; only those bytes change."""
    members, notes = _TopLevelChanges(body), list[SendNote]()
    if model and model != request.model:
        notes.append(SendNote(f"model {model} instead of {request.model or 'none'}", NoteKind.MODEL))
        other = replace(request, model=model)
        if adapter.path(other) == adapter.path(request):
            members.put("model", model)
        request = other
    if stream is not None and stream != request.stream:
        notes.append(SendNote(f"streaming switched {'on' if stream else 'off'}"))
        other = replace(request, stream=stream)
        if adapter.path(other) == adapter.path(request) or members.has("stream"):
            members.put("stream", stream)
        if not stream and members.has("stream_options"):
            members.changes.append(patch.Remove("/stream_options"))
            notes.append(SendNote("stream_options removed: only accepted together with streaming"))
        request = other
    return members.apply(), request, tuple(notes)


def _warnings(request: HttpRequest, body: _PreparedBody, target: Target, url: str) -> Iterator[str]:
    if body.is_read and not body.model:
        yield "the request names no model: choose a model with --model"
    if any(mark.where == "body" for mark in request.redactions):
        yield "the body contains stand-ins for secrets that were redacted when recording"
    if not request.body.is_raw and request.body.note:
        yield f"the body differs from the recorded bytes: {request.body.note}"
    if target.key_variable and urlsplit(url).scheme == "http" and not target.is_loopback:
        yield f"the API key is sent unencrypted: {urlsplit(url).hostname} uses plain http"
