"""The session screen: an inspected session, driven by one selection."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

from textual import events, work

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.ahead import ON_AN_EXCHANGE, TypedAhead
from workbench.tui.models import findings as walk
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.pane import Pane
from workbench.tui.screens.outward import Outward
from workbench.tui.screens.seek import Seeker
from workbench.tui.searching import Searching
from workbench.tui.service import Answer, ExchangeOpened, Inspecting, Listed, NotOpened, Opener, RowsCame, Trouble
from workbench.views.lines import Line, Span, joined
from workbench.views.words import REQUEST, RESPONSE

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.errors import WorkbenchError
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.filtering import Filtering
    from workbench.tui.mending import Mending
    from workbench.tui.noting import Noting
    from workbench.tui.opened import ExchangeView
    from workbench.tui.panes.findings import FindingsPane
    from workbench.tui.selection import Selection, Spot
    from workbench.tui.standing import Standing
    from workbench.tui.working import Working
    from workbench.wire.session import Session

PATIENCE = 0.2
"""Seconds after which an exchange that is not open yet is announced."""


SAID_ELSEWHERE = ("wire.way", "wire.headers")
"""Keys of the wire pane that are no moves: pressed elsewhere they say where they act."""


class SessionScreen(Outward, Seeker):
    """One session. It is dismissed with the error where the session cannot be opened.

    Args:
        source: a session, or how to open one; then it is opened, and closed, in a thread.
        provider: contract to use, None to choose one for each exchange.
        protocol: protocol to use, None to find it for each exchange.
        exchange: index of the exchange to open at; None for the first break.
    """

    BINDINGS = keys.bindings(keys.SESSION)

    def __init__(
        self,
        source: Session | Opener,
        provider: str | None = None,
        protocol: str | None = None,
        exchange: int | None = None,
    ) -> None:
        super().__init__()
        self.inspecting = Inspecting(source, provider, protocol)
        self.searching = Searching(self)
        self.ahead = TypedAhead(self)
        self.selection: Selection | None = None
        self.wanted = exchange
        self._wanted_finding: int | None = None
        self._wanted_event: int | None = None
        self._wanted_byte: int | None = None
        self._may_jump = exchange is None
        self.is_hopeless = False

    def on_mount(self) -> None:
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """What the first paint did not wait for."""
        self._inspect()
        if self.wanted is not None:
            self._focused = "wire"
            self.open_exchange(self.wanted)

    async def furnish(self) -> None:
        is_new, wanted = not self.is_furnished, self._focused
        await super().furnish()
        if is_new and self.is_furnished and wanted == "wire":
            self.focus_pane(wanted)

    def on_unmount(self) -> None:
        self.inspecting.stop()

    @cached_property
    def filtering(self) -> Filtering:
        from workbench.tui.filtering import Filtering

        return Filtering(self)

    @cached_property
    def noting(self) -> Noting:
        from workbench.tui.noting import Noting

        return Noting(self)

    @cached_property
    def mending(self) -> Mending:
        from workbench.tui.mending import Mending

        return Mending(self)

    @cached_property
    def standing(self) -> Standing:
        from workbench.tui.standing import Standing

        return Standing(self)

    @cached_property
    def working(self) -> Working:
        from workbench.tui.working import Working

        return Working(self)

    @work(thread=True, group="inspect", exit_on_error=False)
    def _inspect(self) -> None:
        self.inspecting.run(self.post_message)

    # What the inspection says.

    def on_not_opened(self, message: NotOpened) -> None:
        self._leave(message.error)

    def on_listed(self, message: Listed) -> None:
        self.state.list(message.name, message.summaries, message.damage, message.about)
        self.noting.load()
        self.exchanges.note_line = self._marks_of
        for damage in message.damage[:3]:
            self.notify(visible(f"damaged: {damage}"), severity="warning", markup=False)
        self.call_after_refresh(self.furnish)
        self.ahead.release()

    def _marks_of(self, exchange: str) -> Line:
        """Whether an exchange is held, how much people made of it, and what they put on it."""
        marks = (self.held_line(exchange), self.working.line_of(exchange), self.noting.line_of(exchange))
        return joined(marks, Span(" "))

    def on_rows_came(self, message: RowsCame) -> None:
        was_done = self.state.is_done
        self.state.update(message.rows)
        self.filtering.rows_came()
        self.refresh_lists()
        if self._may_jump:
            self._go_to_first_break()
        if self.opened is None and self.wanted is not None and self.wanted >= len(message.rows):
            self._say_what_is_awaited()
        if self.state.is_done and not was_done:
            self.working.load()

    async def on_exchange_opened(self, message: ExchangeOpened) -> None:
        await self.furnish()
        opened = message.opened
        if opened.index != self.wanted:
            return
        self._judge_shown(opened)
        self.show_exchange(opened)
        self.show_notes()
        self.searching.again()
        noted, self.noting.wanted = self.noting.wanted, None
        held = self.state.found_in(opened.index)
        found = next((h for h in held if h[0] == self._wanted_finding), held[0] if held else None)
        if self._wanted_event is not None:
            self.select(opened.at_event(self._wanted_event))
        elif self._wanted_byte is not None:
            self.select(opened.at_byte(REQUEST, self._wanted_byte))
        elif noted and noted.exchange == opened.row.summary.id:
            self.select(opened.at_pointer(noted.side, noted.pointer) if noted.side else opened.at_start())
        elif found is None:
            if not self.show_newest(opened):
                self.select(opened.at_start())
        else:
            self.findings.move_to(found[0])
            self.select(opened.at_finding(found[1]), source=self.findings)
        self.compare_clients(opened)
        self.ahead.release()

    def _judge_shown(self, opened: ExchangeView) -> None:
        """The findings are those of what is shown: the recorded request, or its branch."""
        if self.state.branch(opened.index, opened.row if self.standing.is_branch(opened.index) else None):
            self.mending.forget()
            self.refresh_lists()
        if self.working.line_of(opened.row.summary.id):
            self.standing.look(opened.index)

    def reopen(self, index: int) -> None:
        """What is shown of an exchange is another request now."""
        if self.wanted == index:
            self.open_exchange(index)

    def restate(self) -> None:
        """Say again what the keys work on."""
        if self.is_furnished:
            self._show_headline()

    def on_screen_resume(self) -> None:
        """Another screen may have led elsewhere in the tree."""
        if self.opened and self.working.is_begun:
            self.standing.look(self.opened.index)

    def banner(self) -> list[Line]:
        key = cast("WorkbenchApp", self.app).keymap.row(keys.table()["session.branch"]).show
        stated = self.standing.banner(self.opened.index, key, self.size.width) if self.opened else None
        return [*super().banner(), *([stated] if stated else [])]

    def _show_headline(self) -> None:
        super()._show_headline()
        self.show_keys()

    def keys_of_use(self) -> Sequence[keys.Key]:
        has_branch = self.opened and self.standing.has_branch(self.opened.index)
        return keys.WITH_BRANCH if has_branch else super().keys_of_use()

    def action_branch(self) -> None:
        if self.opened:
            self.standing.switch(self.opened.index)

    def on_answer(self, message: Answer) -> None:
        message.deliver()

    def on_trouble(self, message: Trouble) -> None:
        if message.index is None:
            self.state.trouble = message.text
            self.refresh_lists()
            if self.opened is None:
                self.show_exchange(None, message.text)
        elif message.index == self.wanted:
            self.is_hopeless = True
            self.show_exchange(None, message.text)
        self.notify(visible(message.text), severity="error", markup=False)
        self.ahead.release()

    def _go_to_first_break(self) -> None:
        """To the first error as soon as there is one, at the end to the first warning; until then to the beginning."""
        state = self.state
        number = walk.first_break(state.findings)
        if number is not None and (state.is_done or state.findings[number].severity == "error"):
            self.go_to_finding(number)
            if isinstance(self.focused, LineView):  # else somebody types
                self.focus_pane("findings")
        elif self.wanted is None and state.rows:
            self.open_exchange(0)
            self._may_jump = not state.is_done

    # Going somewhere.

    def open_exchange(
        self, index: int, finding: int | None = None, event: int | None = None, byte: int | None = None
    ) -> None:
        """Show an exchange: at a finding, an event of its answer, a byte of its request, or its beginning."""
        self.wanted, self._wanted_finding, self._wanted_event, self._wanted_byte = index, finding, event, byte
        self.is_hopeless = False
        self.stay()
        self.inspecting.ask(index)
        self.set_timer(PATIENCE, self._say_what_is_awaited)

    def stay(self) -> None:
        self._may_jump = self.is_following = False

    def _say_what_is_awaited(self) -> None:
        if self.wanted is None or (self.opened and self.opened.index == self.wanted):
            return
        if not self.is_furnished or self.is_hopeless or self.state.trouble:
            return
        if self.wanted < len(self.state.rows):
            self.wire.say(f"decoding exchange {self.wanted + 1:,} …")
        else:
            why = f"exchange {self.wanted + 1:,} is shown as soon as it is inspected"
            self.show_exchange(None, f"{why}: {self.state.progress()}")

    def go_to_finding(self, number: int) -> None:
        """Show a finding of the session and its bytes."""
        finding = self.state.findings[number]
        self.findings.move_to(number)
        self.bring_bytes_to_front()
        if self.opened and self.opened.index == finding.exchange == self.wanted:
            self.select(self.opened.at_finding(finding), source=self.findings)
        else:
            self.open_exchange(finding.exchange, number)

    def select(self, selection: Selection, source: LineView | None = None) -> None:
        """Light up in every pane what belongs to a place of the open exchange."""
        assert self.opened
        self.selection = selection
        found = self.opened.lights(selection)
        for pane in self.query(Pane):
            pane.light(selection, found, is_source=pane is source)

    def on_findings_pane_explained(self, message: FindingsPane.Explained) -> None:
        """However a finding came to be the one that is shown: its repairs are looked for."""
        self.mending.want(message.finding)
        self.findings.repairs_of = self.mending.repairs_of
        self.findings.reload()

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        view = message.view
        self.stay()
        if view is self.exchanges:
            self.open_exchange(self.state.shown[view.cursor])
        elif view is self.findings:
            self.go_to_finding(view.cursor)
        elif isinstance(view, Pane) and (selection := view.selection()):
            self.select(selection, source=view)

    def on_line_view_entered(self, message: LineView.Entered) -> None:
        from workbench.tui.panes.exchange import ExchangePane

        view = message.view
        self._may_jump = False
        if isinstance(view, ExchangePane) and view.cursor not in view.lit and (selection := view.selection()):
            self.select(selection, source=view)
        origin = view.origin() if isinstance(view, ExchangePane) else None
        if origin:
            self.open_exchange(origin[0], event=origin[1][0] if origin[1] else None)
            self.focus_pane("wire")
        elif view.id == "ir":
            view.toggle()
        else:
            self.focus_pane("ir" if view is self.wire else "wire")

    # Keys.

    def on_key(self, event: events.Key) -> None:
        """Keys that do nothing now: those of an exchange where none is open, those of the wire pane in another one."""
        keymap = cast("WorkbenchApp", self.app).keymap
        row = next((row for row in keymap.rows(keys.SESSION) if keys.readable(event.key) in row.names), None)
        if row and row.id in ON_AN_EXCHANGE and self.opened is None:
            self.notify(f"{row.show} ({row.word}) acts on an exchange: none is open", markup=False)
        if self.focused is None or self.focused.id == "wire":
            return
        for row in keymap.rows(keys.WIRE):
            if row.id in SAID_ELSEWHERE and event.key in row.keys.split(","):
                self.notify(f"{row.show} ({row.word}) acts in the wire pane: 2 goes there", markup=False)

    def action_next(self, step: int) -> None:
        if self.search:
            self.action_match(step)
            return
        severity = walk.worst(self.state.findings)
        self._walk(step, severity, "break")

    def action_warning(self, step: int) -> None:
        self._walk(step, "warning", "warning")

    def _walk(self, step: int, severity: str, noun: str) -> None:
        """To the next finding of a severity, or say that there is none."""
        cursor, here = self.findings.cursor, self.wanted or 0
        current = cursor if cursor in self.state.numbers_of(here) else None
        number = walk.next_of(severity, self.state.findings, current, here, step)
        if number is not None:
            self.go_to_finding(number)
        elif self.state.is_done:
            self.notify(f"no {'further' if step > 0 else 'earlier'} {noun}", markup=False)
        else:
            self.notify(f"no {noun} up to exchange {len(self.state.rows):,}; still inspecting", markup=False)

    def action_exchange(self, step: int) -> None:
        target = self.exchanges.neighbour(self.wanted or 0, step)
        if target is not None:
            self.open_exchange(target)
        elif self.state.is_filtered:
            self.notify(f"no {'further' if step > 0 else 'earlier'} exchange passes the filter", markup=False)

    def action_side(self) -> None:
        if self.opened:
            self.wire.show_side(RESPONSE if self.wire.side == REQUEST else REQUEST)

    def go_to_event(self, event: int | None) -> None:
        """Back from the stream; to an event of the open answer on the wire."""
        self.stepping = None
        self._show_headline()
        if event is not None and self.opened:
            self.select(self.opened.at_event(event))
            self.focus_pane("wire")

    def action_origin(self) -> None:
        """To the exchange where the damage was done that the finding suffers from; else to the turn's other place."""
        finding = self.findings.current
        number = walk.origin_of(finding, self.state.findings) if finding else None
        if (
            finding
            and self.wanted != finding.exchange
            and self.findings.cursor in self.state.numbers_of(self.wanted or 0)
        ):
            self.go_to_finding(self.findings.cursor)
        elif finding is None or finding.origin is None or (self.state.hop_columns and not self._is_about(finding)):
            self.go_to_other_place("where this began is not in the recording" if finding else "")
        elif finding.origin.exchange == finding.exchange:
            self.go_to_other_place("it began in this exchange")
        elif number is not None:
            self.go_to_finding(number)
        else:
            self.open_exchange(finding.origin.exchange)

    def _is_about(self, finding: Finding) -> bool:
        return finding.exchange == self.wanted

    def go_to_byte(self, place: tuple[int, int] | None) -> None:
        """Show a byte of a request, given as (exchange, offset)."""
        if place is None:
            return
        index, offset = place
        if self.opened and self.opened.index == index == self.wanted:
            self.select(self.opened.at_byte(REQUEST, offset))
        else:
            self.open_exchange(index, byte=offset)
        self.focus_pane("wire")

    def go_to_spot(self, place: Spot | None) -> None:
        """Show a place that another screen found, on the wire."""
        if place is None:
            return
        if place.side == REQUEST:
            self.go_to_byte((place.exchange, place.offset))
        elif self.opened and self.opened.index == place.exchange:
            self.select(self.opened.at_byte(place.side, place.offset))
            self.focus_pane("wire")
        else:
            self.open_exchange(place.exchange)

    def action_copy(self) -> None:
        from workbench.tui.screens.copy import ask_what_to_copy

        ask_what_to_copy(self)

    def action_leave(self) -> None:
        if self.stop_seeking():
            return
        if self.has_class("-zoom"):
            self.action_zoom()
        elif not self.state.is_done and not self.state.is_paused:
            self.pause(True)
        elif self._focused != "findings":
            self.focus_pane("findings")
        else:
            self.action_back()

    def action_back(self) -> None:
        self._leave()

    def _leave(self, error: WorkbenchError | OSError | None = None) -> None:
        """Back to the screen below; Home where there is none; out of the program where nothing could be opened."""
        app = cast("WorkbenchApp", self.app)
        if len(app.screen_stack) > 1:
            self.dismiss(error)
        elif error:
            app.leave(error)
        else:
            app.go_home()
