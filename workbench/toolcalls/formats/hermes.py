r"""Hermes-style JSON: ``<tool_call>\n{"name": NAME, "arguments": OBJECT}\n</tool_call>``.

Written by Hermes 2 and 3, Qwen2.5, Qwen3 (chat) and QwQ. Several calls are several blocks, a line break between two.
``parameters`` is read for ``arguments``, a list or several objects in one block are several calls.

Facts: templates of Qwen3-0.6B and Hermes-3; sglang 0.5.23 ``hermes_detector``, ``qwen25_detector``; vLLM 0.33.0
``hermes_tool_parser``; Qwen-Agent ``nous_fncall_prompt``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from workbench.ir import ToolCallIR, ToolDef, ToolResultIR
from workbench.lazy_dataclass import dataclass, field
from workbench.toolcalls.call_problems import DOUBLED_END, DOUBLED_OPEN, MORE_CALLS, TRAILING, UNCLOSED
from workbench.toolcalls.formats import TextCall
from workbench.toolcalls.formats._json_calls import LocatedCall, in_sequence, whole_object
from workbench.toolcalls.formats._json_tags import JsonBody
from workbench.toolcalls.formats._render import arguments_of, json_text, name_of, result_text, unambiguous
from workbench.toolcalls.formats._scan import BEFORE, END, GO_ON, SETTLED, Block, PlainGrammar, TagParser
from workbench.toolcalls.formats._tags import NESTED_CLOSE, Tag, Tags, TagSpec
from workbench.toolcalls.formats._whole import WholeForm
from workbench.toolcalls.json_text import names_of, unknown

OPEN, CLOSE = "open", "close"


@dataclass(slots=True)
class _HermesState:
    body: JsonBody = field(default_factory=JsonBody)
    start: int = 0
    end: int = -1
    problems: list[tuple[str, Tag]] = field(default_factory=list)


class _HermesGrammar(PlainGrammar):
    tags: ClassVar = Tags(TagSpec(OPEN, "< tool_call >"), TagSpec(CLOSE, "< / tool_call >"))
    opens: ClassVar = frozenset((OPEN,))

    form: ClassVar = WholeForm(tags, OPEN, CLOSE)

    def __init__(self, tools: Sequence[ToolDef]) -> None:
        self.names = names_of(tools)
        self.whole = self

    def accepts(self, opener: Tag, head: str) -> bool | None:
        """True if JSON follows, or the opening tag once more."""
        text = head.lstrip()
        if not text:
            return None if len(head) < 300 else False
        if text[0] in "{[":
            return True
        if text[0] == "`":
            return None if "```".startswith(text) else text.startswith("```")
        again = self.tags.pattern.match(text)
        if again and self.tags.kind(again) == OPEN:
            return self.accepts(opener, text[again.end() :])
        return None if not again and text[0] == "<" and self.tags.find_partial(text, 0) == 0 else False

    def step(self, block: Block, tag: Tag) -> int:
        """End the call at a closing tag outside of strings."""
        state: _HermesState | None = block.state
        if state is None:
            state = block.state = _HermesState(start=block.opener.end)
        if state.end >= 0:
            if tag.kind != CLOSE:
                return BEFORE
            state.problems.append((DOUBLED_END, tag))
            return END
        if tag.kind == OPEN and state.body.is_fresh and not block.between().strip():
            state.problems.append((DOUBLED_OPEN, tag))
            state.start = tag.end
            return GO_ON
        verdict = state.body.at_tag(block, tag, closes=tag.kind == CLOSE)
        if verdict != END:
            return verdict
        if tag.kind == CLOSE:
            state.end = tag.start
            return SETTLED
        return BEFORE if tag.kind != NESTED_CLOSE or block.is_nested else GO_ON

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        """The calls of a block."""
        state: _HermesState = block.state or _HermesState(start=block.opener.end)
        text = block.text()
        whole_end = block.start + len(text)
        if state.end < 0 and state.body.passed == whole_end:  # it went back to this closing tag
            state.end = block.tags[-1].start
        body_end = state.end if state.end >= 0 else whole_end
        body = text[state.start - block.start : body_end - block.start]
        found = in_sequence(body, state.body.value)
        return [self._call(block, state, found, n, body, whole_end) for n in range(len(found))]

    def read_block(self, text: str, start: int, base: int, *, is_nested: bool) -> tuple[list[TextCall], int] | None:
        """The call of a block that holds one object without a fault (``_whole.WholeReader``)."""
        opener = self.tags.pattern.match(text, start)
        close = self.tags.pattern.search(text, opener.end()) if opener else None
        if not opener or not close or self.tags.kind(close) != CLOSE:
            return None
        body = text[opener.end() : close.start()]
        call = whole_object(body)
        if not call or call.key != "arguments" or call.problems:
            return None
        problems = unknown(call.name, self.names)
        place, end = base + start, close.end()
        found = TextCall(
            "hermes",
            call.name,
            call.input,
            call.raw,
            place,
            base + end,
            None,
            problems,
            is_nested,
            (None,) * len(problems),
        )
        return [found], end - start

    def _call(
        self, block: Block, state: _HermesState, found: list[LocatedCall], n: int, body: str, whole_end: int
    ) -> TextCall:
        (call, _, stop), is_last, is_closed = found[n], n == len(found) - 1, state.end >= 0
        problems = [p for p, _ in state.problems] if n == 0 else []
        problems += [] if call.key in ("arguments", "") else [f"the arguments are in the key {call.key!r}"]
        problems += [MORE_CALLS] if n and not body.lstrip("`json \t\r\n").startswith("[") else []
        problems += call.problems
        rest = body[stop:].strip().removeprefix("```").strip() if is_last else ""
        if rest and is_closed:
            problems.append(TRAILING)
        if is_last and not is_closed:
            problems.append(UNCLOSED)
        problems += unknown(call.name, self.names)
        here = state.start + stop
        start = block.start if n == 0 else state.start + found[n - 1].end
        end = whole_end if is_last and (is_closed or not rest) else here
        if is_last and not is_closed and not rest:
            end = whole_end - (len(body) - len(body.rstrip()))
        places = {p: (t.start, t.end) for p, t in state.problems}
        return TextCall(
            "hermes",
            call.name,
            call.input,
            call.raw,
            start,
            end,
            problems=tuple(dict.fromkeys(problems)),
            is_nested=block.is_nested,
            places=tuple(places.get(p) for p in dict.fromkeys(problems)),
        )


class Hermes:
    """The format; see the module."""

    name = "hermes"
    title = "Hermes JSON (Hermes 2 and 3, Qwen2.5, Qwen3, QwQ)"
    markers = ("tool_call",)

    def parser(self, tools: Sequence[ToolDef] = ()) -> TagParser:
        """A fresh parser."""
        return TagParser(_HermesGrammar(tools), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """One block per call, a line break between two."""
        blocks = []
        for call in calls:
            call_json = f'{{"name": {json_text(name_of(call))}, "arguments": {json_text(arguments_of(call))}}}'
            blocks.append(f"<tool_call>\n{call_json}\n</tool_call>")
        return unambiguous(self, "\n".join(blocks), calls, json_text)

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """The content of the turn that carries results."""
        return "\n".join(f"<tool_response>\n{result_text(r)}\n</tool_response>" for r in results)


text_format = Hermes()
