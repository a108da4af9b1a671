"""Cache breakpoints: marks in a request up to which the provider may cache the prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench import regex
from workbench.ir import JsonValue, Media, Message, Opaque, Part, ToolResultIR
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, DecodedExchange, MessageShape, asked_by_shape, fact, where

MARK = "cache_control"
_BLOCK = regex.compile(rb'"cachePoint"\s*:\s*\{')
_BLOCK_PLACE = regex.compile(r"/(?:toolConfig/tools|system|messages/\d+/content)/\d+/cachePoint")


def marks(decoded: DecodedExchange) -> list[str]:
    """Pointers of every cache breakpoint, in the order in which providers cache: tools, system, messages."""
    return fact(decoded, _marks)


def mark_of(part: Media) -> Mapping[str, JsonValue]:
    """The cache breakpoint of a part as the ``extra`` of another; empty without one."""
    return {MARK: part.extra[MARK]} if MARK in part.extra else {}


def _marks(decoded: DecodedExchange) -> list[str]:
    request = decoded.request
    if request is None:
        return []
    if decoded.request_has(_has_block):
        return _blocks(decoded)
    found = [f"{tool.pointer}/{MARK}" for tool in request.tools if tool.extra.get(MARK)]
    found += [f"{part.source.pointer}/{MARK}" for part in request.system if _is_marked(part)]
    for _, message in where(decoded.messages(REQUEST), _marked_pointers):
        found += (f"{message.pointer}{suffix}/{MARK}" for suffix in fact(message, _marked_pointers))
    return [*found, f"/{MARK}"] if request.params.get(MARK) else found


def _has_block(text: bytes) -> bool:
    return b'"cachePoint"' in text


def _blocks(decoded: DecodedExchange) -> list[str]:
    """Marks that are blocks of their own."""
    found = (decoded.request_index.pointer_at(m.start() + 1) for m in _BLOCK.finditer(decoded.request_text))
    places = dict.fromkeys(pointer for pointer in found if _BLOCK_PLACE.fullmatch(pointer))
    return sorted(places, key=lambda pointer: ("/t", "/s", "/m").index(pointer[:2]))


def _may_be_marked(shape: MessageShape) -> bool:
    return MARK in shape.names


@asked_by_shape(_may_be_marked)
def _marked_pointers(message: Message) -> list[str]:
    """Pointers of the marked parts, relative to the message."""
    return [*([""] if message.extra.get(MARK) else []), *_marked_parts(message.parts)]


def _marked_parts(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, ToolResultIR):
            yield from _marked_parts(part.content)
        if _is_marked(part):
            yield part.source.pointer


def _is_marked(part: Part) -> bool:
    fields = part.value if isinstance(part, Opaque) else part.extra
    return isinstance(fields, Mapping) and bool(fields.get(MARK))


def without_marks(message: Message) -> Message:
    """The message without its cache breakpoints."""
    if not fact(message, _marked_pointers):
        return message
    extra = {k: v for k, v in message.extra.items() if k != MARK}
    return Message(message.role, tuple(map(_plain, message.parts)), extra, message.pointer)


def _plain(part: Part) -> Part:
    if isinstance(part, Opaque):
        fields = part.value
        return replace(part, value={k: v for k, v in fields.items() if k != MARK}) if isinstance(fields, dict) else part
    if isinstance(part, ToolResultIR):
        part = replace(part, content=tuple(map(_plain, part.content)))
    return replace(part, extra={k: v for k, v in part.extra.items() if k != MARK}) if MARK in part.extra else part
