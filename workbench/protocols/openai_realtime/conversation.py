"""The conversation of a Realtime connection: its items in their order, as client and server change them."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.protocols import SocketTurn
from workbench.protocols.common.socket_facts import HeldConversation
from workbench.protocols.openai_realtime.session_members import Value
from workbench.wire import Frame, JsonIndex, dumps


@dataclass(slots=True)
class ConversationItem:
    """An item of the conversation: its bytes, and the frame that had them last.

    Attributes:
        is_sent: the client made it.
        is_confirmed: the server added it.
    """

    data: bytes
    number: int
    value: Value
    is_sent: bool = False
    is_confirmed: bool = False

    @property
    def name(self) -> JsonValue:
        return self.value.get("id")

    def fits(self, other: Value) -> bool:
        """It may be what the server added: the ids are equal, or the client gave none and the rest agrees."""
        if self.name is not None:
            return bool(self.name == other.get("id"))
        return all(self.value.get(key) == other.get(key) for key in ("type", "role", "call_id"))


class RealtimeConversation:
    """The items of one connection."""

    def __init__(self) -> None:
        self.items: list[ConversationItem] = []
        self._deleted: set[str] = set()  # ids of items

    def pending(self) -> list[ConversationItem]:
        """Items that the client sent and the server did not add yet."""
        return [item for item in self.items if not item.is_confirmed]

    def delete(self, name: JsonValue) -> None:
        """The server deleted an item."""
        self._deleted.add(str(name))
        self.items = [item for item in self.items if item.name != name]

    def insert(self, item: ConversationItem, after: JsonValue) -> None:
        """Put an item behind another one, at the beginning, or at the end."""
        names = [held.name for held in self.items] if isinstance(after, str) else []
        if after == "root":
            self.items.insert(0, item)
        elif after in names:
            self.items.insert(names.index(after) + 1, item)
        else:
            self.items.append(item)

    def confirm(self, item: ConversationItem, after: JsonValue) -> None:
        """The server added an item: one that the client sent, or a new one."""
        sent = next((held for held in self.pending() if held.fits(item.value)), None)
        if sent is None:
            item.is_confirmed = True
            self.insert(item, after)
            return
        sent.is_confirmed = True
        sent.value = {**sent.value, "id": item.name}

    def insert_output(self, item: ConversationItem) -> None:
        """Put an output into the conversation that no event of the conversation put there: gateways leave them out.

        A call is put before its result, which the client may have sent already.
        """
        if str(item.name) in self._deleted or any(held.name == item.name for held in self.items):
            return
        item.is_confirmed = True
        results = (n for n, held in enumerate(self.items) if _is_result_of(held.value, item.value))
        self.items.insert(next(results, len(self.items)), item)

    def replace(self, item: ConversationItem) -> None:
        """An item that the server made is complete; what the client sent stays as it was sent."""
        for held in self.items:
            if held.name is not None and held.name == item.name and not held.is_sent:
                held.data, held.number, held.value = item.data, item.number, item.value

    def fill(self, number: int, frame: Frame, value: JsonValue, pointer: str) -> None:
        """Give an item the content that only the end of its response tells."""
        if not isinstance(value, dict) or not value.get("content"):
            return
        for item in self.items:
            if item.name is not None and item.name == value.get("id") and not item.value.get("content"):
                span = JsonIndex(frame.data).span(pointer)
                item.data = frame.data[slice(*span)] if span else item.data
                item.number, item.value = number, value

    def change(self, number: int, value: Value, index: JsonValue, members: Value) -> None:
        """Change a content part of an item; a member without a value is taken away."""
        for item in self.items:
            content = item.value.get("content")
            if item.name != value.get("item_id") or not isinstance(content, list) or type(index) is not int:
                continue
            if 0 <= index < len(content) and isinstance(content[index], dict):
                changed = {k: v for k, v in {**content[index], **members}.items() if v is not None}
                item.value = {**item.value, "content": [*content[:index], changed, *content[index + 1 :]]}
                item.data, item.number = dumps(item.value), number


_TELLING = ("instructions", "tools")
"""Members of a session that tell which agent it is of."""


def held_by(
    conversation: RealtimeConversation, stated: Value, turns: Sequence[SocketTurn], at: float
) -> HeldConversation | None:
    """What the server holds for a connection; None if nothing was said, or the session of no agent in particular.

    Args:
        stated: what the client said of the session.
        at: time of the newest message.
    """
    if not turns or not any(stated.get(name) for name in _TELLING):
        return None
    first = turns[0].numbers[-1]
    sent = [item.value for item in conversation.items if item.is_sent and item.number < first]
    is_carried = len(sent) > 1 or any(item.get("role") != "user" for item in sent)
    return HeldConversation(first, dumps(stated).decode(), any(turn.is_over for turn in turns), is_carried, at)


def item_of(number: int, frame: Frame, value: Value, pointer: str) -> ConversationItem:
    """The item in a message, with its bytes as they were."""
    span = JsonIndex(frame.data).span(pointer)
    held: JsonValue = value
    for step in pointer.split("/")[1:]:
        held = held[int(step)] if isinstance(held, list) else held.get(step) if isinstance(held, dict) else None
    return ConversationItem(frame.data[slice(*span)] if span else b"{}", number, held if isinstance(held, dict) else {})


def _is_result_of(value: Value, call: Value) -> bool:
    is_call = call.get("type") == "function_call" and call.get("call_id") is not None
    return is_call and value.get("type") == "function_call_output" and value.get("call_id") == call.get("call_id")
