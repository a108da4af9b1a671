"""Effect of dials on a request: refused for a feature, or passed on without the parts that are ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from workbench import regex
from workbench.ir import JsonValue, Media, ModelRequest, Part, Reasoning, Text, ToolResultIR
from workbench.lazy_dataclass import replace
from workbench.simulator._dials import KEYWORD, Dials
from workbench.simulator._model import THOUGHTS
from workbench.simulator._request_text import input_tokens, is_error

_PLAIN = regex.compile(r"[A-Za-z0-9_-]*")
_ANSWERING = ("assistant", "model")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords whose members are names, not keywords."""


def refusal(request: ModelRequest, dials: Dials) -> str:
    """Reason why the dials refuse a request; empty if they do not."""
    for feature in dials.refuses:
        keyword = feature.removeprefix(KEYWORD)
        is_there = _has_keyword(request, keyword) if keyword != feature else _HAS[feature](request, dials)
        if is_there:
            return f"{feature} is not supported"
    for what, limit, texts in (
        ("tool name", dials.name_limit, _names(request)),
        ("tool call id", dials.id_limit, _ids(request)),
    ):
        if limit and any(len(text) > limit for text in texts):
            return f"the {what} is longer than {limit} characters"
    return ""


def visible_request(request: ModelRequest, dials: Dials) -> ModelRequest:
    """The request as the model sees it."""
    for feature in dials.ignores:
        keyword = feature.removeprefix(KEYWORD)
        request = _without_keyword(request, keyword) if keyword != feature else _WITHOUT[feature](request)
    if dials.result_limit:
        request = _parts(request, lambda part: _shorten(part, dials.result_limit))
    while dials.context and len(request.messages) > 1 and input_tokens(request) > dials.context:
        request = replace(request, messages=request.messages[1:])
    return request


# Results


def _results(request: ModelRequest) -> list[ToolResultIR]:
    return [r for m in request.messages for _, r in m.tool_results()]


def _is_long(request: ModelRequest, dials: Dials) -> bool:
    return any(_shorten(r, dials.result_limit or 1) != r for r in _results(request))


def _shorten(part: Part, limit: int) -> Part:
    if not isinstance(part, ToolResultIR):
        return part
    short = (replace(p, text=_cut(p.text, limit)) if isinstance(p, Text) else p for p in part.content)
    return replace(part, content=tuple(short))


def _cut(text: str, limit: int) -> str:
    return text.encode("utf-8", "surrogatepass")[:limit].decode("utf-8", "ignore")


def _without_media(part: Part) -> Part:
    if not isinstance(part, ToolResultIR):
        return part
    return replace(part, content=tuple(p for p in part.content if not isinstance(p, Media)))


# Reasoning


def _turn(request: ModelRequest) -> int:
    """Index of the user's last message."""
    user_indices = (n for n, m in enumerate(request.messages) if m.role == "user" and any(map(_is_text, m.parts)))
    return max(user_indices, default=-1)


def _is_text(part: Part) -> bool:
    return isinstance(part, Text)


def _thoughts(request: ModelRequest, *, is_stale: bool = False) -> list[Reasoning]:
    """Replayed reasoning of the current turn, or of earlier ones."""
    turn = _turn(request)
    return [r for n, m in enumerate(request.messages) if (n < turn) == is_stale for _, r in m.reasoning()]


def _calls(request: ModelRequest, *, is_stale: bool = False) -> bool:
    turn = _turn(request)
    return any(any(m.tool_calls()) for n, m in enumerate(request.messages) if (n < turn) == is_stale)


def _is_empty(part: Reasoning) -> bool:
    return not (part.text or part.data or part.signature)


def _is_altered(part: Reasoning) -> bool:
    return bool(part.text) and part.text not in THOUGHTS


# Everywhere


def _choice(mode: str) -> Callable[[ModelRequest, Dials], bool]:
    return lambda request, _: request.tool_choice is not None and request.tool_choice.mode == mode


def _has_mid_system(request: ModelRequest) -> bool:
    return any(m.role == "system" for m in request.messages[_leading(request) :])


def _leading(request: ModelRequest) -> int:
    """Number of leading system messages."""
    return next((n for n, m in enumerate(request.messages) if m.role != "system"), len(request.messages))


def _has_role(request: ModelRequest, role: str) -> bool:
    return any(m.role == role for m in request.messages)


def _without_role(request: ModelRequest, role: str, start: int = 0) -> ModelRequest:
    messages = (m for n, m in enumerate(request.messages) if m.role != role or n < start)
    return replace(request, messages=tuple(messages))


