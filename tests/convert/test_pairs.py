"""A → IR → B → IR is the same conversation up to the losses, for every ordered pair of protocols that can be written.

The pairs are those of ``adapters.every()``: a new protocol joins by itself.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.convert import laws
from workbench import testing

FEW = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
SOURCES = laws.names()


def others(source: str) -> list[str]:
    return [name for name in SOURCES if name != source]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("source", SOURCES)
def test_requests_say_the_same_up_to_the_losses(source: str) -> None:
    @FEW
    @given(testing.request_bodies(source))
    def holds(body: bytes) -> None:
        for target in others(source):
            laws.check(body, source, target, "request")

    holds()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("source", SOURCES)
def test_ids_return_with_the_map_undone(source: str) -> None:
    @FEW
    @given(testing.request_bodies(source, noise=False))
    def holds(body: bytes) -> None:
        for target in others(source):
            laws.check_ids_return(body, source, target)

    holds()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("source", SOURCES)
def test_answers_say_the_same_up_to_the_losses(source: str) -> None:
    @FEW
    @given(testing.answer_bodies(source))
    def holds(body: bytes) -> None:
        for target in others(source):
            laws.check(body, source, target, "response")

    holds()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("source", SOURCES)
def test_streams_say_the_same_up_to_the_losses_however_they_are_cut(source: str) -> None:
    @FEW
    @given(testing.streams(source), st.data())
    def holds(body: bytes, data: st.DataObject) -> None:
        pieces = data.draw(testing.chunked(body))
        assert b"".join(pieces) == body
        for target in others(source):
            laws.check(body, source, target, "response")

    holds()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("source", SOURCES)
def test_the_same_protocol_is_the_same_bytes(source: str) -> None:
    @FEW
    @given(testing.request_bodies(source), testing.streams(source))
    def holds(request: bytes, answer: bytes) -> None:
        from workbench.convert import convert

        assert convert(request, source, protocol=source).body == request
        if answer:
            assert convert(answer, source, protocol=source, side="response").body == answer

    holds()
