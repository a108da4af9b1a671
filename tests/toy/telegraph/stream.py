"""The stream decoder: events to a response, with the event and the bytes of each piece."""

from __future__ import annotations

from dataclasses import replace

from telegraph.reading import describe, read_errand, read_fault

from workbench.errors import WireError
from workbench.ir import Anomaly, ApiError, JsonValue, Message, ModelResponse, Part, Source, Text, ToolCallIR
from workbench.protocols import StreamingPart
from workbench.protocols.common.pieces import GrowingText, Pieces, WholePart
from workbench.protocols.common.reading import Notes
from workbench.wire.jsontext import loads
from workbench.wire.sse import SseEvent


class StreamDecoder:
    """Builds the response of one stream. The same events give the same response, however the bytes were cut."""

    def __init__(self) -> None:
        self.growing: list[StreamingPart] = []
        self._about: dict[str, JsonValue] = {}
        self._words = Pieces()
        self._errands: list[tuple[dict[str, JsonValue], int, Pieces]] = []
        self._anomalies: list[Anomaly] = []
        self._error: ApiError | None = None
        self._closed: tuple[int, ...] = ()

    def feed(self, event: SseEvent) -> None:
        """Read one event. Hostile input becomes an anomaly."""
        if event.data is None:
            return
        try:
            value = loads(event.data)
        except WireError as error:
            slug = "stream.framing" if event.terminated else "stream.truncated"
            self._anomalies.append(Anomaly(slug, f"an event is {error.what}", events=(event.number,)))
            return
        if not isinstance(value, dict):
            value = {}
        match event.name:
            case "open":
                self._about.update(value)
            case "words" if isinstance(value.get("add"), str):
                if not self._words:
                    self.growing.append(GrowingText(Text(""), self._words))
                self._words.add(value["add"], event.number, "/add")
            case "errand":
                self._errands.append((value, event.number, Pieces()))
            case "orders" if self._errands and isinstance(value.get("add"), str):
                self._errands[-1][2].add(value["add"], event.number, "/add")
            case "close":
                self._about.update(value)
                self._closed = (event.number,)
                self.growing += (WholePart(call) for call in self._calls())
            case _:
                self._error = self._error or read_fault(value)
                slug = "stream.error-event" if self._error else "stream.unknown-event"
                self._anomalies.append(Anomaly(slug, f"an event {event.name!r}", events=(event.number,)))

    def result(self) -> ModelResponse:
        """The response so far."""
        parts: list[Part] = []
        if self._words:
            source = Source("/words", {"text": ""}, {"text": self._words.segments()}, tuple(self._words.events))
            parts.append(Text(self._words.text, source=source))
        parts += self._calls()
        messages = (Message("assistant", tuple(parts), pointer="/reply"),) if parts or self._about else ()
        ending = () if self._closed or self._error else (Anomaly("stream.no-terminator", "no close event came"),)
        return replace(
            describe(self._about, messages, Notes()),
            error=self._error,
            is_stream=True,
            is_complete=bool(self._closed),
            anomalies=(*self._anomalies, *ending),
            finish_events=self._closed,
        )

    def about(self) -> ModelResponse:
        """The response without its content."""
        return replace(describe(self._about, (), Notes()), is_stream=True)

    def _calls(self) -> list[ToolCallIR]:
        return [_call(*errand, at=f"/errands/{n}") for n, errand in enumerate(self._errands)]


def _call(value: dict[str, JsonValue], event: int, orders: Pieces, *, at: str) -> ToolCallIR:
    """A tool call from its event and the events of its arguments."""
    error = None
    try:
        given = loads(orders.text.encode("utf-8", "surrogatepass") or b"{}")
    except WireError as wrong:
        given, error = None, wrong.what
    whole = read_errand(value, at, Notes())
    segments = {}
    for name, suffix in whole.source.fields.items():
        head = Pieces()
        head.add("", event, suffix)
        segments[name] = head.segments()
    segments["input"] = segments["raw"] = orders.segments()
    fields = {**whole.source.fields, "input": "/with", "raw": "/with"}
    source = Source(at, fields, segments, (event, *orders.events))
    return replace(whole, input=given, raw=orders.text, error=error, source=source)
