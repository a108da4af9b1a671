"""Decode one exchange: find its protocol, decode both sides, and find the bytes of each node."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any

from workbench import protocols
from workbench.errors import ProtocolMismatch, WireError
from workbench.fronts import late
from workbench.ir import Anomaly, Message, ModelRequest, ModelResponse, Part, Segment, Source, Text
from workbench.lazy_dataclass import replace
from workbench.protocols import Adapter, UrlFacts
from workbench.protocols.detection import TEXT, WITHOUT_BODY, SidesToDetect, detect_protocol
from workbench.protocols.history import merged_turns
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.mcp import as_tool_request
from workbench.protocols.request_reading import RequestReading
from workbench.protocols.wire_place import WirePlace
from workbench.toolcalls import formats
from workbench.wire import (
    BodyText,
    Exchange,
    Fidelity,
    Framing,
    HttpRequest,
    HttpResponse,
    JsonIndex,
    Members,
    SseEvent,
    State,
    WholeText,
    decode_partial,
    fidelity_of,
    is_plain_text,
    is_sealed,
    read_stream,
)

(
    find_in_envelope,
    move_below,
    instead,
    claims,
    foreign_stream,
    stream_of,
    unwrap_stream,
    strange_stream,
    with_own_fields,
    note_envelope,
) = late(
    "workbench.protocols._misread",
    "find_in_envelope",
    "move_below",
    "instead",
    "claims",
    "foreign_stream",
    "stream_of",
    "unwrap_stream",
    "strange_stream",
    "with_own_fields",
    "note_envelope",
)

REQUEST, RESPONSE = "request", "response"
_UNREAD = {REQUEST: "request.unread", RESPONSE: "answer.unread"}
"""Slug of the rule for a side that a protocol claims and that could not be decoded, by side."""
AS_TEXT = (
    "read as plain text, because it has no tool call and no known format; "
    "for text that a model wrote, use --protocol text"
)
"""Problem of a text that was not declared as a model's and does not look like one."""

_OF_THE_END = ("stream.truncated", "stream.no-terminator")
"""Anomalies of the end of a stream; they do not count while it is still arriving."""

_SHOWN_FAULTS = 3
_BLANKS = 64
"""Number of bytes in which a body that is not blank has to begin."""

_ERROR_TYPE = "x-amzn-errortype"
"""Header with the type of an error whose body has only a message; a URL may follow after a colon."""


