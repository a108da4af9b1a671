"""Send screen: preview of a request to a target, with losses, corrections and findings."""

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
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.models import send
from workbench.tui.models.rowtable import StyledSpans
from workbench.tui.models.send import PreflightNote
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.service import JobAnswer, guard, is_open
from workbench.tui.widgets.body import BodyPane
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, Span, line, size, wrap

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.rules import Inspector
    from workbench.tui.preflight import PreparedRequest
    from workbench.tui.screens.session.screen import SessionScreen


DROPPED = "leave out the signed blocks that an edit invalidated"


def begin(session: SessionScreen, node: BranchNode) -> None:
    """Ask for a target, then show a preview of the request of a node."""
    from workbench.tui.screens.target_choice import TargetScreen

    def open_screen(target: Target | None) -> None:
        if target:
            further = partial(session.request_screens.edit_further, node.index)
            session.app.push_screen(SendScreen(session, node, target), further)

    if node.exchange.request is None:
        session.notify("no request was recorded; nothing to send", severity="warning", markup=False)
        return
    row = session.state.rows[node.index]
    session.app.push_screen(TargetScreen("Send to", row.provider or "generic", row.protocol or ""), open_screen)


class FactsPane(LineView):
    """Facts about a request before it is sent; the one under the cursor in full."""

    is_accordion = True
    facts: tuple[PreflightNote, ...] = ()
    why = "making a preview …"

    def show(self, facts: tuple[PreflightNote, ...], why: str = "") -> None:
        """Show facts; the cursor stays on its correction if that is still listed."""
        here = self.here()
        names = [fact.correction for fact in facts]
        self.cursor = names.index(here.correction) if here and here.correction in filter(None, names) else 0
        self.facts, self.why = facts, why
        self.reload()
        self.show_item(self.cursor)

    def count(self) -> int:
        return len(self.facts)

    def head(self, item: int, width: int) -> Line:
        fact = self.facts[item]
        return send.open_rows(fact, width)[0] if item in self.lines_of.further else fact.head

    def further(self, item: int, width: int) -> list[Line]:
        return send.open_rows(self.facts[item], width)[1:]

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "error" if self.why != FactsPane.why else "muted", indent=2)

    def here(self) -> PreflightNote | None:
        """Fact under the cursor."""
        return self.facts[self.cursor] if self.facts else None


