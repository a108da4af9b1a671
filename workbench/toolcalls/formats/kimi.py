r"""Kimi K2 tokens: ``<|tool_call_begin|>functions.NAME:INDEX<|tool_call_argument_begin|>JSON<|tool_call_end|>``.

All calls are between ``<|tool_calls_section_begin|>`` and ``<|tool_calls_section_end|>``. The index counts through
the conversation. Blanks between tokens mean nothing; the template writes none.

Facts: MoonshotAI/Kimi-K2 ``docs/tool_call_guidance.md``; template of Kimi-K2-Thinking; sglang 0.5.23
``kimik2_detector``; vLLM 0.33.0 ``kimi_k2`` parser; exo-explore/exo#2281.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from workbench import regex
from workbench.ir import ToolCallIR, ToolDef, ToolResultIR
from workbench.lazy_dataclass import dataclass, field
from workbench.toolcalls.call_problems import (
    DOUBLED_OPEN,
    MISSPELLED,
    NO_ARGUMENT_TOKEN,
    NO_BLOCK,
    NO_BLOCK_END,
    NO_CALL_END,
    OTHER_ID,
    STRAY_END,
    UNCLOSED,
)
from workbench.toolcalls.formats import TextCall
from workbench.toolcalls.formats._json_tags import JsonBody
from workbench.toolcalls.formats._render import arguments_of, json_text, name_of, result_text, unambiguous
from workbench.toolcalls.formats._scan import BEFORE, END, GO_ON, SETTLED, Block, PlainGrammar, TagParser
from workbench.toolcalls.formats._tags import NESTED_CLOSE, NESTED_OPEN, Tag, Tags, TagSpec
from workbench.toolcalls.json_text import names_of, parse_arguments, unknown

SECTION, SECTION_END = "section", "section_end"
CALL, ARGUMENTS, CALL_END = "call", "arguments", "call_end"

_ID = regex.compile(r"(?:functions\.)?([^\s<>|]+):\d+")
_LOOSE_ID = regex.compile(r"functions[._]?([^\s<>|:]+?)[_:]?\d*")
_HEAD = regex.compile(r"\s*[^\s<>|{}]{1,256}\s*(?:([<{])|\Z)")


@dataclass(slots=True)
class _KimiCall:
    tag: Tag
    id_end: int = -1
    body: int = -1  # where the arguments begin
    body_end: int = -1
    end: int = -1
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _KimiState:
    calls: list[_KimiCall] = field(default_factory=list)
    call: _KimiCall | None = None
    json: JsonBody | None = None
    problems: list[str] = field(default_factory=list)
    is_over: bool = False


class _KimiGrammar(PlainGrammar):
    tags: ClassVar = Tags(
        TagSpec(SECTION, "<|tool_calls_section_begin|>"),
        TagSpec(SECTION, "<|tool_call_section_begin|>"),
        TagSpec(SECTION_END, "<|tool_calls_section_end|>"),
        TagSpec(SECTION_END, "<|tool_call_section_end|>"),
        TagSpec(CALL, "<|tool_call_begin|>"),
        TagSpec(ARGUMENTS, "<|tool_call_argument_begin|>"),
        TagSpec(CALL_END, "<|tool_call_end|>"),
    )
    opens: ClassVar = frozenset((SECTION, CALL))

    def __init__(self, tools: Sequence[ToolDef]) -> None:
        self.names = names_of(tools)

    def accepts(self, opener: Tag, head: str) -> bool | None:
        """True if a call follows a section's token, or an id follows a call's."""
        if not head.strip():
            return None if len(head) < 300 else False
        if opener.kind == CALL:
            found = _HEAD.match(head)
            if found and not found[1]:
                return None if len(head) < 500 else False
            return bool(found)
        text = head.lstrip()
        tag = self.tags.pattern.match(text)
        if tag:
            return self.tags.kind(tag) in (CALL, SECTION)
        return None if self.tags.find_partial(text, 0) == 0 else False

    def step(self, block: Block, tag: Tag) -> int:
        """Process a token inside the section."""
        state: _KimiState | None = block.state
        if state is None:
            state = block.state = _KimiState()
            if block.opener.kind == CALL:
                self._open(state, block.opener)
        if state.json:
            return self._in_arguments(block, state, state.json, tag)
        if state.call:
            return self._in_id(state, state.call, tag)
        return self._outside(block, state, tag)

    def _open(self, state: _KimiState, tag: Tag) -> None:
        state.call = _KimiCall(tag)
        state.calls.append(state.call)

    def _close(self, state: _KimiState, call: _KimiCall, tag: Tag) -> int:
        """End a call at a token, and the section with it if the token ends the section."""
        call.body_end, call.end = tag.start, tag.end
        state.call = state.json = None
        if tag.kind == SECTION_END:
            call.problems.append(NO_CALL_END)
            state.is_over = True
        return SETTLED

    def _outside(self, block: Block, state: _KimiState, tag: Tag) -> int:
        if state.is_over or tag.kind in (NESTED_OPEN, NESTED_CLOSE):
            return BEFORE
        if tag.kind == CALL:
            if block.opener.kind == CALL:
                return BEFORE
            self._open(state, tag)
            return GO_ON
        if tag.kind == SECTION:
            state.problems.append(DOUBLED_OPEN)
            return BEFORE if state.calls else GO_ON
        if tag.kind == SECTION_END:
            state.is_over = True
            if state.calls:
                state.calls[-1].end = tag.end
            return END
        state.problems.append(STRAY_END)
        return SETTLED if state.calls else GO_ON

    def _in_id(self, state: _KimiState, call: _KimiCall, tag: Tag) -> int:
        """Process a token after a call's token: the id, up to the arguments."""
        if tag.kind == ARGUMENTS:
            call.id_end, call.body = tag.start, tag.end
            state.json = JsonBody()
            return GO_ON
        if tag.kind in (CALL_END, SECTION_END):
            return self._close(state, call, tag)
        if tag.kind == CALL:  # begun again: nothing was said of the first
            state.calls.pop()
            self._open(state, tag)
            state.problems.append(DOUBLED_OPEN)
            return GO_ON
        return BEFORE

    def _in_arguments(self, block: Block, state: _KimiState, json: JsonBody, tag: Tag) -> int:
        call = state.call
        assert call
        closes = tag.kind in (CALL_END, SECTION_END)
        verdict = json.at_tag(block, tag, closes=closes)
        if verdict != END:
            return verdict
        if closes:
            return self._close(state, call, tag)
        if tag.kind == CALL and block.opener.kind == SECTION:
            call.body_end = call.end = tag.start
            call.problems.append(NO_CALL_END)
            state.json = None
            self._open(state, tag)
            return GO_ON
        return GO_ON if tag.kind in (NESTED_OPEN, ARGUMENTS) else BEFORE

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        """The calls of a section."""
        state: _KimiState = block.state or _KimiState()
        if block.state is None and block.opener.kind == CALL:
            self._open(state, block.opener)
        text = block.text()
        end = block.start + len(text)
        if state.call:
            was_closed = state.json is not None and state.json.passed == end
            state.call.body_end = block.tags[-1].start if was_closed else end
            state.call.end = end
            state.call.problems += [] if was_closed else [UNCLOSED]
        calls = [c for c in state.calls if c.body >= 0 or c.body_end > c.tag.end]
        if not calls:
            return []
        misspelled = [MISSPELLED] if any("tool_call_section" in t.text for t in (block.opener, *block.tags)) else []
        without = [NO_BLOCK] if block.opener.kind == CALL else []
        calls[0].problems[:0] = [*without, *misspelled, *state.problems]
        if block.opener.kind == SECTION and not state.is_over and not state.call:
            calls[-1].problems.append(NO_BLOCK_END)
        starts = [block.start, *(c.end for c in calls[:-1])]
        return [self._call(block, text, c, start) for c, start in zip(calls, starts, strict=True)]

    def _call(self, block: Block, text: str, call: _KimiCall, start: int) -> TextCall:
        base = block.start
        if call.body >= 0:
            call_id, raw = text[call.tag.end - base : call.id_end - base], text[call.body - base : call.body_end - base]
        else:
            call_id, brace, rest = text[call.tag.end - base : call.body_end - base].partition("{")
            raw = brace + rest
            call.problems += [NO_ARGUMENT_TOKEN] if raw else []
        call_id = call_id.strip()
        name, problems = self._name(call_id)
        arguments = parse_arguments(raw)
        every = (*call.problems, *problems, *arguments.problems, *unknown(name, self.names))
        return TextCall(
            "kimi",
            name,
            arguments.value,
            raw.strip(),
            start,
            call.end,
            id=call_id or None,
            problems=tuple(dict.fromkeys(every)),
            is_nested=block.is_nested,
        )

    def _name(self, call_id: str) -> tuple[str | None, tuple[str, ...]]:
        """The tool's name in an id."""
        found = _ID.fullmatch(call_id)
        if found:
            return found[1], ()
        loose = _LOOSE_ID.fullmatch(call_id)
        if loose and (loose[1] in self.names or not self.names):
            return loose[1], (OTHER_ID,)
        return (call_id if call_id in self.names else None), (OTHER_ID,)


