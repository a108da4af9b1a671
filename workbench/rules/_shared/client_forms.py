"""Forms of answers that single clients fail on, as published: a remark, for other clients read them.

The events that begin a stream, a call, a text or reasoning, the next of each, and those at the end are looked at: what
a server writes there it writes everywhere. Answers of one make have one form, which is judged once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from workbench.contracts import (
    FORM_WORDS,
    AnswerForm,
    AnswerPiece,
    ClientEffect,
    FailingClient,
    Finding,
    Severity,
    known_answer_forms,
)
from workbench.errors import WireError
from workbench.ir import JsonValue, ModelResponse, Reasoning, Text, ToolCallIR
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import RESPONSE
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.families import get_rule
from workbench.rules._shared.wording import quote, weaker
from workbench.wire import Framing, loads

_MOST_CALLS = 2
"""Calls of an answer whose events are looked at."""
LARGEST_BODY = 200_000
"""Limit in bytes of a whole body that is looked at."""
_RULES: Mapping[ClientEffect, str] = {
    ClientEffect.RAISES: "stream.client-raises",
    ClientEffect.MISSES: "stream.client-misses",
}
_FRAMING = "stream.framing"
"""Rule of forms of lines."""
SYNTHESISED = "synthesised"
"""Framing of an imported exchange whose lines are ours, while the JSON of its events is the server's."""


class _Place(NamedTuple):
    """Where a form was found: the number of an event, -1 for a body, and the pointer in its JSON."""

    event: int
    pointer: str


def check_forms(case: RuleContext, answer: ModelResponse) -> Iterator[Finding]:
    """A finding for the known forms at each place, and each way to fail on them."""
    forms = known_answer_forms(case.decoded.protocol or "")
    if case.decoded.framing is None:
        forms = forms if any(AnswerPiece.BODY in form.pieces for form in forms) else ()
    found: dict[int, list[_Place]] = {}
    remarks: dict[_Remark, list[_Failing]] = {}
    is_framed = case.decoded.framing is Framing.SSE and case.decoded.exchange.meta.get("framing") != SYNTHESISED
    for number, form in enumerate(forms) if is_framed and case.decoded.events else ():
        first = case.decoded.events[0]
        if form.is_in(case.decoded.response_text[first.start : first.end + len(b"\r\n")]):
            found[number] = [_Place(first.number, "")]
    for event, pieces, value in _pieces(case, answer) if forms else ():
        for number, pointer in _known_forms(case.decoded.protocol or "", pieces, value):
            found.setdefault(number, []).append(_Place(event, pointer))
    for number, places in sorted(found.items()):
        if not forms[number].providers or case.contract.name in forms[number].providers:
            _add(remarks, case, forms[number], places)
    yield from (_finding(case, remark, failing) for remark, failing in remarks.items())


class _Remark(NamedTuple):
    """What forms have in common that are one finding: its rule and severity, what clients do, and where it is."""

    rule: Rule
    then: ClientEffect
    events: tuple[int, ...]
    pointer: str


_Failing: TypeAlias = tuple[AnswerForm, tuple[FailingClient, ...]]
"""A form and those who fail on it in one way."""


def _add(remarks: dict[_Remark, list[_Failing]], case: RuleContext, form: AnswerForm, places: Iterable[_Place]) -> None:
    events = tuple(sorted({place.event for place in places if place.event >= 0}))
    pointer = "" if events else next(place.pointer for place in places)
    for then in ClientEffect:
        clients = tuple(client for client in form.clients if client.then is then)
        if clients:
            rule = _rule(case, _FRAMING if form.line else _RULES[then], clients)
            remarks.setdefault(_Remark(rule, then, events, pointer), []).append((form, clients))


def _finding(case: RuleContext, remark: _Remark, failing: Sequence[_Failing]) -> Finding:
    clients = [client for _, each in failing for client in each]
    several = len({client.name for client in clients}) > 1
    if len(failing) == 1:
        text = f"{failing[0][0].words}: others read it, but {_names(clients)} {_VERBS[remark.then][several]}"
    else:
        forms = ", ".join(f"{form.words} ({_names(each)})" for form, each in failing)
        text = (
            f"{forms}: others read it, but {('this client', 'these clients')[several]} {_VERBS[remark.then][several]}"
        )
    words = dict.fromkeys(f"{client.name}: {quote(client.words)}" for client in clients if client.words)
    sources = dict.fromkeys(f"{client.source} ({client.date})" for client in clients)
    found = case.finding(remark.rule, RESPONSE, remark.pointer, text, events=remark.events, evidence="; ".join(words))
    return replace(found, source="; ".join(sources))


