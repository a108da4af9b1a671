"""Relations of a contract on a request: values, or relations between values, that the provider refuses or ignores.

What depends on the rest of the request is asked for the few values that their places and tests leave.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.chain import Conversation
from workbench.contracts import (
    COMMON_SOURCE,
    Breaks,
    Consequence,
    Contract,
    Evidence,
    Finding,
    Place,
    PlacedValue,
    Relation,
    Severity,
    Test,
    When,
    dotted_path,
    matches,
    rule_of,
)
from workbench.contracts import loading as contracts
from workbench.globs import matches_glob
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, DecodedExchange, fact
from workbench.rules._shared.announced_betas import may_announce
from workbench.rules._shared.body_values import base, fact_of_fields, list_key, reads_fields, top
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.families import get_rule
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.reasoning import is_off
from workbench.rules._shared.relation_values import (
    OnFields,
    OnMessages,
    Search,
    by_list,
    holds_near,
    is_kept,
    values_in_messages,
    values_of_fields,
)
from workbench.rules._shared.suspicion_votes import SHAPE_RULE, hopeless_suspicions
from workbench.rules._shared.wording import by_term, quote, show_value
from workbench.rules.params import IGNORED, UNSUPPORTED
from workbench.wire import CONNECTION, value_at

CONFLICT = Rule(
    "params.conflict", Severity.WARNING, "Two parameters of a request cannot be used together.", breaks=Breaks.REQUEST
)
TOOL_TYPE = Rule(
    "schema.tool-type", Severity.WARNING, "A tool has a type that the endpoint does not offer.", breaks=Breaks.REQUEST
)
DESCRIPTION = Rule(
    "schema.description",
    Severity.WARNING,
    "The provider does not accept a description in a tool declaration.",
    breaks=Breaks.REQUEST,
)
PROPERTY_NAME = Rule(
    "schema.property-name", Severity.WARNING, "The provider does not accept a property name.", breaks=Breaks.REQUEST
)
NO_TOOLS = Rule("tools.unsupported", Severity.WARNING, "The model or endpoint accepts no tools.", breaks=Breaks.REQUEST)
PART = Rule(
    "content.unsupported-part",
    Severity.WARNING,
    "This model or provider does not accept this kind of content.",
    breaks=Breaks.REQUEST,
)
IMAGE_LIMIT = Rule(
    "content.image-limit",
    Severity.WARNING,
    "An image exceeds a size limit.",
    breaks=Breaks.REQUEST,
)
MIXED = Rule(
    "content.mixed-turn",
    Severity.WARNING,
    "A message mixes text with tool calls or results, but the model accepts only one kind.",
    breaks=Breaks.REQUEST,
)
RULES = (CONFLICT, TOOL_TYPE, DESCRIPTION, PROPERTY_NAME, NO_TOOLS, PART, IMAGE_LIMIT, MIXED)
_SLUGS = frozenset(rule.slug for rule in RULES)


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings of every relation that holds for the request."""
    if case.request is None or case.decoded.exchange.is_transcript or not case.contract.relations:
        return
    yield from _on_fields(case)
    ordered = fact(case.contract, by_list)
    beside, on_lists = ordered.on_fields_beside, ordered.on_lists
    yield from _on_values(case, beside, fact_of_fields(case.decoded, values_of_fields, beside))
    if on_lists.relations:
        yield from _on_values(case, on_lists, values_of_fields(case.decoded, on_lists))
    key = list_key(case.decoded)
    if key in ordered.on_each_message:
        yield from _on_recent(case)
    if key in ordered.on_messages:
        yield from _on_messages(case, ordered.on_messages[key])


def refusals(decoded: DecodedExchange, contract: Contract) -> Iterator[Finding]:
    """Parameters of a request that are known to be refused, whatever was recorded before it."""
    case = RuleContext(decoded, contract, Conversation(-1))
    for finding in check(case) if decoded.request else ():
        if finding.rule in (UNSUPPORTED.slug, CONFLICT.slug) and finding.severity is Severity.ERROR and finding.pointer:
            yield finding