class Kimi:
    """The format; see the module."""

    name = "kimi"
    title = "Kimi tokens (Kimi K2 to K2.7)"
    markers = ("<|tool_call_begin|>", "<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")

    def parser(self, tools: Sequence[ToolDef] = ()) -> TagParser:
        """A fresh parser."""
        return TagParser(_KimiGrammar(tools), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """All calls in one section. An id without the tool's name is replaced by one that counts from zero."""
        inner = "".join(_render_call(call, n) for n, call in enumerate(calls))
        text = f"<|tool_calls_section_begin|>{inner}<|tool_calls_section_end|>"
        return unambiguous(self, text, calls, json_text)

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """Content of the first result's turn; every further one with the tokens of a separate turn."""
        turns = [(r.name or "tool", f"## Return of {r.tool_call_id or ''}\n{result_text(r)}") for r in results]
        first = turns[0][1] if turns else ""
        return first + "".join(f"<|im_end|><|im_system|>{name}<|im_middle|>{text}" for name, text in turns[1:])


def _render_call(call: ToolCallIR, n: int) -> str:
    arguments = json_text(arguments_of(call))
    return f"<|tool_call_begin|>{_id(call, n)}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"


def _id(call: ToolCallIR, n: int) -> str:
    name = name_of(call, "<>|{} \n\t")
    found = _ID.fullmatch(call.id or "")
    return call.id if call.id and found and found[1] == name else f"functions.{name}:{n}"


text_format = Kimi()
