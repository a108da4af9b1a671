"""Fields, cache marks and betas that a gateway passed on to a backend that does not accept them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.chain import marks
from workbench.contracts import Breaks, Contract, Finding, Severity, dotted_path
from workbench.globs import matches_glob
from workbench.ir import Message
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, MessageShape, asked_by_shape, fact, traits
from workbench.provenance import escape
from workbench.rules._shared.announced_betas import betas
from workbench.rules._shared.body_values import base, reads_fields
from workbench.rules._shared.context import BETA, VERSION, Rule, RuleContext
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.wording import as_unproved, by_term, of_role, quote, weaker, with_related
from workbench.rules.relations import accepted_fields

WARNING = Severity.WARNING

UNKNOWN_FIELD = Rule(
    "gateway.unknown-field", WARNING, "A field that the backend does not know is forwarded.", breaks=Breaks.REQUEST
)
CACHE_LIMIT = Rule("gateway.cache-limit", WARNING, "The request has too many cache breakpoints.", breaks=Breaks.REQUEST)
BETA_HEADER = Rule("gateway.beta-header", WARNING, "The backend refuses a beta header.", breaks=Breaks.REQUEST)

RULES = (UNKNOWN_FIELD, CACHE_LIMIT, BETA_HEADER)


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on fields, marks and headers of the request that this backend refuses."""
    if case.request is None or case.decoded.exchange.is_transcript:
        return
    yield from _unknown_fields(case)
    yield from _message_fields(case)
    yield from _cache_breakpoints(case)
    yield from _betas(case) if case.is_refused else _unrefused_betas(case)


@reads_fields
def _unknown_fields(case: RuleContext) -> Iterator[Finding]:
    if case.contract.term("params.unknown-fields") != "refused":
        return
    request, at = case.request, base(case.decoded)
    params = request.params if request else {}
    known, of_betas = case.contract.term("params.fields"), case.contract.term("params.beta-fields") or {}
    places_of_relations = fact(case.contract, _places_of_relations)
    accepted = accepted_fields(case) | traits(case.decoded.protocol).sdk_fields
    for field in params.get(at[1:], {}) if at else params:
        if (field,) in places_of_relations or field in accepted:
            continue
        pointer, values = f"{at}/{escape(field)}", {"path": field, "field": field, "name": field}
        if field in of_betas:
            yield from _beta_field(case, pointer, field, of_betas[field])
        elif known is not None and field not in known:
            text = f"the field {quote(field)} is unknown to this provider"
            found = by_term(case, UNKNOWN_FIELD, "params.fields", pointer, text, values=values)
            yield replace(found, message=f"{text}, {_consequence(found)}")


def _consequence(finding: Finding) -> str:
    """What follows from an unknown field, as far as a refusal is known."""
    return "and unknown fields are refused" if finding.check else "which reportedly refuses unknown fields"


def _beta_field(case: RuleContext, pointer: str, field: str, wanted: list[str]) -> Iterator[Finding]:
    """A field that only a beta makes known."""
    announced = [name for _, name in betas(case)]
    if any(matches_glob(name, glob) for name in announced for glob in wanted):
        return
    text = f"the field {quote(field)} needs a beta header: {' or '.join(wanted)}"
    values = {"path": field, "field": field, "name": field}
    http = case.decoded.exchange.request
    if http and http.headers.get(VERSION) is not None:
        yield by_term(case, UNKNOWN_FIELD, "params.beta-fields", pointer, text, values=values)
    else:
        text += "; the headers of this request were not recorded"
        yield as_unproved(case.finding(UNKNOWN_FIELD, REQUEST, pointer, text))


@of_messages
def _message_fields(case: RuleContext) -> Iterator[Finding]:
    """Keys of messages that their role does not have here. Refused reasoning has a rule of its own."""
    known, places_of_relations = fact(case.contract, _fields_of_roles), fact(case.contract, _places_of_relations)
    for _, message in case.suspects(_strange_keys, known) if known else ():
        for key in _strange_keys(message, known):
            if (message.pointer.split("/")[1], "*", key) in places_of_relations:
                continue
            pointer = f"{message.pointer}/{escape(key)}"
            values = {"path": dotted_path(pointer), "field": key, "name": key, "role": message.role}
            text = f"a message {of_role(message.role)} may not have the field {quote(key)}"
            yield by_term(
                case, UNKNOWN_FIELD, "content.message-fields", pointer, text, when="message-field", values=values
            )


