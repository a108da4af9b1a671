"""Translates an upstream's response for the client, and remembers what the client will not send back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workbench import protocols
from workbench.convert import (
    Loss,
    StreamConversion,
    convert_response,
    normal_response,
    read_declared_tools,
    rebase_parts,
)
from workbench.ir import ModelResponse, Part, ToolCallIR
from workbench.lazy_dataclass import replace
from workbench.limits import MAX_BRIDGED_BODY
from workbench.protocols import DecodedExchange
from workbench.recorder.translation import other_endpoints
from workbench.recorder.translation.changes import CONVERSION, ID, LOSS, NOTE, TranslationChange
from workbench.recorder.translation.memory import RememberedResponse, ResponseMemory, content_of
from workbench.recorder.translation.reasoning_proofs import ResponseNamer, Signer, read_text_calls, with_proofs
from workbench.recorder.translation.requests import TranslatedRequest
from workbench.wire import Body, Exchange, Headers, HttpResponse, State, read_stream

_CARRIED = (
    "retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id", "x-workbench-relay", "date",
)  # fmt: skip
"""Headers of a response that mean the same in every protocol."""

_STREAM, _JSON = "text/event-stream", "application/json"
_STREAMS = (_STREAM, "application/x-ndjson", "application/vnd.amazon.eventstream", "application/stream+json")


class TranslatedHead(NamedTuple):
    """Status and headers of a response, without the length of its body."""

    status: int
    headers: tuple[tuple[str, str], ...]


class TranslatedResponse:
    """Translates one response.

    Args:
        turn: the request that it responds to.
        status, headers: of the upstream's response.
        memory: remembers it.
        name: of this response, letters and digits; never used again.

    Attributes:
        head: head for the client; None while it depends on the rest of the upstream's response.
        changes: what was changed; complete after ``end``.
    """

    def __init__(
        self, turn: TranslatedRequest, status: int, headers: Headers, memory: ResponseMemory, name: str
    ) -> None:
        self.head: TranslatedHead | None = None
        self.changes: list[TranslationChange] = []
        self._turn, self._status, self._headers = turn, status, headers
        self._memory, self._name = memory, name
        self._received = bytearray()
        self._adapter = protocols.get(turn.client)
        self._signer, self._namer = Signer(name, self._adapter.capabilities), ResponseNamer(name)
        self._declared = read_declared_tools(turn.tools)
        self._stream: StreamConversion | None = None
        if turn.is_plain:
            self.head = TranslatedHead(status, tuple(headers))
        elif turn.is_stream and self._streams:
            self._stream = StreamConversion(
                turn.spoken,
                turn.client,
                prove=self._signer.prove,
                choose_id=self._namer.choose,
                name=self._namer.response_id(turn.client),
                model=turn.model,
                declared=self._declared,
            )
            self.head = self._head(self._stream.content_type)

    @property
    def _streams(self) -> bool:
        """The response is a stream that can be read while it arrives."""
        kind = (self._headers.get("content-type") or "").partition(";")[0].strip().lower()
        is_coded = (self._headers.get("content-encoding") or "identity").lower() != "identity"
        is_whole = bool(self._turn.parser) or self._turn.is_array
        return self._status < 300 and kind in _STREAMS and not is_coded and not is_whole

    @property
    def response(self) -> ModelResponse:
        """The response so far, of a stream."""
        assert self._stream
        return self._stream.response

    def feed(self, data: bytes) -> bytes:
        """Add a piece of the upstream's body; returns the bytes for the client."""
        if self._turn.is_plain:
            if self._turn.is_kept and len(self._received) <= MAX_BRIDGED_BODY:
                self._received += data
            return data
        if self._stream:
            return self._signer.mark_first_call(self._stream.feed(data), lambda: _parts(self.response))
        self._received += data
        return b""

    def end(self, is_whole: bool = True) -> bytes:
        """End the upstream's response; returns the rest for the client. ``is_whole``: it was not broken off."""
        turn = self._turn
        if turn.is_plain:
            if turn.is_kept and self._status < 300 and len(self._received) <= MAX_BRIDGED_BODY:
                self._remember_unchanged(is_whole)
            return b""
        if self._stream:
            rest = self._signer.mark_first_call(self._stream.end(), lambda: _parts(self.response))
            rest = _without_usage(rest) if turn.is_uncounted else rest
            self._record_changes(self._stream.ids, self._stream.losses)
            self._keep(self._stream.response, self._stream.response, self._stream.ids)
            return rest
        decoded = self._decode(is_whole)
        response = decoded.response
        if response is None or (response.error and not response.messages):
            return self._translate_error(decoded, response)
        return self._translate_whole(response)

    def _decode(self, is_whole: bool) -> DecodedExchange:
        body = Body(bytes(self._received), self._headers.get("content-encoding") or "")
        http = HttpResponse(self._status, self._headers, body)
        state = State.COMPLETE if is_whole else State.ABORTED
        return DecodedExchange(0, Exchange("upstream", None, http, state), self._turn.spoken)

    def _remember_unchanged(self, is_whole: bool) -> None:
        """Remember a response that passed unchanged."""
        response = self._decode(is_whole).response
        if response is not None and response.messages and not response.error:
            self._keep(response, response, {})

    def _translate_whole(self, response: ModelResponse) -> bytes:
        turn, upstream_response = self._turn, response
        if turn.parser:
            response, changes = read_text_calls(response, turn.parser, turn.tools)
            self.changes += changes
        usage = None if turn.is_uncounted else response.usage
        with_ids = self._namer.with_call_ids(replace(response, is_stream=turn.is_stream, usage=usage))
        if turn.client != turn.spoken:
            name = self._namer.response_id(turn.client) or with_ids.id
            with_ids = replace(with_ids, id=name, model=with_ids.model or turn.model or None)
        conversion = convert_response(with_proofs(with_ids, self._signer), self._adapter, declared=self._declared)
        own = {call.id or "": old.id for call, old in zip(_calls(with_ids), _calls(response), strict=True)}
        new_ids = {old: new for new, old in conversion.ids.items()}
        ids = {new_ids.get(name, name): old for name, old in own.items()}
        self._record_changes(conversion.ids, conversion.losses)
        self._keep(upstream_response, response, ids)
        self.head = self._head(_STREAM if turn.is_stream and not turn.is_array else _JSON)
        return _array(conversion.body) if turn.is_array else conversion.body

    def _record_changes(self, ids: Mapping[str, str | None], losses: Sequence[Loss]) -> None:
        turn = self._turn
        if turn.client != turn.spoken:
            self.changes.append(TranslationChange(CONVERSION, f"response from {turn.spoken} to {turn.client}"))
        self.changes += self._signer.changes
        self.changes += (TranslationChange(ID, f"{old or 'a missing id'} becomes {new}") for new, old in ids.items())
        self.changes += (
            TranslationChange(LOSS, f"{loss.pointer or '/'} of the response: {loss.what}: {loss.instead}")
            for loss in losses
        )

    def _keep(self, upstream_response: ModelResponse, read: ModelResponse, ids: Mapping[str, str | None]) -> None:
        """Remember a response.

        Args:
            upstream_response: as the upstream returned it.
            read: the same with tool calls read from its text.
            ids: of calls, client's → upstream's, at least those that differ.
        """
        renamed = set(ids.values())
        known: dict[str, str | None] = {c.id: c.id for c in _calls(read) if c.id and c.id not in renamed}
        if own := _parts(upstream_response):
            seen = content_of(map(self._as_client_sees, _parts(read)))
            self._memory.keep(RememberedResponse(self._name, own, {**known, **ids}, seen, self._turn.context))

    def _as_client_sees(self, part: Part) -> Part:
        """A part in the form that the client has."""
        return self._declared.restore_free_text(part) if isinstance(part, ToolCallIR) else part

    def _translate_error(self, decoded: DecodedExchange, response: ModelResponse | None) -> bytes:
        """An error, or an unreadable body, as an error of the client's protocol with the upstream's status."""
        turn = self._turn
        status = self._status if self._status >= 400 else 502
        self.head = self._head(_JSON, status)
        if response is not None and response.error:
            self.changes.append(TranslationChange(CONVERSION, f"error from {turn.spoken} to {turn.client}"))
            return other_endpoints.error_body(turn.client, status, "", response.error)
        words = decoded.response_text.decode("utf-8", "replace").strip()[:500]
        why = words or "; ".join(p.message for p in decoded.problems) or "the upstream's response is empty"
        self.changes.append(TranslationChange(NOTE, "the upstream's response is not valid for its protocol"))
        return other_endpoints.error_body(turn.client, status, why)

    def _head(self, content_type: str, status: int = 0) -> TranslatedHead:
        kept_headers = [(name, value) for name, value in self._headers if name.lower() in _CARRIED]
        return TranslatedHead(status or self._status, (("content-type", content_type), *kept_headers))


def _without_usage(body: bytes) -> bytes:
    """Complete events of Chat Completions without the usage chunk, which has no choices."""
    return b"\n\n".join(event for event in body.split(b"\n\n") if b'"choices":[]' not in event)


def _array(body: bytes) -> bytes:
    """Data of events as one JSON array."""
    data = (event.data for event in read_stream(body).events)
    return b"[%s]" % b",\r\n".join(each for each in data if each)


def _calls(response: ModelResponse) -> list[ToolCallIR]:
    return [call for message in response.messages for _, call in message.tool_calls()]


def _parts(response: ModelResponse) -> tuple[Part, ...]:
    """Parts of the first choice, in normal form."""
    messages = normal_response(response).response.messages
    return rebase_parts(messages[0]) if messages else ()
