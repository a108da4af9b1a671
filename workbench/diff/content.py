"""Content that a second reading of a turn lost: calls, results, reasoning and texts, in any two protocols.

For bodies of one protocol ``meaning`` reports more. Between protocols names, pointers and wrappers differ by necessity:
only what has to stay is compared, kind by kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from workbench.diff.meaning import canonical
from workbench.diff.wire import align
from workbench.ir import JsonValue, Media, Message, NodeRef, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.named_tuple import NamedTuple


class ContentLoss(NamedTuple):
    """A part, or a field of a part, that the second reading lacks or has with another value.

    Attributes:
        what: ``"call"``, ``"result"``, ``"reasoning"``, ``"text"`` or ``"media"``.
        field: IR field that differs; empty if the whole part is missing.
        before: the part in the first reading.
        after: its counterpart; None if there is none.
        old, new: values of the field; of a missing part its content, and None.
    """

    what: str
    field: str
    before: NodeRef
    after: NodeRef | None
    old: JsonValue
    new: JsonValue


class _LocatedPart(NamedTuple):
    ref: NodeRef
    part: Part


def content_losses(side: str, before: Sequence[Message], after: Sequence[Message]) -> Iterator[ContentLoss]:
    """Content of the first reading that the second one lacks or changes, kind by kind, in order.

    Args:
        side: of both, for the references.
    """
    for what, kind, key, fields in _KINDS:
        olds, news = list(_located_parts(side, before, kind)), list(_located_parts(side, after, kind))
        for tag, i, j, k, m in align([key(o.part) for o in olds], [key(n.part) for n in news]):
            if tag == "equal" or j - i == m - k:
                for old, new in zip(olds[i:j], news[k:m], strict=True):
                    yield from _field_losses(what, fields, old, new)
            elif i < j:
                yield from (ContentLoss(what, "", o.ref, None, key(o.part), None) for o in olds[i:j])
    yield from _text_losses(side, before, after)


def _located_parts(side: str, messages: Sequence[Message], kind: type[Part]) -> Iterator[_LocatedPart]:
    for n, message in enumerate(messages):
        yield from (
            _LocatedPart(NodeRef(side, n, p), part) for p, part in enumerate(message.parts) if isinstance(part, kind)
        )


def _field_losses(what: str, fields: Sequence[str], old: _LocatedPart, new: _LocatedPart) -> Iterator[ContentLoss]:
    for name in fields:
        a, b = _value(old.part, name), _value(new.part, name)
        if a is not None and a != b:
            yield ContentLoss(what, name, old.ref, new.ref, a, b)


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


def _text_losses(side: str, before: Sequence[Message], after: Sequence[Message]) -> Iterator[ContentLoss]:
    """Texts that are nowhere in the second reading: joined, split or trimmed texts are not lost."""
    everything = "\n".join(s.part.text for s in _located_parts(side, after, Text) if isinstance(s.part, Text))
    joined = _without_space(everything)
    for located in _located_parts(side, before, Text):
        if isinstance(located.part, Text) and _without_space(located.part.text) not in joined:
            ref = next((s.ref for s in _located_parts(side, after, Text) if s.ref.message == located.ref.message), None)
            yield ContentLoss("text", "text" if ref else "", located.ref, ref, located.part.text, None)


def _without_space(text: str) -> str:
    return "".join(text.split())
