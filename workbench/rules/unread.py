"""Content that could not be decoded, and responses that are empty, incomplete or something else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench import protocols
from workbench.contracts import Basis, Breaks, Finding, Severity
from workbench.errors import WireError
from workbench.ir import HISTORIES, MILD
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, RESPONSE, TEXT, grammars
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.families import get_rule
from workbench.rules._shared.wording import quote, weaker
from workbench.wire import Framing, Headers, Origin, State, loads

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


def _rule(slug: str, severity: Severity, summary: str, basis: Basis = Basis.RECORDING) -> Rule:
    return Rule(slug, severity, summary, breaks=Breaks.CONVERSATION, basis=basis)


REQUEST_UNREAD = _rule("request.unread", WARNING, "The request could not be decoded, so it was not checked.")
ANSWER_UNREAD = _rule("answer.unread", WARNING, "The response could not be decoded, so it was not checked.")
NONE = _rule("answer.none", ERROR, "The request got no response, or an empty one.")
FOREIGN = _rule("answer.foreign", ERROR, "The response does not belong to this protocol.")
RESHAPED = _rule(
    "answer.reshaped", ERROR, "The response is wrapped in an envelope, or lacks fields or values that clients need."
)
CUT = _rule("answer.cut", ERROR, "The connection broke before the response body was complete.")
ABANDONED = _rule("answer.abandoned", INFO, "The client ended the exchange before the response was complete.")
CONTENT_TYPE = _rule(
    "answer.content-type", WARNING, "The content type of the response does not match its body.", Basis.FORM
)

RULES = (REQUEST_UNREAD, ANSWER_UNREAD, NONE, FOREIGN, RESHAPED, CUT, ABANDONED, CONTENT_TYPE)

_BY_SLUG = {rule.slug: rule for rule in RULES}
_OF_THE_END = frozenset(
    {"args.invalid-json", "args.truncated", "content.empty", "stream.finish-reason", "stream.framing"}
    | {"stream.no-terminator", "stream.truncated", "text.malformed-call", "text.unclosed-tag"}
)
"""Rules that find what an answer lacks that was broken off."""

NOT_KEPT = "the response is an empty object without any server header: it was probably not recorded"
_NO_BODY = (202, 204, 205, 304)
"""Statuses of answers that have no body, or need none (RFC 9110, 15.3 and 15.4.5)."""


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on sides that were not decoded, and on how the exchange ended."""
    is_broken_off = case.decoded.exchange.state is State.ABORTED
    for problem in case.decoded.problems:
        rule, text = _BY_SLUG[problem.slug], problem.message
        side = REQUEST if rule is REQUEST_UNREAD else RESPONSE
        text = text.removeprefix(f"{side}: ")
        if rule is FOREIGN and _is_placeholder(case):
            yield case.finding(ANSWER_UNREAD, RESPONSE, "", NOT_KEPT)
            continue
        is_partial = is_broken_off and side == RESPONSE and not _is_foreign_stream(case, rule)
        if not is_partial and text not in _noticed_slugs(case):
            yield case.finding(rule, side, problem.pointer, text, events=problem.events)
            if rule is REQUEST_UNREAD:
                yield from _foreign_history(case)
    if case.response:
        for anomaly in case.response.anomalies:
            if anomaly.slug.removesuffix(MILD) == RESHAPED.slug:
                rule = weaker(RESHAPED) if anomaly.slug.endswith(MILD) else RESHAPED
                yield case.finding(rule, RESPONSE, anomaly.pointer, anomaly.message, events=anomaly.events)
        yield from _check_content_type(case)
    if case.decoded.exchange.origin is not Origin.RECONSTRUCTED:
        yield from _ending(case)


def _is_foreign_stream(case: RuleContext, rule: Rule) -> bool:
    """The events of a stream show whose it is, wherever it ends."""
    return rule is FOREIGN and bool(case.decoded.events)


def _foreign_history(case: RuleContext) -> Iterator[Finding]:
    """The conversation under the name that it has in another protocol."""
    grammar = grammars.grammar_of(case.decoded.protocol or "")
    try:
        body = loads(case.decoded.request_text)
    except WireError:
        return
    if grammar is None or not grammar.request or not isinstance(body, dict):
        return
    own = [key for key in HISTORIES if grammar.request_kind(key) is not None]
    for key in HISTORIES if own and not any(name in body for name in own) else ():
        if key in body and key not in own:
            text = f"{key} is not a known field here: {grammar.label} expects the conversation in {own[0]}"
            yield case.finding(get_rule("gateway.unknown-field"), REQUEST, f"/{key}", text, values={"field": key})


