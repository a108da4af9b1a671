"""Answer screen: a request that was sent, and its response, compared with the recorded one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.dispatch import ResponseGrew, SendEnd
from workbench.tui.host import host_of
from workbench.tui.models import send, send_answer
from workbench.tui.models.send_answer import AFTER, BEFORE, BOTH, ResponseComparison
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.screens.send_answer.reader import AnswerReader
from workbench.tui.screens.send_answer.sender import AnswerSender
from workbench.tui.widgets.answers import NewFindingsPane, RawPane, ResponsesPane
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, Span, line

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.tui.preflight import PreparedRequest
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire.session import Session

SENDING = "the request is being sent · esc: cancel"


class AnswerScreen(Screen[bool]):
    """Sends a request as soon as it is shown. Dismissed with True to edit the request further.

    Args:
        session: session of the exchange.
        node: node of the request.
        prepared: the request as sent, and what was known before.
        recorded: node of the response if the request was sent earlier; None to send it now.

    Attributes:
        shown: both responses, as far as the new one is decoded; None before.
        why: reason that there is no response; empty if there is one.
    """

    CSS_PATH = "send_answer.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.ANSWER
    BINDINGS = keys.bindings(keys.ANSWER)

    beside = getters.query_one("#beside", ResponsesPane)
    found = getters.query_one("#found", NewFindingsPane)
    raw = getters.query_one("#raw", RawPane)

    def __init__(
        self, session: SessionScreen, node: BranchNode, prepared: PreparedRequest, recorded: BranchNode | None = None
    ) -> None:
        super().__init__()
        self.session, self.node, self.sent = session, node, prepared
        self.recorded = recorded
        self.shown: ResponseComparison | None = None
        self.why = ""
        self.sender = AnswerSender(self)
        self.reader = AnswerReader(self)

    @property
    def is_over(self) -> bool:
        """The response is complete and judged, or there is none."""
        return bool(self.why) or (self.shown is not None and self.shown.trial is not None)

    def compose(self) -> ComposeResult:
        yield Headline()
        yield ResponsesPane(id="beside")
        with Container(id="below"):
            yield NewFindingsPane(id="found")
            yield RawPane(id="raw")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_ANSWER, *keys.ANSWER])
        self.beside.focus()
        if self.recorded:
            self.reader.judge(self.recorded.exchange)
        else:
            self.sender.send()

    def on_unmount(self) -> None:
        self.sender.cancel()

    def on_resize(self) -> None:
        self._entitle()

    def on_response_grew(self, message: ResponseGrew) -> None:
        self.reader.read()

    def on_send_end(self, message: SendEnd) -> None:
        self.sender.finish(message)

    # What is shown.

    def clear(self) -> None:
        """Show no response, before the request is sent."""
        self.shown, self.recorded, self.why = None, None, ""
        self.show()

    def show(self) -> None:
        """Show the response as far as it is known."""
        outgoing, comparison = self.sent.outgoing, self.shown
        self.beside.show(comparison, outgoing.target.name, self.why or ResponsesPane.why)
        self.beside.title(line(" Responses "))
        trial = comparison.trial if comparison else None
        findings = trial.findings if trial else ()
        self.found.show(findings, "no findings" if trial else "checked when the response is complete")
        tally = f" · {len(findings) or 'none'} · under {trial.contract.label}" if trial else ""
        self.found.title(line(f" Findings{tally} "))
        self.set_class(bool(trial) and not findings, "-clean")
        self._show_raw(comparison)
        self.set_class(self.is_over, "-over")
        self._entitle()

    def _show_raw(self, comparison: ResponseComparison | None) -> None:
        incoming = self.sender.incoming
        self.raw.show(comparison, [send_answer.retry_line(each) for each in incoming.retries] if incoming else ())
        self.raw.title(line(f" Raw response · {'events' if self.raw.is_stream else 'bytes'} "))

    def _entitle(self) -> None:
        from workbench.send import is_set

        self.query_one("#keys", KeyBar).run(not self.is_over)
        target, incoming = self.sent.outgoing.target, self.sender.incoming
        if self.why:
            words: Line = line(Span(f"✗ not sent: {self.why}", "error"))
        elif (self.is_over and self.shown) or incoming is None:
            words = send_answer.verdict(self.shown) if self.shown else ()
        else:
            received = self.shown.after if self.shown else None
            words = send_answer.progress(received, incoming.size, incoming.retries)
        title = f"Request {self.node.index + 1} → {target.name}{send.request_name(self.node)}"
        has_key = is_set(target.key_variable, os.environ)
        self.query_one("#headline", Bar).show(send.headline(title, words, target, self.size, is_set=has_key))

    def show_error(self, why: str) -> None:
        """Notify of an error."""
        self.notify(visible(why), severity="error", markup=False)

    # Keys.

    def action_pane(self, step: int) -> None:
        """Go to the next pane; if there is room for one response only, show the other one first."""
        beside = self.beside
        if beside.has_focus and beside.visible_side == (AFTER if step > 0 else BEFORE):
            beside.side = BEFORE if step > 0 else AFTER
            beside.reload()
            return
        panes: list[LineView] = [beside, self.found, self.raw]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        pane = panes[(at + step) % len(panes)]
        if pane is beside and beside.visible_side != BOTH:
            beside.side = AFTER if step > 0 else BEFORE
            beside.reload()
        self.set_class(pane is self.raw, "-on-raw")
        pane.focus()

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open the new exchange as a session, after the earlier exchanges of its conversation."""
        recorded = self.recorded
        if not self.is_over or recorded is None:
            self.notify("the request was not sent" if self.why else SENDING, markup=False)
            return
        name = send_answer.branch_of(self.node, recorded, self.session.state.name)
        self.session.branches.ask(lambda workspace: workspace.as_branch_session(recorded, name), self._open)

    def _open(self, branch: Session) -> None:
        if self.is_active:
            outgoing = self.sent.outgoing
            contract = None if outgoing.is_converted else outgoing.target.contract or None
            host_of(self.app).open_session(branch, len(branch) - 1, contract)

    def action_edit(self) -> None:
        """Edit the request further, from the node that was sent."""

        def leave(node: BranchNode) -> None:
            if self.is_active:
                self.dismiss(True)

        if self.is_over:
            is_same = self.recorded is not None and not self.sent.outgoing.is_converted
            self.session.branches.go(self.recorded if self.recorded and is_same else self.node, leave)
        else:
            self.notify(SENDING, markup=False)

    def action_branches(self) -> None:
        """Open the tree of branches; if the person goes to a node of it, edit that."""

        def leave(is_gone: bool | None) -> None:
            if is_gone and self.is_over:
                self.dismiss(True)

        self.session.request_screens.branches(self.node.index, leave)

    def action_export(self) -> None:
        """Export the new exchange: a test, a command, a report."""
        from workbench.tui.screens import exporting

        if self.is_over and self.recorded:
            exporting.begin(self.session, self.recorded)
        else:
            self.notify("the request was not sent" if self.why else SENDING, markup=False)

    def action_again(self) -> None:
        """Send the same request again, as another branch."""
        if self.is_over:
            self.sender.send()
        else:
            self.notify(SENDING, markup=False)

    def action_write(self) -> None:
        """Write the body of the response to a file."""
        from workbench.tui.screens.write import write_body

        body = self.shown.after.response_text if self.shown else b""
        if body and self.is_over:
            write_body(self, body, f"answer-{self.node.index + 1}.txt")
        else:
            self.notify("no body to write", markup=False)

    def action_leave(self) -> None:
        """Cancel the send; once it has ended, go back."""
        if self.is_over:
            self.dismiss(False)
        else:
            self.sender.cancel()

    def action_back(self) -> None:
        """Go back; a request that is being sent is cancelled, and saved first."""
        self.sender.is_leaving = True
        self.action_leave()
