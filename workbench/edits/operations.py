"""Edits of the elements of a request, each as the ranges of bytes that change.

Every operation is pure: it says what to change (``request.edited`` does it) or raises LocalProtocolError with one line
that says why it cannot be done. Bytes outside of what is changed keep their spelling. Whether a provider takes the
result is not asked here.
"""

from __future__ import annotations

from typing import TypeAlias

from workbench import protocols
from workbench.edits import shape
from workbench.edits._ranges import BLANK, Value
from workbench.edits.places import element
from workbench.edits.request import Splice, problem
from workbench.errors import LocalProtocolError
from workbench.ir import Text, ToolResultIR
from workbench.leaves import escape
from workbench.protocols import Adapter
from workbench.protocols.decode import REQUEST, DecodedExchange
from workbench.wire import patch
from workbench.wire.json_index import split
from workbench.wire.jsontext import writer_like

Splices: TypeAlias = tuple[Splice, ...]

_KEPT = ("/content", "/parts")
"""Lists that are kept when they are empty."""


def remove(decoded: DecodedExchange, pointer: str) -> Splices:
    """Take away a message, part, tool, parameter, or any other element or member."""
    value = value_of(decoded, pointer)
    if not pointer:
        raise LocalProtocolError("the whole body cannot be removed", where="the whole text")
    if pointer in _listed(decoded):
        around = parent_of(decoded, pointer)
        while len(around.children) == 1 and not _stays(decoded, around.pointer):
            value, around = around, parent_of(decoded, around.pointer)
    return (value.removed(),)


def duplicate(decoded: DecodedExchange, pointer: str) -> Splices:
    """The same bytes once more, right behind."""
    parent, at = _element(decoded, pointer)
    return (parent.with_copy(at),)


def move(decoded: DecodedExchange, pointer: str, by: int) -> Splices:
    """Move an element within its list: ``by`` -1 is up, 1 is down. What stands between the elements stays there."""
    parent, at = _element(decoded, pointer)
    if not 0 <= at + by < len(parent.children):
        raise LocalProtocolError("it cannot go further", where=pointer)
    return _rotated(parent, at, at + by)


def move_before(decoded: DecodedExchange, pointer: str, target: str) -> Splices:
    """Move an element before another one, of its list or of another; a target that ends in "/-" is the list's end."""
    parent, at = _element(decoded, pointer)
    place, step = _slot(decoded, target)
    if place.pointer == parent.pointer:
        return _rotated(parent, at, step - 1 if step > at else step)
    if f"{target}/".startswith(f"{pointer}/"):
        raise LocalProtocolError("a value cannot be moved into itself", where=pointer)
    value = parent.children[at]
    return tuple(sorted((value.removed(), place.with_element(step, value.raw))))


def set_text(decoded: DecodedExchange, pointer: str, text: str) -> Splices:
    """Another text in a string, or in a list of blocks, as of a result: it keeps its form.

    In a list of blocks the first text becomes this one, the other texts go, and what is no text stays.
    """
    value = value_of(decoded, pointer)
    if not value.is_list:
        return value.retold(text)
    texts = _texts(decoded, pointer)
    if not texts:
        block = shape.block(adapter_of(decoded), Text(text))
        return (value.with_element(0, value.written(block)),)
    others = (c.removed() for c in value.children if any(f"{at}/".startswith(f"{c.pointer}/") for at in texts[1:]))
    return tuple(sorted((*value_of(decoded, texts[0]).retold(text), *others)))


def set_value(decoded: DecodedExchange, pointer: str, typed: bytes) -> Splices:
    """Other JSON in the place of a value: the bytes as they were typed, without blanks around them.

    Within a string that holds JSON (arguments) they are escaped as it wants.
    """
    value = value_of(decoded, pointer)
    return (value.replaced(_typed(typed)),) if value.raw != typed.strip(BLANK) else ()


def set_parameter(decoded: DecodedExchange, pointer: str, typed: bytes) -> Splices:
    """A member set to JSON as it was typed: replaced where it is there, else added behind the last of its object."""
    if decoded.request_index.span(pointer):
        return set_value(decoded, pointer, typed)
    return (parent_of(decoded, pointer).with_member((split(pointer) or [""])[-1], _typed(typed)),)


