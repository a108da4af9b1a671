"""Parameters of a request: too large, missing, or taken without any effect; ``relations`` finds those refused."""

from __future__ import annotations

from collections.abc import Iterator

from workbench import protocols, regex
from workbench.contracts import Breaks, Finding, Severity, dotted_path
from workbench.ir import JsonValue, ModelResponse
from workbench.protocols import REQUEST
from workbench.protocols.common import repeated_settings
from workbench.rules._shared.acceptance import host_of
from workbench.rules._shared.body_values import base, fields, is_there, reads_fields, values_at
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.reasoning import is_off
from workbench.rules._shared.wording import by_term, enforced_exactly, quote, show_value

UNSUPPORTED = Rule(
    "params.unsupported",
    Severity.WARNING,
    "The provider does not accept a parameter or its value.",
    breaks=Breaks.REQUEST,
)
MISSING = Rule(
    "params.missing", Severity.WARNING, "A parameter that the provider requires is missing.", breaks=Breaks.REQUEST
)
IGNORED = Rule("params.ignored", Severity.INFO, "The provider accepts a parameter but ignores it.", is_advice=True)

RULES = (UNSUPPORTED, MISSING, IGNORED)

_COUNTING = regex.compile(r"(?:/count_tokens|:countTokens)/?(?:[?#]|$)")
"""Requests that are counted and not answered: what an answer needs they may leave out."""


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the parameters of the request, as far as the contract knows them."""
    if case.request is None or case.decoded.exchange.is_transcript:
        return
    yield from _limits(case)
    yield from _check_fields(case)
    yield from _check_repeated(case)


def _check_repeated(case: RuleContext) -> Iterator[Finding]:
    """Settings that the response repeats with another value than the request has."""
    answer = case.response
    if answer is None or answer.error is not None:
        return
    yield from _missing_counts(case, answer)
    table = repeated_settings(case.decoded.protocol or "")
    for lost in table.losses(fields(case.decoded), answer.params) if table.is_of_answer else ():
        if table.is_repeated_by(host_of(case.decoded), lost.place):
            path = dotted_path(lost.place)
            text = f"{path} has no effect: the response reports {quote(show_value(lost.current))}"
            yield case.finding(IGNORED, REQUEST, base(case.decoded) + lost.place, text)


def _missing_counts(case: RuleContext, answer: ModelResponse) -> Iterator[Finding]:
    """The client asked for the token counts of a stream that has none."""
    request, known = case.request, protocols.traits(case.decoded.protocol)
    if request is None or not known.usage_request or not answer.is_stream or not answer.is_complete or answer.usage:
        return
    if known.counts_stream(request.params):
        name, wanted = next(iter(known.usage_request.items()))
        at = f"/{name}/{next(iter(wanted))}" if isinstance(wanted, dict) else f"/{name}"
        text = f"{dotted_path(at)} has no effect: no event of the stream has token counts"
        yield case.finding(IGNORED, REQUEST, base(case.decoded) + at, text)


@reads_fields
def _check_fields(case: RuleContext) -> Iterator[Finding]:
    """Parameters that are required but missing, or that are ignored."""
    yield from _missing(case)
    yield from _check_ignored(case, "params.ignored")
    if not is_off(case):
        yield from _check_ignored(case, "params.ignored-while-thinking")


def _entries(case: RuleContext, term: str) -> list[JsonValue]:
    value = case.contract.term(term)
    return value if isinstance(value, list) else []


def _limits(case: RuleContext) -> Iterator[Finding]:
    """Sizes of the whole request."""
    limits_found = (
        ("limits.body-bytes", "bytes", base(case.decoded), case.decoded.request_body.size),
        ("limits.messages", "messages", "/messages", len(case.messages)),
    )
    for term, what, pointer, found in limits_found:
        most = case.contract.term(term)
        if isinstance(most, int) and found > most:
            values = {"limit": str(most), "found": str(found), "length": str(found)}
            text = f"the request has {found:,} {what}, but at most {most:,} are accepted"
            yield by_term(case, UNSUPPORTED, term, pointer, text, when=term.partition(".")[2], values=values)


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
        for at, value in values_at(case.decoded, pointer):
            path = dotted_path(at[len(base(case.decoded)) :])
            text = f"{path} {quote(show_value(value))} has no effect: the provider accepts and ignores it"
            source = f"{fact.source} ({fact.date})" if fact else ""
            evidence = fact.note if fact else ""
            yield case.finding(IGNORED, REQUEST, at, text, source=source, evidence=evidence)
