"""Token format of DeepSeek V3, R1 and V3.1; the two dialects differ before the separator.

Facts: sglang's ``deepseekv3_detector``, ``deepseekv31_detector``; the chat templates of V3, R1-0528 and V3.1. Copies
through other tools turn ``｜`` (U+FF5C) into ``|`` or ``‖`` and ``▁`` (U+2581) into ``_``; such tags are read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from workbench import regex
from workbench.ir import ToolDef
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple
from workbench.toolcalls.call_problems import LOOK_ALIKE, UNCLOSED
from workbench.toolcalls.formats import TextCall
from workbench.toolcalls.formats._json_tags import StringWatch, calls_behind
from workbench.toolcalls.formats._scan import BEFORE, END, GO_ON, SETTLED, Block, PlainGrammar
from workbench.toolcalls.formats._tags import Tag, Tags, TagSpec
from workbench.toolcalls.json_text import names_of, parse_arguments, unknown

_BARS: Final = "[|｜‖]{1,2}"


def _tag(kind: str, word: str) -> TagSpec:
    return TagSpec(kind, ["<", _BARS, *("[▁_ ]" if c == "_" else c for c in word), _BARS, ">"])


TAGS: Final = Tags(
    _tag("section", "tool_calls_begin"),
    _tag("section_end", "tool_calls_end"),
    _tag("call", "tool_call_begin"),
    _tag("call_end", "tool_call_end"),
    _tag("sep", "tool_sep"),
    _tag("eos", "end_of_sentence"),
)
_CALL_FOLLOWS: Final = regex.compile(r"\s*<")
_NAME_FOLLOWS: Final = regex.compile(r"\s*[\w.\-:/]{1,128}\s*[<{`]")
_NAME_BEGINS: Final = regex.compile(r"\s*[\w.\-:/]{0,128}\s*")
_FENCE: Final = regex.compile(r"```[a-zA-Z]*[ \t]*\r?\n?")


class DeepSeekHead(NamedTuple):
    """Text before the arguments, as a dialect reads it.

    Attributes:
        name: empty if there is none.
        at: start of the arguments in the text after the separator.
        is_fenced: a code fence was opened.
    """

    name: str
    at: int
    is_fenced: bool
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _DeepSeekState:
    """State of one call.

    Attributes:
        strings: follows the JSON strings of the arguments; None before they begin.
        doubtful: the first closing tag inside a string: it counts if the string never ends.
    """

    begin: Tag | None = None
    sep: Tag | None = None
    end: Tag | None = None
    strings: StringWatch | None = None
    doubtful: Tag | None = None


class DeepSeekGrammar(PlainGrammar):
    """Both dialects, by ``is_fenced``: V3 writes ``function``, separator, name and a fence; V3.1 name and separator."""

    tags = TAGS
    opens = frozenset({"section", "call"})

    def __init__(self, name: str, *, is_fenced: bool) -> None:
        self._name = name
        self._is_fenced = is_fenced

    def accepts(self, opener: Tag, head: str) -> bool | None:
        if opener.kind == "section":
            return True if _CALL_FOLLOWS.match(head) else None if not head.strip() and len(head) < 100 else False
        if _NAME_FOLLOWS.match(head):
            return True
        found = _NAME_BEGINS.match(head)
        return None if found and found.end() == len(head) and len(head) < 200 else False

    def step(self, block: Block, tag: Tag) -> int:
        state = self._state(block)
        if state.strings and not state.end and state.strings.is_inside(block, tag):
            if tag.kind == "call_end" and not state.doubtful:
                state.doubtful = tag
            return GO_ON
        if state.end:
            return END if tag.kind == "section_end" else BEFORE
        return self._structural(block, state, tag)

    def _state(self, block: Block) -> _DeepSeekState:
        if block.state is None:
            block.state = _DeepSeekState(begin=block.opener if block.opener.kind == "call" else None)
        state: _DeepSeekState = block.state
        return state

    def _structural(self, block: Block, state: _DeepSeekState, tag: Tag) -> int:
        if tag.kind == "call_end" and state.begin:
            state.end = tag
            return SETTLED
        if tag.kind == "section_end":
            return END
        if tag.kind == "call" and not state.begin:
            state.begin = tag
        elif tag.kind == "sep" and state.begin and not state.sep:
            state.sep, state.strings = tag, StringWatch(len(block.pieces), len(tag.text))
        elif tag.kind in ("call", "section", "eos") or not state.sep:
            return BEFORE
        return GO_ON

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        state, text = self._state(block), block.text()
        if state.begin is None:
            return []
        closer = state.end
        rest: list[TextCall] = []
        if closer is None and not block.is_closed and state.doubtful:
            closer = state.doubtful
            rest = calls_behind(self, text[closer.end - block.start :], closer.end, tools, is_nested=block.is_nested)
        call = self._call(block, state, closer, tools, whole=closer is not state.doubtful)
        is_word = text[state.begin.end - block.start :][:1].isspace()  # no name that was cut: prose about the tag
        return [call, *rest] if state.sep or (call.name and not is_word) else []

    def _call(
        self, block: Block, state: _DeepSeekState, closer: Tag | None, tools: Sequence[ToolDef], *, whole: bool
    ) -> TextCall:
        text, base = block.text(), block.start
        assert state.begin is not None  # whoever calls has looked
        last = closer or next((t for t in block.tags[-1:] if t.kind == "section_end"), None)
        stop = last.start - base if last else TAGS.find_partial(text, 0)
        sep_end = state.sep.end - base if state.sep else stop
        front = text[state.begin.end - base : state.sep.start - base if state.sep else stop]
        head = self._head(front, text[sep_end:stop]) if state.sep else _without_separator(front)
        body = text[sep_end + head.at : stop] if state.sep else front[head.at :]
        problems = list(head.problems)
        body, is_open = _strip_fence(body) if head.is_fenced else (body.strip(), False)
        problems += ["the code fence is not closed"] if is_open and closer else []
        value = parse_arguments(body) if body or closer else None
        problems += value.problems if value else ()
        problems += unknown(head.name, names_of(tools))
        problems += [] if closer else [UNCLOSED]
        tags = (block.opener, *block.tags)
        problems += [LOOK_ALIKE] if any("｜" not in t.text or "_" in t.text for t in tags if "ool" in t.text) else []
        return TextCall(
            self._name,
            head.name or None,
            value.value if value else None,
            body,
            base,
            base + len(text) if whole else (closer.end if closer else base + len(text)),
            problems=tuple(dict.fromkeys(problems)),
            is_nested=block.is_nested,
        )

    def _head(self, front: str, behind: str) -> DeepSeekHead:
        """Name and start of the arguments, from the text before and after the separator."""
        word = front.strip()
        fence = _FENCE.search(behind, 0, 200)
        if fence and "{" not in behind[: fence.start()] and fence.start() > 0:
            problems = () if self._is_fenced else ("in the format of DeepSeek V3",)
            return DeepSeekHead(behind[: fence.start()].strip(), fence.end(), True, problems)
        if not self._is_fenced or word != "function":
            at = fence.end() if fence and not behind[: fence.start()].strip() else 0
            problems = ("in the format of DeepSeek V3.1",) if self._is_fenced else ()
            return DeepSeekHead(word, at, bool(at), (*problems, *(["a code fence around the arguments"] if at else [])))
        brace = behind.find("{")
        at = brace if brace >= 0 else len(behind)
        return DeepSeekHead(behind[:at].strip(), at, False, ("no code fence around the arguments",))


def _without_separator(front: str) -> DeepSeekHead:
    found = re.match(r"\s*([^\s{`]*)\s*(```[a-zA-Z]*)?", front)
    if not found:
        return DeepSeekHead("", 0, False, ("missing separator",))
    return DeepSeekHead(found[1], found.end(), bool(found[2]), ("missing separator",))


def _strip_fence(body: str) -> tuple[str, bool]:
    """Text of an opened fence, and whether it is still open."""
    text = body.strip()
    return (text[:-3].rstrip(), False) if text.endswith("```") else (text.rstrip("`").rstrip(), True)
