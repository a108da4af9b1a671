"""Remains of calls whose markup is too damaged for any parser, and halves of control tokens.

The vocabulary is that of the formats: every tag of every format, and every beginning of one. A declared name between or
next to such tokens, on separate lines, is a damaged call; so is a declared name in the shape of a JSON or Python call
that is the whole text and does not parse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice, pairwise
from typing import Final

from workbench import regex
from workbench.errors import WireError
from workbench.toolcalls.call_problems import DAMAGED
from workbench.toolcalls.formats import TextCall, every
from workbench.toolcalls.formats._control_tokens import HALVES
from workbench.toolcalls.formats._json_calls import calls_only
from workbench.toolcalls.formats._python_literals import call as python_call
from workbench.toolcalls.formats._scan import TagParser
from workbench.toolcalls.formats._tags import NESTED_CLOSE, NESTED_OPEN, Tags
from workbench.toolcalls.formats._unmarked_calls import announces_example, intends_call
from workbench.toolcalls.formats.cline_xml import HTML
from workbench.toolcalls.json_text import json_spans
from workbench.wire import loads

LEAST_HALF: Final = 5
"""Characters of a token that show which it is; shorter beginnings are those of words and operators."""

_LEAST_TOKENS: Final = 2  # different ones: a single pair is what people write of a tag
_NAME: Final = regex.compile(
    r"<(?:function|invoke name)=\"?([\w.\-:]{1,128})|[^\w]{0,8}[^>\]\n]{1,64}[>\]]\s{0,4}([\w.\-:]{1,128})"
)
_MAX_GAP: Final = 400  # characters between two tokens of one call
_MAX_HALF: Final = 100
_MOST_LINES: Final = 64
_LINES: Final = regex.compile(r"^[ \t]*([<\[\]][^\n>]{4,62})$", re.MULTILINE)
_STEMS: Final = regex.compile(
    r"<\s?/?\s?[|｜‖]|<\s?/?\s?(?:tool|func|invo|param|arg_|mini|antml|start_|end_|escape)|minimax|\[(?:TOOL|ARGS|CALL_)|DSML"
    r"|functools\[|`tool_code"
)
"""Beginnings of the tokens of every format: a text without any has no token."""
_XML: Final = ("<param", "<func", "<invo")  # lines of XML that people write may break inside these
_HEADLESS: Final = ("invoke name=", "function name=", "function=")
_KEYS: Final = regex.compile(r"""["'](?:arguments|parameters|input|args|tool_input)\b|\b(?:arguments|parameters)["']""")
_FENCES: Final = regex.compile(r"\A(?:`{3,}\w*|\s)+|[`\s]+\Z|`{3,}\w*\Z")
_FENCE_BEHIND: Final = regex.compile(r"\n```\s*\Z")
_OPENED: Final = regex.compile(r"<[|｜][^<>]{1,40}[|｜]>\Z")
_ELEMENT: Final = regex.compile(r"</?(?!think\b)([A-Za-z_][\w\-.]{0,127})(\s[^<>\n]{0,200})?/?>")
_HALF_ELEMENT: Final = regex.compile(r"</?[A-Za-z_][\w\-.]{0,127}\s*\Z")
_BLANK: Final = regex.compile(r"\s")
_VALUE: Final = regex.compile(r"[\])}`\s]*|\s*[\[{](?:[^\]}]*|.*[\]}]\s*`*)", re.DOTALL)
_MARKUP: Final = r"[\s'\"(){}\[\],:=]"


_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
"""Keys of a declaration with the schema of its arguments, as protocols and agents spell them."""

WORDS: Final = ("react", "cline-xml")
"""Formats whose tags are words that people write: what is left of them tells nothing."""


@cache
def vocabulary() -> dict[str, Tags]:
    """Format → its tags, where it has any."""
    parsers = ((f.name, f.parser()) for f in every() if f.name not in WORDS)
    return {name: parser.tags for name, parser in parsers if isinstance(parser, TagParser)}


def wrecked_calls(text: str, names: frozenset[str]) -> list[TextCall]:
    """Calls of declared tools in markup that no parser reads. ``names``: declared names that occur in the text."""
    glued = re.compile(f"({'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})")
    named = re.compile(rf"(?<![\w.\-])(?:functions\.)?{glued.pattern}(?![\w\-])")
    every_tags = vocabulary().values() if _STEMS.search(text) else ()
    tokens = sorted({span for tags in every_tags for span in _tokens(tags, text)})
    half = half_token(text)
    if half >= 0:
        tokens.append((half, len(text)))
    tokens = sorted({*tokens, *_elements(text, names)})
    wrecks = (_wreck(text, group, named, glued) for group in _groups(tokens))
    found = [call for call in wrecks if call and not _declares_a_tool(call.raw or "")]
    return found or _headless(text, glued) or _broken_values(text, names)


def _headless(text: str, glued: re.Pattern[str]) -> list[TextCall]:
    """A call at the end of a text whose tags have lost their first bracket: ``invoke name="find">``."""
    if ">" not in text or not any(head in text for head in _HEADLESS):
        return []
    head = re.search(rf"^[ \t]*(?:(?:invoke|function) name=[\"']?|function=){glued.pattern}[\"']?>", text, re.MULTILINE)
    end = len(text.rstrip())
    if head is None or text[end - 1] != ">":
        return []
    name = "minimax" if "name=" in head[0] else "qwen3-coder"
    return [TextCall(name, head[1], None, text[head.start() : end], head.start(), end, problems=(DAMAGED,))]


def _declares_a_tool(raw: str) -> bool:
    """The first object between the tokens is the declaration of a tool, which models repeat when they list tools."""
    at = raw.find("{")
    span = next(json_spans(raw[at:]), None) if at >= 0 else None
    if span is None:
        return False
    try:
        value = loads(raw[at + span[0] : at + span[1]].encode("utf-8", "replace"))
    except WireError:
        return False
    declared = value.get("function", value) if isinstance(value, dict) else None
    schemas = [declared.get(key) for key in _SCHEMAS] if isinstance(declared, dict) and "name" in declared else []
    return any(isinstance(schema, dict) and schema.get("type") == "object" for schema in schemas)


def wrecked_text(text: str) -> list[TextCall]:
    """The call of an unknown tool in a text that begins and ends with tokens of one format, not all the same."""
    body = text.strip()
    if body[:1] not in ("<", "[") or not _STEMS.match(body):
        return []
    start = text.index(body)
    for name, tags in vocabulary().items():
        spans = list(_tokens(tags, text))
        if (
            len({text[a:b] for a, b in spans}) < _LEAST_TOKENS
            or spans[0][0] != start
            or spans[-1][1] != start + len(body)
        ):
            continue
        name_match = _NAME.match(text, spans[0][0])
        if name_match and all(b - a <= _MAX_GAP for (_, a), (b, _) in pairwise(spans)):
            return [TextCall(name, name_match[1], None, body, start, start + len(body), problems=(DAMAGED,))]
    return []


def _tokens(tags: Tags, text: str) -> Iterator[tuple[int, int]]:
    for match in tags.pattern.finditer(text):
        if tags.kind(match) not in (NESTED_OPEN, NESTED_CLOSE) and len(match[0]) >= LEAST_HALF:
            yield match.span()


def _elements(text: str, names: frozenset[str]) -> list[tuple[int, int]]:
    """The tags and halves of tags of a text with an element by the name of a tool."""
    if not any(f"<{name}" in text or f"</{name}" in text for name in names - HTML):
        return []
    found = [m.span() for m in _ELEMENT.finditer(text) if not m[2] or m[1] in names]
    half = _HALF_ELEMENT.search(text, max(0, len(text) - _MAX_HALF))
    return [*found, half.span()] if half else found


def _groups(tokens: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Tokens that are near each other."""
    group: list[tuple[int, int]] = []
    for token in tokens:
        if group and token[0] - group[-1][1] > _MAX_GAP:
            yield group
            group = []
        group.append(token)
    if group:
        yield group


def _wreck(
    text: str, tokens: Sequence[tuple[int, int]], named: re.Pattern[str], glued: re.Pattern[str]
) -> TextCall | None:
    """The call between tokens: its name is between them, before the first on its line, or after the last."""
    start, end = tokens[0][0], max(stop for _, stop in tokens)
    line = max(text.rfind("\n", max(0, start - _MAX_GAP), start) + 1, start - _MAX_GAP, 0)
    before = text[line:start].lstrip()
    if named.match(before) or (glued.search(before) and not _BLANK.search(before)):
        start -= len(before)
    rest = text[end : end + 2 * _MAX_GAP].rstrip()
    if rest.partition("\n")[0].strip():
        if len(rest) > _MAX_GAP or not (named.match(rest.lstrip()) or _VALUE.fullmatch(rest)):
            return None  # a sentence continues
        end += len(rest)
    found = named.search(text, start, end) or glued.search(text, start, end)
    is_first = not text[max(0, start - _MAX_GAP) : start].strip()
    if found is None or (len(tokens) < 2 and "{" not in text[start:end] and not is_first):
        return None
    raw = text[start:end]
    near = max(vocabulary().items(), key=lambda item: sum(1 for _ in _tokens(item[1], raw)))[0]
    return TextCall(near, found[1], None, raw, start, end, problems=(DAMAGED,))


def _broken_values(text: str, names: frozenset[str]) -> list[TextCall]:
    """A text, or a last paragraph that nothing announces as an example, that is a broken JSON or Python call."""
    whole = _truncated_value(text, 0, names)
    last = text.rstrip().rfind("\n\n") + 2
    if whole or last < 2 or (announces_example(intro := text[:last].strip()) and not intends_call(intro)):
        return [whole] if whole else []
    call = _truncated_value(text, last, names)
    return [call] if call and not _is_whole(call.raw, names) else []


def _is_whole(text: str, names: frozenset[str]) -> bool:
    """A call that can be read: where it is one is decided by what is around it."""
    inner = _FENCES.sub("", text)
    call = python_call(inner, 0)
    return bool(calls_only(inner, names)) or (call is not None and call.end == len(inner))


def _truncated_value(text: str, at: int, names: frozenset[str]) -> TextCall | None:
    """The text from a place on, if it is a broken call."""
    name = f"({'|'.join(sorted(map(re.escape, names)))})"
    body = text[at:].strip()
    if body[-1:] not in "`}])\"':,={[(":
        return None
    start = text.index(body, at)
    json = rf"(?:`++\w*+|{_MARKUP})*+(?:name|tool|function|tool_name|function_name){_MARKUP}++{name}{_MARKUP}"
    found = re.compile(json).match(body)
    is_json = found is not None and any(quote in found[0] for quote in "\"'")
    if found and is_json and body.count("```") <= 2 and body[-1:] in "`}]\"':,{[" and _is_truncated_call(body, names):
        return TextCall("json-fence", found[1], None, body, start, start + len(body), problems=(DAMAGED,))
    opening = rf"[\[\]()=\s]*+{name}\s{{0,4}}[\[(=]{{0,4}}\s{{0,4}}"
    body = _FENCE_BEHIND.sub("", body)
    arguments = r"\w+\s{0,4}[=(]{0,4}\s{0,4}['\"\d\[{][^\n]*[\])=(\[]\Z"
    found = re.compile(opening + arguments).match(body)
    if found and "\n" not in body:
        return TextCall("pythonic", found[1], None, body, start, start + len(body), problems=(DAMAGED,))
    return None


def _is_truncated_call(body: str, names: frozenset[str]) -> bool:
    """JSON of a call that does not parse, or parses only without what is around it."""
    inner = _FENCES.sub("", body)
    if calls_only(inner, names):
        return True
    try:
        loads(inner.encode("utf-8", "replace"))
    except WireError:
        return bool(_KEYS.search(body)) or len(body) <= _MAX_HALF
    return False


def half_token(text: str, stop: int | None = None) -> int:
    """Start of a token that breaks off at ``stop``, by default at the end of the text; -1 if there is none."""
    end = len(text) if stop is None else stop
    piece = text[max(0, end - _MAX_HALF) : end]
    if piece.endswith(">") and not _OPENED.search(piece):
        return -1
    if not any(map(piece.__contains__, "<[]`")) and "func" not in piece:
        return -1
    every_tags = (*vocabulary().values(), HALVES)
    start = min((tags.find_partial(piece, 0) for tags in every_tags), default=len(piece))
    ends = piece[-1] not in "=(" and not piece[-1].isalnum()  # other tags need something behind them
    is_whole = ends and any(tags.pattern.fullmatch(piece, start) for tags in every_tags)
    return end - len(piece) + start if len(piece) - start >= LEAST_HALF and not is_whole else -1


def half_tokens(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of the halves of tokens alone on a line, and at the end of the text."""
    for line in islice(_LINES.finditer(text), _MOST_LINES):
        if line.end() < len(text) and not line[1].startswith(_XML) and half_token(line[1]) == 0:
            yield line.span(1)
    last = half_token(text.rstrip())
    if last >= 0:
        yield last, len(text.rstrip())
