"""Keywords: JSON Schema keywords that are refused or not enforced, and support for strict tools.

``refused_keywords``: tools with them are refused; found by halving, so that a few refusals cost few requests.
``unresolved_keywords``: not tested, because the requests of the probe were used up. ``ignored_keywords``: accepted, but
a call violates them on request. ``strict_tools``: ``taken``, ``refused``, ``unsayable``.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

from workbench.ir import JsonValue, ToolDef
from workbench.lazy_dataclass import replace
from workbench.probes._drive import DriveSteps, PlayedConversation, drive, without_call
from workbench.probes._script import Ask, Probe, Sample, Script, Subject, failed, partly, passed
from workbench.probes._tools import Toolbox
from workbench.send.loop import Limits
from workbench.wire import Exchange

TEXT: Mapping[str, JsonValue] = {"type": "string"}

KEYWORDS: Mapping[str, JsonValue] = {
    "enum": {"type": "string", "enum": ["red", "green"]},
    "const": {"const": "fixed"},
    "pattern": {"type": "string", "pattern": "^[a-z]+$"},
    "format": {"type": "string", "format": "date-time"},
    "minLength": {"type": "string", "minLength": 2},
    "maxLength": {"type": "string", "maxLength": 20},
    "minimum": {"type": "integer", "minimum": 1},
    "maximum": {"type": "integer", "maximum": 9},
    "multipleOf": {"type": "integer", "multipleOf": 5},
    "minItems": {"type": "array", "items": TEXT, "minItems": 1},
    "maxItems": {"type": "array", "items": TEXT, "maxItems": 3},
    "uniqueItems": {"type": "array", "items": TEXT, "uniqueItems": True},
    "default": {"type": "string", "default": "none"},
    "anyOf": {"anyOf": [TEXT, {"type": "integer"}]},
    "oneOf": {"oneOf": [TEXT, {"type": "integer"}]},
    "allOf": {"allOf": [TEXT, {"minLength": 1}]},
    "$ref": {"$ref": "#/$defs/name"},
    "additionalProperties": {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False},
}
"""Keyword → the schema of a property that has it."""

BROKEN: Mapping[str, tuple[str, JsonValue]] = {
    "enum": ("the word violet", "violet"),
    "maximum": ("the number 77", 77),
    "pattern": ("the text X-1", "X-1"),
}
"""Keyword → violating value that a call is asked for, in words and as data."""

MOST = 24
"""Most requests for halving."""


def script(subject: Subject) -> Script:
    """All keywords at once, by halves if that is refused; then strict; then a call that is asked to violate some."""
    played = yield from _ask(subject, ())
    if played.is_refused:
        return (yield from without_call(subject, played))
    refused, unresolved = yield from _find_refused(subject)
    strict = yield from _strict(subject)
    ignored = yield from _find_ignored(subject, [name for name in BROKEN if name not in (*refused, *unresolved)])
    return evaluate(refused, unresolved, ignored, strict)


def tool(keywords: Sequence[str]) -> ToolDef:
    """A tool with an optional property for each keyword."""
    properties = {f"p{n}": KEYWORDS[name] for n, name in enumerate(keywords)}
    schema = {"type": "object", "properties": {"text": TEXT, **properties}, "required": ["text"]}
    if "$ref" in keywords:
        schema["$defs"] = {"name": TEXT}
    return ToolDef("probe_echo", "Returns the text that it is given.", schema)


def _ask(subject: Subject, keywords: Sequence[str]) -> DriveSteps:
    request = subject.request(f"Call probe_echo with only the text {subject.nonce}.", (tool(keywords),))
    title = f"a schema with {', '.join(keywords) or 'none of them'}"
    return (yield from drive(subject, request, title, Toolbox(subject.nonce).run, limits=Limits(1)))


def _find_refused(subject: Subject) -> Generator[Ask, Exchange, tuple[list[str], list[str]]]:
    """(refused keywords, untested keywords)."""
    refused, waiting, spent = list[str](), [list(KEYWORDS)], 0
    while waiting and spent < MOST:
        group = waiting.pop(0)
        played, spent = (yield from _ask(subject, group)), spent + 1
        if played.is_refused and len(group) == 1:
            refused += group
        elif played.is_refused:
            middle = len(group) // 2
            waiting += [group[:middle], group[middle:]]
    return refused, [name for group in waiting for name in group]


def _strict(subject: Subject) -> Generator[Ask, Exchange, str]:
    if not subject.adapter.capabilities.tools.strict:
        return "unsayable"
    schema = {**tool(()).schema, "additionalProperties": False}
    request = subject.request(
        f"Call probe_echo with the text {subject.nonce}.", (replace(tool(()), strict=True, schema=schema),)
    )
    played = yield from drive(subject, request, "a strict tool", Toolbox(subject.nonce).run, limits=Limits(1))
    return "refused" if played.is_refused else "taken"


def _find_ignored(subject: Subject, names: Sequence[str]) -> Generator[Ask, Exchange, list[str]]:
    """Keywords that a call violates on request; empty if it makes no call."""
    if not names:
        return []
    properties = {f"p{n}": KEYWORDS[name] for n, name in enumerate(names)}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    listed = ", ".join(f"p{n} {BROKEN[name][0]}" for n, name in enumerate(names))
    words = f"Call probe_echo with {listed}. If the schema forbids that value, use one that it allows."
    request = subject.request(words, (ToolDef("probe_echo", "Returns what it is given.", schema),))
    conversation: PlayedConversation = yield from drive(
        subject, request, "a call that violates its schema", Toolbox(subject.nonce).run, limits=Limits(1)
    )
    arguments = conversation.calls[0].call.input if conversation.calls else None
    if not isinstance(arguments, dict):
        return []
    return [name for n, name in enumerate(names) if f"p{n}" in arguments and not _fits(name, arguments[f"p{n}"])]


def _fits(name: str, value: JsonValue) -> bool:
    from workbench.toolcalls.schemas import fits_schema

    return fits_schema(value, KEYWORDS[name])


def evaluate(refused: list[str], unresolved: list[str], ignored: list[str], strict: str) -> Sample:
    """Verdict from refused, untested and ignored keywords."""
    facts: dict[str, JsonValue] = {
        "refused_keywords": sorted(refused),
        "unresolved_keywords": sorted(unresolved),
        "ignored_keywords": sorted(ignored),
        "strict_tools": strict,
    }
    notes = [f"refused: {', '.join(refused)}"] if refused else []
    notes += [f"not resolved: {', '.join(unresolved)}"] if unresolved else []
    notes += [f"accepted but not enforced: {', '.join(ignored)}"] if ignored else []
    notes += ["strict tools are refused"] if strict == "refused" else []
    if len(refused) == len(KEYWORDS):
        return failed("every keyword is refused", **facts)
    return partly("; ".join(notes), **facts) if notes else passed("every keyword is accepted and enforced", **facts)


probe = Probe("keywords", "which schema keywords are refused or ignored?", MOST + 4, script, tokens=12_000)
