"""Places that a person can type: a number of an exchange, a message, an event, a byte, a pointer, an id."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench import regex
from workbench.ir import ToolCallIR, ToolResultIR

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView

HINT = "exchange 12 · message m3 · event e17 · byte b2048 · pointer /messages/2 · or an id"

_FORMS = regex.compile(r"(?:(?P<kind>[mebx]) ?)?(?P<number>[0-9][0-9,]{0,12})$")
_KINDS = {"m": "message", "e": "event", "b": "byte", "x": "exchange", None: "exchange"}
_FROM_ONE = ("exchange", "message")
"""Kinds that people count from one; events and bytes are counted from zero everywhere."""


class Jump(NamedTuple):
    """A typed place: ``exchange``, ``message``, ``event`` and ``byte`` have a number, from zero; others have a text."""

    kind: str
    number: int = 0
    text: str = ""

    def words(self) -> str:
        """The place in words."""
        if self.kind in ("pointer", "id"):
            return f"{self.kind} {self.text}"
        return f"{self.kind} {self.number + (self.kind in _FROM_ONE):,}"


def parse_jump(typed: str) -> Jump | None:
    """The place that a text names; None for an empty text."""
    typed = typed.strip()
    if not typed:
        return None
    found = _FORMS.match(typed.lower())
    if found is None:
        return Jump("pointer" if typed.startswith("/") else "id", text=typed)
    kind, number = _KINDS[found["kind"]], int(found["number"].replace(",", ""))
    return Jump(kind, max(0, number - (kind in _FROM_ONE)))


def node_of_id(exchange_view: ExchangeView, wanted: str) -> int | None:
    """The outline's node of a call or a result with an id, whole or the beginning of it; calls first."""
    calls = [
        (n, node.part.id) for n, node in enumerate(exchange_view.outline.nodes) if isinstance(node.part, ToolCallIR)
    ]
    results = [
        (n, node.part.tool_call_id)
        for n, node in enumerate(exchange_view.outline.nodes)
        if isinstance(node.part, ToolResultIR)
    ]
    named = [(n, id) for n, id in (*calls, *results) if id]
    exact = next((n for n, id in named if id == wanted), None)
    return exact if exact is not None else next((n for n, id in named if id.startswith(wanted)), None)
