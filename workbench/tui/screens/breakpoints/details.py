"""Details of the line under the cursor: reason and bytes of a pause, or the description of a breakpoint."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.errors import WorkbenchError
from workbench.recorder.breakpoints import FRAMES, KINDS, TOOLS
from workbench.tui.models import pauses
from workbench.tui.models.pauses import PausedSide
from workbench.tui.models.rowtable import StyledSpans
from workbench.tui.widgets.breakpoint_list import FILTER
from workbench.views import REQUEST, Line, count, line, wrap
from workbench.wire import JsonIndex

if TYPE_CHECKING:
    from workbench.recorder.breakpoints import Remote
    from workbench.tui.screens.breakpoints.screen import BreakpointsScreen


class PausedBody(Message):
    """Bytes of a paused exchange."""

    def __init__(self, paused: PausedSide, body: bytes) -> None:
        super().__init__()
        self.paused, self.body = paused, body


class PauseDetails:
    """Shows why an exchange is paused, and its bytes; for a breakpoint, which exchanges it pauses."""

    def __init__(self, screen: BreakpointsScreen) -> None:
        self.screen = screen
        self._bodies: dict[tuple[object, int], bytes] = {}
        self._detail_key: object = None

    def show(self) -> None:
        """Show the line under the cursor."""
        screen, here, paused = self.screen, self.screen.points.here, self.screen.paused_here
        if paused:
            number = screen.session.state.number_of(paused.exchange)
            body, armed = self.body_of(paused), screen.listener.armed_names
            lines = pauses.facts(paused, number, screen.read_at, screen.why.text_width, body, armed)
            screen.why.title(line(f" Why {pauses.paused_name(paused, number)} is paused "))
        else:
            lines = self._describe(here.kind if here else "")
            screen.why.title(line(" Breakpoint "))
        screen.why.show(len(lines), lines.__getitem__)
        key = here.key if here else None
        if key != self._detail_key:
            self._detail_key = key
            self._show_body(paused)

    def _describe(self, kind: str) -> list[Line]:
        """Description of a breakpoint; empty for a heading."""
        words = "exchanges that match this filter"
        if kind.startswith(TOOLS):
            words = "a tools/call before it is sent, and its result before it is returned"
        if kind.startswith(FRAMES):
            words = "messages of this type on WebSockets opened from now on"
        texts: tuple[str, ...] = (kind, f"Pauses {words}.") if kind else ()
        if kind in KINDS:
            sides = " and ".join(f"the {side}" for side in ("request", "response") if side in KINDS[kind].sides)
            rules = dict.fromkeys(r for some in KINDS[kind].rules.values() for r in some)
            names = ", ".join(f"{r}*" if r.endswith(".") else r for r in rules)
            names = " but ".join(filter(None, (names, ", ".join(KINDS[kind].excluded))))
            texts = (f"{KINDS[kind].description}.", f"Checks {sides} before forwarding.", f"Rules: {names}")
        elif kind == FILTER:
            texts = (
                "A filter, as with & in the session: tool:bash, status:4xx, text~word, rule:closure, and not.",
                "mcp:SERVER or mcp:SERVER/TOOL: calls to a tool server, and their results.",
                "frame:TYPE, frame:sent/TYPE, frame:received/TYPE: messages of WebSockets opened from now on.",
            )
        return [piece for text in texts for piece in wrap(text, self.screen.why.text_width, "muted")]

    # Bytes.

    def body_of(self, paused: PausedSide) -> bytes | None:
        """Bytes of a paused exchange; None until they are loaded."""
        return self._bodies.get((paused.recorder, paused.id))

    def take(self, message: PausedBody) -> None:
        """Keep the bytes of a paused exchange, and show them if the cursor is on it."""
        key = (message.paused.recorder, message.paused.id)
        self._bodies[key] = message.body
        if self.screen.points.here and self.screen.points.here.key == key:
            self._show_body(message.paused)
            self.show()

    def _show_body(self, paused: PausedSide | None) -> None:
        screen = self.screen
        body = self.body_of(paused) if paused else None
        if paused is None or body is None:
            screen.body.title(line(" Paused "))
            screen.body.show(b"", why="reading the paused bytes …" if paused else "select a paused exchange")
            if paused:
                screen.listener.decide(paused, partial(self._read, paused))
            return
        spans = []
        with suppress(WorkbenchError):
            index = JsonIndex(body)
            spans = [span for why in paused.reasons if why.pointer and (span := index.span(why.pointer))]
        side = "request body" if paused.side == REQUEST else "response body"
        side = f"message {'sent' if paused.side == REQUEST else 'received'}" if paused.is_message else side
        sent = f", the first {paused.sent:,} already forwarded" if paused.sent else ""
        screen.body.title(line(f" Paused · {side} · {count(len(body), 'byte')}{sent} "))
        screen.body.show(body, (StyledSpans("broken", tuple(sorted(spans))),), "no body")
        waiting = ((paused.sent, len(body)),) if 0 < paused.sent < len(body) else ()
        screen.body.mark_range(tuple(spans[:1]) or waiting)

    def _read(self, paused: PausedSide, remote: Remote) -> None:
        """Load the bytes of a paused exchange, in a thread of the listener."""
        self.screen.post_message(PausedBody(paused, remote.body(paused.id)))
