"""Recorded requests under their contracts: what went through is answered, what was refused for itself is refused."""

from __future__ import annotations

import pytest

from tests.simulator.recorded import sent
from workbench.contracts import Verdict

UNDECIDED = {
    "pydantic-ai/bedrock/test_bedrock__test_bedrock_error.yaml#1": "an unknown model",
    "pydantic-ai/google-vertex/test_multimodal_tool_returns__test_multimodal_tool_return_matrix"
    "[tool_return_content-url-image-google_vertex].yaml#4": "policy: the provider may not fetch the URL",
    "pydantic-ai/groq/test_groq__test_tool_regular_error.yaml#1": "an unknown model",
    "pydantic-ai/groq/test_groq__test_tool_use_failed_error.yaml#1": "the model's own call is what fails",
    "pydantic-ai/openai/test_multimodal_tool_returns__test_multimodal_tool_return_matrix"
    "[direct-url-audio-openai_responses].yaml#2": "the type of a file behind a URL, which is not in the request",
    "pydantic-ai/openrouter/test_openrouter__test_openrouter_errors_raised.yaml#1": "a rate limit",
    "pydantic-ai/openrouter/test_openrouter__test_openrouter_errors_raised.yaml#2": "a rate limit",
    "pydantic-ai/openrouter/test_openrouter__test_openrouter_errors_raised.yaml#3": "a rate limit",
}
"""Refused request → why that cannot be told from the request."""


@pytest.fixture(scope="module")
def requests(recordings):
    return list(sent(recordings, {}))


def test_what_went_through_is_answered(requests, stated):
    healthy = [r for r in requests if 200 <= r.status < 300]
    answered = [r for r in healthy if not r.served.is_refused]
    refused = [r for r in requests if r.status in (400, 422)]
    told = [r for r in refused if r.served.status == r.status]
    score = f"{len(answered)} of {len(healthy)} accepted ones are answered, "
    score += f"{len(told)} of {len(refused)} refused ones are refused"
    stated(f"recorded requests, sent to simulators: {score}")
    assert [r.line() for r in healthy if r.served.is_refused] == []
    assert len(healthy) > 200


def test_what_was_refused_is_refused_in_the_same_words(requests):
    refused = {r.name: r for r in requests if r.status >= 400}
    assert sorted(name for name, r in refused.items() if not r.served.is_refused) == sorted(UNDECIDED)
    for request in (r for r in refused.values() if r.served.is_refused):
        assert request.served.status == request.status, request.line()
        assert request.served.verdict is Verdict.REFUSES
        assert request.served.finding and request.served.finding.refusal[:40] == request.error[:40], request.line()
