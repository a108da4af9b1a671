"""Reduces parts to what the target accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from operator import is_

from workbench import regex
from workbench.convert.losses import LossReport
from workbench.ir import (
    NOTHING,
    JsonValue,
    Media,
    Message,
    Opaque,
    Part,
    Text,
    ToolCallIR,
    ToolResultIR,
)
from workbench.lazy_dataclass import replace
from workbench.protocols import Capabilities
from workbench.wire import JsonIndex, dumps_parsed

ARGUMENTS = "arguments"
"""Key under which arguments that are not a JSON object are wrapped if the target requires an object."""

WRAPPED = f"wrapped: {{{ARGUMENTS!r}: …}}"

INPUT = "input"
"""Key of the only argument that replaces the free text of a custom tool."""

ERROR_MARK = "[tool error] "
"""Prefix of the text of a failed result if the target has no error flag."""

JSON = "json"
"""Type of an opaque part of a tool result that holds a JSON value instead of text."""

_CACHE = "cache_control"
_FLOAT = regex.compile(r"\d[.eE]")
_TOKEN = regex.compile(r'"(?:[^"\\]|\\.)*+"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?')
_KEY = regex.compile(r'"\s*:')
_SYNONYMS = {"audio/mp3": "audio/mpeg", "image/jpg": "image/jpeg"}
_ALIASES = {"document": "file", "file": "document"}
_NAMES = (("title",), ("filename",), ("document", "name"), ("file", "filename"))
"""Key paths of a document's name in the protocols."""

_FIELDS = ("data", "url", "file_id")


def fit_extra(
    extra: Mapping[str, JsonValue], pointer: str, capabilities: Capabilities, report: LossReport
) -> Mapping[str, JsonValue]:
    """Keep cache markers if the target has them; everything else is lost."""
    if not extra:
        return NOTHING
    marker = extra.get(_CACHE)
    if capabilities.request.cache_markers and isinstance(marker, dict) and marker.get("type") == "ephemeral":
        report.lose_keys(pointer, {k: v for k, v in extra.items() if k != _CACHE})
        if not capabilities.request.cache_blocks or marker.keys() <= {"type", "ttl"}:
            return {_CACHE: marker}
        report.lose_keys(f"{pointer}/{_CACHE}", {k: v for k, v in marker.items() if k not in ("type", "ttl")})
        return {_CACHE: {k: v for k, v in marker.items() if k in ("type", "ttl")}}
    if isinstance(marker, dict):
        report.lose(f"{pointer}/{_CACHE}", "a cache breakpoint")
        extra = {k: v for k, v in extra.items() if k != _CACHE}
    report.lose_keys(pointer, extra)
    return NOTHING


def fit_text(part: Text, pointer: str, capabilities: Capabilities, report: LossReport) -> Text | None:
    """Reduce a text; None for an empty one that the target refuses."""
    extra = fit_extra(part.extra, pointer, capabilities, report) if part.extra else part.extra
    if not capabilities.request.empty_text and not part.text.strip():
        report.lose(pointer, "text without visible characters, which the target refuses")
        return None
    if not part.extra:
        return part
    return replace(part, extra=extra) if part.text or extra else None  # nothing with content is left


def fit_media(
    part: Media, pointer: str, kinds: frozenset[str], capabilities: Capabilities, report: LossReport
) -> Media | None:
    """Reduce media to a source and type that the target accepts; None if it cannot hold them."""
    kind = next((k for k in (part.kind, _ALIASES.get(part.kind)) if k in kinds), None)
    if kind is None:
        report.lose(pointer, f"media of kind {part.kind!r} at this position")
        return None
    allowed = capabilities.media.sources_of.get(kind, capabilities.media.sources)
    fields = [name for name in _FIELDS if getattr(part, name) is not None]
    usable = [name for name in fields if name in allowed and not (name == "url" and _is_data_url(part.url))]
    if not usable:
        how = f"provided by {fields[0]}" if fields else "without any content"
        report.lose(pointer, f"media of kind {part.kind!r} {how}")
        return None
    name, others = document_name(part) if kind in _ALIASES and capabilities.media.document_key else ("", part.extra)
    extra = fit_extra(others, pointer, capabilities, report)
    if name:
        extra = {**extra, **_document_name_keys(name, pointer, capabilities, report)}
    elif kind == "document" and capabilities.media.document_name:
        what = "a document without a usable name, which the target requires"
        report.lose(pointer, what, f"named {capabilities.media.document_name!r}")
    types = capabilities.media.types.get(kind)
    if types and part.media_type is not None and usable[0] == "data" and part.media_type not in types:
        same = _SYNONYMS.get(part.media_type)
        at = pointer + part.source.fields.get("media_type", "")
        if same not in types:
            report.lose(pointer, f"media of type {part.media_type!r:.80}, which the target does not support")
            return None
        report.lose(at, f"the media type {part.media_type!r:.80}", f"written as the synonym {same!r}")
        part = replace(part, media_type=same)
    for name in fields:
        if name != usable[0]:
            report.lose(pointer + part.source.fields.get(name, ""), f"the {name} of media that also has {usable[0]}")
    unsaid: dict[str, None] = {field: None for field in _FIELDS if field != usable[0]}
    is_said = usable[0] == "data" or (capabilities.media.untyped and _is_of_kind(part.media_type, kind))
    kind_said = part.media_type if is_said else None
    if kind_said is None and kind in capabilities.media.untyped:
        what = f"media of kind {kind!r} without a media type, which the target requires"
        report.lose(pointer, what, f"written as {capabilities.media.untyped[kind]!r}")
    if part.media_type is not None and kind_said is None and "media_type" in part.source.fields:
        report.lose(
            pointer + part.source.fields["media_type"], "the media type, because the media is given by reference"
        )
    return replace(part, kind=kind, media_type=kind_said, extra=extra, **unsaid)  # type: ignore[arg-type]


