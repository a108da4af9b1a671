"""Check bodies against the grammar of their protocol: unknown keys, wrong types and absent keys at any depth.

Other families know more about a place: if one of them has a finding there, this one has none. A difference from
official types is a warning; it is an error if the contract states that the provider refuses such a difference there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from workbench import contracts, regex
from workbench.contracts import Basis, Finding, Severity, dotted_path
from workbench.errors import WireError
from workbench.ir import HISTORIES, JsonValue, Message
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import (
    REQUEST,
    DecodedExchange,
    MessageShape,
    asked_by_shape,
    fact,
    grammars,
    shape_of,
    text_of,
    traits,
)
from workbench.rules._shared.acceptance import accepted_by, is_answered
from workbench.rules._shared.announced_betas import betas
from workbench.rules._shared.answer_grammar import of_answer
from workbench.rules._shared.body_values import base, fact_of_fields, fields, list_key, top
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.families import get_rule
from workbench.rules._shared.nodes import is_in
from workbench.rules._shared.wording import quote, quote_json, show_value, with_related
from workbench.rules.relations import accepted_fields
from workbench.wire import CONNECTION, loads

RULES: tuple[Rule, ...] = ()

MOST = 24
"""Faults of a request that are reported."""

_SHAPES = (
    *("content.shape", "content.image-in-result", "content.unsupported-part"),
    *("schema.malformed", "schema.missing-parameters", "schema.tool-type", "params.missing", "choice.unsupported"),
)
"""Rules about an object as a whole."""
_DATE = regex.compile(r"(20\d\d)-?([01]\d)-?([0-3]\d)(?!\d)")
_PLAIN = regex.compile(r"[-_]")
_TOOLS = ("tools", "functions", "toolConfig/tools")
_CHOICES = ("tool_choice", "function_call", "toolConfig", "tool_config")
_PART = regex.compile(r"/(?:content|parts|output)/(?:\d+/(?:content/\d+/)?)?type$")
"""The type of a part of a message, below the list of messages."""
_ALWAYS_THERE = ("role", "name", "function", "parameters")
"""Keys that every provider of a protocol requires in a message or a tool."""


class _PlacedFault(NamedTuple):
    """A fault, with its absolute pointer."""

    fault: grammars.ShapeFault
    pointer: str


def review(case: RuleContext, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, and differences from the grammar at places where there are none."""
    found = _without_doubles(list(findings))
    yield from of_answer(case, found)
    grammar = _grammar(case)
    if grammar is None:
        yield from found
        return
    own = [finding for group in _groups(case, grammar, found) for finding in _finding(case, grammar, group)]
    places = {pointer for finding in own for pointer in (finding.pointer, *finding.related)}
    yield from (finding for finding in found if not (_is_note(finding) and finding.pointer in places))
    yield from own


def _without_doubles(findings: list[Finding]) -> list[Finding]:
    """The findings without notes of decoders on places where a fact of the contract reports the same rule."""
    stated = {(f.rule, f.pointer) for f in findings if f.side == REQUEST and f.source}
    if not stated:
        return findings
    return [f for f in findings if not (_is_note(f) and (f.rule, f.pointer) in stated)]


def _groups(case: RuleContext, grammar: grammars.BodyGrammar, found: list[Finding]) -> Iterator[list[_PlacedFault]]:
    """Faults where no finding speaks; the places of one unknown key together."""
    of_request = [f for f in found if f.side == REQUEST and (_is_break(f) or f.rule == "params.ignored")]
    grouped: dict[tuple[str, ...], list[_PlacedFault]] = {}
    for each in _faults(case, grammar):
        fault = each.fault
        if not any(_speaks(finding, each) for finding in of_request):
            key = (fault.holder, fault.name) if fault.code == grammars.UNKNOWN_KEY else (each.pointer, fault.name)
            grouped.setdefault((fault.code, *key), []).append(each)
    yield from list(grouped.values())[:MOST]