def _is_placeholder(case: RuleContext) -> bool:
    """An empty object without one header of a server: archives have it where the answer was not kept."""
    http = case.decoded.exchange.response
    names = {name.lower() for name, _ in http.headers} if http else set()
    is_imported = case.decoded.exchange.origin is Origin.IMPORTED
    return is_imported and names <= {"content-type"} and case.decoded.response_text.strip() == b"{}"


def review(case: RuleContext, found: Iterable[Finding]) -> Iterator[Finding]:
    """Findings without those on parts of an answer that its client did not wait for."""
    is_left, last = case.decoded.exchange.is_left, len(case.decoded.events) - 1
    return (f for f in found if not (is_left and f.side == RESPONSE and (f.rule in _OF_THE_END or last in f.events)))


def _noticed_slugs(case: RuleContext) -> set[str]:
    """Slugs of the stream decoder's anomalies at the same bytes."""
    return {anomaly.message for anomaly in case.response.anomalies} if case.response else set()


def _ending(case: RuleContext) -> Iterator[Finding]:
    """End of the exchange: who broke it off, or that its body is empty."""
    exchange = case.decoded.exchange
    seen = quote(exchange.note) if exchange.note else ""
    http = exchange.response
    if exchange.is_left:
        what = "before any response arrived" if http is None else "while the response was arriving"
        yield case.finding(ABANDONED, RESPONSE, "", f"the client ended the exchange {what}", evidence=seen)
    elif exchange.state is State.ABORTED and http is None:
        yield case.finding(NONE, RESPONSE, "", "the request got no response: the connection closed", evidence=seen)
    elif exchange.state is State.ABORTED:
        yield from _cut(case, seen)
    elif http and not case.decoded.response_text.strip() and case.decoded.request:
        yield from _empty(case)


def _cut(case: RuleContext, seen: str) -> Iterator[Finding]:
    """The body was not ended. Clients that stop at the terminal event of a stream do not see that."""
    answer = case.response
    if answer and any(anomaly.slug in ("stream.truncated", "stream.no-terminator") for anomaly in answer.anomalies):
        return
    text, rule = "the connection broke before the response body was complete", CUT
    if answer and answer.is_stream and answer.is_complete and not answer.error:
        text += f"; everything up to the finish reason {quote(answer.finish_reason)} was received"
        ends_itself = not protocols.get(answer.protocol).capabilities.answer.stop_is_end
        rule = weaker(CUT) if ends_itself else CUT
    yield case.finding(rule, RESPONSE, "", text, evidence=seen)


def _empty(case: RuleContext) -> Iterator[Finding]:
    """A body without a byte, where a status promises an answer."""
    http = case.decoded.exchange.response
    request = case.decoded.exchange.request
    if http is None or not 200 <= http.status < 400 or http.status in _NO_BODY or case.decoded.problems:
        return
    if request and request.method in ("HEAD", "OPTIONS"):
        return
    if case.decoded.exchange.state is State.INCOMPLETE or _was_longer(http.headers, case.decoded.exchange.origin):
        text = "the recording contains no response body"
        yield case.finding(ANSWER_UNREAD, RESPONSE, "", text, evidence=case.decoded.exchange.note)
    elif http.status >= 300:
        where = quote(http.headers.get("location"), 200)
        text = f"status {http.status}: a redirect to {where}, which the recording does not follow"
        yield case.finding(NONE, RESPONSE, "", text)
    else:
        yield case.finding(NONE, RESPONSE, "", f"status {http.status}, and the body is empty")


def _was_longer(headers: Headers, origin: Origin) -> bool:
    """The headers tell of a body, of whatever length; of an archive, whose writer may have lost what came in chunks."""
    length = headers.get("content-length")
    if length is None:
        return origin is Origin.IMPORTED and (headers.get("transfer-encoding") or "").lower() == "chunked"
    return length.isdecimal() and int(length) > 0


def _check_content_type(case: RuleContext) -> Iterator[Finding]:
    """Clients that go by the content type read the body as another thing."""
    http, answer, framing = case.decoded.exchange.response, case.response, case.decoded.framing
    kind = (http.headers.get("content-type") or "") if http else ""
    kind = kind.partition(";")[0].strip().lower()
    if not kind or case.decoded.protocol == TEXT or not case.decoded.exchange.request or not answer or answer.error:
        return
    if "/" not in kind:  # no media type: a recorder left it out ("**REDACTED**")
        return
    is_json = kind.endswith(("/json", "+json"))
    is_right = {None: is_json, Framing.SSE: kind == "text/event-stream"}.get(framing, "html" not in kind)
    if is_right:
        return
    what = "an event stream" if framing is Framing.SSE else "JSON" if framing is None else str(framing)
    is_other = "html" in kind or (framing is None and kind == "text/event-stream")
    rule = replace(CONTENT_TYPE, severity=ERROR) if is_other else CONTENT_TYPE
    yield case.finding(rule, RESPONSE, "", f"the body is {what}, but its content type is {quote(kind, 80)}")