def _document_name_keys(
    name: str, pointer: str, capabilities: Capabilities, report: LossReport
) -> Mapping[str, JsonValue]:
    """Keys for a document's name, in characters that the target accepts."""
    new = re.sub(capabilities.media.document_odd, "-", name) if capabilities.media.document_odd else name
    new = new[: capabilities.media.document_length]
    if new != name:
        report.lose(pointer, f"the document name {name!r:.80}", f"written as {new!r:.80}")
    *path, last = capabilities.media.document_key
    tree: Mapping[str, JsonValue] = {last: new}
    for key in reversed(path):
        tree = {key: tree}
    return tree


def document_name(part: Media) -> tuple[str, Mapping[str, JsonValue]]:
    """(name, remaining ``extra``) of a document or file; the name is empty if it has none."""
    for *path, last in _NAMES:
        inner: JsonValue = part.extra
        for key in path:
            inner = inner.get(key) if isinstance(inner, Mapping) else None
        name = inner.get(last) if isinstance(inner, Mapping) else None
        if isinstance(name, str) and name:
            rest = {key: value for key, value in inner.items() if key != last}
            if not path:
                return name, rest
            return name, {key: rest if key == path[0] else value for key, value in part.extra.items()}
    return "", part.extra


def _is_of_kind(media_type: str | None, kind: str) -> bool:
    family = (media_type or "").partition("/")[0]
    return bool(family) and (family == kind or (kind == "document" and family in ("application", "text")))


def _is_data_url(url: str | None) -> bool:
    return url is not None and url.startswith("data:")


def fit_call(call: ToolCallIR, pointer: str, capabilities: Capabilities, report: LossReport) -> ToolCallIR:
    """Write the arguments in the target's container; id and name are handled by ``ConversationIds`` and the caller."""
    extra = fit_extra(call.extra, pointer, capabilities, report)
    at = pointer + call.source.fields.get("input", "")
    value, raw, kind, error = call.input, call.raw, call.format, call.error
    if kind == "custom":
        if capabilities.tools.custom:
            return replace(call, input=value if isinstance(value, str) else _text(value), raw=None, extra=extra)
        report.lose(at, "free-text input of a custom tool", f"wrapped: {{{INPUT!r}: …}}")
        value, raw, kind, error = {INPUT: value}, None, "function", None
    elif (value is None) if raw is None else not raw.strip():
        report.lose(at, "a tool call without arguments", "written as an empty object")
        value, raw, error = {}, "{}", None
    if capabilities.tools.arguments == "string":
        raw = _text(value) if raw is None else raw
        return ToolCallIR(call.id, call.name, value, kind, raw, call.is_server, error, extra, call.source)
    numbers = [] if error else _numbers(raw)
    if not isinstance(value, dict) or any(not isfinite(float(number)) for number in numbers):
        why = "arguments that are not JSON" if error else "arguments that are not an object"
        why = (
            "arguments with a number that does not fit into a 64-bit float (double)"
            if isinstance(value, dict) and not error
            else why
        )
        report.lose(at, why, WRAPPED)
        value = {ARGUMENTS: raw if error or isinstance(value, dict) else value}
    elif raw is not None and _has_duplicate_key(raw, value):
        report.lose(at, "a duplicate key in the arguments", "the last one is used")
    elif changed := next((n for n in numbers if not _is_exact(n)), None):
        report.lose(
            at, f"the number {changed:.60} in the arguments", f"written as {float(changed)!r}, the nearest double"
        )
    return ToolCallIR(call.id, call.name, value, kind, None, call.is_server, None, extra, call.source)


def _numbers(raw: str | None) -> list[str]:
    """Number literals of an argument text that Python reads as floats."""
    if raw is None or not _FLOAT.search(raw):
        return []
    return [n for n in _TOKEN.findall(raw) if n[0] != '"' and _FLOAT.search(n)]


def _is_exact(number: str) -> bool:
    try:
        return Decimal(number) == Decimal(repr(float(number)))
    except ArithmeticError:  # an exponent out of range
        return False