def _places_of_relations(contract: Contract) -> frozenset[tuple[str, ...]]:
    """Places of which a relation refuses any value: it says more of them than a list of fields."""
    refused = (each for each in contract.relations if each.is_enforced and not each.when.places)
    return frozenset(each.place.steps for each in refused if not each.test.single)


def _fields_of_roles(contract: Contract) -> tuple[tuple[str, frozenset[str]], ...]:
    """(role, keys) of the messages whose keys are known; () where none are."""
    term = contract.term("content.message-fields")
    carriers = {contract.closure.call_role: contract.term("reasoning.refused-carriers") or ()}
    known = term if isinstance(term, Mapping) else {}
    return tuple((role, frozenset((*keys, *carriers.get(role, ())))) for role, keys in known.items())


def _may_have_strange_keys(shape: MessageShape, known: tuple[tuple[str, frozenset[str]], ...]) -> bool:
    value = shape.skeleton
    if not isinstance(value, dict):
        return True
    return any(value.keys() - keys - {"role"} for role, keys in known if value.get("role", role) == role)


@asked_by_shape(_may_have_strange_keys)
def _strange_keys(message: Message, known: tuple[tuple[str, frozenset[str]], ...]) -> list[str]:
    known_keys = next((keys for role, keys in known if role == message.role), None)
    return [] if known_keys is None else [key for key in _keys(message) if key not in known_keys]


def _keys(message: Message) -> list[str]:
    """The keys a message had on the wire, but for its role."""
    read = (
        (part.source.pointer + suffix).split("/")[1]
        for part in message.parts
        for suffix in part.source.fields.values() or ("",)
        if part.source.pointer + suffix
    )
    return list(dict.fromkeys((*read, *message.extra)))


def _cache_breakpoints(case: RuleContext) -> Iterator[Finding]:
    most = case.contract.term("gateway.max-cache-marks")
    if not isinstance(most, int):
        return
    found = marks(case.decoded)
    if len(found) > most:
        text = (
            f"{len(found)} cache breakpoints in the request, at most {most} are accepted: this breakpoint is one "
            "too many"
        )
        facts = {"limit": str(most), "found": str(len(found))}
        finding = by_term(case, CACHE_LIMIT, "gateway.max-cache-marks", found[most], text, values=facts)
        yield with_related(finding, found)


@reads_fields
def _unrefused_betas(case: RuleContext) -> Iterator[Finding]:
    return _betas(case)


def _betas(case: RuleContext) -> Iterator[Finding]:
    """Betas that the contract or the answer refuses, and those of the provider itself."""
    accepted, refused = case.contract.term("gateway.betas"), case.contract.term("gateway.refused-betas") or []
    own = case.contract.term("gateway.own-betas") or []
    answer = case.response.error.message if case.is_refused and case.response and case.response.error else ""
    for pointer, name in dict.fromkeys(betas(case)):
        is_refused = any(matches_glob(name, glob) for glob in refused)
        is_unknown = isinstance(accepted, list) and not any(matches_glob(name, glob) for glob in accepted)
        if is_refused or is_unknown:
            term = "gateway.refused-betas" if is_refused else "gateway.betas"
            values = {"found": name, "name": name, "value": name, "field": BETA}
            yield by_term(
                case, BETA_HEADER, term, pointer, f"{case.contract.title} refuses the beta {quote(name)}", values=values
            )
        elif name in answer:
            yield _refused_beta(case, pointer, name, answer)
        elif any(matches_glob(name, glob) for glob in own):
            yield _own_beta(case, pointer, name)


def _refused_beta(case: RuleContext, pointer: str, name: str, answer: str) -> Finding:
    """The contract does not know it, and the answer says it."""
    text = f"the response refuses the beta {quote(name)}: a gateway or the upstream does not support it"
    finding = case.finding(BETA_HEADER, REQUEST, pointer, text, evidence=f"response: {quote(answer)}")
    return replace(as_unproved(finding), severity=Severity.ERROR)


def _own_beta(case: RuleContext, pointer: str, name: str) -> Finding:
    """Nothing is wrong with it here, and a gateway that passes it on to another host of the model will be refused."""
    fact = case.contract.terms["gateway.own-betas"]
    text = f"only {case.contract.title} knows the beta {quote(name)}; other hosts of the same models refuse this beta"
    source, rule = f"{fact.source} ({fact.date})", weaker(BETA_HEADER, Severity.INFO)
    return case.finding(rule, REQUEST, pointer, text, source=source, evidence=fact.note)
