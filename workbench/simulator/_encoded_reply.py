"""Encodes an answer as the pieces that are sent, with the faults of the dials.

Response of a simulator, and its log entry.

Answers that refuse: in the shape of the provider's error bodies, with the headers it sends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from workbench import protocols as adapters
from workbench import regex
from workbench.contracts import (
    SIMULATED,
    Contract,
    EnforcedCheck,
    Fact,
    Finding,
    Refusal,
    Severity,
    Verdict,
    refusal_of,
)
from workbench.errors import WireError
from workbench.ir import ApiError, JsonValue, ModelResponse, ToolCallIR
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import Adapter, ErrorStyle
from workbench.simulator._dials import Dials
from workbench.wire import Framing, dumps, loads, read_stream


class ReplyPiece(NamedTuple):
    """Bytes of a response, and the seconds to wait before them."""

    delay: float
    data: bytes


@dataclass(frozen=True, slots=True, repr=False)
class ServedRequest:
    """A request and how it was answered. Printed as its ``line()``, with unprintable characters escaped.

    Attributes:
        verdict: of the contract; None if no model was requested.
        finding: reason of the refusal; if it was accepted, the worst finding.
        note: explanation of the response, in one line; empty if there is none.
        body: of the request, as received.
        number: of its exchange in the memory; None if it was not judged.
    """

    method: str
    target: str
    status: int
    verdict: Verdict | None = None
    finding: Finding | None = None
    note: str = ""
    body: bytes = b""
    number: int | None = None

    @property
    def is_refused(self) -> bool:
        """The request was refused."""
        return self.status >= 400

    def line(self) -> str:
        """Format as ``POST /v1/messages 400 closure.missing-result /messages/1: …``."""
        if self.finding is None:
            return " ".join(filter(None, (self.method, self.target, str(self.status), self.note)))
        word = "" if self.is_refused else f"({self.note or self.verdict}) "
        where = self.finding.pointer or "/"
        text = self.finding.refusal if self.is_refused and self.finding.refusal else self.finding.message
        return f"{self.method} {self.target} {self.status} {word}{self.finding.rule} {where}: {text}"

    def __repr__(self) -> str:
        characters = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in self.line())
        return "".join(characters)


@dataclass(frozen=True, slots=True)
class SimulatedReply:
    """A response. ``pieces`` can be read once; ``is_cut``: the connection breaks after them."""

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: Iterator[ReplyPiece]
    served: ServedRequest
    is_cut: bool = False

    @property
    def log_entry(self) -> ServedRequest:
        """What is reported of it."""
        return self.served

    def close(self) -> None:
        """Nothing has to be closed."""

    def body(self) -> bytes:
        """The whole body, without delays."""
        return b"".join(piece.data for piece in self.pieces)


JSON = "application/json"
_DATA = regex.compile(rb"^(data: ?)(.*)$", re.MULTILINE)
_INDEX_KEYS = ("index", "output_index")


@dataclass(frozen=True, slots=True)
class EncodedReply:
    """A response body as bytes. ``is_cut``: the connection breaks after the last piece."""

    content_type: str
    pieces: tuple[bytes, ...]
    is_cut: bool = False


def encode_reply(response: ModelResponse, adapter: Adapter, dials: Dials, *, is_array: bool = False) -> EncodedReply:
    """Encode the answer, whole or as a stream.

    Args:
        is_array: the stream is one JSON array, as Gemini sends it without ``alt=sse``.
    """
    if not response.is_stream or dials.stream == "json-body":
        return EncodedReply(JSON, _chunks((dumps(adapter.write_response(response)),), dials))
    failed = ApiError(TEXTS[529], type_of(adapter.name, 529) or None)
    message = replace(response, error=failed) if dials.stream == "error" else response
    body = _with_raw_arguments(adapter.write_stream(message), response)
    kind = adapter.serving.stream_type
    stream = read_stream(body, kind)
    starts = [event.start for event in stream.events[1:]]
    pieces = [body[start:end] for start, end in zip([0, *starts], [*starts, len(body)], strict=True)]
    if is_array and stream.framing is Framing.SSE:
        kind, pieces = f"{JSON}; charset=UTF-8", list(_as_array(pieces))
    is_lines = stream.framing in (Framing.SSE, Framing.NDJSON)
    pieces = _apply_stream_fault(pieces, dials.stream, is_sse=stream.framing is Framing.SSE) if is_lines else pieces
    is_cut = dials.stream == "cut"
    if is_cut:
        whole = b"".join(pieces)
        pieces = [whole[: max(1, len(whole) * 3 // 5)]] if dials.chunk else _first_bytes(pieces, len(whole) * 3 // 5)
    elif dials.stream == "no-terminator":
        pieces = pieces[:-1] if len(pieces) > 1 else []
    return EncodedReply(kind, _chunks(pieces, dials), is_cut)


def _first_bytes(pieces: Sequence[bytes], count: int) -> list[bytes]:
    first = []
    for piece in pieces:
        first.append(piece[:count])
        count -= len(piece)
        if count <= 0:
            break
    return first


def _with_raw_arguments(body: bytes, response: ModelResponse) -> bytes:
    """Insert argument text that is not JSON into a stream unchanged.

    Streams carry arguments as text in every protocol; adapters with arguments as values wrote it as a JSON string.
    """
    for message in response.messages:
        for part in message.parts:
            if isinstance(part, ToolCallIR) and part.raw is None and part.error:
                body = body.replace(dumps(dumps(part.input).decode()), dumps(part.input))
    return body


def _as_array(pieces: Sequence[bytes]) -> Iterator[bytes]:
    for number, piece in enumerate(pieces):
        found = _DATA.search(piece)
        yield (b"," if number else b"[") + (found[2].rstrip(b"\r") if found else b"null") + b"\n"
    yield b"]"


def _apply_stream_fault(pieces: list[bytes], fault: str, *, is_sse: bool) -> list[bytes]:
    """The events with a fault of ``STREAM_FAULTS``."""
    match fault:
        case "reused-index":
            return [_edit_event(piece, lambda value: _with_index(value, 0)) for piece in pieces]
        case "missing-index":
            return [_edit_event(piece, lambda value: _with_index(value, None)) for piece in pieces]
        case "empty-choices":
            found = next((p for p in pieces if b'"choices"' in p or b'"candidates"' in p), None)
            return pieces if found is None else [_edit_event(found, _without_choices), *pieces]
        case "comments" if is_sse:
            return [b": keep-alive\n\n" + piece for piece in pieces]
    return pieces


def _edit_event(piece: bytes, change: Callable[[JsonValue], JsonValue]) -> bytes:
    """An event with changed data; unchanged if it is not JSON."""

    def data(found: re.Match[bytes]) -> bytes:
        try:
            return found[1] + dumps(change(loads(found[2])))
        except WireError:
            return found[0]

    return _DATA.sub(data, piece) if b"data:" in piece[:200] else data_line(piece, change)


def data_line(piece: bytes, change: Callable[[JsonValue], JsonValue]) -> bytes:
    """The same for a line that is only JSON."""
    try:
        return dumps(change(loads(piece))) + b"\n"
    except WireError:
        return piece


def _with_index(value: JsonValue, index: int | None) -> JsonValue:
    """The value with another index on every call and block, without one for None; choices keep theirs."""
    if isinstance(value, list):
        return [_with_index(inner, index) for inner in value]
    if not isinstance(value, dict):
        return value
    is_choice = "delta" in value and "finish_reason" in value
    copy = {}
    for key, inner in value.items():
        if key not in _INDEX_KEYS or is_choice:
            copy[key] = _with_index(inner, index)
        elif index is not None:
            copy[key] = index
    return copy


def _without_choices(value: JsonValue) -> JsonValue:
    return {k: [] if k in ("choices", "candidates") else v for k, v in value.items()}


def _chunks(pieces: Sequence[bytes], dials: Dials) -> tuple[bytes, ...]:
    if dials.stream == "split-utf8":
        return tuple(part for piece in pieces for part in _split_characters(piece))
    if not dials.chunk:
        return tuple(pieces)
    whole = b"".join(pieces)
    return tuple(whole[n : n + dials.chunk] for n in range(0, len(whole), dials.chunk))


def _split_characters(piece: bytes) -> Iterator[bytes]:
    """The piece, cut after every byte of a multi-byte character but the last."""
    start = 0
    for at in range(1, len(piece)):
        if 0x80 <= piece[at] < 0xC0:
            yield piece[start:at]
            start = at
    yield piece[start:]


_REFUSED = 400
"""Status of a refused request."""

_FALLBACK_TYPES = {429: "rate_limit_error", 500: "server_error", 503: "service_unavailable", 529: "overloaded_error"}

TEXTS: Mapping[int, str] = {
    429: "Rate limit reached for requests",
    500: "Internal server error",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    529: "Overloaded",
}
"""Texts of injected refusals."""


def type_of(protocol: str, status: int) -> str:
    """The type of an error with this status, "" for the usual one of a refused request."""
    return _style(protocol).types.get(status, _FALLBACK_TYPES.get(status, ""))


def _style(protocol: str) -> ErrorStyle:
    return adapters.get(protocol).serving.errors


def refuse(finding: Finding, contract: Contract, protocol: str, request_id: str) -> Refusal | None:
    """The provider's response to a request with this fault; None if nothing refuses it."""
    named = replace(finding, values={**finding.values, **_request_values(request_id)})
    return refusal_of(named, _with_error_body(contract, protocol))


