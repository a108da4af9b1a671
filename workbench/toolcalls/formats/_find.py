"""Calls, and leftovers of calls, in text of unknown format.

A finding here is an accusation: that a server left a call in the text. So this is stricter than the parsers, which know
what to expect. A run of calls counts when it begins a line (or follows a finished sentence and ends the text), is
not in Markdown code, a quotation or a list, is not announced as an example, and its names are not those of templates.
A declared name makes it likelier, an undeclared name less likely.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from workbench import regex
from workbench.ir import ToolDef
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.toolcalls.formats import (
    TextCall,
    TextFormat,
    _control_tokens,
    _forms,
    _named_elements,
    _unmarked_calls,
    _wrecks,
    every,
    get,
)
from workbench.toolcalls.formats._markdown import MarkdownCode


class StrayMarker(NamedTuple):
    """A control marker that belongs to no call, and its characters."""

    text: str
    start: int
    end: int


_PLACEHOLDER = regex.compile(
    r"(?:your[_-]?|my[_-]?|some[_-]?|the[_-]?|example[_-]?|sample[_-]?)?"
    r"(?:tool|function|func|fn|method)[_-]?(?:name|call)?\d?(?:[_-]?(?:here|name))?"
    r"|example(?:[_-]\w+)?|n|name|foo|bar|baz|xxx+|\W+|\$.*|\{.*|.*\.\.\.|.*-name",
    re.IGNORECASE,
)
_SENTENCE_END = regex.compile(r"(?:[.!?:;…。！？：)]|</?think>|</?mm:think>)\s*\Z")
_LIST_OR_QUOTE = regex.compile(r"\s*(?:>|[-*+•]\s|\d{1,3}[.)]\s|[|])")
_CLOSER = regex.compile(r"\s+|</[\w:]{1,40}>|<[|｜][^<>\s]{1,40}[|｜]>|<ctrl\d{1,3}>")
_OPENERS = regex.compile(r"(?:<[|]?[A-Za-z_][\w:.\-]{0,40}[|]?>\s{0,8})+\Z")
"""Tags right before a call: a block around it that is none of its format."""
_TOKENS = ("<|", "<｜", "[TOOL_CALLS]", "]<]minimax[>[", "functools[", "Action:", "```tool_code", "<tool_code>")
"""Beginnings of calls that no sentence runs into: a word before one hides no call."""
_TOKEN_OR_LINE = regex.compile(r"[<\n]")
_MAX_HEADER = 400
_INTRO = 200  # characters before a call that are searched for the announcement of an example


def find_calls(
    text: str,
    tools: Sequence[ToolDef] = (),
    formats: Iterable[str] | None = None,
    *,
    is_thought_shown: bool = False,
) -> tuple[TextCall, ...]:
    """The calls that a model wrote into its response, in order, not overlapping.

    Args:
        text: content or reasoning of a response.
        tools: declared tools; () if unknown.
        formats: formats that may occur; None for all. Calls in formats named here always count as intended.
        is_thought_shown: return also calls within a sentence of reasoning in the text (``<think>``), which were not
            intended to run.
    """
    names = frozenset([t.name for t in tools if t.name])
    trusted = formats is not None
    candidates = [get(n) for n in formats] if formats is not None else _that_may_be_in(text)
    mentioned = frozenset(filter(text.__contains__, names))
    found = [c for f in candidates for c in _calls(f, text, tools, mentioned, trusted)]
    if not trusted:
        formed = _forms.formed_calls(text, mentioned)
        found += [c for c in formed if not any(f.start < c.end and c.start < f.end for f in found)]
    if mentioned and not trusted:
        untagged = [
            *_unmarked_calls.foreign_calls(text, tools, mentioned),
            *_unmarked_calls.bare_calls(text, mentioned),
            *_unmarked_calls.trailing_calls(text, tools, mentioned),
            *_named_elements.element_calls(text, tools, mentioned),
        ]
        found += [c for c in untagged if not any(f.start < c.end and c.start < f.end for f in found)]
    best = list(_nested_before_think_end(text, _without_overlaps(found, names)))
    if trusted:
        return tuple(best)
    intended = tuple(c for run in _runs(text, best, names, is_thought_shown) for c in run)
    if intended:
        return intended
    if names and not mentioned:
        rest = _unmarked_calls.undeclared_calls(text)
    else:
        rest = _wrecks.wrecked_calls(text, mentioned) if names else _wrecks.wrecked_text(text)
    return tuple(c for run in _runs(text, rest, names, is_thought_shown) for c in run)


def _that_may_be_in(text: str) -> Sequence[TextFormat]:
    """The formats that may occur in a text: of most texts one look for the markers of all leaves few."""
    every_format, markers, others = _by_markers()
    return every_format if any(map(text.__contains__, markers)) else others


@cache
def _by_markers() -> tuple[Sequence[TextFormat], Sequence[str], Sequence[TextFormat]]:
    """All formats, the markers of those that are found by them alone, and the others."""
    every_format = tuple(every())
    others = tuple(each for each in every_format if not each.markers or hasattr(each, "openings"))
    markers = dict.fromkeys(marker for each in every_format if each not in others for marker in each.markers)
    return every_format, tuple(markers), others


def _calls(
    text_format: TextFormat, text: str, tools: Sequence[ToolDef], names: frozenset[str], trusted: bool
) -> Iterator[TextCall]:
    """Calls of one format, if its markers occur in the text."""
    if not text_format.markers and not trusted:
        yield from _unmarked_calls.unmarked_calls(text_format, text, tools, names)
        return
    openings = getattr(text_format, "openings", None)  # of a format whose tags are the names of tools
    markers = text_format.markers if openings is None or trusted else openings(names)
    if markers and not any(map(text.__contains__, markers)):
        return
    parser = text_format.parser(tools)
    yield from (f for f in (*parser.feed(text), *parser.close()) if isinstance(f, TextCall))


def _without_overlaps(found: Sequence[TextCall], names: frozenset[str]) -> list[TextCall]:
    """The best of overlapping calls: a declared name, closed, the larger text, fewer problems."""
    if len(found) < 2:
        return list(found)

    def fit(call: TextCall) -> tuple[bool, bool, int, int]:
        return (call.name in names, "unclosed" not in call.problems, call.end - call.start, -len(call.problems))

    best: list[TextCall] = []
    for group in _overlapping(found):
        apart: list[TextCall] = []  # in order of their places
        for call in sorted(group, key=fit, reverse=True):
            at = bisect_left(apart, call.start, key=lambda c: c.start)
            is_free = at == len(apart) or call.end <= apart[at].start
            if is_free and (at == 0 or apart[at - 1].end <= call.start):
                apart.insert(at, call)
        best += apart
    return best


def _overlapping(found: Sequence[TextCall]) -> Iterator[list[TextCall]]:
    """Calls in groups: each overlaps another of its group and none of the others."""
    group: list[TextCall] = []
    end = -1
    for call in sorted(found, key=lambda c: (c.start, -c.end)):
        if group and call.start >= end:
            yield group
            group = []
        group.append(call)
        end = max(end, call.end)
    if group:
        yield group


def _runs(
    text: str, calls: Sequence[TextCall], names: frozenset[str], is_thought_shown: bool
) -> Iterator[list[TextCall]]:
    """Intended calls with only blanks between them."""
    code, at = MarkdownCode(), 0
    breaks = [n for n, (a, b) in enumerate(pairwise(calls), 1) if text[a.end : b.start].strip()]
    for first, last in pairwise([0, *breaks, len(calls)]):
        run = list(calls[first:last])
        if not run:
            continue
        lead = _lead(text, at, run[0].start)
        code.pass_over(text[at:lead])
        is_quoted = code.is_quoted()
        code.reset()
        before, at = at, run[-1].end
        is_shown = is_thought_shown and all(c.is_nested for c in run)
        if not is_quoted and (is_shown or _is_meant(text, before, lead, run, names)):
            yield [c for c in run if c.name in names or not _is_placeholder(c)]


def _is_placeholder(call: TextCall) -> bool:
    return bool(call.name and _PLACEHOLDER.fullmatch(call.name))


def _lead(text: str, before: int, start: int) -> int:
    """Start of the messages with own headers that lead up to a position; the position if there are none.

    They belong to the same response as the following call, so their text announces and quotes nothing.
    """
    while text[max(before, start - _MAX_HEADER) : start].rstrip().endswith("<|end|>"):
        channel = text.rfind("<|channel|>", before, start)
        if channel < 0:
            break
        role = text.rfind("<|start|>", max(before, channel - _MAX_HEADER), channel)
        start = channel if role < 0 or _TOKEN_OR_LINE.search(text, role + 1, channel) else role
    return start


def _is_meant(text: str, before: int, start: int, run: Sequence[TextCall], names: frozenset[str]) -> bool:
    """True if a run of calls is no example: by its names, what precedes it and what follows it.

    Args:
        before: where the run before it ends.
        start: where the messages begin that lead up to it, or it does.
    """
    end = run[-1].end
    line_start = max(before, text.rfind("\n", 0, start) + 1)
    prefix = _OPENERS.sub("", text[line_start:start])
    line_end = text.find("\n", end)
    ends_line = _consists_of(_CLOSER, text, end, line_end if line_end >= 0 else len(text))
    is_last = _consists_of(_CLOSER, text, end)
    is_declared = any(c.name in names for c in run)
    if _LIST_OR_QUOTE.match(prefix):
        return False
    if prefix.strip() and not ends_line:
        return False
    if prefix.strip() and not (_SENTENCE_END.search(prefix) or text.startswith(_TOKENS, start)):
        return False
    if prefix.expandtabs(4).startswith("    ") and not is_last:
        return False
    if prefix.strip() and not (is_declared or is_last):
        return False
    intro = text[max(before, start - _INTRO) : start].rstrip().rpartition("\n\n")[2]
    sentence = re.split(r"[.!?。！？]\s", intro)[-1]
    if _unmarked_calls.EXAMPLE.search(sentence) and not (is_declared and is_last):
        return False
    return is_declared or is_last or not names


def _nested_before_think_end(text: str, calls: Iterable[TextCall]) -> Iterator[TextCall]:
    """Calls before a ``</think>`` whose start is not in the text, because the prompt opened the reasoning."""
    stop = text.find("</think>")
    opened = text.find("<think>")
    lone = stop if stop >= 0 and not 0 <= opened < stop else -1
    for call in calls:
        yield replace(call, is_nested=True) if call.end <= lone and not call.is_nested else call


_MARKERS: Final = (
    r"</?tool_call>|<tool_call_none/>|</function_calls>|</(?:antml:)?invoke>|</minimax:tool_call>"
    r"|\]<\]minimax\[>\[\s{0,8}(?:</?[\w.\-]{1,64}>)?|\]~b\]\w{0,16}|\[e~\["
    r"|</arg_value>|</arg_key>|</parameter>\s{0,8}</function>|</function>\s{0,8}</tool_call>"
    r"|<(?:antml:|minimax:)?(?:function_calls|tool_call)>|<(?:antml:)?invoke\s[^<>]{0,300}>|<function=[^<>]{1,256}>"
    rf"|<\|tool_calls?_[a-z_]{{1,24}}\|>|{_control_tokens.MARKERS}"
    r"|<｜[^<>｜\s]{1,32}｜>|</?\s?[|｜‖]{1,2}\s?DSML\s?[|｜‖]{1,2}\s?[\w ]{0,24}(?:>|(?=\s))"
    r"|\[/?(?:TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|ARGS|CALL_ID|TOOL_CONTENT)\]|<eop>"
    r"|\[(?:END_)?TOOL_REQUEST\]|<\|/?tool_call\|?>|<tool_call\|>|<\|\"\|>|</?TOOLCALL>|</?seed:tool_call>"
    r"|<\|(?:open|close)\|>[\w =\"]{1,80}<\|sep\|>"
    r"|<(?:start|end)_function_(?:call|declaration|response)>|</?tool_code>"
    r"|✿(?:FUNCTION|ARGS|RESULT|RETURN)✿"
)
_DEBRIS = regex.compile(_MARKERS)
_LONE_END = regex.compile(_control_tokens.LONE_END)
_HINTS: Final = (
    "tool_call",
    "<|",
    "<｜",
    "DSML",
    "invoke>",
    "minimax",
    "[TOOL_",
    "[/TOOL_",
    "]~b]",
    "[e~[",
    "<eop>",
    "✿",
    "function_call",
    "<function=",
    "ifm|",
    "atem:",
    "<invoke",
    "_function_",
    "tool_code>",
)
_MORE_HINTS: Final = (
    "arg_key>",
    "</think",
    "</mm:think",
    "arg_value>",
    "_of_turn>",
    "</arg_",
    "</function",
    "[ARGS]",
    "[CALL_ID]",
    "[AVAILABLE_TOOLS]",
    "TOOLCALL",
    "_TOOL_",
    *_control_tokens.GLUED_WORDS,
    *(f"{name}|>" for name in _control_tokens.GEMMA),
)
_TAG_OR_MARKER = regex.compile(rf"\s+|</?[\w:=]{{1,64}}>|{_MARKERS}")


def _consists_of(token: re.Pattern[str], text: str, start: int = 0, end: int | None = None) -> bool:
    """Every part of a text is such a token, the first alternative that matches counting at each place.

    A possessive loop in the pattern says the same, but Python before 3.11.5 does not match it (CPython issue 106052).
    """
    stop, at = len(text) if end is None else end, start
    while at < stop:
        found = token.match(text, at, stop)
        if found is None or found.end() == at:
            return False
        at = found.end()
    return True


def stray_markers(text: str, calls: Sequence[TextCall] = ()) -> tuple[StrayMarker, ...]:
    """Control markers alone on a line, or at the very beginning or end of the text.

    Markers inside a sentence are talked about, and those in Markdown code are shown: neither counts.

    Args:
        text: content or reasoning of a response.
        calls: result of ``find`` for it: markers of these are accounted for.
    """
    halves = list(_wrecks.half_tokens(text))
    if not halves and not any(map(text.__contains__, (*_HINTS, *_MORE_HINTS))):
        return ()
    code, at, waiting = MarkdownCode(), 0, deque(calls)
    found: list[StrayMarker] = []
    spans = {match.end(): match.span() for match in _DEBRIS.finditer(text)}
    whole = sorted({**spans, **{end: (start, end) for start, end in halves}}.values())
    for start, end in whole:
        while waiting and waiting[0].end <= start:
            at = waiting.popleft().end
            code.reset()
        if waiting and waiting[0].start < end:
            continue
        code.pass_over(text[at:start])
        at = start
        if not code.is_quoted() and not _ends_reasoning(text, start, end):
            found.append(StrayMarker(text[start:end], start, end))
    is_all = len(found) > MOST_OF_AN_EXAMPLE and not calls and _is_between(text, found[0].start, found[-1].end)
    return tuple(d for d in (found if is_all else _without_pairs(found)) if _stands_alone(text, d.start, d.end))


def _ends_reasoning(text: str, start: int, end: int) -> bool:
    """The end of a section of reasoning that was opened."""
    return _LONE_END.fullmatch(text, start, end) is not None and f"<{text[start + 2 : end]}" in text[:start]


MOST_OF_AN_EXAMPLE: Final = 2
"""Markers of a text that shows a pair of them; more, from its first character to its last, are no example."""


def _is_between(text: str, start: int, end: int) -> bool:
    return not text[:start].strip() and not text[end:].strip()


_PAIR = regex.compile(r"[_▁]?(?:begin|end|start)[_▁]?")
_MARKER_NAME = regex.compile(r"(?:antml:)?([A-Za-z_▁]+)")
_NEVER_ALONE = regex.compile(r"<(?:antml:)?(?:invoke|function=)(?=.)")


def _without_pairs(markers: Sequence[StrayMarker]) -> list[StrayMarker]:
    """The markers that are not between an opening and a closing one of the same name: such pairs are examples."""
    found = [_MARKER_NAME.search(d.text.rpartition("<")[2]) for d in markers]
    names = [_PAIR.sub("", f[1]) if f else d.text for f, d in zip(found, markers, strict=True)]
    is_end = ["</" in d.text or "[/" in d.text or "end" in d.text or "<|close" in d.text for d in markers]
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for n, name in enumerate(names):
        if is_end[n]:
            last[name] = n
        else:
            first.setdefault(name, n)
    return [
        d
        for n, (d, name) in enumerate(zip(markers, names, strict=True))
        if not first.get(name, len(names)) <= n <= last.get(name, -1) and not _NEVER_ALONE.match(d.text)
    ]


def _is_between_sentences(text: str, start: int, end: int) -> bool:
    """No space is around it where one sentence ends and the next begins: nobody who talks about it writes so."""
    return text[max(0, start - 1) : start] in (*".!?。！？",) and text[end : end + 1].isalnum()


_MAX_LINE: Final = 400


def _stands_alone(text: str, start: int, end: int) -> bool:
    """True if its line, or all text before or after it, has only markers; always for words that nobody writes."""
    if text.startswith(_control_tokens.GLUED_WORDS, start) or _is_between_sentences(text, start, end):
        return True
    line_start = text.rfind("\n", max(0, start - _MAX_LINE), start) + 1
    if not line_start and start > _MAX_LINE:
        return not text[end : end + _MAX_LINE].strip()
    line_end = text.find("\n", end, end + _MAX_LINE)
    before = text[line_start:start]
    behind = text[end : line_end if line_end >= 0 else end + _MAX_LINE]
    is_first = not before.strip() or _consists_of(_TAG_OR_MARKER, before)
    is_last = not behind.strip() or _consists_of(_TAG_OR_MARKER, behind)
    if is_first and is_last:
        return True
    at_end = is_last and (text.startswith("<|", start) or not text[end : end + 2 * _MAX_LINE].strip())
    return at_end and bool(_SENTENCE_END.search(before) or before[-1:].isalnum() or before[-1:] in "}])\"'")


_SECTION = regex.compile(
    r"\A\s*(?:<think(?:ing)?>|<mm:think>|<reasoning>|\[THINK\]|<\|channel\|>|<\|START_THINKING\|>)"
    r"|^[ \t]*(?:</think(?:ing)?>|</mm:think>|\[/THINK\])[ \t]*$",
    re.MULTILINE,
)


def is_marked(text: str) -> bool:
    """True for a call in a known format, a lone control marker, or a reasoning section."""
    if _SECTION.search(text):
        return True
    calls = find_calls(text, is_thought_shown=True)
    return bool(calls or stray_markers(text, calls))
