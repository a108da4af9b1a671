"""Remains of calls that only the words of their format show, in text of unknown format.

The formats read whole calls; here are those whose beginning is lost or damaged: steps of ReAct, lists of ``functools``,
a ``tool_code`` block without its fence, and ``NAME{…}</function>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from workbench import regex
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.toolcalls.call_problems import DAMAGED, NO_HEAD, NO_TAGS
from workbench.toolcalls.formats import TextCall
from workbench.toolcalls.formats._python_literals import call as python_call
from workbench.toolcalls.json_text import JsonTracker
from workbench.wire import loads

_HINTS: Final = (
    "Action",
    "tool_code",
    "```too",
    "funct",
    "<parameter",
    "call:",
    "alling",
    "sed:",
    "tool:",
    "</arg_value>",
)
_MOST: Final = 32  # calls of one form in a text: bounds the work
_NO_ACTION: Final = regex.compile(
    r"^(?![ \t]*[>|*`\-])[^\n]{0,80}?\b([\w.\-]{1,128})[\"' \t]{0,4}\n[\"' \t]{0,8}Action[ _]?Input\b[:\s]{0,3}",
    re.MULTILINE | re.IGNORECASE,
)
_PHRASE: Final = regex.compile(
    r"^\[(?:tool[ _]?calls?|calling(?: tool| function)?|(?:tool )?used|tool|function[ _]?call)\s{0,2}:\s{0,2}"
    r"([\w.\-]{1,128})\b[^\[\]\n]{0,400}\]",
    re.MULTILINE | re.IGNORECASE,
)
_NO_LIST: Final = regex.compile(r"[\[({\"'`]{0,4}\bfunct(?!ion)\w{0,5}\W{0,8}name\W{1,8}([\w.\-]{1,128})")
_NO_FENCE: Final = regex.compile(r"\Atool_code\s{1,8}(?:print\(\s{0,8})?")
_NO_FENCE_END: Final = regex.compile(r"(?:\s*\))?(?:\s*```)?")
_BROKEN_BLOCK: Final = regex.compile(
    r"^(?![ \t]*[>|*\-])[^\s\w]{0,9}\w{0,64}`{0,6}(tool_code|`{3}too\w{0,5})", re.MULTILINE
)
_PARAMETER: Final = regex.compile(
    r"^[ \t]*(?:<\w{1,32}>[^\n<>]{0,128}\s{0,8}</parameter>\s{0,8})?<parameter(=|\sname=)[^<>\n]{1,128}>", re.MULTILINE
)
_HEADS: Final = {"=": "function", " name=": "invoke"}  # what a parameter is written with → the element around it
_PAIRS: Final = regex.compile(
    r"\s*((?:<arg_key>[^<>]{1,128}</arg_key>\s{0,8}<arg_value>.*</arg_value>\s{0,8})</tool_call>)\s*", re.DOTALL
)
"""Arguments of GLM up to the end of a call, whose beginning with its name is lost."""
_NEAR: Final = 400  # characters around the name of a block in which the tool is named
_NO_TAG: Final = regex.compile(
    r"^[ \t>=(]{0,8}(?:</?f(?:u(?:n(?:c(?:t(?:i(?:on?)?)?)?)?)?)?[=(]?)?([\w.\-]{1,128})([)=]?>?)\s{0,4}(?=\{)",
    re.MULTILINE,
)
_NO_TAG_END: Final = regex.compile(r"\s{0,4}</function>")


class _FormArguments(NamedTuple):
    """Arguments as read: their value, their text, the end of the call, and what is wrong."""

    value: JsonValue
    raw: str
    end: int
    problems: tuple[str, ...] = ()


def formed_calls(text: str, names: frozenset[str]) -> list[TextCall]:
    """Remains of calls. ``names``: declared names that occur in the text; () also if no tools are known."""
    if not any(map(text.__contains__, _HINTS)):
        return []
    if "</arg_value>" in text and (pairs := _PAIRS.fullmatch(text)):
        return [TextCall("glm", None, None, pairs[0].strip(), *pairs.span(1), problems=(NO_HEAD,))]
    if "</parameter>" in text:
        return [*_headless(text), *_functions(text, names)]
    forms = (_react, _tool_code, _damaged_lists, _phrases) if names else ()
    return [*(call for form in forms for call in form(text, names)), *_functions(text, names)]


def _react(text: str, names: frozenset[str]) -> Iterator[TextCall]:
    """A step whose lines are damaged."""
    for opened in _starts(_NO_ACTION, text, names):
        content = _object(text, opened.end()) or _line(text, opened.end())
        yield TextCall("react", opened[1], content.value, content.raw, opened.start(), content.end, problems=(DAMAGED,))


def _tool_code(text: str, names: frozenset[str]) -> Iterator[TextCall]:
    """A block that has lost its fence, or whose code is broken; the format itself reads whole ones."""
    for opened in _starts(_NO_FENCE, text):
        call = python_call(text, opened.end())
        name = call.name.rpartition(".")[2] if call else ""
        if call and name in names:
            closed = _NO_FENCE_END.match(text, call.end)
            end = closed.end() if closed else call.end
            yield TextCall("tool-code", name, call.input, call.raw, 0, end, problems=(NO_TAGS, *call.problems))
            return
    glued = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    named = re.compile(rf"({glued})(?=[^\n]{{0,200}}[(=)])")
    for opened in _starts(_BROKEN_BLOCK, text):
        near = max(text.rfind("\n\n", 0, opened.start()) + 2, opened.start() - _NEAR, 0)
        hit = named.search(text, opened.end(), opened.end() + _NEAR) or named.search(text, near)
        if hit and hit.start() < opened.end() + _NEAR and hit.start() not in range(*opened.span(1)):
            start, end = min(hit.start(), opened.start()), len(text.rstrip())
            yield TextCall("tool-code", hit[0], None, text[start:end], start, end, problems=(DAMAGED,))
            return


def _damaged_lists(text: str, names: frozenset[str]) -> Iterator[TextCall]:
    """Damaged ``functools[…]``; the format itself reads complete lists."""
    for opened in _starts(_NO_LIST, text, names):
        end = len(text.rstrip())
        yield TextCall(
            "functools", opened[1], None, text[opened.start() : end], opened.start(), end, problems=(DAMAGED,)
        )


def _phrases(text: str, names: frozenset[str]) -> Iterator[TextCall]:
    """A call as a phrase in brackets, as clients write it into histories: ``[tool_call: NAME for …]``."""
    for opened in _starts(_PHRASE, text, names):
        yield TextCall("json-fence", opened[1], None, opened[0], *opened.span(), problems=(DAMAGED,))


def _functions(text: str, names: frozenset[str]) -> Iterator[TextCall]:
    """``NAME{…}</function>``: the beginning of the tag is lost. No other text has this form, so any name will do."""
    for opened in _starts(_NO_TAG, text, names or None) if "</function>" in text else ():
        content = _object(text, opened.end())
        closed = _NO_TAG_END.match(text, content.end) if content else None
        if content and closed:
            start = opened.end() - len(opened[0].lstrip())
            yield TextCall("groq", opened[1], content.value, content.raw, start, closed.end(), problems=(DAMAGED,))


def _headless(text: str) -> Iterator[TextCall]:
    """Parameters with tags of their own and the end of a call, whose head with its name is lost."""
    for opened in _starts(_PARAMETER, text):
        head, close = f"<{_HEADS[opened[1]]}", f"</{_HEADS[opened[1]]}>"
        end = text.find(close, opened.end())
        if end >= 0 and head not in text[:end]:
            stop = end + len(close)
            problems = (NO_HEAD,)
            form = "qwen3-coder" if opened[1] == "=" else "claude-xml"
            yield TextCall(form, None, None, text[opened.start() : stop], opened.start(), stop, problems=problems)
        return


def _starts(pattern: re.Pattern[str], text: str, names: frozenset[str] | None = None) -> Iterator[re.Match[str]]:
    """The first matches of an opening, of those that say one of the names."""
    return islice((m for m in pattern.finditer(text) if names is None or m[1] in names), _MOST)


def _object(text: str, at: int) -> _FormArguments | None:
    """The JSON object at a place."""
    stop = JsonTracker().find(text, at) if text.startswith("{", at) else -1
    raw = text[at:stop]
    value = _json(raw) if stop >= 0 else None
    return _FormArguments(value, raw, stop, () if isinstance(value, dict) else (DAMAGED,)) if stop >= 0 else None


def _line(text: str, at: int) -> _FormArguments:
    """The rest of a line, which is no object."""
    raw = text[at:].partition("\n")[0].rstrip()
    return _FormArguments(None, raw, at + len(raw), (DAMAGED,))


def _json(text: str) -> JsonValue:
    try:
        return loads(text.encode("utf-8", "replace"))
    except WireError:
        return None
