"""Suspects: a refusal that no rule explains is narrowed down to the places of the request that most likely caused it.

Three things speak for a place: it is new since the last request of the same conversation that was accepted, the text
names it, or a rule doubts it without knowing that this provider refuses it. What is unusually new weighs more than the
messages that every request adds. How to decide between the places is said, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from workbench import contracts, regex
from workbench.contracts import Basis, ErrorPlace, Finding, Severity, find_place
from workbench.errors import WireError
from workbench.fronts import late
from workbench.ir import HISTORIES, ApiError, JsonValue
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.rules._shared.acceptance import accepted_by, host_of
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.place_in_error_text import says_name
from workbench.rules._shared.refused_value import VAGUE
from workbench.rules._shared.request_keys import top_key
from workbench.rules.answers import ANSWER_ERROR, named_place
from workbench.wire import loads

if TYPE_CHECKING:
    from workbench.diff import ItemChange

error_parameters, refusal_of, was_judged = late(
    "workbench.rules._shared.failure_place", "error_parameters", "refusal_of", "was_judged"
)

RULES: tuple[Rule, ...] = ()

MOST = 3
"""Places that are told."""
MOST_BACK = 8
"""Earlier exchanges among which an accepted one is looked for."""
LARGEST = 4_000_000
"""Bytes of a request that is compared with an earlier one."""

_NAMED, _DOUBTED, _NEW, _NEW_MESSAGE = 4, 3, 3, 1
_WORD = regex.compile(r"[\w.$-]{3,80}")
_SAID_OFTEN = frozenset(("content", "role", "type", "text", "name", "messages", "model", "input", "function", "tools"))
"""Words of any error text: alone they name nothing."""


class _Reason(NamedTuple):
    """Why a place is suspected, in words, and how much that weighs."""

    words: str
    weight: int


def review(case: RuleContext, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings; a refusal that none of them explains says which places are suspected."""
    found = list(findings)
    error = case.response.error if case.response else None
    is_open = error is not None and case.request is not None and was_judged(error, case.decoded)
    is_explained = any(f.side == REQUEST and f.basis is Basis.RECORDING and f.severity is Severity.ERROR for f in found)
    for finding in found:
        if is_open and error and not is_explained and (finding.rule, finding.side) == (ANSWER_ERROR.slug, RESPONSE):
            stated_place = named_place(case, error, refusal_of(error, case.decoded))
            yield _narrowed_down(case, finding, _suspects(case, error, found), stated_place)
        else:
            yield finding


def suspects_of(finding: Finding) -> tuple[str, ...]:
    """Suspected places of a refusal that no rule explains, the most likely first; empty for other findings.

    A text that names a place and does not say what is wrong there leaves it a suspect.
    """
    is_open = finding.rule == ANSWER_ERROR.slug or finding.kind in VAGUE
    return (finding.pointer, *finding.related) if is_open and finding.side == REQUEST and finding.pointer else ()


def _narrowed_down(
    case: RuleContext, finding: Finding, ranked: list[tuple[str, list[_Reason]]], error_place: ErrorPlace | None
) -> Finding:
    """The finding of a refusal with its suspects; ``error_place`` is the place that its message names already."""
    if not ranked:
        return finding
    if len(ranked) == 1 and error_place and error_place.span and error_place.pointer == ranked[0][0]:
        return replace(finding, side=REQUEST, pointer=error_place.pointer, span=error_place.span, events=())
    places = [pointer for pointer, _ in ranked]
    suspects_text = "; ".join(
        f"{n}. {at} ({', '.join(dict.fromkeys(r.words for r in why))})" for n, (at, why) in enumerate(ranked, 1)
    )
    number = finding.exchange + 1
    how = (
        f"to find the cause, send the request without {places[0]} (what-if) or run workbench minimize on exchange "
        f"{number}"
    )
    return replace(
        finding,
        side=REQUEST,
        pointer=places[0],
        span=case.decoded.place(REQUEST, places[0]).span,
        events=(),
        message=f"{finding.message}; suspected: {suspects_text}",
        evidence="; ".join(filter(None, (finding.evidence, how))),
        related=tuple(places[1:]),
    )


