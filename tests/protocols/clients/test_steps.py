"""The message after each event is what a decoder that saw no more would say, whichever way one steps."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocols.clients.test_python_sdks import BLOCK_EVENTS, CHAT_DELTAS, START, block_stream, chat_stream
from workbench import protocols
from workbench.ir import ModelResponse
from workbench.protocols import StreamDecoder
from workbench.protocols.clients import steps
from workbench.protocols.clients.steps import Highlight, Steps, text_of
from workbench.wire.sse import SseEvent, read_events


def prefix(protocol: str, events: tuple[SseEvent, ...]) -> ModelResponse:
    decoder = protocols.get(protocol).stream_decoder()
    for event in events:
        decoder.feed(event)
    return decoder.result()


def agrees(protocol: str, body: bytes, order: random.Random) -> None:
    events = read_events(body)
    stepped = Steps(protocols.get(protocol), events)
    wanted = [n for n in range(len(events))]
    order.shuffle(wanted)
    for n in [*wanted, *reversed(range(len(events)))]:
        assert stepped.after(n) == prefix(protocol, events[: n + 1])


@settings(max_examples=40)
@given(st.lists(BLOCK_EVENTS, max_size=12), st.randoms(use_true_random=False))
def test_blocks(events: list[dict[str, object]], order: random.Random) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "LEAST_BETWEEN", 2)
        agrees("anthropic-messages", block_stream([START, *events]), order)


@settings(max_examples=40)
@given(st.lists(CHAT_DELTAS, max_size=9), st.randoms(use_true_random=False))
def test_chat(deltas: list[dict[str, object]], order: random.Random) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "LEAST_BETWEEN", 2)
        agrees("openai-chat", chat_stream(deltas), order)


@settings(max_examples=30)
@given(st.lists(CHAT_DELTAS, min_size=8, max_size=30), st.lists(st.integers(1, 40), max_size=5))
def test_a_stream_that_grows_is_read_on(deltas: list[dict[str, object]], sizes: list[int]) -> None:
    events = read_events(chat_stream(deltas))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "LEAST_BETWEEN", 1)
        patch.setattr(steps, "COPIES", 4)
        stepped = Steps(protocols.get("openai-chat"), ())
        for size in [*sorted(sizes), len(events)]:
            stepped.grow(events[:size])
            for n in (len(stepped) - 1, len(stepped) // 2):
                assert stepped.after(n) == prefix("openai-chat", events[: n + 1])
        assert len(stepped._copies) <= 2 * steps.COPIES + 1


def test_growth_reads_only_what_is_new() -> None:
    adapter, fed = protocols.get("openai-chat"), []
    events = read_events(chat_stream([{"content": str(n)} for n in range(50)]))

    class Counting:
        def stream_decoder(self) -> StreamDecoder:
            decoder = adapter.stream_decoder()
            honest = decoder.feed

            def feed(event: SseEvent) -> None:
                fed.append(event.number)
                honest(event)

            decoder.feed = feed  # type: ignore[method-assign]
            return decoder

    stepped = Steps(Counting(), events[:10])  # type: ignore[arg-type]
    stepped._decoder = stepped._copies[0]  # a copy would feed the original
    stepped.after(9)
    stepped.grow(events)
    stepped.after(len(events) - 1)
    assert fed == list(range(len(events)))


def test_what_an_event_added_is_lit() -> None:
    stepped = Steps(
        protocols.get("openai-chat"),
        read_events(chat_stream([{"role": "assistant"}, {"content": "hel"}, {"content": "lo"}])),
    )
    assert stepped.step(1).lit == {(0, 0): Highlight(0, 3)}
    assert stepped.step(2).lit == {(0, 0): Highlight(3, 5)}
    assert stepped.step(3).lit == {}
    assert text_of(stepped.step(2).after.messages[0].parts[0]) == "hello"


def test_a_long_stream_is_not_read_from_the_start_again(monkeypatch: pytest.MonkeyPatch) -> None:
    events = read_events(chat_stream([{"content": "x"}] * 4000))
    stepped = Steps(protocols.get("openai-chat"), events)
    stepped.after(len(events) - 1)
    fed: list[int] = []
    kind = type(stepped._decoder)
    feed = kind.feed

    def counting(self: StreamDecoder, event: SseEvent) -> None:
        fed.append(event.number)
        feed(self, event)

    monkeypatch.setattr(kind, "feed", counting)
    stepped.step(3900)
    stepped.step(3899)
    assert len(fed) < 4 * stepped._between
