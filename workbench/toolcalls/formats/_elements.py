r"""Calls as elements: a block of call elements, each with parameter elements, under any tag names.

Qwen3-Coder, MiniMax M2 and Claude-like text are this grammar with other names (DSML, too):

    block := BLOCK (CALL parameter* CALL_END)+ BLOCK_END        parameter := PARAM value PARAM_END

No format of the family has an escape for its own tags, and models leave tags out. What is missing is filled in by what
comes next; a closing tag inside a value counts as text if the value continues after it up to another closing tag.
Facts: sglang 0.5.23 and vLLM 0.33.0 parsers of these formats, and the failures reported of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, Final

from workbench import regex
from workbench.ir import JsonValue, ToolDef
from workbench.lazy_dataclass import dataclass, field
from workbench.toolcalls.call_problems import (
    DOUBLED_END,
    DOUBLED_OPEN,
    NO_BLOCK,
    NO_BLOCK_END,
    NO_CALL_END,
    NO_KEY,
    NO_PARAM_END,
    SAME_KEY,
    STRAY_END,
    STRAY_PARAM,
    STRAY_TEXT,
    TAG_IN_VALUE,
    UNCLOSED,
    WRONG_ORDER,
)
from workbench.toolcalls.formats import TextCall
from workbench.toolcalls.formats._element_parts import (
    BLOCK,
    BLOCK_END,
    CALL,
    CALL_END,
    PARAM,
    PARAM_END,
    OpenCall,
    OpenParameter,
    flat_patterns,
    parameters,
    whole_form,
)
from workbench.toolcalls.formats._scan import BACK, BEFORE, END, GO_ON, SETTLED, SKIM, Block
from workbench.toolcalls.formats._tags import NESTED_CLOSE, NESTED_OPEN, VALUE, Tag, Tags
from workbench.toolcalls.formats._typing import ToolTypes
from workbench.toolcalls.json_text import unknown

NAMED: Final = rf"(?:\s{{1,8}}name\s{{0,8}}=\s{{0,8}}{VALUE})?(?:\s[^<>]{{0,128}})?/?>"
"""Rest of a tag with its name in an attribute, with or without quotes."""

NAME: Final = regex.compile(rf"\S+\s+name\s*=\s*({VALUE})")
"""Finds the name in such a tag."""


MOST_NAMES: Final = 1024
"""Tags whose names are kept: a list of tools has some hundreds, and texts repeat them."""


@lru_cache(MOST_NAMES)
def _name_in(named: re.Pattern[str], tag: str) -> str:
    found = named.match(tag)
    text = found[1] if found else ""
    return text[1:-1] if text[:1] in ("'", '"') and text[-1:] == text[0] else text


@dataclass(slots=True)
class ElementState:
    """State of a block.

    Attributes:
        call: the open call.
        param: the open parameter.
        closer: a closing tag of the call or block inside an open parameter.
        swapped: the same, if the parameter's own closing tag came after it.
        opened: a block's opening tag at the start of a line of a value, if nothing has followed it yet.
        key: name of the next parameter, for formats with names between tags.
        depth: elements open inside a value.
        is_over: the block was closed.
    """

    calls: list[OpenCall] = field(default_factory=list)
    problems: list[tuple[str, Tag]] = field(default_factory=list)
    call: OpenCall | None = None
    param: OpenParameter | None = None
    closer: Tag | None = None
    swapped: Tag | None = None
    opened: Tag | None = None
    key: str = ""
    depth: int = 0
    is_over: bool = False


class ElementGrammar:
    """Reads blocks of elements. A subclass defines the tags; one object serves one parser.

    Attributes:
        name: of the format.
        named: pattern of a call's or parameter's opening tag, its name in group 1.
        trims: one line break on each side of a value belongs to the markup.
        has_blocks: a call outside of a block is reported.
        is_flat: a call without a fault is parameters one after the other, each of two tags and its value.
    """

    name: ClassVar[str]
    tags: ClassVar[Tags]
    named: ClassVar[re.Pattern[str]]
    opens: ClassVar[frozenset[str]] = frozenset((BLOCK, CALL))
    trims: ClassVar[bool] = False
    has_blocks: ClassVar[bool] = True
    is_flat: ClassVar[bool] = True
    is_half_text: ClassVar[bool] = False

    def __init__(self, types: ToolTypes) -> None:
        self.types = types
        self._flat = flat_patterns(self.tags) if self.is_flat else None
        self.loud = self._flat.loud if self._flat else None
        self.form = whole_form(self.tags)
        self.whole = self if self.loud and self.has_blocks else None

    def name_in(self, tag: Tag) -> str:
        """The name that an opening tag gives, without its quotes."""
        return _name_in(self.named, tag.text)

    def accepts(self, opener: Tag, head: str) -> bool | None:
        """True if an element follows."""
        text = head.lstrip()
        if not text:
            return None if len(head) < 300 else False
        found = self.tags.pattern.match(text)
        if found:
            inside = (BLOCK, CALL) if opener.kind == BLOCK else (PARAM, CALL_END, BLOCK_END, PARAM_END)
            return self.tags.kind(found) in inside
        return None if self.tags.find_partial(text, 0) == 0 else False

    def step(self, block: Block, tag: Tag) -> int:
        """Process a tag inside the block."""
        state: ElementState | None = block.state
        if state is None:
            state = block.state = ElementState()
            if block.opener.kind == CALL:
                self._open_call(state, block.opener)
        if state.param:
            return self._in_param(block, state, tag)
        if state.call:
            return self._in_call(block, state, state.call, tag)
        return self._in_block(block, state, tag)

    def skim(self, block: Block, text: str, start: int) -> bool:
        """Take parameters without a fault: blanks between them, and no tag in a value."""
        assert self._flat
        params, last, at = parameters(self._flat.parameter, text, len(text) - len(text.lstrip()), start)
        if at < len(text):
            return False
        block.state.call.params = params
        if last:
            begin, end = last.span("close")
            block.tags.append(Tag(PARAM_END, start + begin, start + end, last["close"]))
        return True

    def read_block(self, text: str, start: int, base: int, *, is_nested: bool) -> tuple[list[TextCall], int] | None:
        """The calls of a block without a fault (``_whole.WholeReader``)."""
        flat = self._flat
        opener = flat.block.match(text, start) if flat else None
        if not flat or not opener:
            return None
        calls, at, end = list[OpenCall](), opener.end(), None
        while not end:
            head = flat.call.match(text, at)
            if not head:
                return None
            params, _, at = parameters(flat.plain, text, head.end(), base)
            close = flat.call_end.match(text, at)
            if not close:
                return None
            begin, stop = head.span(1)
            tag = Tag(CALL, base + begin, base + stop, head[1])
            calls.append(OpenCall(tag, params, base + close.start(), base + close.end(1)))
            at = close.end()
            end = flat.block_end.match(text, at)
        if not all(self.name_in(call.tag) for call in calls):
            return None
        calls[-1].end = base + end.end()
        place = base + start
        block = Block(Tag(BLOCK, place, base + opener.end(1), opener[1]), is_nested, [text[start : end.end()]])
        starts = [place, *(call.end for call in calls[:-1])]
        return [self._call(call, block, at) for call, at in zip(calls, starts, strict=True)], end.end() - start

    def gap(self, block: Block) -> str:
        """Words between two tags, where none are expected."""
        return block.between().strip()

    def _open_call(self, state: ElementState, tag: Tag) -> int:
        state.call = OpenCall(tag)
        state.calls.append(state.call)
        state.swapped = None
        if not tag.text.endswith("/>"):
            return SKIM if self.loud else GO_ON
        state.call.body_end = state.call.end = tag.end
        state.call = None
        return SETTLED

    def _close_call(self, state: ElementState, tag: Tag, problem: str = "") -> None:
        assert state.call
        state.call.body_end, state.call.end = tag.start, tag.end
        if problem:
            state.call.problems.append((problem, tag))
        state.call = None

    def _in_block(self, block: Block, state: ElementState, tag: Tag) -> int:
        """Process a tag between calls."""
        kind = tag.kind
        if state.is_over:
            if kind == BLOCK_END and state.calls:
                state.calls[-1].end = tag.end
                state.calls[-1].problems.append((DOUBLED_END, tag))
                return SETTLED
            return BEFORE
        if kind == CALL:
            if state.calls and block.opener.kind == CALL:
                return BEFORE
            return self._open_call(state, tag)
        if kind == BLOCK_END:
            state.is_over = True
            if state.calls:
                state.calls[-1].end = tag.end
            return SETTLED if state.calls else END
        if kind in (BLOCK, NESTED_OPEN, NESTED_CLOSE) and (state.calls or kind != BLOCK):
            return BEFORE
        state.problems.append(({BLOCK: DOUBLED_OPEN, PARAM: STRAY_PARAM}.get(kind, STRAY_END), tag))
        return SETTLED if state.calls and kind != PARAM else GO_ON

    def _in_call(self, block: Block, state: ElementState, call: OpenCall, tag: Tag) -> int:
        """Process a tag in a call, outside of its parameters."""
        kind = tag.kind
        gap = self.gap(block)
        if kind == PARAM_END and call.params:
            if gap:  # the value went on behind what looked like its end
                call.params[-1].end = tag.start
                call.problems.append((TAG_IN_VALUE, tag))
            else:
                call.problems.append((DOUBLED_END, tag))
            return GO_ON
        if gap and call.params:
            call.problems.append((STRAY_TEXT, tag))
        if kind == PARAM:
            state.param = OpenParameter(tag, tag.end)
            call.params.append(state.param)
            self._extend_value(state, call)
            return GO_ON
        if kind == CALL_END:
            self._extend_value(state, call)
            self._close_call(state, tag)
            return SETTLED
        if kind == BLOCK_END:
            return self._end_without_call_end(state, call, tag)
        if kind == CALL and block.opener.kind == BLOCK:
            call.body_end = call.end = tag.start
            call.problems.append((NO_CALL_END, tag))
            return self._open_call(state, tag)
        if kind == PARAM_END:
            call.problems.append((STRAY_END, tag))
            return GO_ON
        return BEFORE

    def _extend_value(self, state: ElementState, call: OpenCall) -> None:
        """Treat a closing tag before the end of a parameter as part of its value."""
        if state.swapped:
            call.problems.append((TAG_IN_VALUE, state.swapped))
        state.swapped = None

    def _end_without_call_end(self, state: ElementState, call: OpenCall, tag: Tag) -> int:
        if state.swapped:
            call.params[-1].end = state.swapped.start
            self._close_call(state, tag, WRONG_ORDER)
        else:
            self._close_call(state, tag, NO_CALL_END)
        state.is_over = True
        return SETTLED

    def _in_param(self, block: Block, state: ElementState, tag: Tag) -> int:
        """Process a tag in a value. A tag that closes the call may also be text: the next tag decides."""
        kind, param, call = tag.kind, state.param, state.call
        assert param and call
        if kind == PARAM_END:
            param.end = tag.start
            if state.closer:
                state.swapped = state.closer if state.closer.kind == CALL_END else None
                call.problems += [] if state.swapped else [(TAG_IN_VALUE, state.closer)]
            state.param = state.closer = None
            block.back = 0
            return GO_ON
        if state.closer:
            return self._after_closer(block, state, call, state.closer, tag)
        if kind in (CALL_END, BLOCK_END):
            state.closer = tag
            block.back = tag.end
        elif kind == PARAM and not self._is_boundary(call, tag):
            call.problems.append((TAG_IN_VALUE, tag))
        elif kind == PARAM:
            param.end = tag.start
            call.problems.append((NO_PARAM_END, tag))
            state.param = OpenParameter(tag, tag.end)
            call.params.append(state.param)
        elif kind == CALL and state.opened and self.types.is_known(self.name_in(tag)) and not block.between().strip():
            self._close_open(state, state.opened.start)
            block.back = state.opened.start
            return BACK
        state.opened = tag if kind == BLOCK and block.between()[-1:] == "\n" else None
        return GO_ON

    def _is_boundary(self, call: OpenCall, tag: Tag) -> bool:
        """True if a parameter's opening tag inside a value begins the next one: not if it is undeclared."""
        key = self.name_in(tag)
        if any(self.name_in(p.tag) == key for p in call.params):
            return False
        declared = self.types.schema(self.name_in(call.tag)).get("properties")
        return not isinstance(declared, Mapping) or key in declared

    def _after_closer(self, block: Block, state: ElementState, call: OpenCall, closer: Tag, tag: Tag) -> int:
        """Process the tag after one that closed the call while a value was open."""
        gap = block.between().strip()
        if tag.kind in (CALL_END, BLOCK_END) and (gap or closer.kind == BLOCK_END):
            call.problems.append((TAG_IN_VALUE, closer))
            block.back = tag.end
            state.closer = tag  # the first was text of the value
            return GO_ON
        if tag.kind == PARAM and gap and self._is_boundary(call, tag):
            call.problems.append((TAG_IN_VALUE, closer))
            state.closer = None
            block.back = 0
            return self._in_param(block, state, tag)
        self._end_by_closer(state, call, closer)
        if gap or tag.kind not in (BLOCK_END, CALL):
            block.back = closer.end
            return BACK
        return self._in_block(block, state, tag)

    def _end_by_closer(self, state: ElementState, call: OpenCall, closer: Tag) -> None:
        assert state.param
        state.param.end = call.body_end = closer.start
        call.end = closer.end
        call.problems.append((NO_PARAM_END, closer))
        if closer.kind == BLOCK_END:
            call.problems.append((NO_CALL_END, closer))
            state.is_over = True
        state.call = state.param = state.closer = None

    def _close_open(self, state: ElementState, end: int) -> None:
        """End a call that nothing closed."""
        if state.param and state.call:
            state.param.end = end
            state.call.problems.append((NO_PARAM_END, state.param.tag))
        if state.call:
            state.call.body_end = state.call.end = end
            state.call.problems.append((UNCLOSED, state.call.tag))
        state.call = state.param = None

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        """The calls of a block."""
        state: ElementState | None = block.state
        text = block.text()
        end = block.start + len(text)
        if state is None:
            state = ElementState()
            if block.opener.kind == CALL:
                self._open_call(state, block.opener)
        if state.closer and state.call:
            self._end_by_closer(state, state.call, state.closer)
        if state.call and not state.param and block.tags and text[block.tags[-1].end - block.start :].strip():
            end = block.tags[-1].end  # what follows is prose
        self._close_open(state, end)
        calls = [c for c in state.calls if self._is_call(c, block)]
        if not calls:
            return []
        self._say_what_is_missing(block, state, calls)
        starts = [block.start, *(c.end for c in calls[:-1])]
        return [self._call(c, block, start) for c, start in zip(calls, starts, strict=True)]

    def _is_call(self, call: OpenCall, block: Block) -> bool:
        """True unless it is an opening tag alone: then only if the tool exists, or the text breaks off after it."""
        name = self.name_in(call.tag)
        if not name:
            return bool(call.params)
        is_open = any(p == UNCLOSED for p, _ in call.problems)
        if call.params or not is_open:
            return True
        return not block.since(call.tag.end).strip() and (self.types.is_known(name) or block.opener.kind == BLOCK)

    def _say_what_is_missing(self, block: Block, state: ElementState, calls: list[OpenCall]) -> None:
        first, last = calls[0], calls[-1]
        first.problems[:0] = state.problems
        is_open = any(p == UNCLOSED for p, _ in last.problems)
        if block.opener.kind == CALL and (state.is_over or self.has_blocks):
            first.problems.insert(0, (NO_BLOCK, block.opener))
        elif block.opener.kind == BLOCK and not state.is_over and not is_open:
            last.problems.append((NO_BLOCK_END, block.opener))

    def _call(self, call: OpenCall, block: Block, start: int) -> TextCall:
        text, base = block.text(), block.start
        name = self.name_in(call.tag) or None
        found: dict[str, JsonValue] = {}
        for param in call.params:
            key = self.name_in(param.tag)
            if key in found or not key:
                call.problems.append((SAME_KEY if key else NO_KEY, param.tag))
            if not key:
                continue
            value = text[param.start - base : param.end - base]
            value = value.removeprefix("\n").removesuffix("\n") if self.trims else value
            found[key] = self.value(name or "", key, value, param)
        raw = text[call.tag.end - base : call.body_end - base]
        problems, places = self._unknown(name), {}
        if call.problems:
            problems = tuple(dict.fromkeys((*(p for p, _ in call.problems), *problems)))
            places = {p: (t.start, t.end) for p, t in reversed(call.problems)}
        spans = tuple(map(places.get, problems))
        return TextCall(self.name, name, found, raw, start, call.end, None, problems, block.is_nested, spans)

    def _unknown(self, name: str | None) -> tuple[str, ...]:
        return unknown(name, self.types.names)

    def value(self, tool: str, key: str, text: str, param: OpenParameter) -> JsonValue:
        """Value of a parameter's text, typed by the schema."""
        return self.types.value(tool, key, text)
