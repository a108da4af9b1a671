"""Goes to a place of the session that the person types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.safetext import visible
from workbench.tui.models.jump import HINT, Jump, node_of_id, parse_jump
from workbench.tui.service import JobAnswer, guard
from workbench.views import REQUEST, RESPONSE, Span, line

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.selection import ExchangeSelection
    from workbench.tui.widgets.prompt import Prompt

WAYS = (("enter", "go"), ("esc", "cancel"))


class SessionJumps:
    """Asks for a place, and goes there."""

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self._prompt: Prompt | None = None

    def ask(self) -> None:
        """Open the input line."""
        from workbench.tui.widgets.prompt import Prompt

        if self._prompt is None:
            self._prompt = Prompt("#", "", self._say, self._close, ways=WAYS)
            self.screen.mount(self._prompt, before="#keys")
            self.screen.call_after_refresh(self._say, "")

    def _say(self, typed: str) -> None:
        jump = parse_jump(typed)
        words = f"go to {visible(jump.words())}" if jump else "go to"
        if self._prompt and self._prompt.is_mounted:
            self._prompt.say([line(Span(words, "strong"), Span(f"  {HINT}", "muted"))])

    def _close(self, typed: str | None) -> None:
        self._prompt = None
        jump = parse_jump(typed or "")
        if jump:
            self.go(jump)

    def go(self, jump: Jump) -> None:
        """Go to a place, or say that it does not exist."""
        screen = self.screen
        if jump.kind == "exchange":
            if jump.number < screen.state.total:
                screen.navigation.open(jump.number)
            else:
                self._refuse(jump, f"the session has {screen.state.total:,} exchanges")
        elif screen.opened is None:
            self._refuse(jump, "no exchange is open")
        elif selection := self._find(jump, screen.opened):
            screen.navigation.stay()
            screen.pointer.select(selection)
        elif jump.kind == "id":
            self._look_in_session(jump)
        else:
            self._refuse(jump, "this position does not exist in the open exchange")

    def _refuse(self, jump: Jump, why: str) -> None:
        self.screen.notify(f"{visible(jump.words())}: {why}", severity="warning", markup=False)

    def _find(self, jump: Jump, exchange_view: ExchangeView) -> ExchangeSelection | None:
        """The place in the open exchange."""
        side, decoded = self.screen.wire.side, exchange_view.decoded
        match jump.kind:
            case "event":
                return exchange_view.at_event(jump.number) if jump.number < len(decoded.events) else None
            case "byte":
                size = len(decoded.request_text if side == REQUEST else decoded.response_text)
                return exchange_view.at_byte(side, jump.number) if jump.number < size else None
            case "message":
                messages = decoded.request.messages if decoded.request else ()
                within = jump.number < len(messages)
                return exchange_view.at_pointer(REQUEST, messages[jump.number].pointer) if within else None
            case "pointer":
                found = exchange_view.at_pointer(side, jump.text)
                return found if found.spans else None
        node = node_of_id(exchange_view, jump.text)
        return None if node is None else exchange_view.at_node(node)

    def _look_in_session(self, jump: Jump) -> None:
        """Look for an id in all inspected exchanges: of the exchange itself, else of a call in it."""

        def job(inspector: Inspector) -> JobAnswer:
            found = first_with_id(inspector, jump.text)
            return JobAnswer(lambda: self._arrive(jump, found))

        self.screen.inspecting.do(guard(job, lambda why: self._refuse(jump, why)))

    def _arrive(self, jump: Jump, found: tuple[int, str, str] | None) -> None:
        from workbench.tui.screens.session.navigation import Goal

        if found is None:
            self._refuse(jump, "not found in the inspected exchanges")
        else:
            index, side, pointer = found
            self.screen.navigation.go(Goal(index, note=(side, pointer)))


def first_with_id(inspector: Inspector, wanted: str) -> tuple[int, str, str] | None:
    """Exchange, side and pointer of the first call with an id, or of the exchange with it; None without one."""
    for row in inspector.rows:
        if row.summary.id == wanted:
            return row.index, "", ""
        decoded = inspector.read_exchange(row.index)
        sides = ((REQUEST, decoded.request), (RESPONSE, decoded.response)) if decoded else ()
        calls = ((side, m, call) for side, of in sides if of for m in of.messages for _, call in m.tool_calls())
        for side, message, call in calls:
            if call.id == wanted:
                return row.index, side, message.absolute(call)
    return None