def _names(clients: Iterable[FailingClient]) -> str:
    return ", ".join(client.name for client in clients)


_VERBS: Mapping[ClientEffect, tuple[str, str]] = {
    ClientEffect.RAISES: ("raises an error", "raise an error"),
    ClientEffect.MISSES: ("misses a part of the response", "miss a part of the response"),
}


def _rule(case: RuleContext, slug: str, clients: Iterable[FailingClient]) -> Rule:
    """A remark; a warning if one of the clients sent the request."""
    http = case.decoded.exchange.request
    agent = (http.headers.get("user-agent") or "") if http else ""
    is_sender = any(client.agent and agent.startswith(client.agent) for client in clients)
    rule = get_rule(slug)
    return rule if is_sender else weaker(rule, Severity.INFO)


_ReadPiece: TypeAlias = tuple[int, frozenset[AnswerPiece], JsonValue]
"""Number of an event, or -1 for a whole body; what it is; its JSON."""


def _pieces(case: RuleContext, answer: ModelResponse) -> Iterator[_ReadPiece]:
    decoded = case.decoded
    if decoded.framing is None:
        if len(decoded.response_text) <= LARGEST_BODY:
            yield from _read(-1, frozenset((AnswerPiece.BODY,)), decoded.response_text)
        return
    kinds: dict[int, set[AnswerPiece]] = {}
    for number, piece in _numbers(answer, len(decoded.events)):
        kinds.setdefault(number, set()).add(piece)
    for number, pieces in sorted(kinds.items()):
        yield from _read(number, frozenset(pieces), decoded.events[number].data or b"")


def _numbers(answer: ModelResponse, count: int) -> Iterator[tuple[int, AnswerPiece]]:
    """Events that are looked at, with what they are."""
    parts = [part for message in answer.messages for part in message.parts]
    calls = [part.source.events for part in parts if isinstance(part, ToolCallIR) and part.source.events]
    texts = [part.source.events for part in parts if isinstance(part, Text) and part.source.events]
    thoughts = [part.source.events for part in parts if isinstance(part, Reasoning) and part.source.events]
    found = [(number, AnswerPiece.START) for number in range(min(1, count))]
    for events in calls[:_MOST_CALLS]:
        found += [
            (events[0], AnswerPiece.CALL_BEGINS),
            *((n, AnswerPiece.CALL_GOES_ON) for n in (*events[1:2], *events[2:][-1:])),
        ]
    found += [(number, AnswerPiece.TEXT) for events in texts[:1] for number in events[:3]]
    found += [(number, AnswerPiece.REASONING) for events in thoughts[:1] for number in events[:2]]
    found += [(number, AnswerPiece.END) for number in range(max(0, count - 3), count)]
    return (each for each in found if each[0] < count)


def _read(
    number: int, pieces: frozenset[AnswerPiece], data: bytes
) -> Iterator[tuple[int, frozenset[AnswerPiece], JsonValue]]:
    try:
        yield number, pieces, loads(data)
    except WireError:
        return


_DEEPEST = 32
"""Levels of JSON that belong to a form: no place of a form leads deeper."""
_MOST_FORMS = 512
"""Forms whose result is kept: servers have fewer."""
_result_cache: dict[tuple[str, frozenset[AnswerPiece], object], tuple[tuple[int, str], ...]] = {}
"""Protocol, kinds of a piece and its form → what was found in it. No value of an answer is kept."""


def _known_forms(protocol: str, pieces: frozenset[AnswerPiece], value: JsonValue) -> tuple[tuple[int, str], ...]:
    """(number of the form, pointer) of every known form in a piece."""
    key = protocol, pieces, _form_of(value, "")
    found = _result_cache.get(key)
    if found is None:
        if len(_result_cache) >= _MOST_FORMS:
            _result_cache.clear()
        found = _result_cache[key] = tuple(
            (number, pointer)
            for number, form in enumerate(known_answer_forms(protocol))
            if not form.pieces.isdisjoint(pieces)
            for pointer in form.places(value)
        )
    return found


def _form_of(value: JsonValue, key: str, level: int = 0) -> object:
    """Hashable; equal for values with the same members, types and known words."""
    if isinstance(value, str):
        return value if not value or key in FORM_WORDS else str
    if level < _DEEPEST and isinstance(value, dict):
        return tuple([(name, _form_of(inner, name, level + 1)) for name, inner in value.items()])
    if level < _DEEPEST and isinstance(value, list):
        return (list, *[_form_of(inner, "", level + 1) for inner in value])
    return value if value is None or isinstance(value, bool) else type(value)
