"""The two laws of every leaf, for any adapter: its place decodes to it, and an edit touches nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench import protocols
from workbench.ir import JsonValue, Message, ModelRequest, ModelResponse, Part, ToolResultIR
from workbench.protocols.decode import REQUEST, DecodedExchange
from workbench.provenance import Leaf, leaves
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse
from workbench.wire.jsontext import JsonIndex, loads
from workbench.wire.stream import read_stream


def decode(body: bytes, side: str, protocol: str) -> DecodedExchange:
    """A bare body as an exchange of a protocol."""
    request = HttpRequest(body=Body(body)) if side == REQUEST else None
    response = None if side == REQUEST else HttpResponse(body=Body(body))
    return DecodedExchange(0, Exchange("1", request, response), protocol)


@dataclass
class Subject:
    """One body of one side."""

    body: bytes
    side: str
    protocol: str

    def __post_init__(self) -> None:
        self.decoded = decode(self.body, self.side, self.protocol)
        said = self.decoded.request if self.side == REQUEST else self.decoded.response
        assert said is not None, self.decoded.problems
        self.said: Any = said

    def encode(self, said: ModelRequest | ModelResponse, original: bytes) -> bytes:
        adapter: Any = protocols.get(self.protocol)
        encoded: bytes = getattr(adapter, f"encode_{self.side}")(said, original)
        return encoded

    def messages(self) -> tuple[Message, ...]:
        """Every message; the system parts of a request as one more, as they have a place in it."""
        system = getattr(self.said, "system", ())
        return (*self.said.messages, *([Message("", system)] if system else ()))

    def leaves(self) -> list[tuple[Message, Leaf]]:
        return [(message, leaf) for message in self.messages() for leaf in leaves(message)]

    def spans(self, message: Message, leaf: Leaf) -> tuple[tuple[int, int], ...]:
        """The byte ranges of a leaf: the value, or the pieces it was joined from."""
        if self.decoded.events or is_slice(leaf):
            return self.decoded.place_of(self.side, message, leaf.part, leaf.name).spans
        return self.decoded.place(self.side, leaf.pointer).spans

    def value(self, message: Message, leaf: Leaf) -> JsonValue:
        """What the bytes of a leaf say."""
        is_streamed = bool(self.decoded.events)
        pieces = [read(leaf, self.body[slice(*span)], is_streamed=is_streamed) for span in self.spans(message, leaf)]
        assert pieces, f"{leaf.pointer} ({leaf.name}) has no place"
        if not self.decoded.events:
            return pieces[0]
        below = leaf.pointer[len(message.absolute(leaf.part, leaf.name)) :]
        whole = "".join(pieces) if isinstance(pieces[0], str) else pieces[0]
        if leaf.name == "input" and isinstance(whole, str) and not isinstance(getattr(leaf.part, "input", ""), str):
            whole = loads(whole)
        return at(whole, below)

    def with_leaf(self, message: Message, leaf: Leaf, value: JsonValue) -> ModelRequest | ModelResponse:
        """The same request or answer with one leaf changed."""
        below = leaf.pointer[len(message.absolute(leaf.part, leaf.name)) :]
        parts = tuple(_with(part, leaf, below, value) for part in message.parts)
        said = tuple(replace(m, parts=parts) if m is message else m for m in self.said.messages)
        if any(m is message for m in self.said.messages):
            return replace(self.said, messages=said)
        return replace(self.said, system=parts)


def _with(part: Part, leaf: Leaf, below: str, value: JsonValue) -> Part:
    if part is leaf.part:
        return replace(part, **{leaf.name: put(getattr(part, leaf.name), below, value)})
    if isinstance(part, ToolResultIR):
        return replace(part, content=tuple(_with(inner, leaf, below, value) for inner in part.content))
    return part


def steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def at(value: JsonValue, pointer: str) -> JsonValue:
    for step in steps(pointer):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def put(value: JsonValue, pointer: str, new: JsonValue) -> JsonValue:
    if not pointer:
        return new
    step, rest = steps(pointer)[0], "".join(f"/{s}" for s in pointer.split("/")[2:])
    if isinstance(value, list):
        return [put(v, rest, new) if n == int(step) else v for n, v in enumerate(value)]
    return {k: put(v, rest, new) if k == step else v for k, v in value.items()}


def other(value: JsonValue) -> JsonValue:
    """A value that differs from a scalar, of the same type where it has one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return f'{value[:-1]}§"\\\n'
    if isinstance(value, int | float):
        return 7 if value != 7 else 8
    return "other" if value is None else {"other": 1} if isinstance(value, dict) else [1]


def is_structure(leaf: Leaf) -> bool:
    """The type of a node is no value in it: another one makes another node."""
    return leaf.name in ("extra", "value") and leaf.pointer.endswith("/type")