def _suspects(case: RuleContext, error: ApiError, found: Iterable[Finding]) -> list[tuple[str, list[_Reason]]]:
    """The most likely places, the first most of all."""
    reasons: defaultdict[str, list[_Reason]] = defaultdict(list)
    text = f"{error.message} {' '.join(error.details.values())}"[: contracts.LONGEST]
    for pointer, reason in _new_places(case, text):
        reasons[pointer].append(reason)
    for pointer in _named_places(case, error, text):
        reasons[pointer].append(_Reason("named in the text", _NAMED))
    for each in found:
        is_doubt = each.side == REQUEST and each.severity is not Severity.INFO and each.breaks is not None
        if is_doubt and each.rule != ANSWER_ERROR.slug and each.pointer:
            reasons[each.pointer].append(_Reason(each.rule, _DOUBTED + (each.severity is Severity.ERROR)))
    ranked = sorted(reasons.items(), key=lambda item: (-_weight(item[0], reasons), item[0].count("/")))
    return ranked[:MOST]


def _weight(pointer: str, reasons: dict[str, list[_Reason]]) -> int:
    """Evidence for a place, and for the places that contain it or are inside it."""
    near = (why for at, why in reasons.items() if f"{at}/".startswith(f"{pointer}/") or pointer.startswith(f"{at}/"))
    return sum(max(each.weight for each in why) for why in near) + sum(each.weight for each in reasons[pointer])


def _named_places(case: RuleContext, error: ApiError, text: str) -> Iterator[str]:
    place = find_place(error, case.decoded, case.contract)
    if place and place.pointer:
        yield place.pointer
    try:
        body = loads(case.decoded.request_text)
    except WireError:
        return
    parameters = error_parameters(body, text, error.param or "", case.decoded)
    yield from (each.pointer for each in parameters if each.how not in _SAID_OFTEN)


def _new_places(case: RuleContext, text: str) -> Iterator[tuple[str, _Reason]]:
    """(place, why) of what the last accepted request of the conversation did not have."""
    before = _last_accepted(case)
    if before is None:
        return
    from workbench.diff import ItemChangeKind, item_changes  # few answers are refusals that no rule explains

    since = f"new since exchange {before.index + 1}, which was accepted"
    found = item_changes(before.request_index, case.decoded.request_index) or ()
    for change in (change for change in found if change.kind is not ItemChangeKind.RESPELLED):
        for pointer, value in _places_of(change):
            is_message = top_key(pointer) in HISTORIES and change.kind is ItemChangeKind.ADDED
            yield pointer, _Reason(since, _NEW_MESSAGE if is_message else _NEW)
            if _is_named(pointer, value, text):
                yield pointer, _Reason("named in the text", _NAMED)


def _last_accepted(case: RuleContext) -> DecodedExchange | None:
    """The last exchange before this one that was accepted there, of the same model if there is one."""
    if case.decoded.request_body.size > LARGEST:
        return None
    host, model = host_of(case.decoded), case.request.model if case.request else None
    other: DecodedExchange | None = None
    for index in reversed(case.earlier.exchanges[-MOST_BACK:]):
        old = case.peek(index) if index < case.decoded.index else None
        if old is not None and old.request is not None and accepted_by(old) == host:
            if old.request.model == model:
                return old
            other = other or old
    return other


def _places_of(change: ItemChange) -> Iterator[tuple[str, JsonValue]]:
    """(pointer, value) of what a change adds to the later request."""
    if change.details:
        yield from ((each.place, each.after) for each in change.details)
    elif change.after:
        yield change.after, change.label
    elif change.before:
        yield change.before, change.label


def _is_named(pointer: str, value: JsonValue, text: str) -> bool:
    """The text has the name of a member, or its value, as a word."""
    words = {word.strip(".").lower() for word in _WORD.findall(text)}
    name = pointer.rpartition("/")[2].lower()
    if says_name(text, pointer.rpartition("/")[2]):
        return True
    value_text = value.lower() if isinstance(value, str) and len(value) <= 80 else ""
    return any(
        word and not word.isdecimal() and word not in _SAID_OFTEN and word in words for word in (name, value_text)
    )