def error(
    contract: Contract, protocol: str, status: int, message: str, *, param: str = "", code: str = "", request_id: str
) -> Refusal:
    """A refusal that no rule predicts: an unknown path, a body that is no JSON, an injected fault."""
    text = message.replace("{", "(").replace("}", ")")  # no template: braces of a client's text name no variable
    check = EnforcedCheck("", status, text, "", "", param=param, code=code, type=type_of(protocol, status))
    finding = Finding("", Severity.ERROR, 0, "request", "", message, check=check, values=_request_values(request_id))
    base = refusal_of(finding, _with_error_body(contract, protocol))
    assert base is not None
    return replace(base, body=_with_error_type(base.body, status))


def _with_error_type(body: JsonValue, status: int) -> JsonValue:
    """The body with an API's word for the status in place of its word for a refused request.

    Contracts of other protocols copy the words of Google's error model into their bodies.
    """
    if isinstance(body, dict):
        return {key: _with_error_type(value, status) for key, value in body.items()}
    if isinstance(body, list):
        return [_with_error_type(value, status) for value in body]
    return _words().get(body, {}).get(status, body) if isinstance(body, str) else body


@cache
def _words() -> Mapping[str, Mapping[int, str]]:
    """Word for a refused request → the words for every status, of the protocols whose error types are such words."""
    styles = (adapter.serving.errors for adapter in adapters.every())
    return {style.types[_REFUSED]: style.types for style in styles if style.are_words}


