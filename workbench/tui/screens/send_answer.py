"""The answer screen: a request that was sent, its answer as it arrives, then beside the one that was recorded."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, ClassVar

from textual import getters, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.dispatch import Dispatch, IncomingResponse, ResponseGrew, SendEnded, is_open, known_to
from workbench.tui.models import send, send_answer
from workbench.tui.models.send_answer import AFTER, BEFORE, BOTH, Beside
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.panes.answers import BesidePane, FoundPane, RawPane
from workbench.tui.panes.lineview import LineView
from workbench.tui.service import Answer, guarded, in_words
from workbench.views import Line, Span, count, line

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.rules import Inspector
    from workbench.send import Event
    from workbench.tui.preflight import Preflight
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire import Exchange
    from workbench.wire.session import Session

ON_ITS_WAY = "it is still on its way: esc breaks it off"

REPAINT_SECONDS = 0.1
"""What arrives is read and painted this often at most."""

REST, REST_SECONDS = 4, 2.0
"""Times as long as reading took that it rests, and the longest rest: a long answer is read a fifth of the time."""


class AnswerScreen(Screen[bool]):
    """Sends as soon as it is shown. Answers whether the request is to be edited further.

    Args:
        session: whose exchange it is.
        node: whose request is sent.
        sent: what goes out.
        came: what came of it, where it was sent already and is recorded.
    """

    CSS_PATH = "send_answer.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.ANSWER
    BINDINGS = keys.bindings(keys.ANSWER)

    beside = getters.query_one("#beside", BesidePane)
    found = getters.query_one("#found", FoundPane)
    raw = getters.query_one("#raw", RawPane)

    def __init__(
        self, session: SessionScreen, node: BranchNode, sent: Preflight, came: BranchNode | None = None
    ) -> None:
        super().__init__()
        self.session, self.node, self.sent = session, node, sent
        self.recorded = came
        self.shown: Beside | None = None
        self.why = ""
        self._incoming: IncomingResponse | None = None
        self._dispatch: Dispatch[Exchange] | None = None
        self._number = 0
        self._is_reading = self._has_more = self._is_leaving = False

    @property
    def is_over(self) -> bool:
        """Nothing more will come, and all of it is read."""
        return bool(self.why) or (self.shown is not None and self.shown.trial is not None)

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        yield BesidePane(id="beside")
        with Container(id="below"):
            yield FoundPane(id="found")
            yield RawPane(id="raw")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_ANSWER, *keys.ANSWER])
        self.beside.focus()
        if self.recorded:
            self._judge(self.recorded.exchange)
        else:
            self._send()

    def on_unmount(self) -> None:
        if self._dispatch:
            self._dispatch.cancel()

    def on_resize(self) -> None:
        self._entitle()

    # Sending.

    def _send(self) -> None:
        self._number += 1
        self.shown, self.recorded, self.why = None, None, ""
        self._incoming = IncomingResponse(self.sent.outgoing, time.time())
        self._show()
        node = self.node
        self.session.branches.ask(lambda workspace: workspace.as_branch_session(node), self._know, self._fail)

    def _know(self, session: Session) -> None:
        """Find what a simulator takes as given."""
        index = self.node.index

        def job(inspector: Inspector) -> Answer:
            known = known_to(inspector, session, index)
            return Answer(lambda: self._begin(known))

        self.session.inspecting.do(guarded(job, self._fail))

    def _begin(self, known: Session) -> None:
        heard, outgoing, parent = self._incoming, self.sent.outgoing, self.node.id
        if not is_open(self) or heard is None:
            return

        def hear(event: Event) -> None:
            heard.add(event)
            self.post_message(ResponseGrew())

        dispatch = Dispatch(known, lambda sender: sender.send(outgoing, hear, parent=parent))
        if self._is_leaving:
            dispatch.cancel()
        self._dispatch = dispatch
        self._run(self._number, dispatch, heard)

    @work(thread=True, group="send", exit_on_error=False)
    def _run(self, number: int, dispatch: Dispatch[Exchange], heard: IncomingResponse) -> None:
        try:
            exchange = dispatch.run() or heard.kept()
        except Exception as error:
            self.post_message(SendEnded(number, None, in_words(error)))
        else:
            self.post_message(SendEnded(number, exchange))

    def _fail(self, why: str) -> None:
        self.post_message(SendEnded(self._number, None, why))

    # What comes.

    def on_response_grew(self, message: ResponseGrew) -> None:
        """Have what came read, unless that is being done."""
        if self._is_reading:
            self._has_more = True
        elif not self.is_over and self._incoming:
            self._is_reading, self._has_more = True, False
            self._read(self._incoming, self._number)

    def _read(self, heard: IncomingResponse, number: int) -> None:
        index, protocol = self.node.index, self.sent.outgoing.protocol or None
        known = self.shown.after if self.shown else self.sent.trial.decoded

        def job(inspector: Inspector) -> Answer:
            from workbench.protocols import DecodedExchange

            began = time.thread_time()
            before = inspector.detail(index).decoded
            shown = send_answer.beside(before, DecodedExchange(index, heard.exchange(), protocol, known))
            rest = REST * (time.thread_time() - began)
            return Answer(lambda: self._show_growth(number, shown, max(REPAINT_SECONDS, min(rest, REST_SECONDS))))

        self.session.inspecting.do(guarded(job, lambda why: self._show_growth(number, None, REST_SECONDS)))

    def _show_growth(self, number: int, shown: Beside | None, rest: float) -> None:
        self._is_reading = False
        if not is_open(self) or number != self._number or self.is_over:
            return
        self.shown = shown or self.shown
        self._show()
        if self._has_more:
            self.set_timer(rest, lambda: self.on_response_grew(ResponseGrew()))

    def on_send_ended(self, message: SendEnded) -> None:
        """Record what came, judge it, and lay it beside the original."""
        if message.number != self._number:
            return
        if message.exchange is None:
            self.why = message.why
            self._show()
            if self._is_leaving and self.is_active:
                self.dismiss(False)
            return
        self.session.branches.commit_response(self.node, message.exchange, self._keep, self._not_kept)
        self._judge(message.exchange)

    def _judge(self, exchange: Exchange) -> None:
        index, sent = self.node.index, self.sent

        def job(inspector: Inspector) -> Answer:
            from workbench.send import judge_exchange

            before = inspector.detail(index).decoded
            trial = judge_exchange(inspector, index, sent.outgoing, exchange)
            shown = send_answer.beside(before, trial.decoded, trial)
            return Answer(lambda: self._show_judgement(shown))

        self._show()
        self.session.inspecting.do(guarded(job, self._fail))

    def _keep(self, node: BranchNode) -> None:
        """It is a branch now, whatever becomes of this screen."""
        self.recorded = node
        if self._is_leaving and self.is_active:
            self.dismiss(False)

    def _not_kept(self, why: str) -> None:
        """It is shown all the same."""
        self._is_leaving = False
        self._say(f"not kept: {why}")

    def _show_judgement(self, shown: Beside) -> None:
        if is_open(self):
            self.shown = shown
            self._show()

    # What is shown.

    def _show(self) -> None:
        outgoing, shown = self.sent.outgoing, self.shown
        self.beside.show(shown, outgoing.target.name, self.why or BesidePane.why)
        self.beside.title(line(" Answers "))
        trial = shown.trial if shown else None
        told = trial.findings if trial else ()
        self.found.show(told, "nothing is found in it" if trial else "judged once the answer is there")
        label = f" under {trial.contract.label}" if trial else ""
        self.found.title(line(f" Findings{label} · {count(len(told), 'finding')} " if trial else " Findings "))
        self._show_raw(shown)
        self.set_class(self.is_over, "-over")
        self._entitle()

    def _show_raw(self, shown: Beside | None) -> None:
        self.raw.show(
            shown, [send_answer.retry_line(each) for each in self._incoming.retries] if self._incoming else ()
        )
        self.raw.title(line(f" As it came · {'events' if self.raw.is_stream else 'bytes'} "))

    def _entitle(self) -> None:
        from workbench.send import is_set

        self.query_one("#keys", KeyBar).run(not self.is_over)
        target = self.sent.outgoing.target
        if self.why:
            told: Line = line(Span(f"✗ not sent: {self.why}", "error"))
        elif (self.is_over and self.shown) or self._incoming is None:
            told = send_answer.verdict(self.shown) if self.shown else ()
        else:
            came = self.shown.after if self.shown else None
            told = send_answer.progress(came, self._incoming.size, self._incoming.retries)
        title = f"Request {self.node.index + 1}{send.made(self.node)} → {target.name}"
        self.query_one("#headline", Bar).show(
            send.headline(title, told, target, self.size.width, is_set=is_set(target.key_variable, os.environ))
        )

    # Keys.

    def action_pane(self, step: int) -> None:
        """The next pane; where there is room for one answer only, the other one takes its place first."""
        beside = self.beside
        if beside.has_focus and beside.seen == (AFTER if step > 0 else BEFORE):
            beside.side = BEFORE if step > 0 else AFTER
            beside.reload()
            return
        panes: list[LineView] = [beside, self.found, self.raw]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        pane = panes[(at + step) % len(panes)]
        if pane is beside and beside.seen != BOTH:
            beside.side = AFTER if step > 0 else BEFORE
            beside.reload()
        self.set_class(pane is self.raw, "-on-raw")
        pane.focus()

    def on_line_view_entered(self, message: LineView.Entered) -> None:
        self.action_open()

    def action_open(self) -> None:
        """The new exchange as a session of its own, behind what came before it in its conversation."""
        recorded = self.recorded
        if not self.is_over or recorded is None:
            self.notify("it was not sent" if self.why else ON_ITS_WAY, markup=False)
            return
        name = send_answer.branch_of(self.node, recorded, self.session.state.name)
        self.session.branches.ask(lambda workspace: workspace.as_branch_session(recorded, name), self._open)

    def _open(self, made: Session) -> None:
        from workbench.tui.screens.session.screen import SessionScreen

        if self.is_active:
            outgoing = self.sent.outgoing
            contract = None if outgoing.is_converted else outgoing.target.contract or None
            self.app.push_screen(SessionScreen(made, contract, None, len(made) - 1))

    def _say(self, why: str) -> None:
        self.notify(visible(why), severity="error", markup=False)

    def action_edit(self) -> None:
        """Edit the request further, from what was sent on."""

        def stand(node: BranchNode) -> None:
            if self.is_active:
                self.dismiss(True)

        if self.is_over:
            is_same = self.recorded is not None and not self.sent.outgoing.is_converted
            self.session.branches.go(self.recorded if self.recorded and is_same else self.node, stand)
        else:
            self.notify(ON_ITS_WAY, markup=False)

    def action_branches(self) -> None:
        """The tree that it is a branch of now; where somebody goes to a node of it, that is edited."""
        from workbench.tui.screens.branches import BranchesScreen

        def back(is_gone: bool | None) -> None:
            if is_gone and self.is_over:
                self.dismiss(True)

        self.app.push_screen(BranchesScreen(self.session, self.node.index), back)

    def action_export(self) -> None:
        """Take it elsewhere: a test, a command, a report."""
        from workbench.tui.screens import exporting

        if self.is_over and self.recorded:
            exporting.begin(self.session, self.recorded)
        else:
            self.notify("it was not sent" if self.why else ON_ITS_WAY, markup=False)

    def action_again(self) -> None:
        """The same once more: another branch."""
        if self.is_over:
            self._send()
        else:
            self.notify(ON_ITS_WAY, markup=False)

    def action_write(self) -> None:
        """The body of the answer, into a file."""
        from workbench.tui.screens.write import write_body

        body = self.shown.after.response_text if self.shown else b""
        if body and self.is_over:
            write_body(self, body, f"answer-{self.node.index + 1}.txt")
        else:
            self.notify("there is no body to write", markup=False)

    def action_leave(self) -> None:
        """Break off and keep what came; once it is over go back."""
        if self.is_over:
            self.dismiss(False)
        elif self._dispatch:
            self._dispatch.cancel()

    def action_back(self) -> None:
        """Back; what is on its way is broken off, and kept."""
        self._is_leaving = True
        if self.is_over:
            self.dismiss(False)
        elif self._dispatch:
            self._dispatch.cancel()
