"""Cline, Roo Code and Kilo Code: an element by the name of the tool, ``<read_file><path>a</path></read_file>``.

The parameters are elements by their names, attributes (``<read_file path="a"/>``) or one JSON object. The format has
no tags of its own: an element is a call if a tool of its name was declared, or if it is in an element that says so
(``<tool_call><shell>{…}</shell></tool_call>``, ``<tool_use><name>…</name><arguments>…</arguments></tool_use>``).
Elements of HTML are no calls, unless a tool has that name and the element holds its parameters and nothing else.

A value may contain tags, its own among them. Its end is the first closing tag behind which the next parameter begins
or the call ends, else the first one. Facts: parsers of assistant messages of Cline 3 and Roo Code 3 (a parameter of
text ends at its last closing tag), and the prompt of Cherry Studio.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import ClassVar, Final

from workbench import regex
from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, ToolCallIR, ToolDef, ToolResultIR
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple
from workbench.toolcalls.call_problems import (
    DAMAGED,
    NO_BLOCK_END,
    NO_PARAM_END,
    SAME_KEY,
    STRAY_END,
    STRAY_TEXT,
    TAG_IN_VALUE,
    UNCLOSED,
)
from workbench.toolcalls.formats import TextCall, TextParser
from workbench.toolcalls.formats._json_tags import StringWatch
from workbench.toolcalls.formats._render import arguments_of, name_of, raw_or_json, result_text
from workbench.toolcalls.formats._scan import BACK, BEFORE, END, GO_ON, Block, PlainGrammar, TagParser
from workbench.toolcalls.formats._tags import NESTED_CLOSE, NESTED_OPEN, Tag, Tags, TagSpec
from workbench.toolcalls.formats._typing import ToolTypes, tool_types
from workbench.toolcalls.json_text import parse_arguments, unknown

_NAME: Final = "cline-xml"
OPEN, CLOSE = "open", "close"
_WORD: Final = r"(?!think\b)[A-Za-z_][\w\-\.]{0,127}"
_ATTRIBUTES: Final = r"(?:\s[^<>]{0,380})?/?"
_TAG: Final = regex.compile(rf"<(/?)({_WORD})({_ATTRIBUTES})>")
"""A tag: its slash, name and attributes."""
_ATTRIBUTE: Final = regex.compile(r"""([A-Za-z_][\w\-]{0,63})\s?=\s?(?:"([^"]{0,380})"|'([^']{0,380})')""")
_IDENTIFIER: Final = regex.compile(r"(?!think\Z)[A-Za-z_][\w\-]{0,127}")
_BLANKS: Final = regex.compile(r"\s*")
_MOST_ENDS: Final = 32  # closing tags that are tried as the end of one value: bounds the work

WRAPPERS: Final = frozenset(
    ("tool_call", "tool_calls", "toolcall", "tool-call", "tool_use", "tool-use", "function_call", "function_calls")
)
"""Elements whose children are calls, whatever was declared."""
_WRAPPER_TAGS: Final = tuple(f"<{wrapper}>" for wrapper in WRAPPERS)
_OTHERS: Final = frozenset(("invoke", "parameter", "function", "arg_key", "arg_value", "tool_response", *WRAPPERS))
"""Elements of other formats."""
_NAMED: Final = ("name", "tool_name")
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "input", "args")

_HTML_NAMES: Final = (
    "a abbr address animate area article aside audio b base bdi bdo blockquote body br button canvas caption cite "
    "code col data datalist dd defs del desc details dfn dialog div dl dt em embed fieldset figcaption figure "
    "filter font footer form g h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img input ins kbd label "
    "legend li line link main map mark math mask menu meta meter nav noscript object ol optgroup option output p "
    "param path pattern picture pre progress q rect rp rt ruby s samp script search section select set slot small "
    "source span strong style sub summary sup svg switch table tbody td template text textarea tfoot th thead time "
    "title tr track tt u ul use var video view wbr"
)
HTML: Final = frozenset(_HTML_NAMES.split())
"""Elements of HTML and SVG, which answers contain without a tool in mind."""


class _Mark(NamedTuple):
    """A tag in the body of a call."""

    start: int
    end: int
    name: str
    is_end: bool


class _Parameters(NamedTuple):
    """Parameters as read; ``end``: where the last one ends in the body."""

    value: dict[str, str]
    problems: tuple[str, ...]
    end: int


@dataclass(slots=True)
class _ClineState:
    """State of a call: the open parameter ("" if none), and the strings of arguments in JSON."""

    key: str = ""
    strings: StringWatch | None = None