def applicable_facts(decoded: DecodedExchange, contract: Contract) -> frozenset[str]:
    """Facts of a contract that a request could break, by the names that findings give them.

    A refusal of a value is applicable if there is a value at its place and its conditions hold; one of a missing value,
    if what has to contain it is there. A check of calls, tools or messages is applicable if the request has any; one of
    the names of fields always is.
    """
    case = RuleContext(decoded, contract, Conversation(-1))
    if case.request is None:
        return frozenset()
    has_calls = any(message.tool_calls() for message in case.messages)
    needs = {"closure": has_calls, "args": has_calls, "schema": bool(case.request.tools)}
    needs |= {"content": bool(case.messages), "gateway": True}
    found = {fact_of(relation) for relation in fact(contract, _refusing) if _is_applicable(case, relation)}
    checks = (check for check in contract.enforces if needs.get(check.rule.partition(".")[0]))
    named = {fact_of(relation) for relation in fact(contract, _refusing)}
    return frozenset(found | ({_name_of(check.rule, check.when) for check in checks} - named))


def fact_of(relation: Relation) -> str:
    """The name that findings give the fact of a relation."""
    return relation.term or _name_of(rule_of(relation), relation.name)


def _name_of(rule: str, when: str) -> str:
    return f"{rule}:{when}" if when else rule


def _refusing(contract: Contract) -> tuple[Relation, ...]:
    return tuple(each for each in contract.relations if each.then == Consequence.REFUSED)


def _is_applicable(case: RuleContext, relation: Relation) -> bool:
    steps = relation.place.steps
    if relation.test.is_absent:
        is_there = len(steps) < 2 or bool(_all_at(case, Place(steps[:-1])))
        return is_there and _may_hold(case, relation)
    any_value = replace(relation, test=Test())
    roots = ({key: value} for key, value in top(case.decoded, relation.place.first))
    is_there = any(
        _has_role(relation, root, found)
        for root in roots
        for found in Search(any_value, Place((*root, *steps[1:]))).values(root)
    )
    return is_there and _may_hold(case, relation)


def _has_role(relation: Relation, root: JsonValue, found: PlacedValue) -> bool:
    """The message around a value has one of the roles that a relation is about."""
    message = value_at(root, "/".join(found.pointer.split("/")[:3])) if relation.when.role else None
    return not relation.when.role or (isinstance(message, dict) and message.get("role") in relation.when.role)


def accepted_fields(case: RuleContext) -> frozenset[str]:
    """Fields that the provider accepts under conditions that this request fulfils, whatever its list of fields says."""
    return frozenset(each.place.first for each in fact(case.contract, _accepting_fields) if _may_hold(case, each))


def _accepting_fields(contract: Contract) -> tuple[Relation, ...]:
    accepting = (each for each in contract.relations if each.then == Consequence.ACCEPTED)
    return tuple(each for each in accepting if len(each.place.steps) == 1)


@of_messages
def _on_recent(case: RuleContext) -> Iterator[Finding]:
    query = fact(case.contract, by_list).on_each_message[list_key(case.decoded)]
    fields = case.known_fields
    known: dict[int, bool] = {} if fields is None else fields.holding.setdefault(query, {})
    lost = hopeless_suspicions(case, query, _SLUGS) if is_kept(case) else ()

    def may_hold(number: int) -> bool:
        if number in lost:
            return False
        if number not in known:
            known[number] = _may_hold(case, query.relations[number])
        return known[number]

    for number, found in values_in_messages(case, query, may_hold).items():
        yield from _findings(case, query.relations[number], found)


def _on_messages(case: RuleContext, query: OnMessages) -> Iterator[Finding]:
    for number, found in values_in_messages(case, query).items():
        if _may_hold(case, query.relations[number]):
            yield from _findings(case, query.relations[number], found)


@reads_fields
def _on_fields(case: RuleContext) -> Iterator[Finding]:
    queries = fact(case.contract, by_list).on_fields
    yield from _on_values(case, queries, fact_of_fields(case.decoded, values_of_fields, queries))


def _on_values(
    case: RuleContext, query: OnFields, values: Iterable[tuple[int, list[PlacedValue]]]
) -> Iterator[Finding]:
    for number, found in values:
        if _may_hold(case, query.relations[number]):
            yield from _findings(case, query.relations[number], found)


