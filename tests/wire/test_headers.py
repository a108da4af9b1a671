from __future__ import annotations

import pytest

from workbench.wire.exchange import Headers
from workbench.wire.headers import Topic, betas, meaning


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("Request-Id", Topic.ID),
        ("x-request-id", Topic.ID),
        ("X-AMZN-RequestId", Topic.ID),
        ("anthropic-version", Topic.VERSION),
        ("OpenAI-Beta", Topic.VERSION),
        ("openai-organization", Topic.ACCOUNT),
        ("retry-after-ms", Topic.RETRY),
        ("openai-processing-ms", Topic.TIME),
        ("X-Stainless-Lang", Topic.CLIENT),
        ("x-stainless-something-new", Topic.CLIENT),
        ("X-RateLimit-Limit-Tokens_Usage_Based", Topic.LIMIT),
        ("anthropic-ratelimit-unified-5h-utilization", Topic.LIMIT),
        ("anthropic-priority-input-tokens-limit", Topic.LIMIT),
        ("x-ratelimitbysize-remaining-minute", Topic.LIMIT),
    ],
)
def test_a_known_header_has_a_topic_and_a_source(name: str, topic: Topic) -> None:
    found = meaning(name)
    assert found
    assert found.topic is topic
    assert found.words and found.source


@pytest.mark.parametrize("name", ["content-type", "x-custom", "", "x-stainless", "deratelimited"])
def test_a_header_that_is_not_known_means_nothing(name: str) -> None:
    assert meaning(name) is None


def test_betas_are_single_features_in_order() -> None:
    headers = Headers(
        (("Anthropic-Beta", "a-2025, ,b-2026 "), ("x", "c"), ("anthropic-beta", "d"), ("OpenAI-Beta", "e=v2"))
    )
    assert betas(headers) == (
        ("Anthropic-Beta", "a-2025"), ("Anthropic-Beta", "b-2026"), ("anthropic-beta", "d"), ("OpenAI-Beta", "e=v2"),
    )  # fmt: skip
