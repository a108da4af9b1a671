"""Parameters of a request: refused, missing, or taken without any effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from workbench import regex
from workbench.chain import Closure, Conversation, Ledger
from workbench.contracts import Breaks, Contract, Finding, Severity, dotted_path, matches
from workbench.ir import JsonValue
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules._body import base, is_there, values
from workbench.rules._reasoning import is_off
from workbench.rules.context import Rule, RuleContext
from workbench.rules.gateway import betas
from workbench.rules.wording import by_term, enforced_exactly, quote
from workbench.wire import Origin, dumps

UNSUPPORTED = Rule(
    "params.unsupported", Severity.WARNING, "A parameter or value the provider does not accept.", breaks=Breaks.REQUEST
)
MISSING = Rule(
    "params.missing", Severity.WARNING, "A parameter the provider requires is absent.", breaks=Breaks.REQUEST
)
IGNORED = Rule("params.ignored", Severity.INFO, "A parameter that the provider accepts and ignores.", is_advice=True)

RULES = (UNSUPPORTED, MISSING, IGNORED)

_LIMITS = ("below", "above", "not-below")
"""Conditions on numbers. ``not-below`` is what is at ``not-below-at``."""

_COUNTING = regex.compile(r"(?:/count_tokens|:countTokens)/?(?:[?#]|$)")
"""Requests that are counted and not answered: what an answer needs they may leave out."""


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the parameters of the request, as far as the contract knows them."""
    if case.request is None or case.decoded.exchange.origin is Origin.RECONSTRUCTED:
        return
    for entry in _entries(case, "params.refused"):
        if isinstance(entry, Mapping):
            yield from _check_refused(case, entry)
    yield from _limits(case)
    yield from _missing(case)
    yield from _check_ignored(case, "params.ignored")
    if not is_off(case):
        yield from _check_ignored(case, "params.ignored-while-thinking")


def refusals(decoded: DecodedExchange, contract: Contract) -> Iterator[Finding]:
    """Parameters of a request that are known to be refused, whatever was recorded before it."""
    case = RuleContext(decoded, contract, Closure(), Ledger(), Conversation(-1))
    for finding in check(case) if decoded.request else ():
        if finding.rule == UNSUPPORTED.slug and finding.severity is Severity.ERROR and finding.pointer:
            yield finding


def _entries(case: RuleContext, term: str) -> list[JsonValue]:
    value = case.contract.term(term)
    return value if isinstance(value, list) else []


def _check_refused(case: RuleContext, entry: Mapping[str, Any]) -> Iterator[Finding]:
    model = case.request.model if case.request else None
    if "models" in entry and not matches(model, tuple(entry["models"])):
        return
    if "without-beta" in entry and any(fnmatchcase(name, entry["without-beta"]) for _, name in betas(case)):
        return
    entry = _comparison(case.decoded, entry)
    meant = [(at, value) for at, value in values(case.decoded, entry["at"]) if _is_meant(entry, value)]
    for pointer, value in meant if meant and _holds(case.decoded, entry.get("with")) else ():
        path, when = dotted_path(pointer[len(base(case.decoded)) :]), entry.get("when", "")
        text = f"{path} {quote(_shown_value(value))} is refused here{_because(entry)}"
        said = {
            **_path_values(path),
            "found": _shown_value(value),
            "value": _shown_value(value),
            "role": _shown_value(value),
        }
        around = pointer.rpartition("/")[0]
        span = case.decoded.place(REQUEST, around).span if around else None
        said["definition"] = case.decoded.request_text[slice(*span)].decode("utf-8", "replace") if span else ""
        for limit in (key for key in _LIMITS if key in entry):
            said["limit"] = said["most"] = str(entry[limit])
        yield by_term(case, UNSUPPORTED, "params.refused", pointer, text, when=when, values=said)