def _may_hold(case: RuleContext, relation: Relation) -> bool:
    """The conditions on the request as a whole hold."""
    when, request = relation.when, case.request
    if request is None or (relation.models and not matches(request.model, relation.models)):
        return False
    if when.thinking and (when.thinking == "off") is not is_off(case):
        return False
    if when.stream is not None and bool(request.stream) is not when.stream:
        return False
    if when.transport and when.transport != _transport(case):
        return False
    url = _url(case)
    if when.url and not any(matches_glob(url, glob) for glob in when.url) and (url or not _may_go_there(relation)):
        return False
    is_told = relation.is_enforced or relation.evidence in (Evidence.DOCUMENTS, Evidence.DISPUTED)
    if when.without_beta and may_announce(case, when.without_beta, is_told=is_told):
        return False
    if when.beta and not may_announce(case, when.beta):
        return False
    if len(case.messages) <= when.more_messages:
        return False
    if when.more_bytes >= 0 and len(case.decoded.request_text) <= when.more_bytes:
        return False
    return all(condition.holds(_all_at(case, condition.place)) for condition in when.places if condition.place.up < 0)


def _may_go_there(relation: Relation) -> bool:
    """Whether a body without an address is suspected: by a refusal that was seen at any version of the endpoint."""
    return relation.is_enforced and not any("=" in glob for glob in relation.when.url)


def _transport(case: RuleContext) -> str:
    """How the request travelled, as ``When.transport`` names it; a body alone is taken as one of HTTP."""
    return "websocket" if CONNECTION in case.decoded.exchange.meta else "http"


def _url(case: RuleContext) -> str:
    """The URL of the request; empty for a body alone, of which nobody knows where it goes."""
    http = case.decoded.exchange.request
    return http.url if http else ""


def _all_at(case: RuleContext, place: Place) -> list[PlacedValue]:
    return [
        found
        for key, value in top(case.decoded, place.first)
        for found in Place((key, *place.steps[1:])).find({key: value})
    ]


def _findings(case: RuleContext, relation: Relation, found: list[PlacedValue]) -> Iterator[Finding]:
    """A finding on each value that is left after the tests that need more than the place."""
    compared: list[JsonValue] = []
    for word, place in relation.test.compared:
        if place.up < 0:
            others = [other.value for other in _all_at(case, place)]
            found = [each for each in found if relation.test.compares(word, each.value, others)]
            compared += others
    for each in relation.test.find_joint_faults(found):
        if relation.then == Consequence.REFUSED and _may_be_common(case, relation, each):
            yield _refusal(case, relation, each, compared)
        elif relation.then not in (Consequence.REFUSED, Consequence.ACCEPTED):
            yield _without_effect(case, relation, each)


def _may_be_common(case: RuleContext, relation: Relation, found: PlacedValue) -> bool:
    """Unless it is a suspicion that no vote can bear out: too few of those that refuse something there refuse this."""
    if not relation.source.startswith(COMMON_SOURCE) or not _is_refused_here_alone(case, relation, found):
        return True
    known, place = contracts.common_refusals(case.contract.protocol), relation.source.removeprefix(COMMON_SOURCE)

    def may_hold(when: When) -> bool:
        return _may_hold_beside(case, when, found.pointer)

    return known.may_be_refused(place, found.value, may_hold)


def _is_refused_here_alone(case: RuleContext, relation: Relation, found: PlacedValue) -> bool:
    """No other family refuses the value: of what is absent, ``shapes`` reports what a decoder noted."""
    rule = rule_of(relation)
    is_silent = found.value is None and all(each.pointer != found.pointer for each in case.request_anomalies)
    return rule in _SLUGS or (rule == SHAPE_RULE and is_silent)


def _may_hold_beside(case: RuleContext, when: When, pointer: str) -> bool:
    """The conditions on the message around a value may hold: its role, and what is near the value."""
    steps = pointer.split("/", 3)
    number = int(steps[2]) if len(steps) > 3 and steps[2].isdecimal() else len(case.messages)
    message = case.messages[number] if number < len(case.messages) else None
    if message is None or message.pointer != "/".join(steps[:3]):
        return True
    return not (when.role and message.role not in when.role) and holds_near(message, when, f"/{steps[3]}")


