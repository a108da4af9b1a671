"""Edits of the elements of a request, each as the byte ranges that change.

Every operation is pure: it returns the splices (``request.apply_changes`` applies them) or raises LocalProtocolError
with the reason in one line. Bytes outside of the change keep their spelling. Whether a provider accepts the result is
not checked here.
"""

from __future__ import annotations

from typing import TypeAlias

from workbench import protocols
from workbench.edits import shape
from workbench.edits._ranges import BLANK, ValueRange
from workbench.edits.message_parts import element_pointer
from workbench.edits.request import Splice, json_problem
from workbench.errors import LocalProtocolError
from workbench.ir import Text, ToolResultIR
from workbench.protocols import REQUEST, Adapter, DecodedExchange
from workbench.provenance import escape
from workbench.wire import patch, split_pointer, writer_like

Splices: TypeAlias = tuple[Splice, ...]

_KEPT = ("/content", "/parts")
"""Lists that stay when they become empty."""


def remove(decoded: DecodedExchange, pointer: str) -> Splices:
    """Remove a message, part, tool, parameter, or any other element or member."""
    value = value_of(decoded, pointer)
    if not pointer:
        raise LocalProtocolError("the whole body cannot be removed", where="the whole text")
    if pointer in _part_pointers(decoded):
        around = parent_of(decoded, pointer)
        while len(around.children) == 1 and not _may_be_empty(decoded, around.pointer):
            value, around = around, parent_of(decoded, around.pointer)
    return (value.remove(),)


def duplicate(decoded: DecodedExchange, pointer: str) -> Splices:
    """Insert a copy of the same bytes after an element."""
    parent, at = _list_and_index(decoded, pointer)
    return (parent.duplicate_element(at),)


def move(decoded: DecodedExchange, pointer: str, by: int) -> Splices:
    """Move an element within its list: ``by`` -1 is up, 1 is down. Text between the elements stays in place."""
    parent, at = _list_and_index(decoded, pointer)
    if not 0 <= at + by < len(parent.children):
        raise LocalProtocolError("it cannot be moved further", where=pointer)
    return _rotate(parent, at, at + by)


def move_before(decoded: DecodedExchange, pointer: str, target: str) -> Splices:
    """Move an element before another one, in its list or in another; a target ending in "/-" is the list's end."""
    parent, at = _list_and_index(decoded, pointer)
    place, step = _slot(decoded, target)
    if place.pointer == parent.pointer:
        return _rotate(parent, at, step - 1 if step > at else step)
    if f"{target}/".startswith(f"{pointer}/"):
        raise LocalProtocolError("a value cannot be moved into itself", where=pointer)
    value = parent.children[at]
    return tuple(sorted((value.remove(), place.insert_element(step, value.raw))))


def set_text(decoded: DecodedExchange, pointer: str, text: str) -> Splices:
    """Change the text of a string, or of a list of blocks such as a result; the form stays.

    In a list of blocks the first text is replaced, the other texts are removed, and other blocks stay.
    """
    value = value_of(decoded, pointer)
    if not value.is_list:
        return value.set_text(text)
    texts = _result_texts(decoded, pointer)
    if not texts:
        block = shape.block(adapter_of(decoded), Text(text))
        return (value.insert_element(0, value.format_child(block)),)
    others = (c.remove() for c in value.children if any(f"{at}/".startswith(f"{c.pointer}/") for at in texts[1:]))
    return tuple(sorted((*value_of(decoded, texts[0]).set_text(text), *others)))


def set_value(decoded: DecodedExchange, pointer: str, typed: bytes) -> Splices:
    """Replace a value by JSON as typed, without blanks around it.

    Inside a string that holds JSON (arguments) the bytes are escaped accordingly.
    """
    value = value_of(decoded, pointer)
    return (value.replace(_parse_typed(typed)),) if value.raw != typed.strip(BLANK) else ()


def set_parameter(decoded: DecodedExchange, pointer: str, typed: bytes) -> Splices:
    """Set a member to JSON as typed: replace it, or append it to its object if it is absent."""
    if decoded.request_index.span(pointer):
        return set_value(decoded, pointer, typed)
    return (parent_of(decoded, pointer).insert_member((split_pointer(pointer) or [""])[-1], _parse_typed(typed)),)


