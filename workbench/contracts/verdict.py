"""Verdict of a provider's contract on a request, and the response with which the provider would refuse it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from workbench import regex
from workbench.contracts.contract import Contract, EnforcedCheck
from workbench.contracts.finding import Finding, Severity
from workbench.ir import HISTORIES, JsonValue, Part
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST, DecodedExchange, fact

UNKNOWN = "…"

_VARIABLE = regex.compile(r"\{(\w+)\}")
_INDEX = {
    "message": regex.compile(rf"^/(?:{'|'.join(HISTORIES)})/(\d+)"),
    "part": regex.compile(r"/(?:content|parts)/(\d+)"),
    "item": regex.compile(r"/(?:output|content/\d+/content)/(\d+)"),
    "call": regex.compile(r"/tool_calls/(\d+)"),
    "tool": regex.compile(r"^/tools/(\d+)"),
    "function": regex.compile(r"/(?:functionDeclarations|function_declarations)/(\d+)"),
}


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with the values of its variables; an unknown value becomes an ellipsis."""
    if "{" not in template:
        return template
    return _VARIABLE.sub(lambda found: values.get(found[1], UNKNOWN), template)


def known_values(
    pointer: str, decoded: DecodedExchange, contract: Contract, part: Part | None, span: tuple[int, int] | None = None
) -> dict[str, str]:
    """Values that every finding has: its indices and path, end of its bytes, the id of its part, role and model."""
    known = _indices(pointer, decoded, contract) | _place(decoded, span)
    if pointer:
        known |= {"path": dotted_path(pointer), "field": dotted_path("/" + pointer.rpartition("/")[2])}
    for name in ("id", "tool_call_id"):
        call_id = getattr(part, name, None)
        if call_id:
            known |= {"id": call_id, "ids": call_id}
    if decoded.request and decoded.request.model:
        known["model"] = decoded.request.model
    index = _INDEX["message"].search(pointer)
    if decoded.request and index and int(index[1]) < len(decoded.request.messages):
        known["role"] = decoded.request.messages[int(index[1])].role
    return known


def _place(decoded: DecodedExchange, span: tuple[int, int] | None) -> dict[str, str]:
    """Line and column (from one) where a parser is when it has read a value."""
    if span is None:
        return {}
    ends = fact(decoded, _line_ends)
    line = bisect_left(ends, span[1])
    return {"line": str(line + 1), "column": str(span[1] - (ends[line - 1] + 1 if line else 0))}


def _line_ends(decoded: DecodedExchange) -> list[int]:
    return [found.start() for found in re.finditer(rb"\n", decoded.request_text)]


def dotted_path(pointer: str) -> str:
    """A pointer as providers write it in their messages: ``messages[0].tool_calls[1].id``."""
    text = "".join([f"[{step}]" if step.isdecimal() else f".{step}" for step in pointer[1:].split("/")])
    return (text.replace("~1", "/").replace("~0", "~") if "~" in text else text).removeprefix(".")


def _indices(pointer: str, decoded: DecodedExchange, contract: Contract) -> dict[str, str]:
    found = {name: match[1] for name, pattern in _INDEX.items() if (match := pattern.search(pointer))}
    index = int(found.get("message", -1))
    if contract.term("content.merges-same-role") and 0 <= index < len(decoded.turns):
        turn, before = decoded.turns[index]
        found |= {"message": str(turn), "part": str(before + int(found.get("part", 0)))}
    return found


USUAL_TYPE = "invalid_request_error"
"""``{type}`` of an error body if the check names none."""

UNREAD = ("request.unread", "answer.unread")
"""Rules that report undecoded parts; a request with such a part cannot be called clean."""

UNKNOWN_TEXT = "(refused; the provider's error text is not known)"


class Verdict(StrEnum):
    """Verdict on a request under a contract."""

    ACCEPTS = "accepts"
    REFUSES = "refuses"
    SUSPICIOUS = "suspicious"  # goes through, and the chain is broken or will be
    UNKNOWN = "unknown"  # nothing is known that would tell


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with the finding that it rests on; None if there is none."""

    verdict: Verdict
    finding: Finding | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The response of a provider that refuses: HTTP status and JSON body."""

    status: int
    body: JsonValue


def judge(findings: Iterable[Finding], contract: Contract, advice: Sequence[str] = ()) -> Judgement:
    """The verdict on a request.

    A provider reports one error: that of its first check that fails, at the first place where it fails.

    Args:
        findings: findings of one exchange under this contract; those on its response do not count.
        advice: slugs of rules that never break a chain (costs, risks, what is ignored).
    """
    of_request = [f for f in findings if f.side == REQUEST]
    refused = [f for f in of_request if f.check is not None and f.severity is Severity.ERROR]
    if refused:
        order = {check: n for n, check in reversed(list(enumerate(contract.enforces)))}
        first = min(refused, key=lambda f: (order.get(f.check, len(order)) if f.check else 0, f.span or (0, 0)))
        return Judgement(Verdict.REFUSES, first)
    if any(f.rule in UNREAD for f in of_request):
        return Judgement(Verdict.UNKNOWN)
    broken = [f for f in of_request if f.severity is not Severity.INFO and f.rule not in advice]
    if broken:
        return Judgement(Verdict.SUSPICIOUS, min(broken, key=lambda f: (f.severity.rank, f.span or (0, 0))))
    return Judgement(Verdict.ACCEPTS if contract.covers else Verdict.UNKNOWN)


def refusal_of(finding: Finding, contract: Contract) -> Refusal | None:
    """The response of the provider to a request with this fault; None if it does not refuse it."""
    check = finding.check
    if check is None:
        return None
    shape = check.body if check.body is not None else contract.term("errors.body")
    if shape is None:
        shape = {"error": {"message": "{message}", "type": "{type}", "param": "{param}", "code": "{code}"}}
    return Refusal(check.status, _fill_shape(shape, _texts(check, finding)))


def _texts(check: EnforcedCheck, finding: Finding) -> Mapping[str, JsonValue]:
    values = finding.values
    return {
        **values,
        "loc": _loc(finding),
        "message": fill(check.template, values) if check.template else UNKNOWN_TEXT,
        "type": fill(check.type, values) or USUAL_TYPE,
        "param": fill(check.param, values) or None,
        "code": fill(check.code, values) or None,
        "status": check.status,
    }


def _loc(finding: Finding) -> list[JsonValue]:
    """The place as servers name it that check a body with Pydantic: ["body", "messages", 5, "user", "name"]."""
    keys = [step.replace("~1", "/").replace("~0", "~") for step in finding.pointer.split("/")[1:]]
    steps: list[JsonValue] = [int(key) if key.isdecimal() else key for key in keys]
    if steps[:1] == ["messages"] and len(steps) > 2 and finding.values.get("role"):
        steps.insert(2, finding.values["role"])
    return ["body", *steps]


def _fill_shape(shape: JsonValue, texts: Mapping[str, JsonValue]) -> JsonValue:
    """The shape with its variables filled in: a text that is one variable takes its value, whatever the type."""
    if isinstance(shape, dict):
        return {key: _fill_shape(value, texts) for key, value in shape.items()}
    if isinstance(shape, list):
        return [_fill_shape(value, texts) for value in shape]
    if not isinstance(shape, str):
        return shape
    name = shape[1:-1] if shape.startswith("{") and shape.endswith("}") else ""
    if name in texts:
        return texts[name]
    return fill(shape, {key: str(value) for key, value in texts.items() if value is not None})
