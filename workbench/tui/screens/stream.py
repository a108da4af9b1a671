"""Stream screen: events of a response, the message after each, and the messages that clients build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, getters, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.screen import Screen

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.keymap import keymap_of
from workbench.tui.models.tabs import ROOMY, TOO_SMALL
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, Span, count, line, wrap

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.models.stream import StreamTable
    from workbench.tui.selection import ExchangeSelection


GROWTH_SECONDS = 0.25
"""Seconds between two updates of a growing stream."""


class StreamReady(Message):
    """A decoded stream."""

    def __init__(self, stream: StreamTable) -> None:
        super().__init__()
        self.stream = stream


ALL = 10_000
"""Lines of an event that are shown where its pane has the whole screen."""


class StreamPane(LineView):
    """A list of the stream screen."""

    stream: StreamTable | None = None

    def show(self, stream: StreamTable) -> None:
        """Show a stream."""
        self.stream = stream
        self.reload()

    def nothing(self, width: int) -> list[Line]:
        return wrap("no complete event yet" if self.stream else "reading the stream …", width, "muted")


class EventsPane(StreamPane):
    """Events; the one under the cursor with its bytes."""

    is_accordion = hangs = True

    def count(self) -> int:
        return len(self.stream.events) if self.stream else 0

    def head(self, item: int, width: int) -> Line:
        assert self.stream
        return self.stream.row(item, width)

    def further(self, item: int, width: int) -> list[Line]:
        assert self.stream
        room = self.content_region.height - self.count()
        most = ALL if self.screen.has_class("-zoom") else max(3, room, self.size.height // 2)
        return self.stream.details(item, width, most)

    def find(self, wanted: str, start: int, step: int) -> int | None:
        """Next event that contains the text; None if there is none."""
        total, wanted = self.count(), wanted.casefold()
        numbers = ((start + n * step) % total for n in range(total))
        return next((n for n in numbers if self.stream and self.stream.holds(n, wanted)), None)


class BuiltPane(StreamPane):
    """Message after the event under the cursor."""

    event = 0
    lines: list[Line]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.lines = []

    def show_after(self, event: int, *, stays: bool = False) -> None:
        """Show the message after an event, scrolled to what the event added unless it ``stays``."""
        assert self.stream
        self.event = event
        self.lines, first = self.stream.message(event, self.text_width)
        self.title(line(Span(f" Message after event {event} ")))
        self.reload()
        if not stays:
            self.move_to(first, center=True)

    def count(self) -> int:
        return len(self.lines)

    def head(self, item: int, width: int) -> Line:
        return self.lines[item]

    def on_resize(self, event: object) -> None:
        if self.stream and self.lines:
            self.lines, _ = self.stream.message(self.event, self.text_width)
        self.reload()


class ClientsPane(StreamPane):
    """Messages that known clients build from the stream."""

    is_accordion = fills = hangs = True

    def show(self, stream: StreamTable) -> None:
        super().show(stream)
        self.set_class(not stream.groups, "-none")
        differing = next((n for n, group in enumerate(stream.groups) if not group.agrees), 0)
        self.move_to(differing)
        self._entitle()

    def _entitle(self) -> None:
        if self.stream:
            words = self.stream.agreement if self.text_width >= ROOMY else self.stream.brief_agreement
            self.title(line(Span(f" Clients · {words} " if self.stream.groups else " Clients ")))

    def on_resize(self, event: events.Resize) -> None:
        self._entitle()
        super().on_resize(event)

    def count(self) -> int:
        return len(self.stream.groups) if self.stream else 0

    def head(self, item: int, width: int) -> Line:
        assert self.stream
        return self.stream.group_line(item, is_open=item in self.lines_of.further)

    def further(self, item: int, width: int) -> list[Line]:
        assert self.stream
        return self.stream.group_body(item, width)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.stream.agreement, width, "muted") if self.stream else super().nothing(width)


class StreamScreen(Screen["int | None"]):
    """Steps through a stream. Dismissed with the event to show on the wire, or None.

    Args:
        decoded: an exchange with a streamed response.
        event: event to begin with; None for the first anomaly, else the last event.
        branch: name of the shown branch, for the title; empty for the recorded exchange.
    """

    CSS_PATH = "stream.tcss"
    BINDINGS = keys.bindings(keys.STREAM)

    events = getters.query_one("#events", EventsPane)
    built = getters.query_one("#built", BuiltPane)
    clients = getters.query_one("#clients", ClientsPane)

    def __init__(self, decoded: DecodedExchange, event: int | None = None, branch: str = "") -> None:
        super().__init__()
        self.decoded = decoded
        self.event, self.branch = event, branch
        self.stream: StreamTable | None = None
        self.search = ""
        self._is_reading = True

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="sides"):
            yield EventsPane(id="events")
            yield BuiltPane(id="built")
        yield ClientsPane(id="clients")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self._show_keys()
        self.events.title(line(" Events "))
        self.built.title(line(" Message "))
        self.clients.title(line(" Clients "))
        self.events.focus()
        self._show_headline()
        self._read()

    @work(thread=True, group="stream", exit_on_error=False)
    def _read(self) -> None:
        """Decode the stream, in a thread: a long one takes a second."""
        from workbench import protocols
        from workbench.protocols.clients import where_they_differ
        from workbench.tui.models.stream import StreamTable

        decoded = self.decoded
        assert decoded.protocol
        self.post_message(
            StreamReady(StreamTable(decoded, protocols.get(decoded.protocol), where_they_differ(decoded)))
        )

    def grow(self, decoded: DecodedExchange) -> None:
        """Show more of the response soon; or that it has ended."""
        self.decoded = decoded
        if not self._is_reading:
            self._is_reading = True
            self.set_timer(GROWTH_SECONDS, self._read)

    def on_stream_ready(self, message: StreamReady) -> None:
        before, self.stream = self.stream, message.stream
        is_same = before is not None and self.stream.reuse_steps(before)
        is_at_end = before is None or self.events.cursor >= len(before.events) - 1
        for pane in (self.events, self.built, self.clients):
            pane.show(self.stream)
        if before is None or not before.events:
            self._go(self.stream.start(self.event))
        elif is_at_end or not is_same:
            self._go(len(self.stream.events) - 1 if is_at_end else self.events.cursor, stays=self.built.has_focus)
        self._show_headline()
        self._is_reading = False
        if self.decoded is not self.stream.decoded:
            self.grow(self.decoded)

    def _go(self, event: int, *, stays: bool = False) -> None:
        if self.stream and self.stream.events:
            self.events.move_to(event, center=True)
            self.built.show_after(event, stays=stays)

    def _show_headline(self) -> None:
        decoded = self.stream.decoded if self.stream else self.decoded
        facts = [f"response {decoded.index + 1}", decoded.protocol or ""]
        facts.append(count(len((self.stream or decoded).events), "event"))
        facts += ["still arriving"] if decoded.is_arriving else []
        facts += [f"{len(self.stream.marks):,} marked"] if self.stream and self.stream.marks else []
        title = line(
            Span(" Stream  ", "strong"),
            Span(" · ".join(facts), "muted"),
        )
        self.query_one("#headline", Bar).show([(*title, Span(self.branch, "warning"))])

    def _show_keys(self) -> None:
        search = f"/{visible(self.search[:20])}  " if self.search else ""
        self.query_one("#keys", KeyBar).show_keys(keys.STREAM, search)

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.events and self.stream:
            self.built.show_after(self.events.cursor)
        elif message.view is self.clients and self.stream:
            event = self.stream.groups[self.clients.cursor].event
            if event is not None and event < len(self.stream.events):
                self._go(event)

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        if self.stream and self.stream.events:
            self.dismiss(self.events.cursor)

    def action_mark(self, step: int) -> None:
        """Go to the next marked event; to the next match, if the user's keys have none for that."""
        if self.search and keymap_of(self.app).is_off("stream.next-match"):
            self.action_match(step)
            return
        found = self.stream.next_mark(self.events.cursor, step) if self.stream else None
        if found is None:
            self.notify(f"no {'further' if step > 0 else 'earlier'} marked event", markup=False)
        else:
            self._go(found)

    def action_match(self, step: int) -> None:
        found = self.events.find(self.search, self.events.cursor + step, step) if self.search and self.stream else None
        if found is not None:
            self._go(found)
        elif self.search:
            self.notify(f"not found: {visible(self.search)}", markup=False)

    def action_search(self) -> None:
        from workbench.tui.screens.questions import AskScreen

        self.app.push_screen(AskScreen("Search", "in the events: n next, N previous", self.search), self._start_search)

    def _start_search(self, wanted: str | None) -> None:
        self.search = wanted or ""
        self._show_keys()
        self.action_match(1)

    def action_pane(self, step: int) -> None:
        """Go to the next pane."""
        panes: list[StreamPane] = [self.events, self.built, self.clients]
        here = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        panes[(here + step) % len(panes)].focus(scroll_visible=False)

    def action_zoom(self) -> None:
        """Show the focused pane alone, or all panes."""
        self.toggle_class("-zoom")

    def action_leave(self) -> None:
        if self.search:
            self.search = ""
            self._show_keys()
        elif self.has_class("-zoom"):
            self.remove_class("-zoom")
        else:
            self.dismiss(None)

    def action_back(self) -> None:
        self.dismiss(None)


def why_not(exchange_view: ExchangeView) -> str:
    """Reason that there is no stream to step through; empty if there is one."""
    if exchange_view.decoded.is_arriving and not exchange_view.decoded.response_text:
        return "no response data yet"
    if exchange_view.decoded.exchange.response is None:
        return "there is no response"
    if not exchange_view.decoded.events:
        return "the response is not a stream; it has one body"
    return "" if exchange_view.decoded.response else f"the stream is not decoded: {exchange_view.decoded.protocol_from}"


def selected_event(exchange_view: ExchangeView, selection: ExchangeSelection | None) -> int | None:
    """Event of a selection; None if it has none, or is on the event still arriving (the end is shown then)."""
    if selection is None or selection.side != "response" or not selection.events:
        return None
    is_growing = exchange_view.decoded.is_arriving and exchange_view.decoded.events[-1].number in selection.events
    return None if is_growing else selection.events[0]