def rename(decoded: DecodedExchange, pointer: str, name: str) -> Splices:
    """Another key for a parameter or other member."""
    value, parent = value_of(decoded, pointer), parent_of(decoded, pointer)
    if value.key is None:
        raise LocalProtocolError("an element of a list has no name", where=pointer)
    other = f"{parent.pointer}/{escape(name)}"
    if other == pointer:
        return ()
    if decoded.request_index.span(other):
        raise LocalProtocolError("the name is taken", where=other, hint="remove that one first")
    return (value.splice(*value.key, writer_like(value.text)(name)),)


def raw(text: bytes, start: int, end: int, new: bytes) -> Splices:
    """Any bytes in the place of a range; the result need be no JSON."""
    if not 0 <= start <= end <= len(text):
        raise LocalProtocolError("no such range", where=f"bytes {start}–{end} of {len(text)}")
    return (Splice(start, end, new),) if text[start:end] != new else ()


def adapter_of(decoded: DecodedExchange) -> Adapter:
    """The adapter of a request. Raises LocalProtocolError for one that could not be decoded."""
    if decoded.request is None:
        why = problem(decoded.request_text) or "it is no request of a protocol that is known"
        raise LocalProtocolError(f"the body can be edited as text only: {why}", where="request")
    return protocols.get(decoded.request.protocol)


def value_of(decoded: DecodedExchange, pointer: str) -> Value:
    """A value of the body. Raises LocalProtocolError."""
    return Value(decoded.request_index, pointer)


def parent_of(decoded: DecodedExchange, pointer: str) -> Value:
    """What holds a value, or would hold it; it may be what a string says. Raises LocalProtocolError."""
    return value_of(decoded, patch.parent_of(pointer)[0]).entered


def _element(decoded: DecodedExchange, pointer: str) -> tuple[Value, int]:
    """The list that an element is in, and its number."""
    parent = parent_of(decoded, pointer)
    if not parent.is_list:
        raise LocalProtocolError("it is no element of a list", where=pointer)
    value_of(decoded, pointer)
    return parent, int(patch.parent_of(pointer)[1])


def _slot(decoded: DecodedExchange, target: str) -> tuple[Value, int]:
    """A list, and the number that something put before ``target`` has in it."""
    parent = parent_of(decoded, target)
    if parent.is_list and patch.parent_of(target)[1] in ("-", str(len(parent.children))):
        return parent, len(parent.children)
    return _element(decoded, target)


def _rotated(held: Value, at: int, to: int) -> Splices:
    """A list with one element elsewhere: every place takes another value, what stands between them stays."""
    order = list(held.children)
    order.insert(to, order.pop(at))
    pairs = zip(held.children, order, strict=True)
    return tuple(slot.replaced(value.raw) for slot, value in pairs if slot.raw != value.raw)


def _listed(decoded: DecodedExchange) -> frozenset[str]:
    """Pointers of the parts and tools of a request."""
    if decoded.request is None:
        return frozenset()
    parts = (m.pointer + element(p) for m in decoded.request.messages for p in m.parts)
    return frozenset((*parts, *(t.pointer for t in decoded.request.tools)))


def _stays(decoded: DecodedExchange, pointer: str) -> bool:
    """A container that is kept when it is empty: a message, what it says, the body; no list of calls or tools."""
    at = f"{pointer}/"
    ends = [m.pointer for m in decoded.messages(REQUEST) if f"{m.pointer}/".startswith(at)]
    return not pointer or bool(ends) or pointer.endswith(_KEPT)


def _texts(decoded: DecodedExchange, pointer: str) -> list[str]:
    """Pointers of the texts in the blocks of a result, by the pointer of its content."""
    for message in decoded.messages(REQUEST):
        for part in message.parts:
            if isinstance(part, ToolResultIR) and message.absolute(part, "content") == pointer:
                return [message.absolute(p, "text") for p in part.content if "text" in p.source.fields]
    raise LocalProtocolError("neither a text nor the blocks of a result", where=pointer, hint="edit it as JSON")


def _typed(text: bytes) -> bytes:
    """JSON as it was typed, without blanks around it."""
    wrong = problem(text)
    if wrong:
        raise LocalProtocolError(wrong, where="what was typed")
    return text.strip(BLANK)
