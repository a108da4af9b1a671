"""What can be edited in a request: messages with their parts, system prompt, tools and parameters, in body order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from workbench.edits.places import element
from workbench.ir import JsonValue, Media, Message, ModelRequest, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.protocols.decode import DecodedExchange
from workbench.wire.json_index import split
from workbench.wire.json_strings import decode
from workbench.wire.jsontext import JsonIndex, dumps

LABEL = 60
"""Characters of a label."""

LEVELS = 2
"""Objects inside each other whose members are parameters of their own (``generationConfig.thinkingConfig``)."""


class Kind(StrEnum):
    """What an element is."""

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


class Action(StrEnum):
    """What can be done to an element."""

    REMOVE = "remove"
    DUPLICATE = "duplicate"
    UP = "move up"
    DOWN = "move down"
    VALUE = "edit value"  # as JSON
    TEXT = "edit text"  # as the text that the JSON string stands for
    RENAME = "rename"


@dataclass(frozen=True, slots=True)
class Element:
    """Something of a request that can be edited.

    Attributes:
        pointer: of its bytes in the body; continues inside JSON strings (arguments).
        label: role, name or the beginning of its text: untrusted.
        able: what can be done to it.
        parts: what it is made of, in order.
        text_at: pointer of the string that is its text; None where it has none.
    """

    pointer: str
    kind: Kind
    label: str
    able: frozenset[Action] = frozenset()
    parts: tuple[Element, ...] = ()
    text_at: str | None = None


def elements(decoded: DecodedExchange) -> tuple[Element, ...]:
    """Everything that can be edited in a request, in body order; () for a body that could not be decoded."""
    if decoded.request is None:
        return ()
    return tuple(_Reader(decoded.request, decoded.request_index).read())


def every(found: Iterable[Element]) -> Iterator[Element]:
    """Elements with the ones in them, in order."""
    for one in found:
        yield one
        yield from every(one.parts)


def container(pointer: str) -> str:
    """Pointer of what holds a value."""
    return pointer.rpartition("/")[0]


class _Reader:
    def __init__(self, request: ModelRequest, index: JsonIndex) -> None:
        self.request, self.index = request, index
        self.messages = {m.pointer: m for m in request.messages}
        self.tools = {t.pointer: t.name or "" for t in request.tools if t.pointer}
        self.counts: dict[str, int] = {}
        self.root = container(container(request.messages[0].pointer)) if request.messages else ""
        self.system: dict[str, list[Part]] = {}
        for part in request.system:
            self.system.setdefault(self._member(part.source.pointer), []).append(part)
        known = (*self.messages, *self.tools, *self.system)
        self.ways = {"/".join(p.split("/")[:n]) for p in known for n in range(p.count("/") + 1)}

    def read(self) -> Iterator[Element]:
        yield from self._children("")

    def _member(self, pointer: str) -> str:
        """The member of the body that a pointer lies in."""
        if not pointer.startswith(f"{self.root}/"):
            return pointer
        return self.root + "/" + pointer[len(self.root) + 1 :].split("/", 1)[0]

    def _children(self, pointer: str) -> Iterator[Element]:
        for step, _ in self.index.elements(pointer):
            at = f"{pointer}/{step}"
            if at in self.messages:
                yield self._message(self.messages[at])
            elif at in self.system:
                parts = tuple(self._grouped("", self.system[at]))
                is_whole = parts[0].pointer == at
                text_at = parts[0].text_at if is_whole else None
                yield self._element(at, Kind.SYSTEM, "system", () if is_whole else parts, text_at)
            elif at in self.tools:
                yield self._element(at, Kind.TOOL, self.tools[at])
            elif at in self.ways:
                yield from self._children(at)
            else:
                yield self._parameter(at)

    def _parameter(self, pointer: str, levels: int = LEVELS) -> Element:
        """A parameter, with its members where it is an object."""
        name = _short((split(pointer) or [""])[-1])
        steps = self._members(pointer) if levels else []
        inner = tuple(self._parameter(f"{pointer}/{step}", levels - 1) for step in steps)
        return self._element(pointer, Kind.PARAMETER if self._is_member(pointer) else Kind.OTHER, name, inner, pointer)

    def _message(self, message: Message) -> Element:
        parts = tuple(self._grouped(message.pointer, message.parts))
        if len(parts) == 1 and parts[0].pointer == message.pointer:  # an item that is its part
            return parts[0]
        return self._element(message.pointer, Kind.MESSAGE, message.role, parts)

    def _grouped(self, base: str, parts: Sequence[Part]) -> Iterator[Element]:
        """Parts by the element of the wire that they stand in: a signature stands on a call, thinking in a text."""
        groups: dict[str, list[Part]] = {}
        for part in parts:
            groups.setdefault(base + element(part), []).append(part)
        for pointer, held in groups.items():
            main = next((p for p in held if not isinstance(p, Reasoning)), held[0])
            beside = [p for p in held if isinstance(p, Reasoning) and p is not main and not p.source.slices]
            fields = ((p, base + p.source.pointer + s) for p in beside for s in p.source.fields.values() if s)
            inner = (self._element(at, Kind.REASONING, _short(p.text or p.carrier), text_at=at) for p, at in fields)
            yield self._part(base, pointer, main, tuple(inner))

    def _part(self, base: str, pointer: str, part: Part, beside: tuple[Element, ...] = ()) -> Element:
        at = {name: base + part.source.pointer + suffix for name, suffix in part.source.fields.items()}
        match part:
            case ToolCallIR():
                label = _short(part.raw if part.raw is not None else part.input)
                held = [self._element(at["input"], Kind.ARGUMENTS, label, (), at["input"])] if "input" in at else []
                return self._element(pointer, Kind.CALL, _short(part.name or ""), (*held, *beside))
            case ToolResultIR():
                return self._result(base, pointer, part, at.get("content"))
            case Text() | Reasoning():
                kind = Kind.TEXT if isinstance(part, Text) else Kind.REASONING
                label = _short(part.text or getattr(part, "carrier", ""))
                return self._element(pointer, kind, label, beside, at.get("text"))
            case Media():
                return self._element(pointer, Kind.MEDIA, _short(part.media_type or part.kind), beside)
            case _:
                return self._element(pointer, Kind.OTHER, _short(part.type), beside)

    def _result(self, base: str, pointer: str, result: ToolResultIR, content: str | None) -> Element:
        """A result: one text is its own, blocks are its parts."""
        held = tuple(self._part(base, base + part.source.pointer, part) for part in result.content)
        label = _short(result.tool_call_id or result.name or "")
        if len(held) == 1 and held[0].text_at and not self._place(held[0].pointer)[1]:
            return self._element(pointer, Kind.RESULT, label, (), held[0].text_at)
        return self._element(pointer, Kind.RESULT, label, held, content)

    def _element(
        self, pointer: str, kind: Kind, label: str, parts: tuple[Element, ...] = (), text_at: str | None = None
    ) -> Element:
        able = {Action.VALUE}
        at, of = self._place(pointer)
        able |= {Action.REMOVE, Action.DUPLICATE} if of else {Action.REMOVE} if container(pointer) != pointer else set()
        able |= ({Action.UP} if at else set()) | ({Action.DOWN} if at + 1 < of else set())
        able |= {Action.RENAME} if kind is Kind.PARAMETER else set()
        if text_at is not None and self._first(text_at) not in b'"' + (b"[" if kind is Kind.RESULT else b""):
            text_at = None
        able |= {Action.TEXT} if text_at is not None else set()
        return Element(pointer, kind, label, frozenset(able), parts, text_at)

    def _place(self, pointer: str) -> tuple[int, int]:
        """Number of an element in its list, and how many there are; (0, 0) for a member."""
        parent, _, step = pointer.rpartition("/")
        if parent not in self.counts:
            self.counts[parent] = len(self.index.elements(parent)) if self._first(parent) == b"[" else 0
        return (int(step), self.counts[parent]) if self.counts[parent] else (0, 0)

    def _members(self, pointer: str) -> list[str]:
        return [step for step, _ in self.index.elements(pointer)] if self._first(pointer) == b"{" else []

    def _is_member(self, pointer: str) -> bool:
        return self._first(container(pointer)) == b"{"

    def _first(self, pointer: str) -> bytes:
        """The byte that a value begins with."""
        span = self.index.span(pointer)
        return self.index.text[span[0] : span[0] + 1] if span else b" "


def _short(value: JsonValue) -> str:
    """The beginning of a text on one line, or of a value as JSON."""
    text = value if isinstance(value, str) else decode(dumps(value))
    line = " ".join(text[: 4 * LABEL].split())
    return line if len(line) <= LABEL else line[: LABEL - 1] + "…"
