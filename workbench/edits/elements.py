"""Editable elements of a request: messages with their parts, system prompt, tools and parameters, in body order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from workbench.edits.message_parts import element_pointer
from workbench.ir import JsonValue, Media, Message, ModelRequest, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass
from workbench.protocols import DecodedExchange
from workbench.wire import JsonIndex, decode, dumps, split_pointer

LABEL = 200
"""Most characters of a label."""

LEVELS = 2
"""Nesting depth at which members of objects are parameters of their own (``generationConfig.thinkingConfig``)."""


class ElementKind(StrEnum):
    """Kinds of editable elements."""

    MESSAGE = "message"
    TEXT = "text"
    REASONING = "reasoning"
    CALL = "call"
    ARGUMENTS = "arguments"
    RESULT = "result"
    MEDIA = "media"
    SYSTEM = "system"
    TOOL = "tool"
    PARAMETER = "parameter"
    OTHER = "other"


class ElementAction(StrEnum):
    """Actions on an element."""

    REMOVE = "remove"
    DUPLICATE = "duplicate"
    UP = "move up"
    DOWN = "move down"
    VALUE = "edit value"  # as JSON
    TEXT = "edit text"  # as the text that the JSON string stands for
    RENAME = "rename"


@dataclass(frozen=True, slots=True)
class Element:
    """An editable element of a request.

    Attributes:
        pointer: of its bytes in the body; continues inside JSON strings (arguments).
        label: role, name or the beginning of its text; untrusted.
        actions: that can be applied to it.
        parts: inner elements, in order.
        text_at: pointer of the string that is its text; None if it has none.
    """

    pointer: str
    kind: ElementKind
    label: str
    actions: frozenset[ElementAction] = frozenset()
    parts: tuple[Element, ...] = ()
    text_at: str | None = None


def elements_of(decoded: DecodedExchange) -> tuple[Element, ...]:
    """All editable elements of a request, in body order; empty if the body could not be decoded."""
    if decoded.request is None:
        return ()
    return tuple(_ElementReader(decoded.request, decoded.request_index).read())


def walk(elements: Iterable[Element]) -> Iterator[Element]:
    """Elements and their inner elements, depth first."""
    for one in elements:
        yield one
        yield from walk(one.parts)


def parent_pointer(pointer: str) -> str:
    """Pointer of the container of a value."""
    return pointer.rpartition("/")[0]


class _ElementReader:
    def __init__(self, request: ModelRequest, index: JsonIndex) -> None:
        self.request, self.index = request, index
        self.messages = {m.pointer: m for m in request.messages}
        self.tools = {t.pointer: t.name or "" for t in request.tools if t.pointer}
        self.counts: dict[str, int] = {}
        self.root = parent_pointer(parent_pointer(request.messages[0].pointer)) if request.messages else ""
        self.system: dict[str, list[Part]] = {}
        for part in request.system:
            self.system.setdefault(self._member(part.source.pointer), []).append(part)
        known = (*self.messages, *self.tools, *self.system)
        self.ancestors = {"/".join(p.split("/")[:n]) for p in known for n in range(p.count("/") + 1)}

    def read(self) -> Iterator[Element]:
        yield from self._children("")

    def _member(self, pointer: str) -> str:
        """The member of the body that contains a pointer."""
        if not pointer.startswith(f"{self.root}/"):
            return pointer
        return self.root + "/" + pointer[len(self.root) + 1 :].split("/", 1)[0]

    def _children(self, pointer: str) -> Iterator[Element]:
        for step, _ in self.index.elements(pointer):
            at = f"{pointer}/{step}"
            if at in self.messages:
                yield self._message(self.messages[at])
            elif at in self.system:
                parts = tuple(self._group_parts("", self.system[at]))
                is_whole = parts[0].pointer == at
                text_at = parts[0].text_at if is_whole else None
                yield self._element(at, ElementKind.SYSTEM, "system", () if is_whole else parts, text_at)
            elif at in self.tools:
                yield self._element(at, ElementKind.TOOL, self.tools[at])
            elif at in self.ancestors:
                yield from self._children(at)
            else:
                yield self._parameter(at)

    def _parameter(self, pointer: str, levels: int = LEVELS) -> Element:
        """A parameter, with its members if it is an object."""
        name = _short((split_pointer(pointer) or [""])[-1])
        steps = self._members(pointer) if levels else []
        inner = tuple(self._parameter(f"{pointer}/{step}", levels - 1) for step in steps)
        return self._element(
            pointer, ElementKind.PARAMETER if self._is_member(pointer) else ElementKind.OTHER, name, inner, pointer
        )

    def _message(self, message: Message) -> Element:
        parts = tuple(self._group_parts(message.pointer, message.parts))
        if len(parts) == 1 and parts[0].pointer == message.pointer:  # an item that is its part
            return parts[0]
        return self._element(message.pointer, ElementKind.MESSAGE, message.role, parts)

    def _group_parts(self, base: str, parts: Sequence[Part]) -> Iterator[Element]:
        """Parts grouped by wire element: a signature is a member of a call, thinking may be a slice of a text."""
        groups: dict[str, list[Part]] = {}
        for part in parts:
            groups.setdefault(base + element_pointer(part), []).append(part)
        for pointer, group in groups.items():
            main = next((p for p in group if not isinstance(p, Reasoning)), group[0])
            beside = [p for p in group if isinstance(p, Reasoning) and p is not main and not p.source.slices]
            fields = ((p, base + p.source.pointer + s) for p in beside for s in p.source.fields.values() if s)
            inner = (
                self._element(at, ElementKind.REASONING, _short(p.text or p.carrier), text_at=at) for p, at in fields
            )
            yield self._part(base, pointer, main, tuple(inner))

    def _part(self, base: str, pointer: str, part: Part, beside: tuple[Element, ...] = ()) -> Element:
        at = {name: base + part.source.pointer + suffix for name, suffix in part.source.fields.items()}
        match part:
            case ToolCallIR():
                label = _short(part.raw if part.raw is not None else part.input)
                arguments = (
                    [self._element(at["input"], ElementKind.ARGUMENTS, label, (), at["input"])] if "input" in at else []
                )
                return self._element(pointer, ElementKind.CALL, _short(part.name or ""), (*arguments, *beside))
            case ToolResultIR():
                return self._result(base, pointer, part, at.get("content"))
            case Text() | Reasoning():
                kind = ElementKind.TEXT if isinstance(part, Text) else ElementKind.REASONING
                label = _short(part.text or getattr(part, "carrier", ""))
                return self._element(pointer, kind, label, beside, at.get("text"))
            case Media():
                return self._element(pointer, ElementKind.MEDIA, _short(part.media_type or part.kind), beside)
            case _:
                return self._element(pointer, ElementKind.OTHER, _short(part.type), beside)

    def _result(self, base: str, pointer: str, result: ToolResultIR, content: str | None) -> Element:
        """A result: a single text is its own text, blocks are inner elements."""
        blocks = tuple(self._part(base, base + part.source.pointer, part) for part in result.content)
        label = _short(result.tool_call_id or result.name or "")
        if len(blocks) == 1 and blocks[0].text_at and not self._position(blocks[0].pointer)[1]:
            return self._element(pointer, ElementKind.RESULT, label, (), blocks[0].text_at)
        return self._element(pointer, ElementKind.RESULT, label, blocks, content)

    def _element(
        self, pointer: str, kind: ElementKind, label: str, parts: tuple[Element, ...] = (), text_at: str | None = None
    ) -> Element:
        able = {ElementAction.VALUE}
        at, of = self._position(pointer)
        able |= (
            {ElementAction.REMOVE, ElementAction.DUPLICATE}
            if of
            else {ElementAction.REMOVE}
            if parent_pointer(pointer) != pointer
            else set()
        )
        able |= ({ElementAction.UP} if at else set()) | ({ElementAction.DOWN} if at + 1 < of else set())
        able |= {ElementAction.RENAME} if kind is ElementKind.PARAMETER else set()
        if text_at is not None and self._first_byte(text_at) not in b'"' + (
            b"[" if kind is ElementKind.RESULT else b""
        ):
            text_at = None
        able |= {ElementAction.TEXT} if text_at is not None else set()
        return Element(pointer, kind, label, frozenset(able), parts, text_at)

    def _position(self, pointer: str) -> tuple[int, int]:
        """Index of an element in its list, and the length of the list; (0, 0) for a member."""
        parent, _, step = pointer.rpartition("/")
        if parent not in self.counts:
            self.counts[parent] = len(self.index.elements(parent)) if self._first_byte(parent) == b"[" else 0
        return (int(step), self.counts[parent]) if self.counts[parent] else (0, 0)

    def _members(self, pointer: str) -> list[str]:
        return [step for step, _ in self.index.elements(pointer)] if self._first_byte(pointer) == b"{" else []

    def _is_member(self, pointer: str) -> bool:
        return self._first_byte(parent_pointer(pointer)) == b"{"

    def _first_byte(self, pointer: str) -> bytes:
        """First byte of a value."""
        span = self.index.span(pointer)
        return self.index.text[span[0] : span[0] + 1] if span else b" "


def _short(value: JsonValue) -> str:
    """Beginning of a text, or of a value as JSON, on one line."""
    text = value if isinstance(value, str) else decode(dumps(value))
    line = " ".join(text[: 4 * LABEL].split())
    return line if len(line) <= LABEL else line[: LABEL - 1] + "…"
