"""Calls without the tags of a known format, in text of unknown format: of declared tools, and only if intended.

* bare JSON or a list of Python calls that is the whole text, or ends it after a sentence that announces an action;
  with ``arguments``, and as the whole text, also of a tool that was not declared;
* JSON between tags of a model that is none of the formats (``<tools>…</tools>``, ``[TOOL_REQUEST]…``);
* what is left when a server drops special tokens: ``functions.NAME:0{…}``, ``to=functions.NAME json{…}``.

Each is reported as of the format it is nearest to: bare JSON ("json-fence", "llama-json") or "pythonic".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from workbench import regex
from workbench.ir import ToolDef
from workbench.lazy_dataclass import replace
from workbench.toolcalls.call_problems import FOREIGN_TAGS, NO_TAGS
from workbench.toolcalls.formats import TextCall, TextFormat, get
from workbench.toolcalls.formats._json_calls import adjoin_calls, calls_only
from workbench.toolcalls.formats._python_literals import call as python_call
from workbench.toolcalls.json_text import JsonTracker, parse_arguments

TAGGED: Final = {"llama-json": "<|python_tag|>", "pythonic": "<|python_start|>"}
"""Prefixes that formats without markers may have."""

_MAX_INTRO: Final = 400
_INTENT: Final = regex.compile(
    r"\b(?:I'll|I’ll|I will|I'm going to|I am going to|I need to|I should|I can|let me (?!know\b)|let's|calling"
    r"|checking|looking|ich (?:werde|sehe|rufe|schaue)|je vais|voy a)\b"
    r"|我来|让我|我将|我会|我需要|调用|いたします|します",
    re.IGNORECASE,
)
EXAMPLE: Final = regex.compile(
    r"\b(?:examples?|e\.?g|i\.e|for instance|such as|formats?|formatted|syntax|looks? like|like th\w+|template|schema"
    r"|pattern|structure|placeholder|sample|illustrat\w+|demonstrat\w+|shape|instructed|documentation|docs?|prompt"
    r"|beispiel\w*|exemple|ejemplo)\b|例如|比如|格式|示例|例子|例えば",
    re.IGNORECASE,
)
"""Words of a sentence that announces an example."""

_SENTENCES: Final = regex.compile(r"\n|(?<=[.!?])\s|(?<=[。！？])(?=.)")
_WORD: Final = r"(?:(?:[a-z]{1,12}:)?[A-Za-z_]*(?i:tool|call|func|action|plugin)[A-Za-z_]*)"
_TAG: Final = rf"(?:<[|]?{_WORD}[|]?>|\[{_WORD}\])"
_END_TAG: Final = rf"(?:<(?:/|[|]/?){_WORD}[|]?>|\[(?:/|END_){_WORD}\])"
_FOREIGN: Final = regex.compile(rf"{_TAG}\s*(?:{_TAG}\s*)?(?=[\[{{])")
_FOREIGN_END: Final = regex.compile(rf"\s*(?:{_END_TAG}\s*){{0,4}}")
_STRIPPED: Final = regex.compile(
    r"(?:\A\s*|\n)(?:<[|]assistant[|]>\s?)?(?:functions\.)?([\w.\-]{1,128})(?::\d{1,6})?\s{0,2}(?=\{)"
    r"|\bto=functions\.([\w.\-]{1,128})[^{}\n]{0,40}\n?(?=\{)"
)
_VALUE_LINE: Final = regex.compile(r"\n[ \t]{0,3}(?=[\[{]|[A-Za-z_][\w.]{0,127}\()()")
_FENCED: Final = regex.compile(r"```\w*\s*([\[{].*[\]}])\s*```", re.DOTALL)
_MAX_TRIES: Final = 32  # values that may go on to the end of the text: bounds the work


def unmarked_calls(
    text_format: TextFormat, text: str, tools: Sequence[ToolDef], names: frozenset[str]
) -> list[TextCall]:
    """Intended calls in a format without markers. ``names``: declared names that occur in the text."""
    tag = TAGGED.get(text_format.name)
    is_tagged = tag is not None and tag in text
    if not is_tagged and not (names and _may_end_with_calls(text_format.name, text, names)):
        return []
    parser = text_format.parser(tools)
    found = [f for f in (*parser.feed(text), *parser.close()) if isinstance(f, TextCall)]
    if not found:
        return []
    if is_tagged and all(text.startswith(tag or "", c.start) for c in found[:1]) and found[0].name:
        return found
    return found if all(c.name in names for c in found) and _is_the_answer(text, found, tools) else []


def _may_end_with_calls(name: str, text: str, names: frozenset[str]) -> bool:
    """True if the text begins or ends as calls do, and names a declared tool as in this format."""
    if text.strip()[:1] not in ("{", "[") and text.rstrip()[-1:] not in ("`", "~", "]", "}"):
        return False
    if name == "pythonic":
        return any(f"{n}(" in text for n in names)
    return any(f'"{n}"' in text or f"'{n}'" in text for n in names)


def _is_the_answer(text: str, found: Sequence[TextCall], tools: Sequence[ToolDef]) -> bool:
    """True if the text has nothing else but an announcement of the calls, or a sentence before calls that fit."""
    between = [text[a.end : b.start] for a, b in pairwise(found)]
    if any(t.strip(" \t\r\n;,") for t in (*between, text[found[-1].end :])):
        return False
    intro = text[: found[0].start].rpartition("</think>")[2].strip()
    if not intro or len(intro) > _MAX_INTRO:
        return not intro
    is_apart = text[: found[0].start].endswith("\n") and not announces_example(intro)
    return intends_call(intro) or (is_apart and all(_fits(call, tools) for call in found))


def intends_call(intro: str) -> bool:
    """The last sentence says that the model is about to act."""
    return bool(_INTENT.search(_SENTENCES.split(intro)[-1]))


def announces_example(intro: str) -> bool:
    """The last sentence announces an example, or anything with a colon."""
    last = _SENTENCES.split(intro)[-1]
    return bool(EXAMPLE.search(last)) or last.rstrip().endswith((":", "："))


def _fits(call: TextCall, tools: Sequence[ToolDef]) -> bool:
    """The arguments are those that the declared tool asks for: all that it requires, and none that it has not."""
    schema = next((tool.schema for tool in tools if tool.name == call.name), None)
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(call.input, dict) or not call.input or not isinstance(schema, dict):
        return False
    required = schema.get("required")
    needed = set(map(str, required)) if isinstance(required, list) else set()
    return isinstance(properties, dict) and needed <= call.input.keys() <= properties.keys()


def trailing_calls(text: str, tools: Sequence[ToolDef], names: frozenset[str]) -> list[TextCall]:
    """JSON or a Python call on separate lines at the end of prose."""
    if not names or text.rstrip()[-1:] not in ("}", "]", ")"):
        return []
    for begin in [*_VALUE_LINE.finditer(text)][-_MAX_TRIES:]:
        found = _value_to_the_end(text, begin.start(1), names)
        if found:
            return found if _is_the_answer(text, found, tools) else []
    return []


def _value_to_the_end(text: str, start: int, names: frozenset[str]) -> list[TextCall]:
    end = len(text.rstrip())
    if text[start] in "[{":
        stop = JsonTracker().find(text, start)
        calls = calls_only(text[start:end], names) if stop == end else []
        return adjoin_calls("json-fence", calls, start, end, start, is_nested=False)
    call = python_call(text, start)
    if call is None or call.end != end or call.name not in names:
        return []
    return [TextCall("pythonic", call.name, call.input, call.raw, start, end, problems=(NO_TAGS, *call.problems))]


def foreign_calls(text: str, tools: Sequence[ToolDef], names: frozenset[str]) -> Iterator[TextCall]:
    """JSON, or a list of Python calls, of declared tools between tags of no known format."""
    end, tries = 0, 0
    for found in _FOREIGN.finditer(text) if names else ():
        body = found.end()
        if found.start() < end:
            continue
        stop = JsonTracker().find(text, body)
        tries += stop < 0
        if tries > _MAX_TRIES:
            return
        if stop < 0:
            continue
        json_calls = calls_only(text[body:stop], names)
        closing = _FOREIGN_END.match(text, stop)
        end = len(text[: closing.end()].rstrip()) if closing else stop
        if json_calls:
            calls = adjoin_calls("json-fence", json_calls, found.start(), end, body, is_nested=False)
        else:
            calls = _python_calls(text[body:stop], tools, names, found.start(), body, end)
        yield from (replace(c, problems=(FOREIGN_TAGS, *c.problems)) for c in calls)


def _python_calls(
    text: str, tools: Sequence[ToolDef], names: frozenset[str], start: int, body: int, end: int
) -> list[TextCall]:
    """The calls of a Python list at ``body``, between tags that reach from ``start`` to ``end``."""
    parser = get("pythonic").parser(tools)
    found = [f for f in (*parser.feed(text), *parser.close()) if isinstance(f, TextCall)]
    if not found or not all(c.name in names for c in found):
        return []
    starts = [start, *(body + c.start for c in found[1:])]
    return [replace(c, start=a, end=b) for c, a, b in zip(found, starts, [*starts[1:], end], strict=True)]


def undeclared_calls(text: str) -> list[TextCall]:
    """Calls that are the whole text, as JSON with ``name`` and ``arguments``, of tools that were not declared."""
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    fenced = _FENCED.fullmatch(text, start, end)
    body, stop = fenced.span(1) if fenced else (start, end)
    if text[body : body + 1] not in ("{", "[") or '"name"' not in text or '"arguments"' not in text:
        return []
    calls = calls_only(text[body:stop], frozenset())
    if not all(found.call.key == "arguments" and isinstance(found.call.input, dict) for found in calls):
        return []
    found = adjoin_calls("json-fence", calls, start, end, body, is_nested=False)
    return [replace(call, problems=(NO_TAGS,)) for call in found]


def bare_calls(text: str, names: frozenset[str]) -> Iterator[TextCall]:
    """The name of a declared tool followed by its arguments, at the end of the text."""
    if not names or text.rstrip()[-1:] != "}":
        return
    for found in [*_STRIPPED.finditer(text)][-_MAX_TRIES:]:
        name = found[1] or found[2]
        stop = JsonTracker().find(text, found.end()) if name in names else -1
        if stop < 0 or text[stop:].strip():
            continue
        raw = text[found.end() : stop]
        arguments = parse_arguments(raw)
        if isinstance(arguments.value, dict):
            line = text.rfind("\n", 0, found.start(1) if found[1] else found.start()) + 1
            start = line + len(text[line:]) - len(text[line:].lstrip())
            yield TextCall(
                "json-fence", name, arguments.value, raw, start, stop, problems=(NO_TAGS, *arguments.problems)
            )
            return