def read(leaf: Leaf, text: bytes, *, is_streamed: bool = False) -> JsonValue:
    """What the bytes of a leaf say: a value, a part of a string, or a value in the text of a string."""
    if is_slice(leaf):
        return loads(b'"%s"' % text)
    is_inside = leaf.name == "input" and "raw" in leaf.part.source.fields and not is_streamed
    return loads(loads(b'"%s"' % text)) if is_inside else loads(text)


def alike(a: Leaf, b: Leaf) -> bool:
    """The same field of the same kind of part, at the same place."""
    return _place(a) == _place(b)


def _place(leaf: Leaf) -> tuple[object, ...]:
    pieces = (
        leaf.part.source.segments.get(leaf.name) if is_slice(leaf) else None
    )  # sections of one text share a pointer
    return leaf.pointer, leaf.name, type(leaf.part), pieces


def is_slice(leaf: Leaf) -> bool:
    """The leaf is a part of its string."""
    return leaf.name in leaf.part.source.slices


def check(
    body: bytes, side: str, protocol: str, choose: Callable[[Sequence[Any]], Iterable[Any]] = lambda found: found
) -> None:
    """Both laws for the chosen leaves of a body."""
    subject = check_places(body, side, protocol)
    for message, leaf in choose(subject.leaves()):
        if not is_structure(leaf):
            check_edit(subject, message, leaf, other(leaf.value))


def check_places(body: bytes, side: str, protocol: str) -> Subject:
    """The place of every leaf decodes to it, and what nobody touched is written as it was."""
    subject = Subject(body, side, protocol)
    assert subject.encode(subject.said, body) == body
    for message, leaf in subject.leaves():
        assert same(subject.value(message, leaf), leaf.value), leaf.pointer
    return subject


def check_edit(subject: Subject, message: Message, leaf: Leaf, new: JsonValue) -> None:
    """Change a leaf and change it back."""
    changed = subject.encode(subject.with_leaf(message, leaf, new), subject.body)
    assert changed != subject.body
    spans, after = subject.spans(message, leaf), Subject(changed, subject.side, subject.protocol)
    if subject.decoded.events:
        _only_pieces_changed(subject.body, changed, spans)
        again = [found for found in after.leaves() if alike(found[1], leaf)]
        assert not again or same(after.value(*again[0]), new), leaf.pointer
    else:
        (start, end), tail = spans[0], len(subject.body) - spans[0][1]
        assert changed[:start] == subject.body[:start]
        assert changed[len(changed) - tail :] == subject.body[end:]
        span = JsonIndex(changed).span(leaf.pointer)
        assert span, leaf.pointer
        now = loads(changed[slice(*span)]) if is_slice(leaf) else read(leaf, changed[slice(*span)])
        if is_slice(leaf):
            now = now[leaf.part.source.slices[leaf.name][0] :][: len(new)]
        assert same(now, new), leaf.pointer
    if shape(after) == shape(subject):
        check_undone(subject, changed, spans)


def check_undone(subject: Subject, changed: bytes, spans: Sequence[tuple[int, int]]) -> None:
    """Back to the same bytes, or to ones that say the same.

    The latter at the border of two pieces of a stream, and for a character that was written in another way than ours
    (``\\u003c``).
    """
    back = subject.encode(subject.said, changed)
    if back != subject.body:
        assert len(spans) > 1 or b"\\" in subject.body[slice(*spans[0])]
        if subject.decoded.events:
            _only_pieces_changed(subject.body, back, spans)
        assert Subject(back, subject.side, subject.protocol).said == subject.said


def shape(subject: Subject) -> list[object]:
    """What an edit of values leaves alone: an opaque node may become one that is understood, which is no such edit."""
    nodes = [part for message in subject.messages() for part in message.parts]
    inner = [part for node in nodes if isinstance(node, ToolResultIR) for part in node.content]
    return [(type(part), set(part.source.fields), set(getattr(part, "extra", ()))) for part in (*nodes, *inner)]


def _only_pieces_changed(before: bytes, after: bytes, spans: Sequence[tuple[int, int]]) -> None:
    """Every event is the same but for what stands inside the pieces."""
    old, new = read_stream(before).events, read_stream(after).events
    assert len(old) == len(new)
    for a, b in zip(old, new, strict=True):
        mine = [span for span in spans if a.start <= span[0] < a.end]
        text = after[b.start : b.end]
        head, tail = (mine[0][0], mine[-1][1]) if mine else (a.end, a.end)
        assert text.startswith(before[a.start : head])
        assert text.endswith(before[tail : a.end])


def same(a: JsonValue, b: JsonValue) -> bool:
    """Equal, and of the same type: ``1`` is not ``true``."""
    return type(a) is type(b) and a == b
