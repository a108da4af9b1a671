"""Llama 3.x: one JSON object with ``name`` and ``parameters``, with or without ``<|python_tag|>`` in front.

Facts: chat templates of Llama 3.1 to 3.3; vLLM's ``llama_tool_parser`` and sglang's ``llama32_detector`` (several
calls, separated by ``;``); built-in tools are Python after the tag (``brave_search.call(query="…")``). What
prompts may ask for besides, ``<function=NAME>{…}</function>``, is the format ``groq``. Without a tag the whole text has
to be calls: vLLM takes any object in prose for one, and so quotes and examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from workbench import regex
from workbench.errors import LocalProtocolError
from workbench.ir import ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.call_problems import NO_NAME, TRAILING
from workbench.toolcalls.formats import ProseOrCall, TextCall, TextParser
from workbench.toolcalls.formats._json_calls import (
    JsonCall,
    LocatedCall,
    adjoin_calls,
    calls_only,
    from_text,
    mark_unclosed,
)
from workbench.toolcalls.formats._json_tags import StringWatch, calls_behind
from workbench.toolcalls.formats._python_literals import call as python_call
from workbench.toolcalls.formats._render import arguments_of, json_text, name_of, result_text
from workbench.toolcalls.formats._scan import BEFORE, END, GO_ON, Block, PlainGrammar, TagParser
from workbench.toolcalls.formats._tags import Tag, Tags, TagSpec
from workbench.toolcalls.json_text import JsonTracker, json_spans, names_of, unknown

_NAME: Final = "llama-json"
TAGS: Final = Tags(
    TagSpec("python", "<|python_tag|>"),
    TagSpec("over", "<|eom_id|>"),
    TagSpec("over", "<|eot_id|>"),
)
_BUILT_IN: Final = regex.compile(r"\s*[A-Za-z_]\w*\.call\(")
_SEPARATORS: Final = "; \t\r\n,"
_NAME_KEY: Final = regex.compile(r"[\"']name[\"']")
_OVER: Final = regex.compile(r"(?:\s|<\|eo[mt]_id\|>)*\Z")


class _LlamaJsonState:
    """State of one tag's calls: ``doubtful`` is the first closing tag inside a string."""

    def __init__(self, opener: Tag) -> None:
        self.strings = StringWatch(0, len(opener.text))
        self.end: Tag | None = None
        self.doubtful: Tag | None = None


class _LlamaJsonGrammar(PlainGrammar):
    tags = TAGS
    opens = frozenset({"python"})

    def accepts(self, opener: Tag, head: str) -> bool | None:
        first = head.lstrip()[:1]
        if first == "{" or not first:
            return first == "{" if first or len(head) > 100 else None
        if _BUILT_IN.match(head):
            return True
        return head[0] in "#@(_" or head[0].isalpha()  # code begins at once, prose about the tag with a blank

    def step(self, block: Block, tag: Tag) -> int:
        state = _state(block)
        closes = tag.kind == "over"
        if state.strings.is_inside(block, tag):
            state.doubtful = state.doubtful or (tag if closes else None)
            return GO_ON
        if closes:
            state.end = tag
            return END
        return BEFORE if tag.kind == "python" else GO_ON

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        state, text, base = _state(block), block.text(), block.start
        cut = state.doubtful if not block.is_closed and not state.end else None
        end = state.end or cut
        size = end.end - base if end else len(text)
        stop = end.start - base if end else TAGS.find_partial(text, 0)
        begin = len(block.opener.text)
        body = text[begin:stop]
        found = _calls_after_tag(body)
        names = names_of(tools)
        found = [w._replace(call=_check_name(w.call, names)) for w in found]
        calls = adjoin_calls(_NAME, found, base, base + size, base + begin, is_nested=block.is_nested)
        if cut:
            calls += calls_behind(self, text[size:], cut.end, tools, is_nested=block.is_nested)
        return calls