class DecodedExchange:
    """One exchange with everything that could be decoded.

    Attributes:
        index: position in the session, from zero.
        protocol: name; None if it is not a model exchange.
        protocol_from: how the protocol was found, in words.
        request, response: None if the side is missing or could not be decoded; ``problems`` states why. In an exchange
            that is still open, ``response`` is what has arrived so far, without anomalies of its end; parts that cannot
            be decoded are not a problem yet.
        request_body, response_text: content-decoded bodies; that of a request may be in pieces, which ``request_text``
            joins.
        request_reading: reading from which later requests continue; None without ``known``.
        framing: what separates the events of a streamed response.
        events: events of a streamed response; empty otherwise.
        facts: results that were already derived from it (``history.fact``).

    Args:
        before: the same exchange when it had less content: its request is already decoded.
        known: messages of other requests of the session, which this one may repeat.
        among: protocols to choose from, unless URL or body clearly belong to another one; empty for all.
        is_sorted: it was ``as_tool_request`` that made the exchange.
    """

    def __init__(
        self,
        index: int,
        exchange: Exchange,
        protocol: str | None = None,
        before: DecodedExchange | None = None,
        known: KnownMessages | None = None,
        among: Collection[str] = (),
        *,
        is_sorted: bool = False,
    ) -> None:
        self.index = index
        self.exchange = exchange = exchange if is_sorted else as_tool_request(exchange)
        self.facts: dict[Any, Any] = {}
        self.problems: list[Anomaly] = []
        self.request: ModelRequest | None = None
        self.response: ModelResponse | None = None
        self.request_reading: RequestReading | None = None
        self.request_body = self._body(exchange.request, REQUEST)
        self.response_text = self._body(exchange.response, RESPONSE).whole()
        content_type = (exchange.response and exchange.response.headers.get("content-type")) or ""
        self.framing, self.events = self._stream(content_type)
        sides = SidesToDetect(self.request_body, self.response_text, self.events)
        self.protocol, self.protocol_from = detect_protocol(exchange, sides, protocol, among)
        adapter = _adapter_of(self.protocol)
        if adapter:
            self._decode_request(adapter, before, known)
            self._add_url_facts(adapter)
            self._decode_response(adapter)
            self._judge_framing()
        elif self.protocol == TEXT:
            self._decode_text(is_asked=protocol == TEXT)
        elif self.protocol:
            self._recognise()
        elif exchange.request and exchange.request.url and not any(p.slug == _UNREAD[REQUEST] for p in self.problems):
            self.problems.clear()  # of an answer that nobody claims

    def _body(self, http: HttpRequest | HttpResponse | None, side: str) -> BodyText:
        if http is None:
            return WholeText(b"")
        if is_plain_text(http.body):
            return http.body.text
        text, problem = decode_partial(http.body)
        if not http.body.raw and http.body.original_length:
            problem = http.body.note or "the body was not recorded"
        if problem:
            self._note(side, problem)
        return WholeText(text)

    def _stream(self, content_type: str) -> tuple[Framing | None, tuple[SseEvent, ...]]:
        stream = read_stream(self.response_text, content_type)
        self._faults = stream.faults
        if self.response_text.lstrip()[:1] == b"<" and not any(event.data is not None for event in stream.events):
            return None, ()  # a page that says it were a stream
        return stream.framing, stream.events

    def _note(self, side: str, problem: object, slug: str = "") -> None:
        if (side == REQUEST or not self.is_arriving) and len(self.problems) <= _SHOWN_FAULTS:
            self.problems.append(Anomaly(slug or _UNREAD[side], f"{side}: {problem}"))

    def _recognise(self) -> None:
        """Say of each side that came that no adapter decodes it."""
        sides = [side for side, text in ((REQUEST, self.request_text), (RESPONSE, self.response_text)) if text.strip()]
        text = f"{self.protocol} is recognised but not decoded by this version"
        self.problems += (Anomaly(_UNREAD[side], text) for side in sides or (REQUEST,))

    @property
    def unread(self) -> str:
        """Reason why a response could not be decoded; empty if it was, or if there is none."""
        if self.response or self.is_arriving:
            return ""
        return "; ".join(p.message for p in self.problems if p.message.startswith(f"{RESPONSE}: "))

    @property
    def answer(self) -> ModelResponse | None:
        """The response; None while it is still arriving."""
        return None if self.is_arriving else self.response

    @property
    def is_arriving(self) -> bool:
        """True if more of the exchange may arrive, so that its end is unknown."""
        return self.exchange.state is State.OPEN

    def _decode_request(self, adapter: Adapter, before: DecodedExchange | None, known: KnownMessages | None) -> None:
        if self.is_blank:
            http = self.exchange.request
            is_expected = http and http.url and http.method not in WITHOUT_BODY and not self.problems
            if is_expected and fidelity_of(self.exchange) is not Fidelity.SAMPLED:
                self._note(REQUEST, "the request has no body")
            return
        if before and before.request and (before.protocol, before.request_text) == (self.protocol, self.request_text):
            self.request, self.request_index = before.request, before.request_index
            return
        try:
            if known:
                self.request, self.request_reading = known.decode(adapter, self.request_body)
            else:
                self.request = adapter.decode_request(self.request_text)
        except (WireError, ProtocolMismatch) as error:
            self._note(REQUEST, error)

    def _add_url_facts(self, adapter: Adapter) -> None:
        """Add what only the URL states: the model's name, and that a stream is requested."""
        request, url = self.request, self.exchange.request.url if self.exchange.request else ""
        facts = adapter.read_url(url) if url else UrlFacts()
        if request and facts != (None, None):
            model = facts.model if request.model is None else request.model
            self.request = replace(request, model=model, stream=request.stream or facts.stream is True)

    def _decode_response(self, adapter: Adapter) -> None:
        http = self.exchange.response
        if http is None or not self.response_text.strip():
            return
        if self.events:
            self._decode_stream(adapter)
            return
        try:
            response = adapter.decode_response(self.response_text, status=http.status)
            mismatch: Exception | None = None
        except (WireError, ProtocolMismatch) as error:
            response, mismatch = ModelResponse(adapter.name), error
        if http.status < 400 and (mismatch or response.error):
            found = find_in_envelope(adapter, self.response_text)
            if found:
                inner = adapter.decode_response(found.text, status=http.status)
                response, mismatch = move_below(inner, found.pointer), None
        if mismatch:
            what = instead(adapter, self.response_text, mismatch)
            is_unknown = isinstance(mismatch, ProtocolMismatch) and self._is_of_any_maker(adapter)
            self._note(RESPONSE, what.message, "" if is_unknown else what.slug)
            return
        kind = http.headers.get(_ERROR_TYPE) if response.error and response.error.type is None else None
        if response.error and kind:
            response = replace(response, error=replace(response.error, type=kind.partition(":")[0]))
        self.response = response

    def _is_of_any_maker(self, adapter: Adapter) -> bool:
        """The request did not tell whose answer is to come: it was not read, or is a text for whichever model."""
        url = self.exchange.request.url if self.exchange.request else ""
        if self.is_blank or self.request is None:
            return not self.is_blank
        if adapter.shares_urls:
            return b'"messages"' not in self.request_text
        return bool(url) and any(a.shares_urls and a.claims_url(url) for a in protocols.every())

    def _decode_stream(self, adapter: Adapter) -> None:
        """A stream of the protocol; or one in an envelope, which is taken off; or none of this protocol."""
        envelope = ""
        if not claims(adapter, self.events):
            other = foreign_stream(adapter, self.events)
            if other:
                what = stream_of(other)
                self._note(RESPONSE, what.message, what.slug)
                return
            found = unwrap_stream(adapter, self.events)
            strange = strange_stream(self.events) if found is None and self._is_of_any_maker(adapter) else ""
            if strange:
                self._note(RESPONSE, strange)
                return
            envelope, self.events = found or ("", self.events)
        decoder = adapter.stream_decoder()
        for event in self.events:
            decoder.feed(event)
        response = with_own_fields(decoder.result(), self.events)
        if self.is_arriving:
            so_far = tuple(a for a in response.anomalies if a.slug not in _OF_THE_END)
            response = replace(response, anomalies=so_far)
        self.response = note_envelope(response, envelope) if envelope else response

    def _decode_text(self, *, is_asked: bool) -> None:
        """A text is a model's output if the caller says so, or if it contains a sign of that."""
        if is_asked or formats.is_marked(self.response_text.decode("utf-8", "replace")):
            self.response = _text_answer(self.response_text)
        else:
            self._note(RESPONSE, AS_TEXT)

    def _judge_framing(self) -> None:
        """Faults of the framing: anomalies of the stream, and problems where bytes could not be read."""
        last = len(self.events) - 1
        known = {(a.slug, n) for a in (self.response.anomalies if self.response else ()) for n in a.events}
        found: list[Anomaly] = []
        for fault in self._faults:
            if fault.event > last or (self.is_arriving and fault.event == last):
                continue
            is_read = self.events[fault.event].terminated
            slug = "stream.truncated" if not is_read and fault.event == last else "stream.framing"
            if (slug, fault.event) not in known:
                found.append(Anomaly(slug, fault.text, events=(fault.event,)))
            if not is_read or not self.response:
                self._note(RESPONSE, fault.text)
        if len(found) > _SHOWN_FAULTS:
            rest = tuple(n for fault in found[_SHOWN_FAULTS:] for n in fault.events)
            found[_SHOWN_FAULTS:] = [Anomaly("stream.framing", f"{len(rest):,} more events with faults", events=rest)]
        if self.response and found:
            self.response = replace(self.response, anomalies=(*self.response.anomalies, *found))

    @cached_property
    def request_text(self) -> bytes:
        """The content-decoded request body."""
        return self.request_body.whole()

    @cached_property
    def is_blank(self) -> bool:
        """True if the request has no body, or only blanks."""
        return not self.request_body.between(0, _BLANKS).strip() and not self.request_text.strip()

    @cached_property
    def request_index(self) -> JsonIndex:
        """Byte spans of the request body."""
        return self.request_reading.index(self.request_text) if self.request_reading else JsonIndex(self.request_text)

    @cached_property
    def request_members(self) -> Members:
        """The top-level members of the request body, parsed once."""
        return self.request_reading.members if self.request_reading else Members(self.request_body)

    def request_has(self, test: Callable[[bytes], object]) -> bool:
        """True if a test is true of the request body; if it continues another request, only the new part is examined.

        Args:
            test: a function of a module, true of a text if it is true of a part of it between two messages.
        """
        return self.request_reading.has(test) if self.request_reading else bool(test(self.request_text))

    @cached_property
    def response_index(self) -> JsonIndex:
        """Byte spans of a response body that is not a stream."""
        return JsonIndex(self.response_text)

    @cached_property
    def turns(self) -> Sequence[tuple[int, int]]:
        """For each message of the request: the turn it is in, and the parts of that turn before it.

        Neighbours of one role are one turn, as providers that merge them count (recorded, anthropic SDK snapshots).
        """
        return merged_turns(self.messages(REQUEST))

    def messages(self, side: str) -> tuple[Message, ...]:
        """The messages of one side."""
        decoded = self.request if side == REQUEST else self.response
        return decoded.messages if decoded else ()

    def place(self, side: str, pointer: str) -> WirePlace:
        """Byte range of a pointer; empty if it is not on the wire."""
        if side == RESPONSE and self.events:
            return self._stream_place(pointer)
        if self.protocol == TEXT:
            return WirePlace(((0, len(self.response_text)),))
        known = self.request_reading.span_in_message(pointer) if side == REQUEST and self.request_reading else None
        span = known or (self.request_index if side == REQUEST else self.response_index).span(pointer)
        return WirePlace((span,)) if span else WirePlace()

    def place_within(self, side: str, message: Message, part: Part, name: str, piece: tuple[int, int]) -> WirePlace:
        """Byte range of the characters ``piece`` of a text field of a part."""
        first, _ = part.source.slices.get(name, (0, 0))
        piece = (first + piece[0], first + piece[1])
        slices = {**part.source.slices, name: piece}
        return self.place_of(side, message, replace(part, source=replace(part.source, slices=slices)), name)

    def place_of(self, side: str, message: Message, part: Part, name: str | None = None) -> WirePlace:
        """Byte range of a part, or of one field; of a part that is a slice of a string, the range of that slice."""
        slice_ = part.source.slices.get(name or "text")
        if side == RESPONSE and self.events:
            segments = part.source.segments.get(name or ("text" if slice_ else ""), ())
            found = self._segments(segments) if segments else self.place_events(part.source.events)
            has_bytes = segments and not any(is_sealed(self.events[n]) for n in found.events if n < len(self.events))
            return found.cut(self.response_text, *slice_) if slice_ and has_bytes else found
        if self.protocol == TEXT:
            start, end = (_byte_at(self.response_text, n) for n in slice_ or (0, len(self.response_text)))
            return WirePlace(((start, end),))
        found = self.place(side, message.absolute(part, name or ("text" if slice_ else None)))
        return found.cut(self.request_text if side == REQUEST else self.response_text, *slice_) if slice_ else found

    def arrival(self, event: SseEvent) -> float | None:
        """Seconds from the start of the exchange until the event had arrived; None if the recording has no times."""
        body = self.exchange.response.body if self.exchange.response else None
        if body is None or body.encoding or not body.is_raw:
            return None  # the times are those of other bytes
        position = bisect_left(body.chunks, event.end, key=lambda chunk: chunk.end)
        return body.chunks[position].at if position < len(body.chunks) else None

    def place_events(self, numbers: tuple[int, ...]) -> WirePlace:
        """The byte ranges of whole events of the stream."""
        known = [n for n in numbers if 0 <= n < len(self.events)]
        return WirePlace(tuple([(self.events[n].start, self.events[n].end) for n in known]), tuple(numbers))

    def _segments(self, segments: tuple[Segment, ...]) -> WirePlace:
        spans = [self.events[s.event].span(s.pointer) for s in segments if s.event < len(self.events)]
        return WirePlace(tuple(s for s in spans if s), tuple(dict.fromkeys(s.event for s in segments)))

    def _stream_place(self, pointer: str) -> WirePlace:
        """The segments of the fields that a pointer into the accumulated message names, or its node's blocks."""
        found: list[WirePlace] = []
        node_place = WirePlace()
        for message in self.messages(RESPONSE):
            for part in message.parts:
                for name in part.source.segments:
                    if _is_in(pointer, message.absolute(part, name)):
                        found.append(self.place_of(RESPONSE, message, part, name))
                if _is_in(pointer, message.absolute(part)):
                    node_place = self.place_events(part.source.events)
        spans = dict.fromkeys(span for place in found for span in place.spans)
        events = dict.fromkeys(event for place in found for event in place.events)
        return WirePlace(tuple(spans), tuple(events)) if found else node_place


def _is_in(pointer: str, node: str) -> bool:
    return pointer == node or pointer.startswith(node + "/")


def _text_answer(body: bytes) -> ModelResponse:
    whole = Text(body.decode("utf-8", "replace"), source=Source(fields={"text": ""}))
    return ModelResponse(TEXT, messages=(Message("assistant", (whole,)),))


def _byte_at(text: bytes, character: int) -> int:
    """The byte at which a character of a text begins."""
    return min(len(text.decode("utf-8", "replace")[:character].encode("utf-8", "replace")), len(text))


def _adapter_of(protocol: str | None) -> Adapter | None:
    return protocols.get(protocol) if protocol in protocols.protocols() and protocol else None
