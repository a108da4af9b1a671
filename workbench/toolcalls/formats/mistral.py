"""Mistral: ``[TOOL_CALLS]`` and an array, or ``[TOOL_CALLS]``, the name, ``[ARGS]`` and the arguments.

Facts: sglang's ``mistral_detector``; the chat templates of Nemo, Small-3.2 and Ministral-3-2512. A call ends with its
JSON: there is no closing tag, so brackets are followed, and a marker inside a JSON string is text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from workbench import regex
from workbench.errors import LocalProtocolError
from workbench.ir import ToolCallIR, ToolDef, ToolResultIR
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.toolcalls.call_problems import NO_JSON, NO_NAME, UNCLOSED
from workbench.toolcalls.formats import TextCall, TextParser
from workbench.toolcalls.formats._json_calls import from_text, plain_name
from workbench.toolcalls.formats._json_tags import StringWatch, calls_behind
from workbench.toolcalls.formats._render import arguments_of, json_text, result_text
from workbench.toolcalls.formats._scan import BEFORE, END, GO_ON, Block, PlainGrammar, TagParser
from workbench.toolcalls.formats._tags import Tag, Tags, TagSpec
from workbench.toolcalls.json_text import JsonTracker, json_spans, names_of, parse_arguments, unknown

TAGS: Final = Tags(
    TagSpec("calls", "[TOOL_CALLS", r"(?:\]|(?=[\s\[{]))", ""),
    TagSpec("id", "[CALL_ID]"),
    TagSpec("args", "[ARGS]"),
    TagSpec("eos", "</s>"),
    TagSpec("close", "}"),
    TagSpec("close", "]"),
)
_FOLLOWS: Final = regex.compile(
    r"\s*\[?\s*\{|[\w.\-:/]{1,128}(?:\[ARGS\]|\[CALL_ID\]|\{)"
    r"|\s*[\w.\-:/]{1,128}\s*(?:\[ARGS\]\s*\{|\[CALL_ID\]\s*\w+\s*\[ARGS\])"  # with blanks it could be prose
)
_BEGINS: Final = regex.compile(
    r"\s*(?:\[?\s*|[\w.\-:/]{1,128}\s*(?:\[[A-Z_]{0,8}(?:\]\s*\w{0,64}\s*(?:\[[A-Z]{0,4}\]?\s*)?)?)?)"
)
_ID: Final = regex.compile(r"[a-zA-Z0-9]{9}")


@dataclass(slots=True)
class _MistralState:
    """State of one marker's call or calls.

    Attributes:
        body: start of the JSON, in characters of the whole text; -1 before it is there.
        watch: gives the text between two tags.
        doubtful: the first marker inside a string: the call ends there if the string never does.
    """

    json: JsonTracker = field(default_factory=JsonTracker)
    id: Tag | None = None
    args: Tag | None = None
    body: int = -1
    watch: StringWatch = field(default_factory=StringWatch)
    doubtful: Tag | None = None
    is_whole: bool = False


def _state(block: Block) -> _MistralState:
    if block.state is None:
        block.state = _MistralState(watch=StringWatch(0, len(block.opener.text)))
    state: _MistralState = block.state
    return state


class _MistralGrammar(PlainGrammar):
    tags = TAGS
    opens = frozenset({"calls"})

    def accepts(self, opener: Tag, head: str) -> bool | None:
        if _FOLLOWS.match(head):
            return True
        return None if _BEGINS.fullmatch(head) and len(head) < 200 else False

    def step(self, block: Block, tag: Tag) -> int:
        state = _state(block)
        new = state.watch.new(block, tag)
        if state.body < 0 and not _enter(state, tag, new):
            return BEFORE if tag.kind in ("calls", "eos") else GO_ON
        if state.body < tag.end:
            state.json.find(new)
            if state.json.is_inside_string:
                state.doubtful = state.doubtful or (tag if tag.kind == "calls" else None)
            elif tag.kind in ("calls", "eos", "think_end"):
                return BEFORE
            if state.json.find(tag.text) > 0:
                state.is_whole = True
                return END
        return GO_ON

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        state, text = _state(block), block.text()
        if state.body < 0:
            new = text[len(block.opener.text) :]
            _enter(state, None, new[: TAGS.find_partial(new, 0)], block.start + len(text))
        cut = state.doubtful if state.doubtful and not block.is_closed else None
        if cut:
            text = text[: cut.start - block.start]
        is_array = state.args is None and text[len(block.opener.text) :].lstrip()[:1] in ("[", "{")
        calls = (_array if is_array else _one)(block, state, text)
        names = names_of(tools)
        missing = [] if "]" in block.opener.text else ["the marker has no closing bracket"]
        calls = [_with(c, (*missing, *unknown(c.name, names))) for c in calls]
        if cut:
            rest = block.text()[len(text) :]
            calls += calls_behind(self, rest, cut.start, tools, is_nested=block.is_nested)
        return calls


def _with(call: TextCall, problems: tuple[str, ...]) -> TextCall:
    return replace(call, problems=tuple(dict.fromkeys((*call.problems, *problems)))) if problems else call


def _enter(state: _MistralState, tag: Tag | None, new: str, end: int = 0) -> bool:
    """Find the start of the JSON; False if the call is not that far. ``new`` precedes the tag."""
    at = re.search(r"[\[{]", new)
    if at and not state.id:
        state.body = (tag.start if tag else end) - len(new) + at.start()
        return True
    if tag and tag.kind == "id":
        state.id = state.id or tag
    elif tag and tag.kind == "args":
        state.args, state.body = tag, tag.end
    return False


def _one(block: Block, state: _MistralState, text: str) -> list[TextCall]:
    """``NAME[CALL_ID]id[ARGS]{…}``, with or without its middle."""
    base = block.start
    size = TAGS.find_partial(text, 0) if not state.is_whole else len(text)
    stop = state.body - base if state.body >= 0 else size
    front = text[len(block.opener.text) : state.args.start - base if state.args else stop]
    name, _, id_ = front.partition("[CALL_ID]")
    raw = text[stop:size].strip() if state.body >= 0 else ""
    if not name.strip() or (state.body < 0 and not state.id and name != name.strip()):
        return []  # a word behind the marker is no name that was cut
    value = parse_arguments(raw) if raw or state.is_whole else None
    problems = (
        *(["no [ARGS]"] if state.args is None and state.body >= 0 else []),
        *(value.problems if value else ()),
        *([] if state.is_whole else [UNCLOSED]),
    )
    return [
        TextCall(
            "mistral",
            name.strip(),
            value.value if value else None,
            raw,
            base,
            base + len(text),
            id_.strip() or None,
            problems,
            block.is_nested,
        )
    ]


def _array(block: Block, state: _MistralState, text: str) -> list[TextCall]:
    """``[{"name": …}, …]``: one call for each object. Each starts at the end of the previous one."""
    base, at = block.start, text.index(text[len(block.opener.text) :].lstrip()[0], len(block.opener.text))
    inside = at + 1 if text[at] == "[" else at
    found = [(inside + a, inside + b) for a, b in json_spans(text[inside:])]
    calls, start = list[TextCall](), base
    for n, (a, b) in enumerate(found):
        is_last = n == len(found) - 1
        end = base + (len(text) if is_last else b)
        call = from_text(text[a:b])
        problems = [
            *(call.problems if call else (NO_NAME, NO_JSON)),
            *([UNCLOSED] if is_last and not state.is_whole else []),
        ]
        calls.append(
            TextCall(
                "mistral",
                call.name if call else None,
                call.input if call else None,
                call.raw if call else text[a:b],
                start,
                end,
                call.id if call else None,
                tuple(problems),
                block.is_nested,
            )
        )
        start = end
    return calls


class Mistral:
    """One generation of templates.

    Args:
        is_array: one marker and an array, or a marker for each call.
        blank: text between the marker and the array.
        has_ids: ids are written.
    """

    name = "mistral"
    title = "Mistral [TOOL_CALLS] (7B v0.3 to Ministral 3)"
    markers: tuple[str, ...] = ("[TOOL_CALLS",)

    def __init__(self, *, is_array: bool = False, blank: str = "", has_ids: bool = False) -> None:
        self._is_array = is_array
        self._blank = blank
        self._has_ids = has_ids

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        return TagParser(_MistralGrammar(), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        if self._is_array:
            objects = [{"name": plain_name(c), "arguments": arguments_of(c), "id": _id(c.id)} for c in calls]
            return f"[TOOL_CALLS]{self._blank}{json_text(objects)}"
        return "".join(
            f"[TOOL_CALLS]{plain_name(c)}{f'[CALL_ID]{_id(c.id)}' if self._has_ids else ''}"
            f"[ARGS]{json_text(arguments_of(c))}"
            for c in calls
        )

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        return "".join(f"[TOOL_RESULTS]{self._result(r)}[/TOOL_RESULTS]" for r in results)

    def _result(self, result: ToolResultIR) -> str:
        text = result_text(result)
        if self._is_array and self._blank:
            return json_text({"call_id": _id(result.tool_call_id), "content": text})
        if self._is_array:  # Nemo's template writes the text as it is
            return f'{{"content": {text}, "call_id": "{_id(result.tool_call_id)}"}}'
        return f"{_id(result.tool_call_id)}[TOOL_CONTENT]{text}" if self._has_ids else text


def _id(found: str | None) -> str:
    if not found or not _ID.fullmatch(found):
        raise LocalProtocolError(
            "Tool call IDs should be alphanumeric strings with length 9!",
            hint=f"{found!r} does not have this form; give the call a different id",
        )
    return found


v3: Final = Mistral(is_array=True, blank=" ", has_ids=True)
nemo: Final = Mistral(is_array=True, has_ids=True)
small: Final = Mistral(has_ids=True)
text_format: Final = Mistral()
