"""The screen that continues a conversation: one pending step at a time, shown, changed, and done by hand or run on."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container

from workbench.safetext import from_bytes, visible
from workbench.send.loop import Answer, Ended, Limits, Reason, Result, Say, Send
from workbench.send.target import Target
from workbench.tui import keys, stepping
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.models import continuing, send
from workbench.tui.models.continuing import Done, Offer, Pending
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.models.ways import is_plain
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.told import ToldPane
from workbench.tui.panes.writing import MOST_IN_PLACE, Writing
from workbench.tui.screens.stepper import Stepper
from workbench.tui.screens.worklist import ListPane
from workbench.tui.service import Answer as Delivery
from workbench.tui.service import guarded
from workbench.views.lines import Line, line
from workbench.views.words import size

if TYPE_CHECKING:
    from workbench.edits.branches import Node
    from workbench.rules.inspection import Inspector
    from workbench.tui.screens.session.screen import SessionScreen


def begin(session: SessionScreen, node: Node) -> None:
    """Ask where the requests are to go, then show the first step."""
    from workbench.tui.screens.target_choice import TargetScreen

    def chosen(target: Target | None) -> None:
        if target:
            session.app.push_screen(ContinuingScreen(session, node, target))

    row = session.state.rows[node.index]
    session.app.push_screen(TargetScreen("Continue with", row.provider or "generic", row.protocol or ""), chosen)


class ContinuingScreen(Stepper):
    """Steps of a conversation.

    Args:
        session: whose exchange it is.
        node: the exchange or edit that is continued.
        target: where requests go.
    """

    CSS_PATH = "continuing.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.CONTINUE
    BINDINGS = keys.bindings(keys.CONTINUE)

    steps = getters.query_one("#steps", ListPane)
    step = getters.query_one("#step", ToldPane)
    about = getters.query_one("#about", Container)

    @property
    def is_key_set(self) -> bool:
        return bool(self.target.key_variable and os.environ.get(self.target.key_variable))

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        with Container(id="sides-of-steps"):
            yield ListPane(id="steps")
            with Container(id="about"):
                yield ToldPane(id="step")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.steps.title(line(" Steps "))
        self.steps.focus()
        self.look(is_first=True)

    def on_resize(self) -> None:
        self.show_progress()

    def on_line_view_entered(self, message: LineView.Entered) -> None:
        if not self.has_class("-writing"):
            self.do()

    # Changing it.

    def action_edit(self) -> None:
        """Write the result, the request or the user's next words in place."""
        self.write()

    def write(self) -> None:
        text = self._editable()
        if text is None or self.query("#writing"):
            return
        if len(text.encode("utf-8", "surrogatepass")) > MOST_IN_PLACE or not is_plain(text):
            self.notify("too long for here, or it holds what cannot be shown: E opens your editor", markup=False)
            return
        self.runs_on = False
        is_line = bool(self.pending and isinstance(self.pending.step, Ended))
        writing = Writing(text, self._title_of_writing(), is_line=is_line, id="writing")
        self.add_class("-writing")
        self.about.mount(writing)
        writing.focus()

    def action_editor(self) -> None:
        """The same in the person's own editor."""
        from workbench.errors import WorkbenchError
        from workbench.tui.editor import edited_outside

        text = self._editable()
        if text is None:
            return
        self.runs_on = False
        is_request = bool(self.pending and isinstance(self.pending.step, Send))
        lone = "surrogateescape" if is_request else "surrogatepass"  # bytes of a body; half a character of a result
        try:
            made = edited_outside(self.app, text.encode("utf-8", lone), ".json" if is_request else ".txt")
        except (WorkbenchError, OSError) as error:
            self.say(str(error))
            return
        if made is not None:
            told = from_bytes(made)
            self._take(told if is_request else re.sub("[\udc80-\udcff]", "\ufffd", told))

    def _editable(self) -> str | None:
        """What can be written now; None where nothing can."""
        pending = self.pending
        if pending is None or self.is_sending:
            return None
        step = pending.step
        if isinstance(step, Answer):
            return continuing.shown(self.offer.result) if self.offer else ""
        if isinstance(step, Send):
            return from_bytes(step.request.body.raw)
        if step.reason in (Reason.DONE, Reason.TEXT_CALL):
            return ""
        self.notify(visible(f"{step.text}: u steps back"), markup=False)
        return None

    def _title_of_writing(self) -> str:
        step = self.pending.step if self.pending else None
        if isinstance(step, Answer):
            return visible(f"Result of {step.call.name or 'the call'}")
        return "Body of the request" if isinstance(step, Send) else "What the user says next"

    def on_writing_taken(self, message: Writing.Taken) -> None:
        self._stop_writing()
        self._take(message.text)

    def on_writing_left(self, message: Writing.Left) -> None:
        self._stop_writing()

    def _stop_writing(self) -> None:
        self.query("#writing").remove()
        self.remove_class("-writing")
        self.steps.focus()

    def _take(self, text: str) -> None:
        """What was written counts."""
        pending = self.pending
        if pending is None:
            return
        if isinstance(pending.step, Answer):
            failed = bool(self.offer and self.offer.result.is_error)
            self.offers = [Offer(Result(text, is_error=failed), "written by hand"), *pending.offers]
            self.offered = 0
            self.show_steps()
        elif isinstance(pending.step, Send):
            self._change_request(pending.step, text.encode("utf-8", "surrogateescape"))
        elif text:
            self.advance(self.loop.after(Say(text)), Done(self.loop, self.node, pending, said=text))

    def _change_request(self, step: Send, body: bytes) -> None:
        """The pending request with another body; what cannot be read goes as it is."""
        from workbench.edits import with_body

        changed, course = replace(step, request=with_body(step.request, body)), self.course
        if course is None:
            return

        def job(inspector: Inspector) -> Delivery:
            pending = replace(stepping.leaving(changed, course), is_changed=True)
            return Delivery(lambda: self._changed(pending))

        self.session.inspecting.do(guarded(job, self.say))

    def _changed(self, pending: Pending) -> None:
        self.pending = pending
        self.show_steps()

    def action_offer(self) -> None:
        """Another result of those at hand."""
        if len(self.offers) > 1:
            self.offered = (self.offered + 1) % len(self.offers)
            self.show_steps()
        else:
            self.notify("there is no other result: e writes one", markup=False)

    def action_error(self) -> None:
        """The tool failed, or it did not."""
        if self.offer:
            made = replace(self.offer.result, is_error=not self.offer.result.is_error, element=None)
            self.offers[self.offered] = self.offer._replace(result=made)
            self.show_steps()

    def ask_limits(self) -> None:
        from workbench.tui.screens.ask import AskScreen

        hint = "requests, tokens, times of one call, errors in a row; 0 for no limit"
        asked = AskScreen("Limits", hint, continuing.limits_text(self.loop.limits))
        self.app.push_screen(asked, self._limited)

    def _limited(self, text: str | None) -> None:
        limits: Limits | None = continuing.limits_of(text) if text is not None else None
        if limits:
            self.limits, self.loop = limits, self.loop.limited(limits)
            self.look()
        elif text is not None:
            self.notify("limits are one to four numbers: 20 100000 3 0", severity="warning", markup=False)

    def action_limits(self) -> None:
        """Other limits."""
        self.ask_limits()

    def action_undo(self) -> None:
        """One step back; what was sent stays a branch."""
        if self.is_sending:
            self.notify("a request is on its way: esc breaks it off", markup=False)
        elif self.done:
            last = self.done.pop()
            self.runs_on = False
            self.loop, self.node, self.course = last.loop, last.node, None
            self.session.working.go(self.node)
            self.look()
        else:
            self.notify("this is the first step", markup=False)

    def action_target(self) -> None:
        """Another target."""
        from workbench.tui.screens.target_choice import TargetScreen

        row = self.session.state.rows[self.node.index]
        self.app.push_screen(TargetScreen("Continue with", row.provider or "generic", row.protocol or ""), self._aim)

    def _aim(self, target: Target | None) -> None:
        if target and not self.is_sending:
            self.loop = replace(self.loop, contract=target.contract)
            self.steer(target)

    def action_corrections(self) -> None:
        """What a measured profile corrects, to be switched off and on."""
        from workbench.tui.screens.correcting import CorrectingScreen

        if self.is_sending:
            self.notify("a request is on its way: esc breaks it off", markup=False)
        elif self.course and self.course.choice.decided:
            self.app.push_screen(CorrectingScreen(self.course.choice), self._corrected)
        else:
            self.notify("nothing is corrected: no profile of this target and model asks for it", markup=False)

    def _corrected(self, off: frozenset[str] | None) -> None:
        if off is not None and off != self.off:
            self.steer(self.target, off)

    # What is shown.

    def _show_keys(self) -> None:
        """Those that are of use now."""
        is_corrected = self.course is not None and bool(self.course.choice.decided)
        rows = [key for key in keys.CONTINUE if is_corrected or key.id != "continue.corrections"]
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_STEP, *rows])

    def show_steps(self) -> None:
        rows = len(self.done) + 1
        self.steps.show(rows, self._row)
        self.steps.move_to(rows - 1)
        self.show_progress()
        self._show_keys()
        self._show_step()

    def _row(self, item: int) -> Line:
        if item < len(self.done):
            return continuing.done_line(self.done[item])
        return continuing.pending_line(self.pending, self.offer)

    def _show_step(self) -> None:
        item = self.steps.cursor
        is_done = item < len(self.done)
        pending = self.done[item].pending if is_done else self.pending
        offer = self.done[item].offer if is_done else self.offer
        said = "" if is_done else self._answer()
        self.step.show(lambda width: continuing.detail(pending, offer, said, width))
        which = f"Step {item + 1}" if is_done else "The next step"
        self.step.title(line(f" {which} "))

    def _answer(self) -> str:
        """What the model said, where it is the end."""
        from workbench.ir import Text

        if not self.pending or not isinstance(self.pending.step, Ended):
            return ""
        response = self.loop.decoded.response
        messages = response.choices[0] if response and response.choices else ()
        return "\n".join(p.text for m in messages for p in m.parts if isinstance(p, Text))

    def show_progress(self) -> None:
        self.query_one("#keys", KeyBar).run(self.is_sending or self.runs_on)
        running = f"sending, {size(self.arrived)} came" if self.is_sending else "running on" if self.runs_on else ""
        decided = self.course.choice.decided if self.course else ()
        told = continuing.facts(self.loop, self.done, running, decided)
        title = f"Continue exchange {self.node.index + 1}{send.made(self.start)} with {self.target.name}"
        lines = send.headline(title, told, self.target, self.size.width, is_set=self.is_key_set)
        self.query_one("#headline", Bar).show(lines)

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        if message.view is self.steps:
            self._show_step()

    # Leaving.

    def action_pane(self) -> None:
        (self.step if self.steps.has_focus else self.steps).focus()

    def action_leave(self) -> None:
        """Stop what goes on; else back."""
        if self.runs_on or self.is_sending:
            self.break_off()
            self.show_progress()
        else:
            self.leave()

    def action_back(self) -> None:
        self.leave()