def _comparison(decoded: DecodedExchange, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """The condition, where it compares two fields, with what the other one says; nothing is refused without that."""
    if "not-below-at" not in entry:
        return entry
    said = (v for _, v in values(decoded, entry["not-below-at"]) if isinstance(v, int) and not isinstance(v, bool))
    other = next(said, None)
    return {**entry, "not-below": other} if other is not None else {**entry, "in": []}


def _limits(case: RuleContext) -> Iterator[Finding]:
    """Sizes of the whole request."""
    counted = (
        ("limits.body-bytes", "bytes", base(case.decoded), case.decoded.request_body.size),
        ("limits.messages", "messages", "/messages", len(case.decoded.messages(REQUEST))),
    )
    for term, what, pointer, found in counted:
        most = case.contract.term(term)
        if isinstance(most, int) and found > most:
            said = {"limit": str(most), "found": str(found), "length": str(found)}
            text = f"the request has {found:,} {what}, at most {most:,}"
            yield by_term(case, UNSUPPORTED, term, pointer, text, when=term.partition(".")[2], values=said)


def _is_meant(entry: Mapping[str, Any], value: JsonValue) -> bool:
    """The value is one of those that the condition names."""
    if "is" in entry:
        return _same(value, entry["is"])
    if "in" in entry:
        return any(_same(value, one) for one in entry["in"])
    if "not-in" in entry:
        return not any(_same(value, one) for one in entry["not-in"])
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if "below" in entry:
        return is_number and value < entry["below"]
    if "not-below" in entry:
        return is_number and value >= entry["not-below"]
    return "above" not in entry or (is_number and value > entry["above"])


def _holds(decoded: DecodedExchange, condition: Mapping[str, Any] | None) -> bool:
    if condition is None:
        return True
    there = [value for _, value in values(decoded, condition["at"])]
    if "absent" in condition:
        return condition["absent"] is not bool(there)
    return any(_is_meant(condition, value) for value in there)


def _same(one: JsonValue, other: JsonValue) -> bool:
    """Equal as JSON: true is not 1."""
    return bool(one == other) and isinstance(one, bool) is isinstance(other, bool)


def _because(entry: Mapping[str, Any]) -> str:
    """Reason why the value is wrong, if the value alone does not show it."""
    limit = next((f": it is {key.replace('-', ' ')} {entry[key]}" for key in _LIMITS if key in entry), "")
    limit += f", which {dotted_path(entry['not-below-at'])} says" if "not-below" in entry else ""
    there = entry.get("with")
    if not there:
        return limit
    beside = dotted_path(there["at"].replace("/*", ""))
    return f" {'without' if there.get('absent') else 'beside'} {beside}{limit}"


def _shown_value(value: JsonValue) -> str:
    return value if isinstance(value, str) else dumps(value).decode("utf-8", "replace")


def _path_values(path: str) -> dict[str, str]:
    name = path.rpartition(".")[2]
    return {"path": path, "field": name, "name": name, "param": path}


def _missing(case: RuleContext) -> Iterator[Finding]:
    http = case.decoded.exchange.request
    if http is None or _COUNTING.search(http.url):
        return
    for pointer in _entries(case, "params.required"):
        if is_there(case.decoded, str(pointer)) or (pointer == "/model" and case.request and case.request.model):
            continue  # the URL may name the model
        path = dotted_path(str(pointer))
        when = next((w for w in (path, "") if enforced_exactly(case, MISSING, w)), "")
        text, at = f"{path} is required but missing", base(case.decoded) + str(pointer)
        yield by_term(case, MISSING, "params.required", at, text, when=when, values=_path_values(path))


def _check_ignored(case: RuleContext, term: str) -> Iterator[Finding]:
    fact = case.contract.terms.get(term)
    for name in _entries(case, term):
        pointer = name if str(name).startswith("/") else "/" + str(name).replace(".", "/")
        for at, value in values(case.decoded, pointer):
            path = dotted_path(at[len(base(case.decoded)) :])
            text = f"{path} {quote(_shown_value(value))} has no effect: the provider accepts and ignores it"
            source = f"{fact.source} ({fact.date})" if fact else ""
            evidence = fact.note if fact else ""
            yield case.finding(IGNORED, REQUEST, at, text, source=source, evidence=evidence)