class SendScreen(Screen[bool]):
    """Preview of a request. Dismissed with True to edit the request further.

    Args:
        session: session of the exchange.
        node: node of the request.
        target: receiver of the request.
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
        self.shown: PreparedRequest | None = None
        self._asked = 0
        self._in_body: bytes | None = None

    @property
    def is_key_set(self) -> bool:
        """The API key of the target is in the environment."""
        from workbench.send import is_set

        return is_set(self.target.key_variable, os.environ)

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="outgoing"):
            yield FactsPane(id="facts")
            yield BodyPane(id="going")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self._show_keys()
        self.facts.title(line(" Preview "))
        self.facts.focus()
        self._look()

    def on_resize(self) -> None:
        self._entitle()

    def _entitle(self) -> None:
        prepared = self.shown
        summary = (
            send.summary(prepared)
            if prepared
            else line(Span("making a preview …" if not self.facts.why else "", "muted"))
        )
        title = f"Send request {self.node.index + 1} → {self.target.name}{send.request_name(self.node)}"
        lines = send.headline(title, summary, self.target, self.size, is_set=self.is_key_set)
        self.query_one("#headline", Bar).show(lines)

    def _show_keys(self) -> None:
        """Show the keys that are of use now."""
        is_unbound = self.shown is not None and self.shown.unbound is not None
        is_corrected = self.shown is not None and bool(self.shown.choice.decided)
        idle = {"send.unbound": not is_unbound, "send.switch": not is_corrected}
        rows = [key for key in keys.SEND if not idle.get(key.id)]
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_SEND, *rows])

    # Preview.

    def _look(self) -> None:
        """Make a preview in the inspector's thread; the result of an earlier request is dropped."""
        self._asked += 1
        number, self.shown = self._asked, None
        node, target, protocol, stream, off = self.node, self.target, self.protocol, self.stream, self.off

        def job(inspector: Inspector) -> JobAnswer:
            from workbench.tui.preflight import preview_request

            prepared = preview_request(inspector, node, target, protocol, stream, off)
            return JobAnswer(lambda: self._take_preview(number, prepared))

        self._entitle()
        self.session.inspecting.do(guard(job, partial(self._take_preview, number, None)))

    def _take_preview(self, number: int, prepared: PreparedRequest | None, why: str = "") -> None:
        if not is_open(self) or number != self._asked:
            return
        self.shown = prepared
        self.facts.show(send.facts(prepared, is_set=self.is_key_set) if prepared else (), why)
        self._in_body = None
        self._show_body()
        self._show_keys()
        self._entitle()

    def _show_body(self) -> None:
        """Show the request as sent; for losses and unbound signatures, the original one."""
        fact, prepared = self.facts.here(), self.shown
        if prepared is None:
            self.body.show(b"", (), "nothing to send")
            self.body.title(line(" Request "))
            return
        is_own = fact is not None and fact.is_own
        text = (prepared.own if is_own else prepared.trial.decoded).request_text
        if text != self._in_body:
            spans = tuple(sorted(span for each in self.facts.facts if each.is_own for span in each.spans))
            marks = StyledSpans("doubtful", spans) if is_own else StyledSpans("related", prepared.edits)
            self.body.show(text, (marks,), "the request has no body")
            self._in_body = text
        which = (
            f"{prepared.own.protocol or 'raw'}, original"
            if is_own
            else f"{prepared.outgoing.protocol or 'raw'}, as sent"
        )
        self.body.title(line(f" Request · {which} · {size(len(text))} "))
        self.body.mark_range(fact.spans if fact else ())
        if prepared.edits and not (fact and fact.spans):
            self.body.reveal(prepared.edits[0][0])

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.facts:
            self._show_body()

    # Sending.

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        self._send()

    def _send(self) -> None:
        """Send; ask first for a real endpoint, once for each host."""
        prepared = self.shown
        if prepared is None:
            self.notify("nothing to send", severity="warning", markup=False)
        elif not prepared.outgoing.asks_first or origin(prepared.outgoing.request.url) in self.session.actions.agreed:
            self._go()
        else:
            from workbench.tui.screens.questions import ConfirmScreen

            question = send.question(prepared.outgoing, is_set=self.is_key_set)
            self.app.push_screen(ConfirmScreen(question, "send", "do not send"), self._take_consent)

    def _take_consent(self, is_agreed: bool | None) -> None:
        if is_agreed and self.shown:
            self.session.actions.agreed.add(origin(self.shown.outgoing.request.url))
            self._go()

    def _go(self) -> None:
        from workbench.tui.screens.send_answer.screen import AnswerScreen

        assert self.shown
        self.app.push_screen(AnswerScreen(self.session, self.node, self.shown), self._after)

    def _after(self, is_edited: bool | None) -> None:
        if is_edited:
            self.dismiss(True)

    # Keys.

    def action_pane(self) -> None:
        """Go to the other pane; if there is room for one only, it replaces the other."""
        pane = self.body if self.facts.has_focus else self.facts
        self.set_class(pane is self.body, "-on-body")
        pane.focus()

    def action_protocol(self, step: int) -> None:
        """Use the next protocol that the target speaks."""
        protocols = send.target_protocols(self.target)
        here = self.shown.outgoing.protocol if self.shown else self.protocol
        if len(protocols) < 2:
            self.notify(visible(f"{self.target.name} supports {', '.join(protocols)} only"), markup=False)
            return
        at = protocols.index(here) if here in protocols else 0
        self.protocol = protocols[(at + step) % len(protocols)]
        self._look()

    def action_stream(self) -> None:
        """Switch streaming on or off."""
        from workbench.probes.profiles import STREAMING, correction_value

        decided = self.shown.choice.decided if self.shown else ()
        request = self.shown.trial.decoded.request if self.shown else None
        if request is None:
            self.notify("the request is unreadable; it is sent unchanged", severity="warning", markup=False)
        elif not request.stream and request.tools and correction_value(decided, STREAMING):
            self.notify(f"correction {STREAMING} disables streaming · space: switch off this correction", markup=False)
        else:
            self.stream = not request.stream
            self._look()

    def action_switch(self) -> None:
        """Switch the correction under the cursor off, or on."""
        fact = self.facts.here()
        if fact is None or not fact.correction:
            self.notify("no correction under the cursor", markup=False)
        else:
            self.off ^= {fact.correction}
            self._look()

    def action_target(self) -> None:
        """Choose another target."""
        from workbench.tui.screens.target_choice import TargetScreen

        row = self.session.state.rows[self.node.index]
        self.app.push_screen(TargetScreen("Send to", row.provider or "generic", row.protocol or ""), self._take)

    def _take(self, target: Target | None) -> None:
        if target:
            self.target, self.protocol, self.off = target, "", frozenset()
            self._look()

    def action_unbound(self) -> None:
        """Leave out unbound signed blocks, as an edit that can be undone."""
        unbound = self.shown.unbound if self.shown else None
        if unbound is None or unbound.without is None:
            why = "no unbound signatures" if unbound is None else "the request would not be valid without these blocks"
            self.notify(why, markup=False)
        else:
            self.session.branches.commit(self.node, unbound.without, DROPPED, self._take_edit)

    def _take_edit(self, node: BranchNode) -> None:
        self.node = node
        if is_open(self):
            self._look()

    def action_write(self) -> None:
        """Write the body as sent to a file."""
        from workbench.tui.screens.write import write_body

        if self.shown:
            name = f"request-{self.node.index + 1}.{self.shown.outgoing.protocol or 'raw'}.json"
            write_body(self, self.shown.trial.decoded.request_text, name)

    def action_back(self) -> None:
        self.dismiss(False)
