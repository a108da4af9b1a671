"""What became of what was said: calls, results, reasoning and texts of two readings of one turn, in any two protocols.

For bodies of one protocol ``meaning`` says more. Between protocols names, places and wrappers have to differ: what has
to stay is held against one another here, kind by kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from workbench.chain import NodeRef
from workbench.diff.meaning import canonical
from workbench.diff.wire import align
from workbench.ir import JsonValue, Media, Message, Part, Reasoning, Text, ToolCallIR, ToolResultIR


class Lost(NamedTuple):
    """Something that was said before and is not said so after.

    Attributes:
        what: ``"call"``, ``"result"``, ``"reasoning"``, ``"text"`` or ``"media"``.
        field: IR field that differs, "" where the whole is not there.
        before: where it stood, in the first reading.
        after: where its counterpart stands, None where there is none.
        old, new: the values of the field; of something that is not there, what it said, and None.
    """

    what: str
    field: str
    before: NodeRef
    after: NodeRef | None
    old: JsonValue
    new: JsonValue


class _Said(NamedTuple):
    ref: NodeRef
    part: Part


def lost(side: str, before: Sequence[Message], after: Sequence[Message]) -> Iterator[Lost]:
    """What the second reading does not say as the first does, kind by kind, in order.

    Args:
        side: of both, for the references.
    """
    for what, kind, key, fields in _KINDS:
        olds, news = list(_of(side, before, kind)), list(_of(side, after, kind))
        for tag, i, j, k, m in align([key(o.part) for o in olds], [key(n.part) for n in news]):
            if tag == "equal" or j - i == m - k:
                for old, new in zip(olds[i:j], news[k:m], strict=True):
                    yield from _fields(what, fields, old, new)
            elif i < j:
                yield from (Lost(what, "", o.ref, None, key(o.part), None) for o in olds[i:j])
    yield from _texts(side, before, after)


def _of(side: str, messages: Sequence[Message], kind: type[Part]) -> Iterator[_Said]:
    for n, message in enumerate(messages):
        yield from (_Said(NodeRef(side, n, p), part) for p, part in enumerate(message.parts) if isinstance(part, kind))


def _fields(what: str, fields: Sequence[str], old: _Said, new: _Said) -> Iterator[Lost]:
    for name in fields:
        a, b = _value(old.part, name), _value(new.part, name)
        if a is not None and a != b:
            yield Lost(what, name, old.ref, new.ref, a, b)


def _value(part: Part, name: str) -> JsonValue:
    if name == "input" and isinstance(part, ToolCallIR):
        return canonical(part.input) if part.error is None else part.raw
    if name == "content" and isinstance(part, ToolResultIR):
        return _content(part)
    return getattr(part, name)


def _content(part: ToolResultIR) -> str:
    return "".join(p.text if isinstance(p, Text) else f"[{type(p).__name__}]" for p in part.content)


def _call_key(part: ToolCallIR) -> str:
    return f"{part.name} {_value(part, 'input')}"


def _reasoning_key(part: Reasoning) -> str:
    return part.text if part.text is not None else canonical(part.data)


def _media_key(part: Media) -> str:
    return part.data or part.url or part.file_id or ""


_KINDS: tuple[tuple[str, type[Part], Callable[..., str], tuple[str, ...]], ...] = (
    ("call", ToolCallIR, _call_key, ("id", "name", "input")),
    ("result", ToolResultIR, _content, ("tool_call_id", "content", "is_error")),
    ("reasoning", Reasoning, _reasoning_key, ("text", "signature", "data")),
    ("media", Media, _media_key, ()),
)


def _texts(side: str, before: Sequence[Message], after: Sequence[Message]) -> Iterator[Lost]:
    """Texts that are said nowhere any more: joined, split or trimmed they still are."""
    everything = "\n".join(s.part.text for s in _of(side, after, Text) if isinstance(s.part, Text))
    joined = _squeezed(everything)
    for said in _of(side, before, Text):
        if isinstance(said.part, Text) and _squeezed(said.part.text) not in joined:
            ref = next((s.ref for s in _of(side, after, Text) if s.ref.message == said.ref.message), None)
            yield Lost("text", "text" if ref else "", said.ref, ref, said.part.text, None)


def _squeezed(text: str) -> str:
    return "".join(text.split())
