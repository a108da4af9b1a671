"""The send screen: a request on its way to a target, with everything there is to know before it goes."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.safetext import visible
from workbench.send import Target, origin
from workbench.tui import keys
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.models import send
from workbench.tui.models.rowtable import Marked
from workbench.tui.models.send import Said
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.panes.body import BodyPane
from workbench.tui.panes.lineview import LineView
from workbench.tui.service import Answer, guarded, is_open
from workbench.views import Line, Span, line, size, wrap

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.rules import Inspector
    from workbench.tui.preflight import Preflight
    from workbench.tui.screens.session.screen import SessionScreen


DROPPED = "leave out the signed blocks that an edit unbinds"


def begin(session: SessionScreen, node: BranchNode) -> None:
    """Ask where the request of a node is to go, then show what would be sent."""
    from workbench.tui.screens.target_choice import TargetScreen

    def open_screen(target: Target | None) -> None:
        if target:
            session.app.push_screen(SendScreen(session, node, target), partial(edit_further, session, node.index))

    if node.exchange.request is None:
        session.notify("no request was recorded: there is nothing to send", severity="warning", markup=False)
        return
    row = session.state.rows[node.index]
    session.app.push_screen(TargetScreen("Send to", row.provider or "generic", row.protocol or ""), open_screen)


def edit_further(session: SessionScreen, index: int, is_wanted: bool | None) -> None:
    """Back to the edit screen that lies below, or to a new one."""
    from workbench.tui.screens.edit.screen import EditScreen
    from workbench.tui.screens.edit.screen import begin as begin_edit

    if is_wanted and not isinstance(session.app.screen, EditScreen):
        begin_edit(session, index)


class FactsPane(LineView):
    """What there is to know before sending; the line under the cursor in full."""

    is_accordion = True
    facts: tuple[Said, ...] = ()
    why = "looking at what would be sent …"

    def show(self, facts: tuple[Said, ...], why: str = "") -> None:
        """Show what is known; the cursor stays on a correction that it stands on."""
        here = self.here()
        names = [said.correction for said in facts]
        self.cursor = names.index(here.correction) if here and here.correction in filter(None, names) else 0
        self.facts, self.why = facts, why
        self.reload()
        self.show_item(self.cursor)

    def count(self) -> int:
        return len(self.facts)

    def head(self, item: int, width: int) -> Line:
        return self.facts[item].head

    def further(self, item: int, width: int) -> list[Line]:
        return send.further(self.facts[item], width)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "error" if self.why != FactsPane.why else "muted", indent=2)

    def here(self) -> Said | None:
        """What stands under the cursor."""
        return self.facts[self.cursor] if self.facts else None


class SendScreen(Screen[bool]):
    """What would be sent. Answers whether the request is to be edited further.

    Args:
        session: whose exchange it is.
        node: whose request is sent.
        target: where to.
    """

    CSS_PATH = "send.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.SEND
    BINDINGS = keys.bindings(keys.SEND)

    facts = getters.query_one("#facts", FactsPane)
    body = getters.query_one("#going", BodyPane)

    def __init__(self, session: SessionScreen, node: BranchNode, target: Target) -> None:
        super().__init__()
        self.session, self.node, self.target = session, node, target
        self.protocol = ""
        self.stream: bool | None = None
        self.off: frozenset[str] = frozenset()
        self.shown: Preflight | None = None
        self._asked = 0
        self._in_body: bytes | None = None

    @property
    def is_key_set(self) -> bool:
        """The key that the target asks for is in the environment."""
        from workbench.send import is_set

        return is_set(self.target.key_variable, os.environ)

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        with Container(id="outgoing"):
            yield FactsPane(id="facts")
            yield BodyPane(id="going")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self._show_keys()
        self.facts.title(line(" Before it is sent "))
        self.facts.focus()
        self._look()

    def on_resize(self) -> None:
        self._entitle()

    def _entitle(self) -> None:
        shown = self.shown
        told = send.summary(shown) if shown else line(Span("looking …" if not self.facts.why else "", "muted"))
        title = f"Send request {self.node.index + 1}{send.made(self.node)} → {self.target.name}"
        lines = send.headline(title, told, self.target, self.size.width, is_set=self.is_key_set)
        self.query_one("#headline", Bar).show(lines)

    def _show_keys(self) -> None:
        """Those that are of use now."""
        is_unbound = self.shown is not None and self.shown.unbound is not None
        is_corrected = self.shown is not None and bool(self.shown.choice.decided)
        idle = {"send.unbound": not is_unbound, "send.switch": not is_corrected}
        rows = [key for key in keys.SEND if not idle.get(key.id)]
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_SEND, *rows])

    # What would be sent.

    def _look(self) -> None:
        """Have it made in the inspector's thread; what was asked for before does not count any more."""
        self._asked += 1
        number, self.shown = self._asked, None
        node, target, protocol, stream, off = self.node, self.target, self.protocol, self.stream, self.off

        def job(inspector: Inspector) -> Answer:
            from workbench.tui.preflight import look

            shown = look(inspector, node, target, protocol, stream, off)
            return Answer(lambda: self._take_preview(number, shown))

        self._entitle()
        self.session.inspecting.do(guarded(job, partial(self._take_preview, number, None)))

    def _take_preview(self, number: int, shown: Preflight | None, why: str = "") -> None:
        if not is_open(self) or number != self._asked:
            return
        self.shown = shown
        self.facts.show(send.facts(shown, is_set=self.is_key_set) if shown else (), why)
        self._in_body = None
        self._show_body()
        self._show_keys()
        self._entitle()

    def _show_body(self) -> None:
        """The request that goes out; of what is lost or comes loose, the one it is made of."""
        said, shown = self.facts.here(), self.shown
        if shown is None:
            self.body.show(b"", (), "there is nothing to send")
            self.body.title(line(" Request "))
            return
        is_own = said is not None and said.is_own
        text = (shown.own if is_own else shown.trial.decoded).request_text
        if text != self._in_body:
            lost = tuple(sorted(span for each in self.facts.facts if each.is_own for span in each.spans))
            self.body.show(text, (Marked("doubtful", lost),) if is_own else (), "the request has no body")
            self._in_body = text
        which = (
            f"{shown.own.protocol or 'raw'}, as it was"
            if is_own
            else f"{shown.outgoing.protocol or 'raw'}, as it goes out"
        )
        self.body.title(line(f" Request · {which} · {size(len(text))} "))
        self.body.mark_range(said.spans if said else ())

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        if message.view is self.facts:
            self._show_body()

    # Sending.

    def on_line_view_entered(self, message: LineView.Entered) -> None:
        self._send()

    def _send(self) -> None:
        """Ask where that has to be asked, once for each host, and send."""
        shown = self.shown
        if shown is None:
            self.notify("there is nothing to send", severity="warning", markup=False)
        elif not shown.outgoing.asks_first or origin(shown.outgoing.request.url) in self.session.actions.agreed:
            self._go()
        else:
            from workbench.tui.screens.confirm import ConfirmScreen

            asked = send.question(shown.outgoing, is_set=self.is_key_set)
            self.app.push_screen(ConfirmScreen(asked, "send it", "send nothing"), self._take_consent)

    def _take_consent(self, is_agreed: bool | None) -> None:
        if is_agreed and self.shown:
            self.session.actions.agreed.add(origin(self.shown.outgoing.request.url))
            self._go()

    def _go(self) -> None:
        from workbench.tui.screens.send_answer import AnswerScreen

        assert self.shown
        self.app.push_screen(AnswerScreen(self.session, self.node, self.shown), self._after)

    def _after(self, is_edited: bool | None) -> None:
        if is_edited:
            self.dismiss(True)

    # Keys.

    def action_pane(self) -> None:
        """The other side; where there is room for one only, it takes the place of the other."""
        pane = self.body if self.facts.has_focus else self.facts
        self.set_class(pane is self.body, "-on-body")
        pane.focus()

    def action_protocol(self, step: int) -> None:
        """Another protocol of those that the target speaks."""
        spoken = send.spoken(self.target)
        here = self.shown.outgoing.protocol if self.shown else self.protocol
        if len(spoken) < 2:
            self.notify(visible(f"{self.target.name} speaks {', '.join(spoken)} alone"), markup=False)
            return
        at = spoken.index(here) if here in spoken else 0
        self.protocol = spoken[(at + step) % len(spoken)]
        self._look()

    def action_stream(self) -> None:
        """Ask for a stream, or for none."""
        from workbench.probes.profiles import STREAMING, value_of

        decided = self.shown.choice.decided if self.shown else ()
        request = self.shown.trial.decoded.request if self.shown else None
        if request is None:
            self.notify("the request cannot be read: it goes as it is", severity="warning", markup=False)
        elif not request.stream and request.tools and value_of(decided, STREAMING):
            self.notify(f"{STREAMING} holds it back: space switches that correction off", markup=False)
        else:
            self.stream = not request.stream
            self._look()

    def action_switch(self) -> None:
        """The correction under the cursor off, or on again."""
        said = self.facts.here()
        if said is None or not said.correction:
            self.notify("no correction under the cursor", markup=False)
        else:
            self.off ^= {said.correction}
            self._look()

    def action_target(self) -> None:
        """Another target."""
        from workbench.tui.screens.target_choice import TargetScreen

        row = self.session.state.rows[self.node.index]
        self.app.push_screen(TargetScreen("Send to", row.provider or "generic", row.protocol or ""), self._take)

    def _take(self, target: Target | None) -> None:
        if target:
            self.target, self.protocol, self.off = target, "", frozenset()
            self._look()

    def action_unbound(self) -> None:
        """Leave the signed blocks out whose signature no longer holds: an edit of its own, which can be undone."""
        unbound = self.shown.unbound if self.shown else None
        if unbound is None or unbound.without is None:
            why = "every signature holds" if unbound is None else "no request without them holds"
            self.notify(why, markup=False)
        else:
            self.session.branches.commit(self.node, unbound.without, DROPPED, self._take_edit)

    def _take_edit(self, node: BranchNode) -> None:
        self.node = node
        if is_open(self):
            self._look()

    def action_write(self) -> None:
        """The body that goes out, into a file."""
        from workbench.tui.screens.write import write_body

        if self.shown:
            name = f"request-{self.node.index + 1}.{self.shown.outgoing.protocol or 'raw'}.json"
            write_body(self, self.shown.trial.decoded.request_text, name)

    def action_back(self) -> None:
        self.dismiss(False)