class _ClineGrammar(PlainGrammar):
    tags: ClassVar = Tags(
        TagSpec(OPEN, "<", rf"{_WORD}{_ATTRIBUTES}>"),
        TagSpec(CLOSE, "</", rf"{_WORD}\s{{0,4}}>"),
    )
    opens: ClassVar = frozenset((OPEN,))

    def __init__(self, types: ToolTypes) -> None:
        self.types = types

    def accepts(self, opener: Tag, head: str) -> bool | None:
        """True if a declared tool is named and a parameter follows, or an element in a wrapper."""
        name, attributes = _parts(opener.text)
        if name not in self.types.names:
            return self._accepts_in_wrapper(head) if name in WRAPPERS and not attributes else False
        if attributes.endswith("/"):
            return self._is_whole(name, attributes)
        if _ATTRIBUTE.search(attributes):
            return all(self.takes(name, found[1]) for found in _ATTRIBUTE.finditer(attributes))
        rest = head.lstrip()
        if not rest:
            return None if len(head) < 300 else False
        if rest[0] == "{":
            return True
        found = _TAG.match(rest)
        if found is None:
            return None if self.tags.find_partial(rest, 0) == 0 and len(head) < 600 else False
        return found[2] == name and name not in HTML if found[1] else self.takes(name, found[2])

    def _accepts_in_wrapper(self, head: str) -> bool | None:
        """True if an element with parameters or JSON follows."""
        rest, tag = head.lstrip(), None
        for _ in range(2):
            if not rest or (rest[0] == "<" and not _TAG.match(rest) and self.tags.find_partial(rest, 0) == 0):
                return None if len(head) < 300 else False
            found = _TAG.match(rest)
            if tag is not None:
                return rest[0] == "{" or tag in _NAMED or (found is not None and (not found[1] or found[2] == tag))
            if not found or found[1] or found[3] or found[2] in _OTHERS or found[2] in HTML:
                return False
            tag, rest = found[2], rest[found.end() :].lstrip()
        return False

    def _is_whole(self, name: str, attributes: str) -> bool:
        """An element without content is a call: by its attributes, or a tool that requires nothing."""
        keys = [found[1] for found in _ATTRIBUTE.finditer(attributes)]
        required = self.types.schema(name).get("required")
        return all(self.takes(name, key) for key in keys) if keys else not required and name not in HTML

    def takes(self, name: str, key: str) -> bool:
        """An element is a parameter of a tool: a declared one, or any in a tool that no element of HTML is named as."""
        declared = self.types.schema(name).get("properties")
        return (isinstance(declared, Mapping) and key in declared) or (name not in HTML and key not in _OTHERS)

    def step(self, block: Block, tag: Tag) -> int:
        """End the call at its closing tag, unless that is in the value of a parameter."""
        own, attributes = _parts(block.opener.text)
        if own not in self.types.names:
            return END if tag.kind == CLOSE and _parts(tag.text)[0] == own else GO_ON
        if attributes.endswith("/"):
            return BEFORE
        state: _ClineState | None = block.state
        if state is None:
            is_json = block.between().lstrip().startswith("{")
            state = block.state = _ClineState(strings=StringWatch(0, len(block.opener.text)) if is_json else None)
        name = _parts(tag.text)[0]
        if state.strings:
            return self._in_json(block, state.strings, tag, is_end=tag.kind == CLOSE and name == own)
        if tag.kind in (NESTED_OPEN, NESTED_CLOSE):
            return GO_ON if state.key else BEFORE
        if tag.kind == OPEN:
            return self._open(block, state, own, name)
        if name == state.key:
            state.key, block.back = "", 0
        elif name == own:
            if not state.key:
                return END
            block.back = block.back or tag.end  # the parameter may go on behind it
        return GO_ON

    def _open(self, block: Block, state: _ClineState, own: str, name: str) -> int:
        if state.key:
            return BACK if block.back and name in self.types.names else GO_ON
        if self.takes(own, name) and (name not in self.types.names or name in self._properties(own)):
            state.key = name
        return BEFORE if name in self.types.names and not state.key else GO_ON

    def _properties(self, name: str) -> Mapping[str, JsonValue]:
        declared = self.types.schema(name).get("properties")
        return declared if isinstance(declared, Mapping) else {}

    def _in_json(self, block: Block, strings: StringWatch, tag: Tag, *, is_end: bool) -> int:
        if not strings.is_inside(block, tag):
            return END if is_end else GO_ON
        if is_end:
            block.back = block.back or tag.end
        return GO_ON

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        """The call of a block, or the calls of a wrapper."""
        text = block.text()
        name = _parts(block.opener.text)[0]
        if name not in self.types.names:
            return list(self._in_wrapper(block, text, name))
        found = self._call(name, text, block.start, is_nested=block.is_nested)
        return [found] if found else []

    def _in_wrapper(self, block: Block, text: str, wrapper: str) -> Iterator[TextCall]:
        close = re.compile(rf"</{wrapper}\s{{0,4}}>\s*\Z").search(text)
        stop, more = (close.start(), ()) if close else (len(text), (NO_BLOCK_END,))
        at, start = len(block.opener.text), 0
        found = list[TextCall]()
        while opened := _TAG.match(text, len(text) - len(text[at:stop].lstrip()) - len(text[stop:])):
            if opened.end() > stop or opened[1]:
                break
            end = text.find(f"</{opened[2]}>", opened.end(), stop)
            end = end + len(opened[2]) + 3 if end >= 0 else stop
            if opened[2] in _NAMED:
                own = self._by_fields(text[at:stop], block.start + at)
                found += [own] if own else []
                at = stop
                break
            call = self._call(opened[2], text[opened.start() : end], block.start + opened.start(), is_nested=False)
            if call is None:
                break
            found.append(call)
            at = end
        for n, call in enumerate(found):
            is_last = n == len(found) - 1
            end = len(text) if is_last and close else call.end - block.start
            problems = (*call.problems, *(more if is_last else ()))
            yield _at_place(call, block.start + start, block.start + end, problems, is_nested=block.is_nested)
            start = end

    def _by_fields(self, text: str, start: int) -> TextCall | None:
        """A call whose name and arguments are elements."""
        fields = _parameters(text, lambda key: key in (*_NAMED, *_ARGUMENT_KEYS))
        name = next((text for key, text in fields.value.items() if key in _NAMED), "").strip()
        raw = next((text for key, text in fields.value.items() if key in _ARGUMENT_KEYS), "")
        if not name:
            return None
        content = parse_arguments(raw) if raw.strip() else None
        value = content.value if content else {}
        problems = (*fields.problems, *(content.problems if content else ()), *unknown(name, self.types.names))
        return TextCall(_NAME, name, value, raw, start, start + len(text.rstrip()), problems=problems)

    def _call(self, name: str, text: str, start: int, *, is_nested: bool) -> TextCall | None:
        """The call of an element; None if it is an element of HTML."""
        opened = _TAG.match(text)
        assert opened
        pairs = {a[1]: a[2] if a[2] is not None else a[3] for a in _ATTRIBUTE.finditer(opened[3])}
        attributes = {key: self.types.value(name, key, raw) for key, raw in pairs.items()}
        if opened[3].endswith("/"):
            if name in HTML and not self._is_plain(name, attributes):
                return None
            problems = unknown(name, self.types.names)
            return TextCall(_NAME, name, attributes, opened[3], start, start + opened.end(), problems=problems)
        close = re.compile(rf"</{re.escape(name)}\s{{0,4}}>\s*\Z").search(text)
        body = text[opened.end() : close.start() if close else len(text)]
        value, faults, end = self._arguments(name, body)
        if isinstance(value, dict):
            value = {**attributes, **value}
        if close:
            faults = (*faults, *_gap_problems(body[end:]))
        else:
            body = body[:end]  # what follows is prose
        if name in HTML and (faults or not close or not self._is_plain(name, value)):
            return None
        size = len(text.rstrip()) if close else opened.end() + len(body.rstrip())
        problems = tuple(dict.fromkeys((*faults, *(() if close else (UNCLOSED,)), *unknown(name, self.types.names))))
        raw = body if close else body.rstrip()
        return TextCall(_NAME, name, value, raw, start, start + size, problems=problems, is_nested=is_nested)

    def _is_plain(self, name: str, value: JsonValue) -> bool:
        """There are arguments, and all of them are declared."""
        return isinstance(value, dict) and bool(value) and value.keys() <= self._properties(name).keys()

    def _arguments(self, name: str, body: str) -> tuple[JsonValue, tuple[str, ...], int]:
        """(value, problems, where it ends in the body)."""
        if body.lstrip().startswith("{"):
            content = parse_arguments(body)
            return content.value, content.problems, len(body)
        found = _parameters(body, lambda key: self.takes(name, key))
        value = {key: self.types.value(name, key, text) for key, text in found.value.items()}
        return value, found.problems, found.end


