"""Editing of paused exchanges: requests to models on the edit screen, other messages in place, all in an own editor."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

from workbench import regex
from workbench.errors import WireError, WorkbenchError
from workbench.safetext import from_bytes
from workbench.tui.models.pauses import PausedSide
from workbench.tui.widgets.writing import MOST_IN_PLACE, Writing
from workbench.views import REQUEST
from workbench.wire import loads

if TYPE_CHECKING:
    from workbench.tui.screens.breakpoints.screen import BreakpointsScreen


_TOKEN = regex.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++')
_BESIDE = {"{": "}", "[": "]"}


def _with_line_breaks(text: str) -> str:
    """JSON of one line with a line for each value; tokens stay as they are. Other text stays."""
    from workbench.tui.models.rowtable import is_json

    if "\n" in text or not is_json(text.encode("utf-8", "surrogateescape")):
        return text
    laid_out_text, depth, before = "", 0, ""
    for token in _TOKEN.findall(text):
        depth -= token in ("}", "]")
        is_empty = _BESIDE.get(before) == token
        if (before in ("{", "[", ",") or token in ("}", "]")) and not is_empty:
            laid_out_text += "\n" + "  " * depth
        laid_out_text += token + (" " if token == ":" else "")
        depth += token in ("{", "[")
        before = token
    return laid_out_text


def _fault_of(body: bytes) -> str:
    """Why a body is not JSON; empty if it is."""
    try:
        loads(body)
    except WireError as error:
        return str(error)
    return ""


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class PausedBodyEditor:
    """Opens the bytes of a paused exchange that were not passed on yet, and passes on the edited ones."""

    def __init__(self, screen: BreakpointsScreen) -> None:
        self.screen = screen
        self._writing: tuple[Writing, PausedSide, bytes] | None = None
        self._doubted = ""  # a text that is not JSON, and was said to be none

    @property
    def is_writing(self) -> bool:
        """A response or message is being edited in place."""
        return self._writing is not None

    # Actions.

    def edit(self) -> None:
        """Edit a request to a model on the edit screen, another message in place."""
        if paused := self.screen.decisions.paused_for("edit"):
            is_of_model = paused.side == REQUEST and not (paused.is_tool_hop or paused.is_message)
            self._with_body(paused, self._edit_request if is_of_model else self._edit_in_place)

    def edit_outside(self) -> None:
        """Edit the bytes in the person's own editor."""
        if paused := self.screen.decisions.paused_for("edit"):
            self._with_body(paused, self._edit_outside)

    def _with_body(self, paused: PausedSide, do: Callable[[PausedSide, bytes], None]) -> None:
        body = self.screen.details.body_of(paused)
        if body is None:
            self.screen.refuse("the body of this message is not loaded yet")
        else:
            do(paused, body)

    def _edit_request(self, paused: PausedSide, body: bytes) -> None:
        from workbench.tui.screens.edit.paused_request import begin

        session = self.screen.session
        index = session.state.index_of(paused.exchange)
        if index is None:
            self.screen.refuse("this request is not in the session yet · E: edit its bytes")
            return
        begin(session, index, paused, body, partial(self.screen.decisions.pass_on, paused))

    def _edit_outside(self, paused: PausedSide, body: bytes) -> None:
        from workbench.tui.editor import edited_outside
        from workbench.tui.models.rowtable import is_json

        try:
            edited = edited_outside(self.screen.app, body[paused.sent :], ".json" if is_json(body) else ".txt")
        except WorkbenchError as error:
            self.screen.refuse(str(error))
            return
        if edited is None:
            self.screen.refuse("no change; it stays paused")
        else:
            self.screen.decisions.pass_on(paused, body[: paused.sent] + edited)

    def _edit_in_place(self, paused: PausedSide, body: bytes) -> None:
        from workbench.tui.models.edit_modes import is_plain

        text = from_bytes(body[paused.sent :])
        if paused.is_tool_hop:
            text = _with_line_breaks(text)
        if self._writing:
            return
        if len(body) > MOST_IN_PLACE or b"\r" in body or not is_plain(text):
            self.screen.refuse("cannot be edited here · E: open your editor")
            return
        part = "Rest of the response" if paused.sent else "Message" if paused.is_message else paused.side.capitalize()
        to = "client" if paused.side != REQUEST else "server" if paused.is_message else "tool server"
        writing = Writing(text, f"{part}, as sent to the {to}", is_line=False, id="writing")
        self._writing = writing, paused, body[: paused.sent] + _to_bytes(text)
        self.screen.mount(writing, after=self.screen.body)
        self.screen.add_class("-writing")
        self.screen.show_keys("editing: ctrl+s forward it · esc keep it paused  ")
        writing.focus()

    # The field.

    def take(self, text: str) -> None:
        """Pass on what was edited."""
        if self._writing:
            from workbench.tui.models.rowtable import is_json

            _, paused, body = self._writing
            edited = body[: paused.sent] + _to_bytes(text)
            if text != self._doubted and is_json(body) and (why := _fault_of(edited)):
                self._doubted = text
                self.screen.refuse(f"{why} · ctrl+s again: forward it anyway")
                return
            self.stop()
            if edited == body:
                self.screen.refuse("no change; it stays paused")
            else:
                self.screen.decisions.pass_on(paused, edited)

    def stop(self) -> None:
        """Close the field."""
        if self._writing:
            self._writing[0].remove()
            self._writing = None
        self.screen.remove_class("-writing")
        self.screen.show_keys()
        self.screen.focus_pane("points")

    def stop_unless_paused(self, paused: Collection[PausedSide]) -> None:
        """Close the field if its exchange is no longer paused."""
        if self._writing and self._writing[1] not in paused:
            self.stop()
