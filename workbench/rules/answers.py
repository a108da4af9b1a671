"""The answer is a message of the model, not an error in its place; such an error in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from workbench.contracts import Basis, Breaks, ErrorPlace, Finding, Severity, find_matches
from workbench.errors import WireError
from workbench.fronts import late
from workbench.ir import ApiError
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.common import read_error
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.families import get_rule
from workbench.rules._shared.wording import quote
from workbench.wire import loads

if TYPE_CHECKING:
    from workbench.protocols.refusals import KnownRefusal

cause_words, error_words, place_of, places_beside, refusal_of, who_says = late(
    "workbench.rules._shared.failure_place",
    "cause_words",
    "error_words",
    "place_of",
    "places_beside",
    "refusal_of",
    "who_says",
)

ANSWER_ERROR = Rule(
    "answer.error",
    Severity.WARNING,
    "The response is an error instead of a message.",
    breaks=Breaks.CONVERSATION,
    basis=Basis.RECORDING,
)

RULES = (ANSWER_ERROR,)

NOTHING_SAID = ApiError("")

_FAILED: Mapping[str, str] = {
    "malformed_function_call": "the model wrote a call that the provider could not read",
    "unexpected_tool_call": "the model called a tool where none is enabled, or one that is not declared",
    "too_many_tool_calls": "the model called too many tools one after the other",
    "missing_thought_signature": "a call in the history has no thought signature",
    "malformed_response": "the model wrote a response that the provider could not read",
    "malformed_tool_use": "the model wrote a call that the provider could not read",
    "malformed_model_output": "the model wrote a response that the provider could not read",
    "function_call_filter": "a content filter of the provider withheld a tool call",
}
"""Finish reason (in small letters, before a colon) → what went wrong: there is no answer to read."""


def check(case: RuleContext) -> Iterator[Finding]:
    """The error that came as a whole body; what a stream carries has a rule of its own."""
    answer = case.response
    error = answer.error if answer else NOTHING_SAID if case.status >= 400 else None
    yield from _failed_answers(case)
    if error is None or (answer and answer.is_stream):
        return
    refusal = refusal_of(error, case.decoded)
    words = error_words(case, error, refusal)
    if isinstance(error.raw, str):
        words += "; the body is not JSON"
    words += known_as(error, case.contract.name)
    place = named_place(case, error, refusal)
    if place and place.span:
        here = f"{place.pointer} of the request, bytes {place.span[0]}–{place.span[1]}"
        words += f"; provider's {quote(place.how, 80)} = {here}"
    words = "; ".join(filter(None, (words, who_says(refusal), cause_words(refusal)))) if refusal else words
    if place and place.span and ((refusal and refusal.kind.at) or place.pointer.count("/") > 1):
        found = case.finding(ANSWER_ERROR, REQUEST, place.pointer, words, evidence=evidence(error))
        beside = places_beside(refusal, place, error, case.decoded) if refusal else ()
        yield replace(found, related=beside, kind=refusal.kind.name if refusal else "", span=place.span)
        return
    found = case.finding(ANSWER_ERROR, RESPONSE, error.pointer, words, evidence=evidence(error))
    yield replace(found, kind=refusal.kind.name if refusal else "")


def _failed_answers(case: RuleContext) -> Iterator[Finding]:
    """An answer whose finish reason says that it failed."""
    answer = case.response
    reason = answer.finish_reason if answer and not answer.error else None
    what = _FAILED.get((reason or "").partition(":")[0].strip().lower())
    if answer is None or what is None:
        return
    pointer = next((at for at in _REASONS if not answer.is_stream and case.decoded.place(RESPONSE, at).span), "")
    message = f"the finish reason is {quote(reason or '', 60)}: {what}"
    yield case.finding(ANSWER_ERROR, RESPONSE, pointer, message, events=answer.finish_events)


_REASONS = (
    "/candidates/0/finishReason", "/candidates/0/finish_reason", "/choices/0/finish_reason", "/stopReason",
    "/stop_reason",
)  # fmt: skip


def named_place(case: RuleContext, error: ApiError, refusal: KnownRefusal | None) -> ErrorPlace | None:
    """The place in the request that an error names; None if the request is not at fault, or no place is named."""
    is_about_request = case.is_refused or (refusal is not None and bool(refusal.kind.at) and case.request is not None)
    return place_of(refusal, error, case.decoded, case.contract) if is_about_request else None


def check_undecoded_failure(decoded: DecodedExchange) -> tuple[Finding, ...]:
    """Why a request of a protocol failed that is not decoded: error bodies are much the same in all of them."""
    http = decoded.exchange.response
    return check_error_alone(decoded) if http and http.status >= 400 and not decoded.response else ()


def check_error_alone(decoded: DecodedExchange) -> tuple[Finding, ...]:
    """The finding on an error body of which nothing tells a protocol, and no contract: by its text alone."""
    events, error = next(_errors_alone(decoded), ((), None))
    if error is None:
        return ()
    refusal, http = refusal_of(error, decoded), decoded.exchange.response
    words = refusal.says() if refusal else "the provider returned an error instead of a message"
    if http and http.status and http.status >= 400:
        words = f"status {http.status}: {words}"
    words += known_as(error, "")
    words = "; ".join(filter(None, (words, who_says(refusal), cause_words(refusal)))) if refusal else words
    place = decoded.place_events(events) if events else decoded.place(RESPONSE, error.pointer)
    rule, pointer = (get_rule(_IN_STREAM), "") if events else (ANSWER_ERROR, error.pointer)
    return (
        Finding(rule.slug, rule.severity, decoded.index, RESPONSE, pointer, words, events=place.events,
                span=place.span, evidence=evidence(error), basis=rule.basis, kind=refusal.kind.name if refusal else ""),
    )  # fmt: skip


_IN_STREAM = "stream.error-event"


def _errors_alone(decoded: DecodedExchange) -> Iterator[tuple[tuple[int, ...], ApiError]]:
    """The error of a body, or each of a stream with the number of its event."""
    of_events: list[tuple[tuple[int, ...], bytes | None]] = [((n,), e.data) for n, e in enumerate(decoded.events)]
    for events, body in of_events or [((), decoded.response_text)]:
        try:
            error = read_error(loads(body)) if body else None
        except WireError:
            error = None
        if error:
            yield events, error


MOST_DETAILS = 3


def evidence(error: ApiError) -> str:
    """The error as it came: its code, or else its type, its message, and the texts beside it."""
    name = error.code if error.code and not error.code.isdecimal() else error.type
    words = quote(error.message.strip()) if error.message.strip() else "no error message"
    beside = (f"{quote(key, 60)}: {quote(text)}" for key, text in list(error.details.items())[:MOST_DETAILS])
    return "; ".join((f"{quote(name, 60)}: {words}" if name else words, *beside))


def known_as(error: ApiError, provider: str) -> str:
    """The rule that the error's text is known for, to be appended to a sentence; "" where it is not known.

    Args:
        provider: name of the contract, whose texts come first.
    """
    matches = find_matches(error.message)
    own = [m for m in matches if m.provider.partition(":")[0] == provider]
    return next((f"; {m.provider} uses this text for {m.rule or quote(m.when)}" for m in own or matches), "")