def _parts(tag: str) -> tuple[str, str]:
    """(name, attributes) of a tag."""
    found = _TAG.match(tag)
    return (found[2], found[3]) if found else ("", "")


def _parameters(body: str, takes: Callable[[str], bool]) -> _Parameters:
    """The parameters in the body of a call. ``takes``: an element of this name is one."""
    marks = [_Mark(*m.span(), m[2], bool(m[1])) for m in _TAG.finditer(body) if not m[3].endswith("/")]
    ends = defaultdict[str, list[_Mark]](list)
    for mark in marks:
        if mark.is_end:
            ends[mark.name].append(mark)
    begins = {mark.start for mark in marks if not mark.is_end and takes(mark.name)}
    value, problems, at = dict[str, str](), list[str](), 0
    for n, mark in enumerate(marks):
        if mark.start < at or mark.start not in begins:
            continue
        problems += _gap_problems(body[at : mark.start])
        close = _end_of_value(body, ends[mark.name], mark, begins)
        if close is None:
            stop = _next_parameter(marks[n + 1 :], ends, begins, value.keys() | {mark.name}, len(body))
            problems.append(NO_PARAM_END)
        else:
            stop = close.start
        text = body[mark.end : stop]
        if any(tag in text for tag in (f"<{mark.name}>", f"</{mark.name}>")):
            problems.append(TAG_IN_VALUE)
        problems += [SAME_KEY] if mark.name in value else []
        value[mark.name] = text.removeprefix("\n").removesuffix("\n")
        at = close.end if close else stop
    problems += [DAMAGED] if body.strip() and not value else []
    return _Parameters(value, tuple(dict.fromkeys(problems)), at if value else len(body))