def _without_system(request: ModelRequest) -> ModelRequest:
    return replace(request, system=(), messages=request.messages[_leading(request) :])


def _without_choice(mode: str) -> Callable[[ModelRequest], ModelRequest]:
    return lambda request: replace(request, tool_choice=None) if _choice(mode)(request, Dials()) else request


def _parts(request: ModelRequest, change: Callable[[Part], Part | None]) -> ModelRequest:
    """The request with changed parts; None removes a part."""
    messages = (replace(m, parts=tuple(p for part in m.parts if (p := change(part)))) for m in request.messages)
    return replace(request, messages=tuple(messages))


def _names(request: ModelRequest) -> list[str]:
    return [tool.name for tool in request.tools if tool.name]


def _ids(request: ModelRequest) -> list[str]:
    calls = (c.id for m in request.messages for _, c in m.tool_calls())
    return [name for name in calls if name]


def _keywords(schema: JsonValue) -> Iterator[str]:
    """Every keyword of a schema, at any depth."""
    for key, value in schema.items() if isinstance(schema, dict) else ():
        yield key
        inner = value.values() if key in _NAMED and isinstance(value, dict) else [value]
        for one in inner:
            for subschema in one if isinstance(one, list) else [one]:
                yield from _keywords(subschema)


def _has_keyword(request: ModelRequest, keyword: str) -> bool:
    return any(keyword in _keywords(tool.schema) for tool in request.tools)


def _strip_keyword(schema: JsonValue, keyword: str, *, is_named: bool = False) -> JsonValue:
    if isinstance(schema, list):
        return [_strip_keyword(one, keyword) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _strip_keyword(value, keyword, is_named=key in _NAMED and not is_named)
        for key, value in schema.items()
        if is_named or key != keyword
    }


def _without_keyword(request: ModelRequest, keyword: str) -> ModelRequest:
    return replace(request, tools=tuple(replace(t, schema=_strip_keyword(t.schema, keyword)) for t in request.tools))


def _has_media(request: ModelRequest) -> bool:
    return any(isinstance(part, Media) for result in _results(request) for part in result.content)


def _is_bare(request: ModelRequest, *, is_stale: bool) -> bool:
    """There are calls without reasoning."""
    return _calls(request, is_stale=is_stale) and not _thoughts(request, is_stale=is_stale)


_HAS: Mapping[str, Callable[[ModelRequest, Dials], bool]] = {
    "tools": lambda r, _: bool(r.tools),
    "stream": lambda r, _: r.stream,
    "strict": lambda r, _: any(tool.strict for tool in r.tools),
    **{f"choice-{mode}": _choice(mode) for mode in ("auto", "none", "any", "tool")},
    "system": lambda r, _: bool(r.system) or bool(_leading(r)),
    "mid-system": lambda r, _: _has_mid_system(r),
    "developer": lambda r, _: _has_role(r, "developer"),
    "media": lambda r, _: _has_media(r),
    "errors": lambda r, _: any(map(is_error, _results(r))),
    "reasoning": lambda r, _: any(any(m.reasoning()) for m in r.messages),
    "reasoning-missing": lambda r, _: _is_bare(r, is_stale=False),
    "reasoning-empty": lambda r, _: any(map(_is_empty, _thoughts(r))),
    "reasoning-altered": lambda r, _: any(map(_is_altered, _thoughts(r))),
    "reasoning-stale": lambda r, _: bool(_thoughts(r, is_stale=True)),
    "reasoning-forgotten": lambda r, _: _is_bare(r, is_stale=True),
    "results": _is_long,
    "context": lambda r, d: input_tokens(r) > d.context,
    "odd-names": lambda r, _: not all(map(_PLAIN.fullmatch, _names(r))),
    "odd-ids": lambda r, _: not all(map(_PLAIN.fullmatch, _ids(r))),
}
"""Feature → test of a request."""

_WITHOUT: Mapping[str, Callable[[ModelRequest], ModelRequest]] = {
    **{f"choice-{mode}": _without_choice(mode) for mode in ("auto", "none", "any", "tool")},
    "system": _without_system,
    "mid-system": lambda r: _without_role(r, "system", _leading(r)),
    "developer": lambda r: _without_role(r, "developer"),
    "media": lambda r: _parts(r, _without_media),
    "reasoning": lambda r: _parts(r, lambda part: None if isinstance(part, Reasoning) else part),
}
"""Feature → the request without it."""