def _request_values(request_id: str) -> Mapping[str, str]:
    """The variables that stand for a request: its id, and what follows its prefix."""
    return {"request_id": request_id, "request": request_id.partition("_")[2]}


def headers(protocol: str, request_id: str, contract: str) -> tuple[tuple[str, str], ...]:
    """The headers of an answer, but for its type and length; one of them says whose simulator it is."""
    own = tuple((name, value.replace("{request_id}", request_id)) for name, value in _style(protocol).headers)
    return (*own, server_header(contract))


def server_header(contract: str) -> tuple[str, str]:
    """The header that says whose simulator it is."""
    return "server", f"{SIMULATED}{contract}"


def _with_error_body(contract: Contract, protocol: str) -> Contract:
    """The contract with the error body of its protocol, where it says none of its own."""
    body = _style(protocol).body
    if contract.term("errors.body") is not None or body is None:
        return contract
    return replace(contract, terms={**contract.terms, "errors.body": Fact(body, "", "")})


def not_found(protocol: str, method: str, path: str) -> str:
    """The message for an unknown path."""
    return _style(protocol).not_found.replace("{method}", method[:40]).replace("{path}", path[:200])


def without_model(protocol: str) -> str:
    """The message for a request that names no model."""
    return _style(protocol).without_model


def unreadable(text: bytes, protocol: str) -> str:
    """The message for a body that is not a request of the protocol."""
    try:
        value = loads(text)
    except WireError as error:
        return _style(protocol).not_json.replace("{why}", error.what)
    if isinstance(value, dict):
        return _style(protocol).missing.replace("{name}", adapters.get(protocol).serving.list_key)
    return "The request body is not a JSON object"
