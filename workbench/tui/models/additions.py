"""Elements that can be added to a request at a row of its outline, and the edits that add them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.edits import ElementKind, Splices, additions, operations, parent_pointer
from workbench.errors import LocalProtocolError
from workbench.provenance import escape
from workbench.tui.models.edit import EditRow

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange

MESSAGE, TEXT, RESULT, TOOL, PARAMETER = " message", "text part", "tool result", "tool", "parameter"
NO_SCHEMA = {"type": "object", "properties": {}}
"""Schema of a new tool: no parameters yet."""


class AdditionChoice(NamedTuple):
    """Kind of element that can be added; ``asks`` names the text that the user has to type."""

    name: str
    asks: str


class Addition(NamedTuple):
    """Element to add: its choice and the text that the person typed."""

    choice: str
    text: str


class AdditionEdits(NamedTuple):
    """Edits that add an element, and the pointer where it is afterwards."""

    splices: Splices
    pointer: str


def choices(rows: Sequence[EditRow], at: int) -> list[AdditionChoice]:
    """Elements that can be added at a row, the likeliest first."""
    here = rows[at]
    offers = [AdditionChoice(RESULT, "its text")] if _call(rows, at) else []
    offers += [AdditionChoice(f"{role}{MESSAGE}", "its text") for role in additions.ROLES]
    if here.number:
        offers.append(AdditionChoice(TEXT, "its text"))
    return [*offers, AdditionChoice(TOOL, "its name"), AdditionChoice(PARAMETER, "name = JSON")]


def add(decoded: DecodedExchange, rows: Sequence[EditRow], at: int, addition: Addition) -> AdditionEdits:
    """Add an element after the one at a row.

    Raises:
        LocalProtocolError: the element cannot be added there.
    """
    if addition.choice.endswith(MESSAGE):
        following = next((row.pointer for row in rows[at + 1 :] if row.is_message), "") if rows[at].number else ""
        changes = additions.insert_message(decoded, addition.choice.removesuffix(MESSAGE), addition.text, following)
        return AdditionEdits(changes, following or _behind([row for row in rows if row.is_message]))
    if addition.choice == TOOL:
        if not addition.text.strip():
            raise LocalProtocolError("a tool needs a name")
        tools = [row for row in rows if row.element.kind is ElementKind.TOOL]
        return AdditionEdits(additions.insert_tool(decoded, addition.text.strip(), NO_SCHEMA), _behind(tools))
    if addition.choice == PARAMETER:
        name, _, value = addition.text.partition("=")
        pointer = f"/{escape(name.strip())}"
        if not name.strip() or not value.strip():
            raise LocalProtocolError("a parameter needs a name and a value", hint="for example: temperature = 0.2")
        return AdditionEdits(operations.set_parameter(decoded, pointer, value.encode()), pointer)
    message = next(row.pointer for row in reversed(rows[: at + 1]) if row.is_message)
    if addition.choice == TEXT:
        return AdditionEdits(additions.insert_text(decoded, message, addition.text), message)
    return AdditionEdits(additions.insert_result(decoded, _call(rows, at), addition.text), message)


def _call(rows: Sequence[EditRow], at: int) -> str:
    """Pointer of the tool call that a row is or belongs to; "" if none."""
    here = rows[at].pointer
    calls = (row.pointer for row in reversed(rows[: at + 1]) if row.element.kind is ElementKind.CALL)
    return next((pointer for pointer in calls if f"{here}/".startswith(f"{pointer}/")), "")


def _behind(rows: Sequence[EditRow]) -> str:
    """Pointer at which an element after the last row would be inserted; empty without rows."""
    if not rows:
        return ""
    last = rows[-1].pointer
    return f"{parent_pointer(last)}/{int(last.rpartition('/')[2]) + 1}" if last[-1:].isdecimal() else last
