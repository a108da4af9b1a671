"""Conversion screen: the selected request or response in another protocol, side by side, with losses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.tui import keys
from workbench.tui.action_forwarding import ActionOf
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.list_search import search_of
from workbench.tui.models import conversion
from workbench.tui.models.branches import title_with_branch
from workbench.tui.models.conversion import ConversionView
from workbench.tui.models.rowtable import StyledSpans
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.selection import SessionSpot
from workbench.tui.service import JobAnswer, guard, is_open
from workbench.tui.widgets.body import BodyPane
from workbench.tui.widgets.lineview import LineView
from workbench.views import REQUEST, RESPONSE, Line, Span, count, id_line, line, loss_line, wrap

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.tui.service import Job


class LossesPane(LineView):
    """Losses of the conversion, then renamed ids."""

    is_accordion = hangs = True
    shown: ConversionView | None = None
    why = "converting …"

    def show(self, view: ConversionView | None, why: str = "") -> None:
        self.shown, self.why = view, why
        self._ids = tuple(view.converted.ids.items()) if view else ()
        self.cursor = 0
        self.reload()

    def count(self) -> int:
        return len(self.shown.converted.losses) + len(self._ids) if self.shown else 0

    def head(self, item: int, width: int) -> Line:
        assert self.shown
        losses = self.shown.converted.losses
        if item < len(losses):
            return loss_line(losses[item])
        return id_line(*self._ids[item - len(losses)])

    def further(self, item: int, width: int) -> list[Line]:
        assert self.shown
        losses = self.shown.converted.losses
        return wrap(losses[item].instead, width, "info", indent=2, most=8) if item < len(losses) else []

    def spans(self) -> tuple[tuple[int, int], ...]:
        """Byte spans of the loss under the cursor in the source body."""
        if self.shown is None or self.cursor >= len(self.shown.places):
            return ()
        return self.shown.places[self.cursor]

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted")


def converting(screen: ConversionScreen, index: int, side: str, target: str) -> Job:
    """Question that converts one side of an exchange to another protocol."""

    def job(inspector: Inspector) -> JobAnswer:
        from workbench.convert import convert
        from workbench.errors import WorkbenchError

        decoded = inspector.detail(index).decoded
        try:
            converted = convert(decoded, target, side=side)
        except WorkbenchError as error:
            why = str(error)
            return JobAnswer(lambda: screen.show_conversion(index, side, None, why))
        body = decoded.request_text if side == REQUEST else decoded.response_text
        places = tuple(decoded.place(side, loss.pointer).spans if loss.pointer else () for loss in converted.losses)
        read = conversion.readable(converted.body, converted.content_type)
        conversion_view = ConversionView(index, side, decoded.protocol or "", body, converted, places, read)
        return JobAnswer(lambda: screen.show_conversion(index, side, conversion_view))

    return job


class ConversionScreen(Screen["SessionSpot | None"]):
    """Converts an exchange. Dismissed with the place of a loss to show, or None.

    Args:
        ask: puts a question to the inspector's thread.
        index: index of the exchange.
        side: side of the exchange.
        source: protocol of the exchange.
        last: index of the last inspected exchange.
        branch_of: names the shown branch of an exchange; empty for the recorded request.
    """

    CSS_PATH = "conversion.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.CONVERSION
    BINDINGS = keys.bindings(keys.CONVERSION)

    before = getters.query_one("#before", BodyPane)
    after = getters.query_one("#after", BodyPane)
    losses = getters.query_one("#losses", LossesPane)

    def __init__(
        self,
        ask: Callable[[Job], None],
        index: int,
        side: str,
        source: str | None,
        last: int,
        branch_of: Callable[[int], str],
    ) -> None:
        super().__init__()
        self.search = search_of(self)
        from workbench import protocols

        self.ask = ask
        self.index, self.side, self.last = index, side, last
        self.branch_of = branch_of
        self.targets = protocols.protocols()
        self._headline: Line = ()
        self.target = next((name for name in self.targets if name != source), self.targets[0])

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="bodies"):
            yield BodyPane(id="before")
            yield BodyPane(id="after")
        yield LossesPane(id="losses")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_LOSS, *keys.CONVERSION])
        self.after.add_class("-front")
        self.losses.focus()
        self._ask()

    def _ask(self) -> None:
        self._say(line(Span(f" Converting {self.side} {self.index + 1} to {self.target} …", "muted")))
        fail = partial(self.show_conversion, self.index, self.side, None)
        self.ask(guard(converting(self, self.index, self.side, self.target), fail))

    def _say(self, title: Line) -> None:
        self._headline = title
        headline = title_with_branch(title, self.branch_of(self.index))
        self.query_one("#headline", Bar).show(
            [headline, conversion.choices(self.targets, self.target, self.size.width)]
        )

    def on_resize(self) -> None:
        self._say(self._headline)
        if self.losses.shown:
            self._entitle(self.losses.shown)

    def show_conversion(self, index: int, side: str, view: ConversionView | None, why: str = "") -> None:
        """Show a conversion, or the reason that there is none."""
        is_wanted = (index, side) == (self.index, self.side)
        if not is_open(self) or not is_wanted or (view and view.converted.protocol != self.target):
            return
        if view is None:
            self._say(line(Span(f" {side.capitalize()} {index + 1} cannot be converted", "warning")))
            for pane in (self.before, self.after):
                pane.show(b"")
                pane.title(line(""))
            self.losses.show(None, why)
            self.losses.title(line(" Reason "))
            return
        converted = view.converted
        self._say(conversion.headline(view))
        lost = tuple(sorted(span for spans in view.places for span in spans))
        self.before.show(view.body, (StyledSpans("doubtful", lost),), f"the {side} has no body")
        self.after.show(view.read, (), "nothing remains after the conversion")
        self.losses.show(view, "nothing lost, no id renamed")
        self._entitle(view)
        ids = f" · {count(len(converted.ids), 'id')} renamed" if converted.ids else ""
        self.losses.title(line(f" Losses · {len(converted.losses):,}{ids} "))
        self._show_loss()

    def _entitle(self, view: ConversionView) -> None:
        has_other = self.has_class("-narrow")
        self.before.title(conversion.source_title(view, has_other=has_other))
        self.after.title(conversion.target_title(view, has_other=has_other))

    def _show_loss(self) -> None:
        """Light the loss under the cursor; if there is room for one body only, show the one that has it."""
        spans = self.losses.spans()
        self._bring_to_front(self.before if spans else self.after)
        self.before.mark_range(spans)

    def _bring_to_front(self, front: LineView) -> None:
        for body in (self.before, self.after):
            body.set_class(body is front, "-front")

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.losses:
            self._show_loss()

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        spans = self.losses.spans() if message.view is self.losses else ()
        if not spans and message.view is self.losses:
            self.notify("no bytes of the recording belong to this loss", markup=False)
        if spans:
            self.dismiss(SessionSpot(self.index, self.side, spans[0][0]))

    action_search = ActionOf("search", "ask")
    action_match = ActionOf("search")
    action_leave = ActionOf("search")

    def action_pane(self, step: int) -> None:
        """Go to the next pane; if there is room for one body only, it replaces the other."""
        panes: list[LineView] = [self.before, self.after, self.losses]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 2)
        pane = panes[(at + step) % len(panes)]
        if pane is not self.losses:
            self._bring_to_front(pane)
        pane.focus()

    def action_target(self, step: int) -> None:
        """Convert to the next protocol."""
        self.target = self.targets[(self.targets.index(self.target) + step) % len(self.targets)]
        self._ask()

    def action_side(self) -> None:
        """Convert the other side of the exchange."""
        self.side = RESPONSE if self.side == REQUEST else REQUEST
        self._ask()

    def action_exchange(self, step: int) -> None:
        """Convert another exchange of the session."""
        self.index = max(0, min(self.index + step, self.last))
        self._ask()

    def action_write(self) -> None:
        """Write the converted body to a file."""
        from workbench.tui.screens.write import write_body

        shown = self.losses.shown
        if shown is None:
            self.notify("nothing to write", markup=False)
        else:
            write_body(self, shown.converted.body, conversion.file_name(shown))

    def action_back(self) -> None:
        self.dismiss(None)