def _has_duplicate_key(raw: str, value: JsonValue) -> bool:
    """True if an object in the text has a duplicate key: the text then has more keys than the value."""
    if len(_KEY.findall(raw)) == _count_keys(value):
        return False
    return bool(JsonIndex(raw.encode("utf-8", "surrogatepass")).duplicates())


def _count_keys(value: JsonValue) -> int:
    count, stack = 0, [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            count += len(node)
            stack += node.values()
        elif isinstance(node, list):
            stack += node
    return count


def _text(value: JsonValue) -> str:
    return dumps_parsed(value).decode()


def fit_result(
    message: Message, part: ToolResultIR, capabilities: Capabilities, report: LossReport
) -> tuple[ToolResultIR, list[Media]]:
    """The reduced result, and media that must move out of it. Id and name are handled by the caller."""
    pointer = message.absolute(part)
    extra = fit_extra(part.extra, pointer, capabilities, report)
    content, moved = list[Part](), list[Media]()
    if capabilities.request.cache_blocks and capabilities.request.cache_markers:
        capabilities = replace(capabilities, request=replace(capabilities.request, cache_markers=False))
    for inner in part.content:
        at = message.absolute(inner)
        if isinstance(inner, Text):
            text = fit_text(inner, at, capabilities, report)
            content += [text] if text else []
        elif isinstance(inner, Media):
            _fit_inner_media(inner, at, capabilities, report, content, moved)
        elif isinstance(inner, Opaque) and inner.type == JSON:
            is_alone = sum(not isinstance(other, Media) for other in part.content) == 1
            if capabilities.tools.json_results and is_alone and isinstance(inner.value, dict):
                content.append(inner)
                continue
            json_text = inner.value if isinstance(inner.value, str) else _text(inner.value)
            report.lose(at, "a JSON value in a tool result", "written as text")
            content.append(Text(json_text, source=inner.source))
        else:
            report.lose(at, f"content of type {getattr(inner, 'type', type(inner).__name__)!r:.60} in a tool result")
    if moved and not content:
        content.append(Text(f"[{', '.join(media.kind for media in moved)}: in the user message after the results]"))
    if capabilities.tools.results_text_first:
        content = put_text_first(message, content, report)
    if "tool" in capabilities.request.one_text:
        content = join_texts(message, content, report)
    if part.is_error and not capabilities.tools.error_flag:
        mark = ERROR_MARK.strip()
        report.lose(
            pointer + part.source.fields.get("is_error", ""), "the error flag", f"the text begins with {mark!r}"
        )
        content = _with_error_mark(content)
    is_error, fitted = part.is_error if capabilities.tools.error_flag else None, tuple(content)
    is_same = len(fitted) == len(part.content) and all(map(is_, fitted, part.content))
    if is_same and is_error is part.is_error and extra is part.extra:
        return part, moved
    return replace(part, content=fitted, is_error=is_error, extra=extra), moved


def _fit_inner_media(
    inner: Media, at: str, capabilities: Capabilities, report: LossReport, content: list[Part], moved: list[Media]
) -> None:
    kinds = (inner.kind, _ALIASES.get(inner.kind))
    if any(kind in capabilities.media.in_results for kind in kinds):
        media = fit_media(inner, at, capabilities.media.in_results, capabilities, report)
        content += [media] if media else []
        return
    media = fit_media(inner, at, capabilities.media.kinds, capabilities, report)
    if media:
        report.lose(
            at, f"media of kind {inner.kind!r} in a tool result", "moved into a user message after the tool results"
        )
        moved.append(media)


def _with_error_mark(content: list[Part]) -> list[Part]:
    first = content[0] if content else None
    if isinstance(first, Text):
        return [replace(first, text=ERROR_MARK + first.text), *content[1:]]
    return [Text(ERROR_MARK.strip()), *content]


def join_texts(message: Message, parts: list[Part], report: LossReport, *, is_answer: bool = False) -> list[Part]:
    """Join the texts of a message; adjacent texts of an answer were one text before and need no separator."""
    texts = [n for n, part in enumerate(parts) if isinstance(part, Text)]
    if len(texts) < 2:
        return parts
    text, before = "", texts[0]
    for n in texts:
        part = parts[n]
        assert isinstance(part, Text)
        if n != texts[0]:
            border = "" if is_answer and n == before + 1 else "\n\n"
            how = "with an empty line" if border else "directly"
            report.lose(message.absolute(part), "the boundary between two text parts", f"joined to the first {how}")
            text += border
        text += part.text
        before = n
    first = parts[texts[0]]
    assert isinstance(first, Text)
    result = [part for n, part in enumerate(parts) if n not in texts]
    result.insert(texts[0], replace(first, text=text))
    return result


def put_text_first(message: Message, parts: list[Part], report: LossReport) -> list[Part]:
    """Put the text before the media: a target with string content keeps media apart from it."""
    ordered = sorted(parts, key=lambda part: isinstance(part, Media))
    if ordered and ordered[0] is not parts[0]:
        report.lose(message.absolute(ordered[0]), "the order of text and media", "text first")
    return ordered