def _state(block: Block) -> _LlamaJsonState:
    if block.state is None:
        block.state = _LlamaJsonState(block.opener)
    state: _LlamaJsonState = block.state
    return state


def _check_name(call: JsonCall, names: frozenset[str]) -> JsonCall:
    if call.name is None and NO_NAME not in call.problems:
        return call
    return call._replace(problems=tuple(dict.fromkeys((*call.problems, *unknown(call.name, names)))))


def _calls_after_tag(body: str) -> list[LocatedCall]:
    """Calls after ``<|python_tag|>``: in JSON, of a built-in tool, or code."""
    if not body.strip():
        return []
    if body.lstrip()[0] != "{":
        return [LocatedCall(_python(body), 0, len(body))]
    found, end = list[LocatedCall](), 0
    for start, end in json_spans(body, _SEPARATORS):
        text = body[start:end]
        call = from_text(text) or JsonCall(None, None, text, None, (NO_NAME,))
        found.append(LocatedCall(call, start, end))
        if JsonTracker().find(text) < 0:
            found[-1] = mark_unclosed(found[-1])
    if body[end:].strip(_SEPARATORS):
        last = found[-1].call
        found[-1] = found[-1]._replace(call=last._replace(problems=(*last.problems, TRAILING)))
    return found


def _python(body: str) -> JsonCall:
    code = body.strip()
    call = python_call(code, 0) if _BUILT_IN.match(code) else None
    if call and call.end == len(code):
        return JsonCall(call.name.removesuffix(".call"), call.input, call.raw, None, call.problems)
    return JsonCall(None, None, code, None, ("code for the interpreter",))


class _LlamaParser:
    """Reads bare calls if the text starts with a brace, otherwise calls after tags."""

    def __init__(self, tools: Sequence[ToolDef]) -> None:
        self._tools = tools
        self._tagged = TagParser(_LlamaJsonGrammar(), tools)
        self._pending: list[str] | None = []
        self._is_bare = False

    def feed(self, text: str) -> list[ProseOrCall]:
        if self._pending is None:
            return self._tagged.feed(text)
        self._pending.append(text)
        if self._is_bare or not text.strip():
            return []
        if text.lstrip()[0] == "{":
            self._is_bare = True
            return []
        return self._pass_on()

    def _pass_on(self) -> list[ProseOrCall]:
        text, self._pending = "".join(self._pending or ()), None
        return self._tagged.feed(text)

    def close(self) -> list[ProseOrCall]:
        if self._is_bare and self._pending is not None:
            found = self._bare("".join(self._pending))
            if found:
                return found
        passed = self._pass_on() if self._pending is not None else []
        return [*passed, *self._tagged.close()]

    def _bare(self, text: str) -> list[ProseOrCall]:
        over = _OVER.search(text, max(0, len(text) - 200))
        end = over.start() if over else len(text)
        calls = calls_only(text[:end], names_of(self._tools), _SEPARATORS)
        if any(not _NAME_KEY.search(text, w.start, w.end) for w in calls):
            return []
        return [*adjoin_calls(_NAME, calls, 0, len(text), 0, is_nested=False)] if calls else []


class LlamaJson:
    """``{"name": NAME, "parameters": OBJECT}``."""

    name = _NAME
    title = "Llama 3.x JSON, with or without <|python_tag|>"
    markers: tuple[str, ...] = ()

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        return _LlamaParser(tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """Bare calls. The templates refuse more than one; models that write several separate them with ``; ``."""
        if not calls:
            raise LocalProtocolError(
                "no tool call to write", hint="this format cannot express a block without calls; give at least one call"
            )
        return "; ".join(json_text({"name": name_of(c), "parameters": arguments_of(c)}) for c in calls)

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """Text as a JSON string, as the templates write it."""
        return "\n".join(json_text(result_text(r)) for r in results)


text_format: Final = LlamaJson()