def _refusal(case: RuleContext, relation: Relation, found: PlacedValue, compared: list[JsonValue]) -> Finding:
    path = dotted_path(found.pointer[len(base(case.decoded)) :])
    limit = next((str(argument) for word, argument in relation.test.single if word in _LIMITS), "")
    limit = limit or (str(compared[0]) if compared else "")
    name, value = path.rpartition(".")[2], show_value(found.value)
    values = {"path": path, "field": name, "name": name, "param": path, "found": value, "value": value, "role": value}
    values |= {"limit": limit, "most": limit} if limit else {}
    values.update(("pattern", str(argument)) for word, argument in relation.test.single if word.endswith("matches"))
    if isinstance(found.value, str | list):
        values["length"] = str(len(found.value))
    around = found.pointer.rpartition("/")[0]
    span = case.decoded.place(REQUEST, around).span if around and relation.term else None
    values["definition"] = case.decoded.request_text[slice(*span)].decode("utf-8", "replace") if span else ""
    text = _text(relation, path, value, limit)
    is_somewhere = bool(relation.when.url) and not _url(case)
    text += f" (if the request goes to {relation.when.url[0]})" if is_somewhere else ""
    if relation.term:
        return by_term(case, _rule(relation), relation.term, found.pointer, text, when=relation.name, values=values)
    source = f"{relation.source} ({relation.date})"
    finding = case.finding(
        _rule(relation), REQUEST, found.pointer, text, when=relation.name, values=values, source=source,
        evidence=relation.note,
    )  # fmt: skip
    if relation.is_enforced and not is_somewhere:
        return replace(finding, breaks=Breaks.REQUEST)
    told = f"{finding.rule}:{relation.name}"
    return replace(finding, breaks=Breaks.REQUEST, severity=Severity.WARNING, check=None, refusal="", fact=told)


def _text(relation: Relation, path: str, value: str, limit: str) -> str:
    if relation.why:
        return f"{path}: {relation.why}{_DISPUTED if relation.evidence == Evidence.DISPUTED else ''}"
    if relation.test.is_absent:
        return f"{path} is required here but missing{_beside(relation)}"
    word = next((word for word, _ in relation.test.single if word in _LIMITS), "")
    limit_text = f": the value is {_LIMITS[word]} {limit}" if word and limit else ""
    compared = next((dotted_path(str(place)) for _, place in relation.test.compared), "")
    limit_text = f": the value must be below {limit}, the value of {compared}" if compared and limit else limit_text
    where = _WHERE.get(relation.evidence, "here")
    return f"{path} {quote(value)} is refused {where}{_beside(relation)}{limit_text}"


_DISPUTED = " according to reports, but a later recording shows that it is accepted"
_WHERE = {
    Evidence.DISPUTED: f"here{_DISPUTED}",
    Evidence.SIBLING: "by this provider in another protocol",
    Evidence.MODEL: "by the provider of this model",
    Evidence.FAMILY: "by other models of this family",
}
"""Evidence of a refusal that nobody saw here → where it was seen."""
_LIMITS = {
    "above": "above",
    "below": "below",
    "longer": "longer than",
    "shorter": "shorter than",
    "bytes-above": "more bytes than",
}


_TRANSPORT_WORDS = {"http": "HTTP", "websocket": "a WebSocket"}


def _beside(relation: Relation) -> str:
    """The transport, or the first condition on another place, in words."""
    if relation.when.transport:
        return f" over {_TRANSPORT_WORDS[relation.when.transport]}"
    first = next((each for each in relation.when.places if each.place.up < 0), None)
    if first is None:
        return ""
    beside = dotted_path(str(first.place).replace("/*", ""))
    return f" {'without' if first.test.is_absent else 'together with'} {beside}"


def _without_effect(case: RuleContext, relation: Relation, found: PlacedValue) -> Finding:
    path = dotted_path(found.pointer[len(base(case.decoded)) :])
    effect = "ignores the field" if relation.then == Consequence.IGNORED else "changes the value"
    text = f"{path}: {relation.why}" if relation.why else (
        f"{path} {quote(show_value(found.value))} has no effect: the provider accepts and {effect}"
    )  # fmt: skip
    source = f"{relation.source} ({relation.date})"
    return case.finding(IGNORED, REQUEST, found.pointer, text, source=source, evidence=relation.note)


def _rule(relation: Relation) -> Rule:
    """The rule that reports a relation, at the severity that its evidence allows."""
    slug = rule_of(relation)
    return next((rule for rule in RULES if rule.slug == slug), None) or get_rule(slug)
