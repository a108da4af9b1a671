"""Calls whose arguments are JSON between two tags: which closing tag ends them, and what a call's text says.

A closing tag may stand inside a JSON string; regular expressions that take the first one cut such calls short. Here it
counts only outside of strings, unless the text turns out to be no JSON: then the first one counts after all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.textcalls import _json_text
from workbench.textcalls._scan import BACK, END, GO_ON, Block, JsonTracker, Tag
from workbench.textcalls._typing import UNREAD, python_literal
from workbench.wire.jsontext import JsonIndex, loads

PYTHON: Final = "no JSON, read as Python"
OTHER_KEY: Final = "the key of the arguments is 'parameters'"
NO_ARGUMENTS: Final = "no arguments"


@dataclass(slots=True)
class JsonBody:
    """JSON while the tag that ends it is looked for.

    Attributes:
        passed: end of the first closing tag that seemed to stand inside a string; -1 while there is none.
    """

    tracker: JsonTracker = field(default_factory=JsonTracker)
    is_fresh: bool = True
    passed: int = -1

    def at_tag(self, block: Block, tag: Tag, *, closes: bool) -> int:
        """GO_ON where the tag is text of a string, BACK to where the JSON had ended, END where the tag counts."""
        text = block.between()
        if closes and self.is_fresh and _is_json(text):
            return END
        self.is_fresh = False
        self.tracker.feed(text)
        if self.tracker.is_broken and self.passed >= 0:
            block.back = self.passed
            return BACK
        if not self.tracker.is_inside_string or self.tracker.is_broken:
            return END
        if closes and self.passed < 0:
            self.passed = block.back = tag.end
        self.tracker.feed(tag.text)
        return GO_ON


def _is_json(text: str) -> bool:
    try:
        loads(text)
    except WireError:
        return False
    return True


class JsonCall(NamedTuple):
    """One call of a JSON text; ``end`` is where it ends there."""

    name: str | None
    input: JsonValue
    raw: str
    end: int
    problems: tuple[str, ...]


_USUAL = re.compile(r'\s*\{\s*"name"\s*:\s*"((?:[^"\\]|\\.)*+)"\s*,\s*"(arguments|parameters)"\s*:\s*', re.DOTALL)
_NAME = re.compile(r"""["']name["']\s*:\s*["']([^"'\\\n]{1,256})["']""")
_ARGUMENTS = re.compile(r"""["'](arguments|parameters)["']\s*:\s*""")
_CODE_FENCE = re.compile(r"\s*```\w*\s*")


def json_calls(text: str) -> Iterator[JsonCall]:
    """The calls ``{"name": …, "arguments": …}`` of a text: one object, a list of them, or several one after another.

    An object without a name is no call. What is not read as JSON is searched for a name and arguments.
    """
    fence = _CODE_FENCE.match(text)
    start = fence.end() if fence else 0
    for begin, end in _json_text.values(text[start:], ", \t\r\n;"):
        yield from _of_value(text[start + begin : start + end], start + end)


def _of_value(text: str, end: int) -> Iterator[JsonCall]:
    try:
        value = loads(text)
    except WireError:
        yield from _damaged(text, end)
        return
    if isinstance(value, dict):
        found = _of_object(value, text, end)
        if found:
            yield found
    elif isinstance(value, list):
        index = JsonIndex(text.encode("utf-8", "surrogatepass"))
        for n, item in enumerate(value):
            span = index.span(f"/{n}")
            if isinstance(item, dict) and span:
                raw = index.text[span[0] : span[1]].decode("utf-8", "surrogatepass")
                found = _of_object(item, raw, end)
                if found:
                    yield found


def _of_object(value: dict[str, JsonValue], text: str, end: int) -> JsonCall | None:
    name = value.get("name")
    if not isinstance(name, str) or not name:
        return None
    key = "arguments" if "arguments" in value else "parameters"
    if key not in value:
        return JsonCall(name, {}, "", end, (NO_ARGUMENTS,)) if len(value) == 1 else None
    problems = () if key == "arguments" else (OTHER_KEY,)
    usual = _USUAL.match(text)
    if usual and usual[2] == key and len(value) == 2:
        raw = text.rstrip()[usual.end() : -1].rstrip()
    else:
        index = JsonIndex(text.encode("utf-8", "surrogatepass"))
        span = index.span(f"/{key}")
        raw = index.text[span[0] : span[1]].decode("utf-8", "surrogatepass") if span else ""
    arguments = value[key]
    if type(arguments) is dict and not _json_text._UNUSUAL.search(raw):
        return JsonCall(name, arguments, raw, end, problems)
    if arguments == "":
        return JsonCall(name, {}, raw, end, (*problems, "arguments are empty"))
    read = _json_text.read(raw)
    return JsonCall(name, read.value, raw, end, (*problems, *read.problems))


def _damaged(text: str, end: int) -> Iterator[JsonCall]:
    """Text that is no JSON, but says a name."""
    if text.startswith("{{") and text.rstrip().endswith("}}"):
        inner = text.rstrip()[1:-1]
        if _is_json(inner):
            yield from (c._replace(problems=("doubled braces", *c.problems), end=end) for c in _of_value(inner, end))
            return
    literal = python_literal(text)
    if literal is not UNREAD and isinstance(literal, dict):
        name, arguments = literal.get("name"), literal.get("arguments", literal.get("parameters", {}))
        if isinstance(name, str) and name:
            key = _ARGUMENTS.search(text)
            raw = text.rstrip()[key.end() : -1].rstrip() if key else ""
            yield JsonCall(name, arguments, raw, end, (PYTHON,))
        return
    name_found = _NAME.search(text)
    if name_found:
        key = _ARGUMENTS.search(text)
        yield JsonCall(name_found[1], *_after(text, key.end() if key else len(text)), end, (_json_text.NO_JSON,))


def _after(text: str, at: int) -> tuple[JsonValue, str]:
    """Arguments that begin at a place of text that is no JSON as a whole: they may be whole all the same."""
    raw = text[at:]
    stop = _json_text.JsonEnd().find(raw) if raw[:1] == "{" else -1
    if stop < 0:
        return None, raw.rstrip()
    return _json_text.read(raw[:stop]).value, raw[:stop]
