from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.wire import headers
from workbench.wire.exchange import Headers
from workbench.wire.headers import Limit


def read(**values: str) -> list[Limit]:
    return list(headers.read(Headers(tuple((name.replace("_", "-"), value) for name, value in values.items()))))


def test_anthropic() -> None:
    (tokens,) = read(
        anthropic_ratelimit_input_tokens_limit="2000000",
        Anthropic_Ratelimit_Input_Tokens_Remaining="500000",
        anthropic_ratelimit_input_tokens_reset="2025-08-21T11:41:58Z",
    )
    assert (tokens.kind, tokens.limit, tokens.remaining, tokens.used) == ("input-tokens", "2000000", "500000", 0.75)
    assert tokens.reset == "2025-08-21T11:41:58Z"
    assert len(tokens.names) == 3


def test_anthropic_subscriptions_tell_what_is_spent() -> None:
    first, whole = read(
        anthropic_ratelimit_unified_5h_utilization="0.42",
        anthropic_ratelimit_unified_5h_status="allowed",
        anthropic_ratelimit_unified_status="allowed_warning",
    )
    assert (first.kind, first.used, first.status) == ("unified-5h", 0.42, "allowed")
    assert (whole.kind, whole.used, whole.status) == ("unified", None, "allowed_warning")


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens"), "tokens"),
        (("X-RateLimit-Limit", "X-RateLimit-Remaining"), "requests"),
        (("ratelimit-limit", "ratelimit-remaining"), "requests"),
        (("x-ratelimitbysize-limit-minute", "x-ratelimitbysize-remaining-minute"), "size-minute"),
        (
            ("anthropic-priority-input-tokens-limit", "anthropic-priority-input-tokens-remaining"),
            "priority-input-tokens",
        ),
    ],
)
def test_families(names: tuple[str, str], kind: str) -> None:
    (limit,) = headers.read(Headers((("date", "x"), (names[0], "100"), (names[1], "90"))))
    assert (limit.kind, limit.used) == (kind, pytest.approx(0.1))


@pytest.mark.parametrize(
    ("limit", "left"), [("0", "0"), ("many", "1"), ("1", ""), ("", ""), ("1" * 40, "1"), ("²", "1")]
)
def test_what_is_no_number_says_nothing(limit: str, left: str) -> None:
    assert Limit("x", limit, left).used is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("12", 12), ("0.5", 0.5), ("6m0s", 360), ("2ms", 0.002), ("1h2m3.5s", 3723.5), ("1d", 86400),
        ("2025-08-21T11:42:10Z", 10), ("2025-08-21T11:42:10", 10), ("Thu, 21 Aug 2025 11:42:10 GMT", 10),
        ("2025-08-21T11:00:00Z", 0), ("1755776530", 10), ("1755776530000", 10),
        ("", None), ("soon", None), ("12x", None), ("9" * 30, None), ("9999-99-99", None), ("x" * 10_000, None),
    ],
)  # fmt: skip
def test_waits(value: str, seconds: float | None) -> None:
    now = headers.moment("2025-08-21T11:42:00Z")
    found = headers.wait(value, now)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_without_a_clock_a_date_is_no_wait() -> None:
    assert headers.wait("2025-08-21T11:42:10Z", None) is None


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.text(max_size=40) | st.sampled_from(["x-ratelimit-limit-", "ratelimit-reset"]), st.text()))
)
def test_hostile_headers_are_read_too(items: list[tuple[str, str]]) -> None:
    for limit in headers.read(Headers(tuple(items))):
        assert limit.used is None or 0 <= limit.used <= 1
        headers.wait(limit.reset, 0.0)