def _is_break(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO and finding.breaks is not None


def is_kept(case: RuleContext) -> bool:
    """True if the request conforms to the grammar, or is not checked against it: there are no findings here."""
    grammar = _grammar(case)
    return grammar is None or not any(True for _ in _faults(case, grammar))


def _grammar(case: RuleContext) -> grammars.BodyGrammar | None:
    """The grammar that a request is held to; None if it is to none: what was accepted is right."""
    was_sent = case.request is not None and not case.decoded.exchange.is_transcript
    if not was_sent or accepted_by(case.decoded) or _was_taken(case) or _is_prompt(case):
        return None
    return grammars.grammar_of(case.decoded.protocol or "", case.contract.name)


def _is_prompt(case: RuleContext) -> bool:
    """One text in place of a list of messages: the body of another maker's models at the same URL."""
    return case.request is not None and bool(case.request.messages) and not list_key(case.decoded)


def _was_taken(case: RuleContext) -> bool:
    """A turn of a recorded connection that the server answered: it took the session as it was."""
    return CONNECTION in case.decoded.exchange.meta and is_answered(case.response)


def request_faults(decoded: DecodedExchange, provider: str) -> list[tuple[str, grammars.ShapeFault]]:
    """(pointer, fault) of everything in a request that differs from the grammar, whatever other rules find."""
    grammar = grammars.grammar_of(decoded.protocol or "", provider)
    return (
        []
        if grammar is None
        else [(base(decoded) + f.pointer, f) for f in _of_fields(decoded, grammar)]
        + [
            (message.pointer + fault.pointer, fault)
            for message in decoded.messages(REQUEST)
            for fault in _of_message(message, grammar, list_key(decoded))
        ]
    )


def _faults(case: RuleContext, grammar: grammars.BodyGrammar) -> Iterator[_PlacedFault]:
    decoded = case.decoded
    known = {*(case.contract.term("params.fields") or ()), *accepted_fields(case)}
    for fault in fact_of_fields(decoded, _of_fields, grammar):
        is_field = fault.code == grammars.UNKNOWN_KEY and fault.pointer == f"/{fault.name}"
        if not (is_field and fault.name in known):
            yield _PlacedFault(fault, base(decoded) + fault.pointer)
    key = list_key(decoded)
    if grammar.request_kind(key) is None:
        return
    for message, faults in _in_messages(case, grammar, key):
        yield from (_PlacedFault(fault, message.pointer + fault.pointer) for fault in faults)


def _in_messages(
    case: RuleContext, grammar: grammars.BodyGrammar, key: str
) -> Iterator[tuple[Message, tuple[grammars.ShapeFault, ...]]]:
    messages = case.messages
    if messages and text_of(messages[0]) is not None:
        for _, message in case.suspects(_has_faults, grammar, key):
            yield message, _faults_of(message, grammar, key)
        return
    listed = next((value for name, value in top(case.decoded, key) if name == key), None)
    for number, message in enumerate(messages):
        if (
            isinstance(listed, list)
            and message.pointer == f"{base(case.decoded)}/{key}/{number}"
            and number < len(listed)
        ):
            yield message, _check_message(grammar, key, listed[number])


def _may_have_faults(shape: MessageShape, grammar: grammars.BodyGrammar, key: str) -> bool:
    """False if no message of a shape has faults, whatever its texts: the grammar admits any text in it."""
    return bool(_check_message(grammar.of_shapes(), key, shape.skeleton))


@asked_by_shape(_may_have_faults)
def _has_faults(message: Message, grammar: grammars.BodyGrammar, key: str) -> bool:
    return bool(_faults_of(message, grammar, key))


def _faults_of(message: Message, grammar: grammars.BodyGrammar, key: str) -> tuple[grammars.ShapeFault, ...]:
    return fact(message, _of_message, grammar, key) if fact(shape_of(message), _may_have_faults, grammar, key) else ()


def _of_message(message: Message, grammar: grammars.BodyGrammar, key: str) -> tuple[grammars.ShapeFault, ...]:
    try:
        return _check_message(grammar, key, loads(text_of(message) or b"null"))
    except WireError:
        return ()


def _check_message(grammar: grammars.BodyGrammar, key: str, value: JsonValue) -> tuple[grammars.ShapeFault, ...]:
    kind = _element(grammar.request_kind(key))
    return () if kind is None or value is None else tuple(grammar.faults(kind, value, "", grammar.request))


def _element(kind: object) -> object:
    """Type of the elements of a list, which may be one of several types."""
    arms = kind[1:] if isinstance(kind, list) and kind[0] == "|" else [kind]
    element_types = [arm[1] for arm in arms if isinstance(arm, list) and arm[0] == "[]"]
    if len(element_types) < 2:
        return element_types[0] if element_types else None
    return [
        "|",
        *(each for one in element_types for each in (one[1:] if isinstance(one, list) and one[0] == "|" else [one])),
    ]


def _of_fields(decoded: DecodedExchange, grammar: grammars.BodyGrammar) -> tuple[grammars.ShapeFault, ...]:
    """Faults of the fields beside the messages, with pointers from the body."""
    faults = grammar.faults(f"#{grammar.request}", fields(decoded))
    return tuple(
        fault
        for fault in faults
        if fault.pointer or fault.code != grammars.MISSING  # contracts list the fields that a request needs
    )


def _is_note(finding: Finding) -> bool:
    """A decoder noticed that it cannot read a value, and no fact is known of it: the grammar knows more."""
    is_plain = finding.rule == "content.shape" and finding.severity is Severity.WARNING
    return is_plain and finding.side == REQUEST and not finding.source


def _speaks(finding: Finding, placed_fault: _PlacedFault) -> bool:
    """A finding is about the same place. What the grammar says there is said in place of a note."""
    if finding.pointer == placed_fault.pointer and _is_note(finding):
        return False
    if is_in(finding.pointer, placed_fault.pointer):
        return bool(placed_fault.pointer) or placed_fault.fault.code != grammars.MISSING or finding.rule in _SHAPES
    holder = placed_fault.pointer.rpartition("/")[0]
    return finding.pointer == holder != "" and finding.rule in _SHAPES


def _finding(case: RuleContext, grammar: grammars.BodyGrammar, group: list[_PlacedFault]) -> Iterator[Finding]:
    (fault, pointer), *others = group
    there = None if fault.code in (grammars.MISSING, grammars.TOO_MANY) else _value_at(case, pointer)
    value = "" if there is None else show_value(there)
    votes = _votes(case, grammar, fault, pointer, there)
    severity = Severity.WARNING if votes else _severity(case, grammar, fault, pointer, value)
    if severity is None:
        return
    path, term, types = dotted_path(pointer), _term(fault), f"{grammar.label} ({grammar.date})"
    contract_fact = case.contract.terms.get(term) if severity is Severity.ERROR else None
    source = f"{contract_fact.source} ({contract_fact.date}); {types}" if contract_fact else types
    values = {"path": path, "field": fault.name, "name": fault.name, "found": value, "value": value}
    rule = get_rule(_slug(fault, pointer[len(base(case.decoded)) :], value))
    text = _text(fault, path, there) + (f"; {votes} of the providers that state a limit refuse it" if votes else "")
    finding = case.finding(rule, REQUEST, pointer, text, source=source, values=values)
    if severity is not Severity.ERROR or not (
        fault.code == grammars.UNKNOWN_KEY and finding.check and not finding.check.when
    ):
        finding = replace(finding, check=None, refusal="")
    finding = replace(finding, severity=severity, fact=term if contract_fact else "")
    finding = replace(finding, basis=Basis.COMMON) if votes else finding
    yield with_related(finding, (each.pointer for each in others)) if others else finding


def _value_at(case: RuleContext, pointer: str) -> JsonValue:
    span = case.decoded.place(REQUEST, pointer).span
    return loads(case.decoded.request_text[slice(*span)]) if span else None


FEWEST_VOTES = 3
"""Number of providers that have to state a limit before it counts as one of the protocol."""


def _votes(
    case: RuleContext, grammar: grammars.BodyGrammar, fault: grammars.ShapeFault, pointer: str, value: JsonValue
) -> int:
    """Number of providers that limit a parameter, if each of them refuses a value of which this one says nothing.

    Servers that anyone can run have no fixed address: they take what their operator lets them take.
    """
    is_value = fault.code == grammars.WRONG_VALUE or (
        fault.code == grammars.BEYOND_LIMIT and isinstance(value, int | float)
    )
    if grammar.provider == case.contract.name or not is_value or pointer.count("/") > 1 or base(case.decoded):
        return 0
    if case.contract.name not in contracts.endpoints():
        return 0
    saying = [
        known
        for known in grammars.own_grammars(case.decoded.protocol or "")
        if fault.name in known.object(known.request).limits
        or (fault.code == grammars.WRONG_VALUE and grammars.states_values(known.request_kind(fault.name)))
    ]
    is_refused = all(known.member_faults(fault.name, value) for known in saying)
    return len(saying) if len(saying) >= FEWEST_VOTES and is_refused else 0


def _severity(
    case: RuleContext, grammar: grammars.BodyGrammar, fault: grammars.ShapeFault, pointer: str, value: str
) -> Severity | None:
    """How much a fault weighs; None if nothing is to be said."""
    place = pointer[len(base(case.decoded)) :]
    is_of_sdk = place[1:] in traits(case.decoded.protocol).sdk_fields
    if fault.code == grammars.NULL or is_of_sdk or _is_listed(case, "shapes.ignored", place):
        return None
    is_ignored = fault.code == grammars.UNKNOWN_KEY and case.contract.term("params.unknown-fields") == "ignored"
    if is_ignored and place.count("/") == 1 and not _similar_key(fault):
        return None
    if _is_listed(case, _term(fault), place):
        return Severity.WARNING if _is_newer(case, grammar) else Severity.ERROR
    if grammar.is_lenient and fault.code == grammars.UNKNOWN_KEY and not _similar_key(fault):
        return None
    if grammar.provider != case.contract.name and not _is_plain_mistake(fault, value, case.decoded.protocol or ""):
        return None
    return Severity.WARNING


def _term(fault: grammars.ShapeFault) -> str:
    if fault.code == grammars.MISSING:
        return "shapes.required-keys"
    if fault.code in (grammars.WRONG_VALUE, grammars.BEYOND_LIMIT):
        return "shapes.refused-values"
    return "shapes.refused-keys" if fault.code == grammars.UNKNOWN_KEY else "shapes.refused-types"


def _is_listed(case: RuleContext, term: str, place: str) -> bool:
    globs = case.contract.term(term)
    return isinstance(globs, list) and any(_steps(str(glob)).fullmatch(place) for glob in globs)


@cache
def _steps(glob: str) -> re.Pattern[str]:
    """Pattern of the pointers that a glob is for: ``*`` is one step, ``**`` any number of steps."""
    plain = re.escape(glob).replace(r"\*\*", ".+").replace(r"\*", "[^/]+")
    return re.compile(plain)


def _is_newer(case: RuleContext, grammar: grammars.BodyGrammar) -> bool:
    """The model, or a beta, is newer than the types."""
    names = [case.request.model or "" if case.request else "", *(name for _, name in betas(case))]
    dates = ("-".join(found.groups()) for name in names for found in _DATE.finditer(name))
    return any(date > grammar.date for date in dates)


def _is_plain_mistake(fault: grammars.ShapeFault, value: str, protocol: str) -> bool:
    """A fault that no dialect of the protocol makes right: types of its vendor are borrowed for other providers."""
    if fault.code == grammars.MISSING:
        return fault.name in _ALWAYS_THERE
    if fault.code in (grammars.WRONG_TYPE, grammars.WRONG_VALUE, grammars.BEYOND_LIMIT):
        return fault.code == grammars.WRONG_TYPE
    if fault.code == grammars.TOO_MANY:
        return True
    if fault.code == grammars.UNKNOWN_VARIANT:
        return value in grammars.tags_elsewhere(protocol)
    return bool(_similar_key(fault))


def _similar_key(fault: grammars.ShapeFault) -> str:
    """The key that was probably meant; empty if none is like it."""
    plain = {_PLAIN.sub("", key).lower(): key for key in fault.known}
    same = plain.get(_PLAIN.sub("", fault.name).lower())
    if same:
        return same
    from difflib import get_close_matches

    return next(iter(get_close_matches(fault.name, fault.known, 1, 0.86)), "")


def _slug(fault: grammars.ShapeFault, place: str, value: str) -> str:
    """The rule for a fault at a place; a text under the name that another wire has for it is no other kind of part."""
    if fault.code == grammars.UNKNOWN_KEY:
        return "gateway.unknown-field"
    first, _, rest = place[1:].partition("/")
    if place.startswith(tuple(f"/{key}" for key in _TOOLS)) and rest:
        return (
            "schema.tool-type"
            if fault.code == grammars.UNKNOWN_VARIANT and place.endswith("/type")
            else "schema.malformed"
        )
    if first in HISTORIES and rest:
        is_part = fault.code == grammars.UNKNOWN_VARIANT and _PART.search(rest) and not value.endswith("text")
        return "content.unsupported-part" if is_part else "content.shape"
    if first in _CHOICES and (rest or first != "toolConfig"):
        return "choice.unsupported"
    return "params.missing" if fault.code == grammars.MISSING else "params.unsupported"


def _text(fault: grammars.ShapeFault, path: str, value: JsonValue) -> str:
    if fault.code == grammars.UNKNOWN_KEY:
        suggestion = _similar_key(fault)
        return f"{path} is not a known field" + (f"; did you mean {quote(suggestion)}?" if suggestion else "")
    if fault.code == grammars.MISSING:
        return f"{path or 'the request'} has no {quote(fault.name)}, which is required"
    if fault.code == grammars.TOO_MANY:
        return f"{path} has {', '.join(fault.known)}; only one of them is accepted"
    if fault.code == grammars.UNKNOWN_VARIANT:
        return f"{path} {quote_json(value)} is not a known value; known: {', '.join(fault.known[:12])}"
    if fault.code == grammars.BEYOND_LIMIT:
        found = f"has {fault.found}" if fault.found else f"is {quote_json(value)}"
        return f"{path} {found}; accepted: {fault.expected}"
    expected = fault.expected or "a different value"
    return f"{path} is {quote_json(value)}: {expected} is expected"
