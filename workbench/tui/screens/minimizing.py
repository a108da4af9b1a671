"""Minimise screen: the smallest request that still fails in the same way, and the smallest fixes."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.screen import Screen

from workbench.send import Target, origin
from workbench.tui import keys
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.models import minimizing, send
from workbench.tui.models.rowtable import StyledSpans
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.screens.worklist import ListPane
from workbench.tui.service import JobAnswer, guard, in_words, is_open
from workbench.tui.widgets.body import BodyPane
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, line, size, wrap

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.rules import Inspector
    from workbench.trials.minimize import MinimalFix, MinimizeRun
    from workbench.tui.dispatch import Dispatch
    from workbench.tui.minimize_run import SearchProgress
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire import HttpRequest
    from workbench.wire.session import Session


def begin(session: SessionScreen, node: BranchNode) -> None:
    """Ask for a target, confirm a real endpoint, then minimise the request of a node."""
    from workbench.send import is_set
    from workbench.trials.minimize import BUDGET
    from workbench.tui.screens.questions import ConfirmScreen
    from workbench.tui.screens.target_choice import TargetScreen

    def show(target: Target) -> None:
        session.app.push_screen(MinimizingScreen(session, node, target))

    def show_if_agreed(target: Target, is_agreed: bool | None) -> None:
        if is_agreed:
            session.actions.agreed.add(origin(target.url))
            show(target)

    def ask_consent(target: Target | None) -> None:
        if target is None:
            return
        if target.is_simulator:
            show(target)
            return
        key = send.key_words(target, is_set=is_set(target.key_variable, os.environ))
        question = minimizing.question(target.url, BUDGET, key)
        session.app.push_screen(ConfirmScreen(question, "send", "do not send"), partial(show_if_agreed, target))

    row = session.state.rows[node.index]
    screen = TargetScreen("Minimise against", row.provider or "generic", row.protocol or "")
    session.app.push_screen(screen, ask_consent)


class MinimizeProgress(Message):
    """Progress of the search."""

    def __init__(self, search_progress: SearchProgress) -> None:
        super().__init__()
        self.seen = search_progress

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, MinimizeProgress)


class MinimizeEnd(Message):
    """End of the search, finished or stopped; ``why`` is the error, empty if none."""

    def __init__(self, why: str = "") -> None:
        super().__init__()
        self.why = why


class EditsPane(LineView):
    """Fixes of the request, the best first; the one under the cursor in full."""

    is_accordion = fills = hangs = True
    edits: tuple[MinimalFix, ...] = ()
    target = ""
    why = "fixes are searched for after the smallest request is found"

    def show(self, edits: tuple[MinimalFix, ...], target: str, why: str) -> None:
        """Show fixes, or the reason that there are none."""
        self.edits, self.target, self.why = edits, target, why
        self.reload()

    def count(self) -> int:
        return len(self.edits)

    def head(self, item: int, width: int) -> Line:
        return minimizing.edit_line(self.edits[item], self.target)

    def further(self, item: int, width: int) -> list[Line]:
        return minimizing.edit_body(self.edits[item], width)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted", indent=2)


class MinimizingScreen(Screen[None]):
    """Minimises a request, from the moment it is shown.

    Args:
        session: session of the exchange.
        node: node of the request.
        target: target that tests whether a request still fails in the same way.
    """

    CSS_PATH = "minimizing.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.MINIMIZE
    BINDINGS = keys.bindings(keys.MINIMIZE)

    left = getters.query_one("#left", ListPane)
    smallest = getters.query_one("#smallest", BodyPane)
    whole = getters.query_one("#whole", BodyPane)
    edits = getters.query_one("#mends", EditsPane)

    def __init__(self, session: SessionScreen, node: BranchNode, target: Target) -> None:
        super().__init__()
        self.session, self.node, self.target = session, node, target
        self.seen: SearchProgress | None = None
        self.why = ""
        self.is_over = self.is_stopped = False
        self._dispatch: Dispatch[None] | None = None
        self._open_bodies: dict[str, bytes] = {}

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="requests"):
            yield ListPane(id="left")
            yield BodyPane(id="smallest")
            yield BodyPane(id="whole")
        yield EditsPane(id="mends")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_MEND, *keys.MINIMIZE])
        self.left.title(line(" Remaining parts "))
        self.smallest.title(line(" Smallest request "))
        self.whole.title(line(" Original "))
        self.edits.title(line(" Fixes "))
        self._go_to(self.left)
        self._show()
        node = self.node
        self.session.branches.ask(lambda workspace: workspace.as_branch_session(node), self._know, self._fail)

    def on_unmount(self) -> None:
        if self._dispatch:
            self._dispatch.cancel()

    def on_resize(self) -> None:
        self._entitle()

    # The search.

    def _know(self, session: Session) -> None:
        """Find the session that simulators know, then start."""
        from workbench.tui.dispatch import known_to

        index = self.node.index

        def job(inspector: Inspector) -> JobAnswer:
            known = known_to(inspector, session, index)
            return JobAnswer(lambda: self._begin(known))

        self.session.inspecting.do(guard(job, self._fail))

    def _begin(self, session: Session) -> None:
        from workbench.tui.dispatch import Dispatch, InspectorQuestions
        from workbench.tui.minimize_run import Shrinking

        if not is_open(self) or self.is_stopped:
            self.post_message(MinimizeEnd())
            return
        node, target = self.node, self.target

        def make_run(inspector: Inspector) -> MinimizeRun:
            from workbench.trials.minimize import MinimizeRun

            return MinimizeRun(inspector, node.index, target, request=node.exchange.request)

        shrinking = Shrinking(make_run, self._tell)
        self._dispatch = Dispatch(session, shrinking.work(InspectorQuestions(self.session.inspecting.do)))
        self._run(self._dispatch)

    @work(thread=True, group="minimize", exit_on_error=False)
    def _run(self, dispatch: Dispatch[None]) -> None:
        try:
            dispatch.run()
        except Exception as error:
            self.post_message(MinimizeEnd(in_words(error)))
        else:
            self.post_message(MinimizeEnd())

    def _tell(self, search_progress: SearchProgress) -> None:
        """Report progress, from any thread."""
        self.post_message(MinimizeProgress(search_progress))

    def _fail(self, why: str) -> None:
        self.post_message(MinimizeEnd(why))

    def on_minimize_progress(self, message: MinimizeProgress) -> None:
        self.seen = message.seen
        self._show()

    def on_minimize_end(self, message: MinimizeEnd) -> None:
        self.is_over, self.why = True, message.why
        self._open_bodies.clear()
        self._show()

    # What is shown.

    def _entitle(self) -> None:
        from workbench.send import is_set

        self.query_one("#keys", KeyBar).run(not (self.is_over or self.is_stopped))
        facts = minimizing.facts(self.seen, self.why, is_stopped=self.is_stopped)
        title = f"Minimise request {self.node.index + 1} → {self.target.name}{send.request_name(self.node)}"
        has_key = is_set(self.target.key_variable, os.environ)
        lines = send.headline(title, facts, self.target, self.size, is_set=has_key)
        self.query_one("#headline", Bar).show([*lines, minimizing.failure(self.seen, self.size.width)])

    def _show(self) -> None:
        if not is_open(self):
            return
        self._entitle()
        seen = self.seen
        if seen is None:
            self.left.show_none(self.why or "reading the request …")
            return
        result = seen.result
        self.left.show(len(seen.pieces), lambda item: minimizing.piece_line(seen.pieces[item]), "nothing")
        self.left.title(line(f" Remaining parts · {size(len(result.text))} "))
        self._lay_out(self.whole, result.original, seen.first_fault)
        if seen.is_over or self.is_over or len(result.text) < len(result.original) // 2:
            self._lay_out(self.smallest, result.text, seen.fault)
        elif not self.smallest.why:
            self.smallest.show(b"", (), "little removed yet")
        self.smallest.title(line(f" Smallest request · {size(len(result.text))} "))
        self.whole.title(line(f" Original · {size(len(result.original))} "))
        nothing = "no known fix" if self.is_over else EditsPane.why
        self.edits.show(seen.edits, self.target.name, nothing)
        found = f" · {len(seen.edits)}" if seen.edits else ""
        self.edits.title(line(f" Fixes of the original{found} "))

    def _lay_out(self, pane: BodyPane, body: bytes, fault: tuple[tuple[int, int], ...]) -> None:
        """Show a body at its fault, unless it is shown already."""
        if self._open_bodies.get(pane.id or "") != body:
            self._open_bodies[pane.id or ""] = body
            pane.show(body, (StyledSpans("doubtful", fault),), "no body")
            pane.mark_range(fault)

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        seen = self.seen
        if message.view is self.left and seen and self.left.cursor < len(seen.pieces) and self.left.has_focus:
            span = seen.pieces[self.left.cursor].span
            self.smallest.mark_range((span,) if span else ())

    # Keys.

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        """Branch from the fix under the cursor; in any other pane from the smallest request."""
        if message.view is self.edits and self.edits.edits:
            fix = self.edits.edits[self.edits.cursor]
            self._branch(fix.text, fix.repair.title)
        else:
            self.action_branch()

    def action_branch(self) -> None:
        """Save the smallest request as a branch, and edit it."""
        if self.seen is None or self.seen.result.text == self.seen.result.original:
            self.notify("no smaller request yet", markup=False)
        else:
            found = self.seen.result
            self._branch(found.text, f"minimised: {size(len(found.original))} → {size(len(found.text))}")

    def action_apply(self) -> None:
        """Save the smallest fix as a branch, and edit it."""
        if self.seen is None or not self.seen.edits:
            self.notify("no fix yet", markup=False)
        else:
            fix = self.seen.edits[self.edits.cursor if self.edits.has_focus else 0]
            self._branch(fix.text, fix.repair.title)

    def _branch(self, body: bytes, title: str) -> None:
        self._stop()

        def edit_branch(node: BranchNode) -> None:
            self.dismiss(None)
            self.session.request_screens.edit(node.index)

        self.session.branches.commit(self.node, self._request_with(body), title, edit_branch)

    def _request_with(self, body: bytes) -> HttpRequest:
        """Request of the node with this body; if it was converted, the request as the target receives it."""
        from workbench.edits import with_body

        assert self.seen and self.node.exchange.request
        outgoing = self.seen.outgoing
        return with_body(outgoing.request if outgoing.is_converted else self.node.exchange.request, body)

    def action_write(self) -> None:
        """Write the smallest body to a file; with the focus on a fix, the fixed body."""
        from workbench.tui.screens.write import write_body

        if self.seen is None:
            self.notify("no result yet", markup=False)
            return
        number = self.node.index + 1
        if self.edits.has_focus and self.edits.edits:
            write_body(self, self.edits.edits[self.edits.cursor].text, f"fixed-{number}.json")
        else:
            write_body(self, self.seen.result.text, f"smallest-{number}.json")

    def action_pane(self, step: int) -> None:
        """Go to the next pane; if there is little room it replaces another one."""
        panes: list[LineView] = [self.left, self.smallest, self.whole, self.edits]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        self._go_to(panes[(at + step) % len(panes)])

    def _go_to(self, pane: LineView) -> None:
        if pane is not self.edits:
            for each in (self.left, self.smallest, self.whole):
                self.set_class(each is pane, f"-on-{each.id}")
        pane.focus()

    def action_leave(self) -> None:
        """Stop the search; once it has ended, go back."""
        if self.is_over or self.is_stopped:
            self.dismiss(None)
        else:
            self._stop()
            self._entitle()

    def _stop(self) -> None:
        if not self.is_over:
            self.is_stopped = True
            if self._dispatch:
                self._dispatch.cancel()

    def action_back(self) -> None:
        self.dismiss(None)