def rename(decoded: DecodedExchange, pointer: str, name: str) -> Splices:
    """Change the key of a parameter or other member."""
    value, parent = value_of(decoded, pointer), parent_of(decoded, pointer)
    if value.key is None:
        raise LocalProtocolError("an element of a list has no name", where=pointer)
    other = f"{parent.pointer}/{escape(name)}"
    if other == pointer:
        return ()
    if decoded.request_index.span(other):
        raise LocalProtocolError("the name is in use", where=other, hint="remove the other member first")
    return (value.splice(*value.key, writer_like(value.text)(name)),)


def replace_range(text: bytes, start: int, end: int, new: bytes) -> Splices:
    """Replace any range of bytes; the result need not be JSON."""
    if not 0 <= start <= end <= len(text):
        raise LocalProtocolError("no such range", where=f"bytes {start}–{end} of {len(text)}")
    return (Splice(start, end, new),) if text[start:end] != new else ()


def adapter_of(decoded: DecodedExchange) -> Adapter:
    """Adapter of a request. Raises LocalProtocolError if it could not be decoded."""
    if decoded.request is None:
        why = json_problem(decoded.request_text) or "not a request of a known protocol"
        raise LocalProtocolError(f"the body can be edited as text only: {why}", where="request")
    return protocols.get(decoded.request.protocol)


def value_of(decoded: DecodedExchange, pointer: str) -> ValueRange:
    """Value of the body at a pointer. Raises LocalProtocolError."""
    return ValueRange(decoded.request_index, pointer)


def parent_of(decoded: DecodedExchange, pointer: str) -> ValueRange:
    """Container of a value (present or not), also the JSON inside a string. Raises LocalProtocolError."""
    return value_of(decoded, patch.parent_of(pointer)[0]).inner


def _list_and_index(decoded: DecodedExchange, pointer: str) -> tuple[ValueRange, int]:
    """The list that contains an element, and its index."""
    parent = parent_of(decoded, pointer)
    if not parent.is_list:
        raise LocalProtocolError("not an element of a list", where=pointer)
    value_of(decoded, pointer)
    return parent, int(patch.parent_of(pointer)[1])


def _slot(decoded: DecodedExchange, target: str) -> tuple[ValueRange, int]:
    """A list, and the index at which a value before ``target`` is inserted."""
    parent = parent_of(decoded, target)
    if parent.is_list and patch.parent_of(target)[1] in ("-", str(len(parent.children))):
        return parent, len(parent.children)
    return _list_and_index(decoded, target)


def _rotate(held: ValueRange, at: int, to: int) -> Splices:
    """Move one element of a list: values change places, the text between them stays."""
    order = list(held.children)
    order.insert(to, order.pop(at))
    pairs = zip(held.children, order, strict=True)
    return tuple(slot.replace(value.raw) for slot, value in pairs if slot.raw != value.raw)


def _part_pointers(decoded: DecodedExchange) -> frozenset[str]:
    """Pointers of the parts and tools of a request."""
    if decoded.request is None:
        return frozenset()
    parts = (m.pointer + element_pointer(p) for m in decoded.request.messages for p in m.parts)
    return frozenset((*parts, *(t.pointer for t in decoded.request.tools)))


def _may_be_empty(decoded: DecodedExchange, pointer: str) -> bool:
    """The container stays when it is empty: a message, its content, the body; not a list of calls or tools."""
    at = f"{pointer}/"
    ends = [m.pointer for m in decoded.messages(REQUEST) if f"{m.pointer}/".startswith(at)]
    return not pointer or bool(ends) or pointer.endswith(_KEPT)


def _result_texts(decoded: DecodedExchange, pointer: str) -> list[str]:
    """Pointers of the texts in the blocks of a result, given the pointer of its content."""
    for message in decoded.messages(REQUEST):
        for part in message.parts:
            if isinstance(part, ToolResultIR) and message.absolute(part, "content") == pointer:
                return [message.absolute(p, "text") for p in part.content if "text" in p.source.fields]
    raise LocalProtocolError("neither text nor the blocks of a tool result", where=pointer, hint="edit it as JSON")


def _parse_typed(text: bytes) -> bytes:
    """Check that typed text is JSON, and strip the blanks around it."""
    wrong = json_problem(text)
    if wrong:
        raise LocalProtocolError(wrong, where="what was typed")
    return text.strip(BLANK)