def _end_of_value(body: str, ends: Sequence[_Mark], mark: _Mark, begins: set[int]) -> _Mark | None:
    """The closing tag behind which the next parameter begins or nothing is left; else the first one, None if none."""
    first = bisect_left(ends, mark.end, key=lambda end: end.start)
    for end in ends[first : first + _MOST_ENDS]:
        behind = _BLANKS.match(body, end.end)
        place = behind.end() if behind else end.end
        if place == len(body) or place in begins:
            return end
    return ends[first] if first < len(ends) else None


def _next_parameter(
    marks: Sequence[_Mark], ends: Mapping[str, Sequence[_Mark]], begins: set[int], names: Collection[str], size: int
) -> int:
    """Where the next parameter with an end begins; the size of the text if there is none."""
    for mark in marks:
        if mark.start in begins and mark.name not in names and ends.get(mark.name, ())[-1:]:
            return mark.start
    return size


def _gap_problems(text: str) -> list[str]:
    """Problems of what is between two parameters."""
    rest = text.strip()
    if not rest:
        return []
    return [STRAY_TEXT if _TAG.sub("", rest).strip() else STRAY_END]


def _at_place(call: TextCall, start: int, end: int, problems: tuple[str, ...], *, is_nested: bool) -> TextCall:
    return TextCall(_NAME, call.name, call.input, call.raw, start, end, problems=problems, is_nested=is_nested)


class ClineXml:
    """An element by the name of the tool."""

    name = _NAME
    title = "XML element named after the tool (Cline, Roo Code, Kilo Code)"
    markers: tuple[str, ...] = ("</", "/>")

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        """A parser of one text."""
        return TagParser(_ClineGrammar(tool_types(tools)), tools)

    def openings(self, names: Collection[str]) -> tuple[str, ...]:
        """Texts of which every call of these tools contains one; quicker than to read all tags of a page."""
        return (*[f"<{name}" for name in names], *_WRAPPER_TAGS)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """An element for each call, a line for each tag and parameter."""
        text = "\n".join(map(_render_call, calls))
        tools = [_tool(call) for call in calls]
        parser = self.parser(tools)
        found = [f for f in (*parser.feed(text), *parser.close()) if isinstance(f, TextCall)]
        expected = [(c.name, {k: raw_or_json(v) for k, v in arguments_of(c).items()}) for c in calls]
        if [(f.name, f.input) for f in found] != expected or any(f.problems for f in found):
            raise LocalProtocolError(
                f"{_NAME} has no escape for its own tags, but an argument contains them",
                hint="send the call in a protocol with JSON arguments",
            )
        return text

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """Results as Cline writes them: the name of the tool before each."""
        return "\n".join(f"[{r.name or 'tool'}] Result:\n{result_text(r)}" for r in results)


def _tool(call: ToolCallIR) -> ToolDef:
    """A tool that declares the arguments of a call, as text."""
    properties: dict[str, JsonValue] = {key: {"type": "string"} for key in arguments_of(call)}
    return ToolDef(call.name, None, {"type": "object", "properties": properties})


def _render_call(call: ToolCallIR) -> str:
    name = _identifier(name_of(call), "tool")
    lines = [
        f"<{_identifier(key, 'parameter')}>{_value_text(value)}</{key}>" for key, value in arguments_of(call).items()
    ]
    return "\n".join((f"<{name}>", *lines, f"</{name}>"))


def _value_text(value: JsonValue) -> str:
    text = raw_or_json(value)
    return f"\n{text}\n" if text[:1] == "\n" or text[-1:] == "\n" else text


def _identifier(name: str, what: str) -> str:
    if not _IDENTIFIER.fullmatch(name):
        raise LocalProtocolError(f"the name {name!r} cannot be written as a tag", hint=f"rename the {what}")
    return name


text_format: Final = ClineXml()
