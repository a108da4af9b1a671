"""Turns of Telegraph over a WebSocket: a message with a log begins one, events answer it, and ``close`` ends it."""

from __future__ import annotations

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.protocols import SocketTurn, TurnSplitter
from workbench.wire import Frame

Value = dict[str, JsonValue]


def claims_message(value: Value) -> bool:
    """A message that begins a turn."""
    return "log" in value and "operator" in value


@dataclass(slots=True)
class TelegraphTurn(SocketTurn):
    """A request, sent as one message. Where a message holds a part of it only, ``request_body`` puts it together."""

    sent: bytes = b""

    def request_body(self) -> tuple[bytes, str]:
        return self.sent, f"frame {self.numbers[-1] + 1}"


class TelegraphTurns(TurnSplitter):
    """The splitter of one connection."""

    title = "Telegraph"

    def __init__(self) -> None:
        self.turns: list[SocketTurn] = []

    def take_sent(self, number: int, frame: Frame, value: Value) -> None:
        if claims_message(value):
            self.turns.append(TelegraphTurn([number], frame.at, sent=frame.data))

    def take_received(self, number: int, frame: Frame, value: Value) -> None:
        name = value.get("event")
        if self.turns and isinstance(name, str):
            self.turns[-1].add(number, frame, name)
            self.turns[-1].is_over = name == "close"
