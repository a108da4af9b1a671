"""What a provider makes of a request: one error, the first of its own order, in its own shape."""

from __future__ import annotations

from typing import Any

from workbench import rules
from workbench.contracts import Contract, EnforcedCheck, Fact, Finding, Severity, Verdict, refusal_of

FIRST = EnforcedCheck("schema.name", 422, "tools.{tool}: bad name", "a test", "2026-01")
SECOND = EnforcedCheck(
    "closure.missing-result", 400, "no result for {id}", "a test", "2026-01", type="bad_{id}", param="messages.[2].role"
)
CONTRACT = Contract("c", "C", enforces=(FIRST, SECOND))


def finding(
    check: EnforcedCheck | None, severity: Severity = Severity.ERROR, side: str = "request", **more: Any
) -> Finding:
    rule = check.rule if check else "closure.orphan-result"
    return Finding(rule, severity, 0, side, "/x", "m", check=check, **more)


def test_the_check_that_is_made_first_counts_wherever_it_fails() -> None:
    late, early = finding(FIRST, span=(90, 95)), finding(SECOND, span=(1, 5))
    assert rules.judge([early, late], CONTRACT) == rules.Judgement(Verdict.REFUSES, late)


def test_of_one_check_the_first_place_counts() -> None:
    near, far = finding(SECOND, span=(1, 5)), finding(SECOND, span=(7, 9))
    assert rules.judge([far, near], CONTRACT).finding == near


def test_what_nobody_refuses_is_suspicious() -> None:
    assert rules.judge([finding(None)], CONTRACT).verdict is Verdict.SUSPICIOUS
    assert rules.judge([finding(None, Severity.WARNING)], CONTRACT).verdict is Verdict.SUSPICIOUS


def test_answers_and_remarks_do_not_count() -> None:
    found = [finding(None, side="response"), finding(None, severity=Severity.INFO)]
    assert rules.judge(found, CONTRACT).verdict is Verdict.ACCEPTS
    assert rules.judge([], Contract("c", "C", covers=False)).verdict is Verdict.UNKNOWN


def test_the_answer_has_the_usual_shape() -> None:
    answer = refusal_of(finding(SECOND, values={"id": "call_1"}), CONTRACT)
    assert answer == rules.Refusal(
        400,
        {
            "error": {
                "message": "no result for call_1",
                "type": "bad_call_1",
                "param": "messages.[2].role",
                "code": None,
            }
        },
    )
    assert refusal_of(finding(None), CONTRACT) is None


def test_the_answer_has_the_shape_of_the_provider_and_of_the_check() -> None:
    shape = {"code": "{status}", "errors": [{"text": "said: {message}"}], "is_retryable": False}
    contract = Contract("c", "C", enforces=(FIRST,), terms={"errors.body": Fact(shape, "a test", "2026-01")})
    answer = refusal_of(finding(FIRST, values={"tool": "3"}), contract)
    assert answer == rules.Refusal(
        422, {"code": 422, "errors": [{"text": "said: tools.3: bad name"}], "is_retryable": False}
    )
    pydantic = EnforcedCheck(
        "gateway.unknown-field", 422, "extra", "a test", "2026-01", body={"detail": [{"loc": "{loc}"}]}
    )
    for pointer, loc in (
        ("/messages/5/reasoning~1content", ["body", "messages", 5, "assistant", "reasoning/content"]),
        ("/max_completion_tokens", ["body", "max_completion_tokens"]),
    ):
        broken = Finding("r", Severity.ERROR, 0, "request", pointer, "m", check=pydantic, values={"role": "assistant"})
        assert refusal_of(broken, contract) == rules.Refusal(422, {"detail": [{"loc": loc}]})
    own = EnforcedCheck("schema.name", 422, "bad", "a test", "2026-01", body={"detail": ["{message}", 1]})
    assert refusal_of(finding(own), contract) == rules.Refusal(422, {"detail": ["bad", 1]})
