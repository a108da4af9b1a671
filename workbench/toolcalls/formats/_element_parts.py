"""Parts of blocks of elements: kinds of tags, calls and parameters being read, patterns of those without a fault."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from workbench import regex
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.toolcalls.formats._tags import Tag, Tags
from workbench.toolcalls.formats._whole import WholeForm

BLOCK, BLOCK_END = "block", "block_end"
CALL, CALL_END = "call", "call_end"
PARAM, PARAM_END = "param", "param_end"

_NEVER: Final = regex.compile("(?!)")


@dataclass(slots=True)
class OpenParameter:
    """A parameter: its opening tag, and the position of its value in the whole text."""

    tag: Tag
    start: int
    end: int = -1


@dataclass(slots=True)
class OpenCall:
    """A call being read: its opening tag, the start of its body and the end of its last tag (-1: not yet)."""

    tag: Tag
    params: list[OpenParameter] = field(default_factory=list)
    body_end: int = -1
    end: int = -1
    problems: list[tuple[str, Tag]] = field(default_factory=list)


class FlatPatterns(NamedTuple):
    """Patterns of a format whose values hold no elements.

    Attributes:
        loud: every tag but those of parameters; None if the format has tags that cannot be skipped.
        parameter: a parameter whose value holds no tag of a parameter, with the blanks after it.
        plain: the same, and its value holds no tag.
        block, call: opening tags with the blanks after them. A call is not closed by its opening tag.
        call_end, block_end: closing tags; the first with the blanks after it.
    """

    loud: re.Pattern[str] | None
    parameter: re.Pattern[str]
    plain: re.Pattern[str]
    block: re.Pattern[str]
    call: re.Pattern[str]
    call_end: re.Pattern[str]
    block_end: re.Pattern[str]


@cache
def flat_patterns(tags: Tags) -> FlatPatterns:
    """The patterns of a format's tags."""
    if not tags.is_simple:
        return FlatPatterns(None, *[_NEVER] * 6)
    first = re.escape(tags.first)

    def tag(*kinds: str) -> str:
        return first + tags.pattern_of(kinds)

    def parameter(*barred: str) -> re.Pattern[str]:
        value = f"[^{first}]*+(?:{first}(?!{tags.pattern_of(barred)})[^{first}]*+)*"
        return regex.compile(rf"{tag(PARAM)}(?P<value>{value})(?P<close>{tag(PARAM_END)})\s*+")

    return FlatPatterns(
        regex.compile(first + tags.pattern_of(tags.kinds - {PARAM, PARAM_END})),
        parameter(PARAM, PARAM_END),
        parameter(*tags.kinds),
        regex.compile(rf"({tag(BLOCK)})\s*+"),
        regex.compile(rf"({tag(CALL)}(?<!/{re.escape(tags.last)}))\s*+"),
        regex.compile(rf"({tag(CALL_END)})\s*+"),
        regex.compile(tag(BLOCK_END)),
    )


@cache
def whole_form(tags: Tags) -> WholeForm:
    """Form of a block of a format."""
    return WholeForm(tags, BLOCK, BLOCK_END, CALL, CALL_END, frozenset((PARAM, PARAM_END)))


def parameters(
    pattern: re.Pattern[str], text: str, at: int, base: int
) -> tuple[list[OpenParameter], re.Match[str] | None, int]:
    """The parameters from an index of a text on, the last of them as found, and the index after it."""
    params, last = list[OpenParameter](), None
    while found := pattern.match(text, at):
        (begin, at), (value, end) = found.span(), found.span("value")
        tag = Tag(PARAM, base + begin, base + value, text[begin:value])
        params.append(OpenParameter(tag, base + value, base + end))
        last = found
    return params, last, at
