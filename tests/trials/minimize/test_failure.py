"""Which failures are the same."""

from __future__ import annotations

import pytest

from workbench.ir import ApiError, ModelResponse
from workbench.trials.minimize import Failure, target_failure
from workbench.trials.minimize.failure import without_values

SAME = [
    ("messages.4: ids were found: toolu_1, toolu_2", "messages.17: ids were found: toolu_9"),
    ("Invalid 'messages[2].name': too long", "Invalid 'messages[38].name': too long"),
    ("Tool 'read' has 3 calls and `x`", "Tool 'write' has 17 calls and `yz`"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_ids_places_and_numbers_make_no_difference(one: str, two: str) -> None:
    assert without_values(one) == without_values(two)


def test_words_do() -> None:
    assert without_values("a tool is missing") != without_values("a result is missing")


def test_an_answer_that_fits_the_template_is_that_failure() -> None:
    predicted = Failure(
        "refuses", "closure.missing-result", 400, "bad", "", "message {message} has no result for {ids}"
    )
    error = ApiError("message 12 has no result for call_1 and call_2", "bad")
    assert target_failure(400, ModelResponse("openai-chat", error=error), predicted) == predicted


@pytest.mark.parametrize("status", [400, 500])
def test_an_answer_that_cannot_be_read_is_known_by_its_status(status: int) -> None:
    assert target_failure(status, None, None) == Failure("refuses", status=status)


def test_what_goes_through_fails_only_where_the_contract_is_doubtful() -> None:
    doubtful = Failure("suspicious", "args.invalid-json")
    assert target_failure(200, ModelResponse("openai-chat"), doubtful) == doubtful
    assert target_failure(200, ModelResponse("openai-chat"), Failure("refuses", "x", 400)) is None
    assert target_failure(200, None, None) is None


def test_a_failure_says_itself_in_one_line() -> None:
    assert str(Failure("refuses", "closure.orphan-result", 400, "invalid_request_error")) == (
        "refuses · 400 · invalid_request_error · closure.orphan-result"
    )
    twice = Failure("refuses", "reasoning.missing", 400, "invalid_request_error", "invalid_request_error")
    assert str(twice) == "refuses · 400 · invalid_request_error · reasoning.missing"
