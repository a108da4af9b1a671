"""The breakpoints of a live session: what is held and what shall become of it, and what it is held for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.screen import Screen

from workbench.errors import WorkbenchError
from workbench.recorder.breakpoints import KINDS, parse
from workbench.safetext import clip, from_bytes, visible
from workbench.tui import keys, pause_listener
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.models import pauses
from workbench.tui.models.headline import TOOLS
from workbench.tui.models.pauses import Held
from workbench.tui.models.rowtable import Marked
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.panes.body import BodyPane
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.points import FILTER, PointsPane, points
from workbench.tui.panes.writing import MOST_IN_PLACE, Writing
from workbench.tui.screens.worklist import ListPane
from workbench.views import REQUEST, Line, Span, count, line, wrap
from workbench.wire import JsonIndex

if TYPE_CHECKING:
    from workbench.recorder.breakpoints import Remote
    from workbench.tui.pause_listener import PauseListener
    from workbench.tui.screens.session.screen import SessionScreen

PANES = ("points", "why", "held")
FILTERED = "filter:"


class PausedBody(Message):
    """The bytes that are held."""

    def __init__(self, held: Held, body: bytes) -> None:
        super().__init__()
        self.held, self.body = held, body


class BreakpointsScreen(Screen["int | None"]):
    """Dismissed with the index of an exchange to show in the session, or None.

    Args:
        session: the live session.
        pausing: its recorders.
    """

    CSS_PATH = "breakpoints.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.BREAKS
    BINDINGS = keys.bindings(keys.BREAKS)

    points = getters.query_one("#points", PointsPane)
    why = getters.query_one("#why", ListPane)
    body = getters.query_one("#held", BodyPane)

    def __init__(self, session: SessionScreen, listening: PauseListener) -> None:
        super().__init__()
        self.session, self.listener = session, listening
        self._bodies: dict[tuple[object, int], bytes] = {}
        self._shown: object = None
        self._writing: tuple[Writing, Held, bytes] | None = None

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        with Container(id="held-above"):
            yield PointsPane(id="points")
            yield ListPane(id="why")
        yield BodyPane(id="held")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.show_keys()
        for pane, words in ((self.points, " Breakpoints "), (self.why, " Why "), (self.body, " Held ")):
            pane.title(line(words))
        self.points.focus()
        self.app.clear_notifications()  # they are in the list
        self.refresh_pauses()
        self.set_interval(1.0, self._tick)

    def show_keys(self, instead: str = "") -> None:
        """The keys that are of use now, or other words in their place."""
        here = self.points.here
        of_use = [key for key in keys.BREAKS if (here and here.held) or key.id not in keys.BREAKS_HELD]
        self.query_one("#keys", KeyBar).show_keys(() if instead else [keys.OPEN_POINT, *of_use], instead)

    # What is shown.

    def refresh_pauses(self) -> None:
        """Something is held, or no longer; or other breakpoints are armed. The cursor goes to what is held first."""
        is_first = not any(row.held for row in self.points.rows)
        held, armed = self.listener.held, self.listener.armed
        numbered = [(each, self.session.state.number_of(each.exchange)) for each in held]
        kinds = [
            (n, KINDS[n].description if n in KINDS else "what passes this filter")
            for n in dict.fromkeys((*KINDS, *armed))
        ]
        self.points.show(points(numbered, kinds, armed, pause_listener.now()))
        if is_first and held:
            self.points.find(pauses.first_to_decide(held))
        self._show_point()
        if self._writing and self._writing[1] not in held:
            self._end_writing()

    def _tick(self) -> None:
        """A second is over."""
        if self.is_current:
            self.refresh_pauses()

    def _show_headline(self) -> None:
        held, armed = self.listener.held, pauses.armed_words(self.listener.armed)
        state = self.session.state
        told = f"{pauses.SIGN} {len(held)} held" if held else "nothing is held"
        first = line(
            Span(" Breakpoints  ", "accent strong"),
            Span(f"{clip(state.name, 40)}  ", "strong"),
            Span(told, "warning strong" if held else "muted"),
        )
        promise = Span(f" {state.mode()} · {state.key()} · {TOOLS}", "ok")
        said = Span(f" · {armed or 'nothing is armed'}", "muted")
        self.query_one("#headline", Bar).show([first, line(promise, said)])

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_point)

    def _show_point(self) -> None:
        """What the cursor stands on."""
        self._show_headline()
        here = self.points.here
        held = here.held if here else None
        if held:
            number = self.session.state.number_of(held.exchange)
            told = pauses.facts(held, number, pause_listener.now(), self.why.text_width)
            self.why.title(line(f" Why {pauses.named(held, number)} is held "))
        else:
            told = self._about(here.kind if here else "")
            self.why.title(line(" What it breaks on "))
        self.why.show(len(told), told.__getitem__)
        key = here.key if here else None
        if self._writing is None:
            self.show_keys()
        if key != self._shown:
            self._shown = key
            self._show_body(held)

    def _about(self, kind: str) -> list[Line]:
        said: tuple[str, ...] = (kind, "What passes this filter is held.") if kind else ()
        if kind in KINDS:
            sides = " and ".join(f"the {side}" for side in ("request", "response") if side in KINDS[kind].sides)
            rules = dict.fromkeys(r for some in KINDS[kind].rules.values() for r in some)
            named = ", ".join(f"{r}*" if r.endswith(".") else r for r in rules)
            named = " but ".join(filter(None, (named, ", ".join(KINDS[kind].excluded))))
            said = (f"{KINDS[kind].description}.", f"Asked of {sides}, before it is passed on.", f"Rules: {named}")
        elif kind == FILTER:
            said = ("A filter, as & in the session: tool:bash, status:4xx, text~word, rule:closure, and not.",)
        return [piece for words in said for piece in wrap(words, self.why.text_width, "muted")]

    def _show_body(self, held: Held | None) -> None:
        body = self._bodies.get((held.recorder, held.id)) if held else None
        if held is None or body is None:
            self.body.title(line(" Held "))
            self.body.show(b"", why="reading what is held …" if held else "put the cursor on something that is held")
            if held:
                self.listener.decide(held, partial(self._read, held))
            return
        spans = []
        with suppress(WorkbenchError):
            index = JsonIndex(body)
            spans = [span for why in held.reasons if why.pointer and (span := index.span(why.pointer))]
        told = "request body" if held.side == REQUEST else "answer"
        left = f", all but the first {held.sent:,} wait" if held.sent else ""
        self.body.title(line(f" Held · {told} · {count(len(body), 'byte')}{left} "))
        self.body.show(body, (Marked("broken", tuple(sorted(spans))),), "it has no body")
        waits = ((held.sent, len(body)),) if 0 < held.sent < len(body) else ()
        self.body.mark_range(tuple(spans[:1]) or waits)

    def _read(self, held: Held, remote: Remote) -> None:
        self.post_message(PausedBody(held, remote.body(held.id)))

    def on_paused_body(self, message: PausedBody) -> None:
        key = (message.held.recorder, message.held.id)
        self._bodies[key] = message.body
        if self.points.here and self.points.here.key == key:
            self._show_body(message.held)

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        if message.view is self.points:
            self._show_point()

    def on_line_view_entered(self, message: LineView.Entered) -> None:
        here = self.points.here
        if message.view is not self.points:
            self.focus_pane("points")
        elif here and here.held:
            self.focus_pane("held")
        else:
            self.action_arm()

    def focus_pane(self, name: str) -> None:
        """Bring a pane to the front and give it the keys."""
        self.set_class(name == "held", "-on-held")
        self.query_one(f"#{name}", LineView).focus(scroll_visible=False)

    def action_pane(self) -> None:
        here = next((n for n, name in enumerate(PANES) if self.focused and self.focused.id == name), 0)
        self.focus_pane(PANES[(here + 1) % len(PANES)])

    # What it breaks on.

    def action_arm(self) -> None:
        here = self.points.here
        if here is None or here.held:
            return
        if here.kind == FILTER:
            self.action_filter()
        else:
            self.listener.toggle(here.kind)

    def action_filter(self) -> None:
        from workbench.tui.screens.ask import AskScreen

        def arm_filter(expression: str | None) -> None:
            if not expression or not expression.strip():
                return
            try:
                parse(f"{FILTERED}{expression.strip()}")
            except WorkbenchError as error:
                self._refuse(str(error))
            else:
                self.listener.toggle(f"{FILTERED}{expression.strip()}")

        self.app.push_screen(
            AskScreen("Break on what passes", "a filter: tool:bash, text~word, rule:closure"), arm_filter
        )

    # What becomes of what is held.

    def _paused_for(self, deed: str) -> Held | None:
        """What is held under the cursor, if that can be done with it; else it is said why not."""
        here = self.points.here
        if here is None or here.held is None:
            self._refuse("put the cursor on something that is held" if self.listener.held else "nothing is held")
            return None
        if deed in here.held.deeds:
            return here.held
        self._refuse(pauses.refused(here.held, deed))
        return None

    def _refuse(self, why: str) -> None:
        self.notify(visible(why), severity="warning", markup=False)

    def action_continue(self) -> None:
        if held := self._paused_for("continue"):
            self.listener.decide(held, lambda remote: remote.resume(held.id))

    def action_drop(self) -> None:
        from workbench.tui.screens.confirm import ConfirmScreen

        if held := self._paused_for("drop"):
            name = pauses.named(held, self.session.state.number_of(held.exchange))
            question = f"Drop {name}? The client's connection is broken off; it may ask again."

            def drop(is_sure: bool | None) -> None:
                if is_sure:
                    self.listener.decide(held, lambda remote: remote.drop(held.id))

            self.app.push_screen(ConfirmScreen(question, "drop it", "keep it held"), drop)

    def action_answer(self) -> None:
        from workbench.tui.screens.edit.forms import ContractChoiceScreen

        if held := self._paused_for("answer"):
            index = self.session.state.index_of(held.exchange)
            row = None if index is None else self.session.state.row(index)

            def answer(label: str | None) -> None:
                if label is not None:
                    self.listener.decide(held, lambda remote: remote.answer(held.id, f"sim:{label}"))

            title = "Let the simulator answer of"
            self.app.push_screen(ContractChoiceScreen((row and row.provider) or "generic", title), answer)

    def action_edit(self) -> None:
        if held := self._paused_for("edit"):
            self._with_body(held, self._edit_request if held.side == REQUEST else self._edit_answer)

    def action_editor(self) -> None:
        if held := self._paused_for("edit"):
            self._with_body(held, self._edit_outside)

    def _with_body(self, held: Held, do: Callable[[Held, bytes], None]) -> None:
        body = self._bodies.get((held.recorder, held.id))
        if body is None:
            self._refuse("its bytes are not there yet")
        else:
            do(held, body)

    def _edit_request(self, held: Held, body: bytes) -> None:
        from workbench.tui.screens.edit.paused_request import begin

        index = self.session.state.index_of(held.exchange)
        if index is None:
            self._refuse("the session does not have this request yet: E edits its bytes")
            return
        begin(self.session, index, held, body, partial(self._pass, held))

    def _pass(self, held: Held, body: bytes) -> None:
        self.listener.decide(held, lambda remote: remote.edit(held.id, body))

    def _edit_outside(self, held: Held, body: bytes) -> None:
        """What has not left yet, in the person's own editor."""
        from workbench.tui.editor import edited_outside
        from workbench.tui.models.tokens import is_json

        try:
            made = edited_outside(self.app, body[held.sent :], ".json" if is_json(body) else ".txt")
        except WorkbenchError as error:
            self._refuse(str(error))
            return
        if made is None:
            self._refuse("nothing was changed: it is still held")
        else:
            self._pass(held, body[: held.sent] + made)

    def _edit_answer(self, held: Held, body: bytes) -> None:
        """What has not left yet, in place, where it is text."""
        from workbench.tui.models.ways import is_plain

        text = from_bytes(body[held.sent :])
        if self._writing:
            return
        if len(body) > MOST_IN_PLACE or b"\r" in body or not is_plain(text):
            self._refuse("it cannot be edited here: E opens your editor")
            return
        what = "the rest of the answer" if held.sent else "the answer"
        writing = Writing(text, f"{what}, as the client is to get it", is_line=False, id="writing")
        self._writing = writing, held, body
        self.mount(writing, after=self.body)
        self.add_class("-writing")
        self.show_keys("writing: ctrl+s passes it on  esc leaves it held  ")
        writing.focus()

    def on_writing_taken(self, message: Writing.Taken) -> None:
        if self._writing:
            _, held, body = self._writing
            made = body[: held.sent] + message.text.encode("utf-8", "surrogateescape")
            self._end_writing()
            if made == body:
                self._refuse("nothing was changed: it is still held")
            else:
                self._pass(held, made)

    def on_writing_left(self) -> None:
        self._end_writing()

    def _end_writing(self) -> None:
        if self._writing:
            self._writing[0].remove()
            self._writing = None
        self.remove_class("-writing")
        self.show_keys()
        self.focus_pane("points")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While an answer is written no key decides anything else."""
        return self._writing is None or action == "back"

    # Elsewhere.

    def action_show(self) -> None:
        here = self.points.here
        index = self.session.state.index_of(here.held.exchange) if here and here.held else None
        if index is None:
            self._refuse("the session does not have it yet" if here and here.held else "nothing is held there")
        else:
            self.dismiss(index)

    def action_page(self) -> None:
        from workbench.tui.screens.page import PageScreen

        here = self.points.here
        rule = next((why.rule for why in here.held.reasons if why.rule), "") if here and here.held else ""
        if rule:
            self.app.push_screen(PageScreen(rule))
        else:
            self._refuse("no rule is behind it")

    def action_back(self) -> None:
        if self._writing:
            self._end_writing()
        else:
            self.dismiss(None)
