"""The answer is a message of the model, not an error in its place."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.decode import RESPONSE
from workbench.ir import ApiError
from workbench.rules._case import Case, Rule
from workbench.rules._error_place import named
from workbench.rules._finding import Finding, Severity
from workbench.rules._provider_error import evidence, kind, known_as
from workbench.rules._words import quote

ANSWER_ERROR = Rule("answer.error", Severity.WARNING, "The answer is an error instead of a message.")

RULES = (ANSWER_ERROR,)

NOTHING_SAID = ApiError("")


def check(case: Case) -> Iterator[Finding]:
    """The error that came as a whole body; what a stream brings has a rule of its own."""
    answer = case.response
    error = answer.error if answer else NOTHING_SAID if case.status >= 400 else None
    if error is None or (answer and answer.is_stream):
        return
    said = kind(error, case.status) or "an error came in place of a message"
    if case.status >= 400:
        said = f"status {case.status}: {said}"
    if isinstance(error.raw, str):
        said += ", and the body is no JSON"
    said += known_as(error, case.contract.name)
    place = named(error, case.decoded, case.contract) if case.is_refused else None
    if place and place.span:
        said += f"; {quote(place.how, 80)} is {place.pointer} of the request, bytes {place.span[0]}–{place.span[1]}"
    yield case.finding(ANSWER_ERROR, RESPONSE, error.pointer, said, evidence=evidence(error))
