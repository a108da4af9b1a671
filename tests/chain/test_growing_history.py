"""What is computed along a history that grows is what is computed for each request alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.chain import _found_keys, closure, ledger
from workbench.chain._found_keys import KeyKind, KeyTable, KeyTables, Lookup, _keys
from workbench.chain._history_keys import HistoryKeys, HistoryState
from workbench.chain.received_answers import ReceivedAnswers
from workbench.ir import (
    Anomaly,
    Carrier,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolResultIR,
)
from workbench.protocols.history import GrowingHistory, HistoryPrefix, MergedTurns, RepeatedMessage, where
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.places_of_ids import IdPlaces
from workbench.rules.reasoning_origin import UnprovedTexts
from workbench.terms import ClosureTerms, Placement, ReasoningTerms, Scope

IDS = st.sampled_from(("a", "b", "c", "d", "", None))
NAMES = st.sampled_from(("read", "write", None))
IS_SERVER = st.sampled_from((False, False, False, True))
CALL = st.builds(
    lambda i, n, s: ToolCallIR(i, n, {}, "openai", is_server=s),
    IDS,
    NAMES,
    IS_SERVER,
)
RESULT = st.builds(
    lambda i, n, s: ToolResultIR(i, (Text("done"),), name=n, is_server=s),
    IDS,
    NAMES,
    IS_SERVER,
)
PARTS = st.lists(st.one_of(CALL, RESULT, RESULT, st.just(Text("x"))), max_size=4).map(tuple)
ANY = st.builds(Message, st.sampled_from(("user", "assistant", "tool", "system")), PARTS)


@st.composite
def turn(draw: st.DrawFn, number: int) -> list[Message]:
    """A healthy turn: calls with ids of their own, and their results."""
    ids = [f"toolu_{number:018d}{n}" for n in range(draw(st.integers(1, 3)))]
    calls = tuple(ToolCallIR(i, "read", {}, "openai") for i in ids)
    results = [ToolResultIR(i, (Text("done"),)) for i in ids]
    said = Message("assistant", calls)
    if draw(st.booleans()):
        return [said, Message("user", tuple(results))]
    return [said, *(Message("tool", (result,)) for result in results)]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Turns, most of them healthy."""
    found: list[Message] = []
    for number in range(draw(st.integers(3, 8))):
        found += [draw(ANY)] if draw(st.integers(0, 2)) == 0 else draw(turn(number))
    return found


TERMS = st.builds(
    ClosureTerms,
    placement=st.sampled_from(Placement),
    results_first=st.booleans(),
    calls_last=st.booleans(),
    unique_ids=st.sampled_from(("request", "turn", "none")),
    call_role=st.sampled_from(("assistant", "")),
    result_role=st.sampled_from(("user", "tool", "")),
)


@settings(max_examples=160, deadline=None)
@given(
    histories(),
    st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24), ANY), min_size=1, max_size=10),
    ANY,
    TERMS,
    st.booleans(),
)
def test_every_request_is_read_as_if_it_were_the_first(
    messages: list[Message],
    cuts: list[tuple[int, int, Message]],
    answer: Message,
    terms: ClosureTerms,
    itemized: bool,
) -> None:
    """Requests grow, come again shorter, and leave the history for another branch of it."""
    known, tables = Interned(), KeyTables(KeyTable(is_any=False), KeyTable(is_any=True))
    bodies = [messages[:n] for n in range(len(messages) + 1)]
    for stop, at, other in cuts:
        shown = messages[:stop]
        bodies += [shown, [*shown[:at], other, *shown[at:]], messages[at:stop]]
    for body in bodies:
        prefix = known.prefix(body)
        response = ModelResponse("openai-chat", messages=(answer,))
        kept = ModelRequest("openai-chat", "m", messages=prefix, itemized=itemized)
        alone = ModelRequest("openai-chat", "m", messages=tuple(body), itemized=itemized)
        found, expected = (closure.derive(r, response, terms) for r in (kept, alone))
        assert found.lines == expected.lines
        assert [*found.flawed_lines] == [*expected.flawed_lines]
        keys, own = HistoryKeys(HistoryState("", 1), "m", prefix), HistoryKeys(HistoryState("", 1), "m", tuple(body))
        assert [*keys.items] == [*own.items]
        for kind, recent in product(KeyKind, (0, _found_keys._RECENT)):
            with patch.object(_found_keys, "_RECENT", recent):
                assert [*Lookup(keys, "a", tables).found(kind)] == [*Lookup(own, "a", tables).found(kind)]
            for n in range(1 + len(body) % 5, keys.count + 1, 5):
                for key in _keys(own, kind, n):
                    tables.of(kind)[key] = 0
        assert keys.request_key(keys.count) == own.request_key(own.count)
        assert keys.with_answer([answer]).exact == own.with_answer([answer]).exact
        assert [n for n, _ in where(prefix, has_calls)] == [n for n, m in enumerate(body) if has_calls(m)]


class Interned:
    """Messages as if they were decoded from texts."""

    def __init__(self) -> None:
        self.known = KnownMessages()
        self.numbers: dict[str, int] = {}
        self.messages: list[Message] = []

    def prefix(self, messages: list[Message]) -> HistoryPrefix:
        return self.known.read([self._text(message) for message in messages], [], self._read)

    def _text(self, message: Message) -> bytes:
        number = self.numbers.setdefault(repr(message), len(self.messages))
        if number == len(self.messages):
            self.messages.append(message)
        return b"%d" % number

    def _read(self, number: int) -> tuple[Message, tuple[Anomaly, ...]]:
        return self.messages[number], ()


REASONING = st.builds(
    lambda text, signature: Reasoning(Carrier.THINKING, text, signature),
    st.sampled_from(("a", "b", "")),
    st.sampled_from((None, "s", "t")),
)
SAID = st.builds(
    lambda parts, reasoning: Message("assistant", (*reasoning, *parts)), PARTS, st.lists(REASONING, max_size=1)
)
REASONING_TERMS = st.builds(
    ReasoningTerms,
    carriers=st.just((Carrier.THINKING,)),
    scope=st.sampled_from(Scope),
    thinking_default=st.booleans(),
    required_when=st.sampled_from(("", "on")),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[tuple[list[Message], list[Message]]]:
    """Requests and their answers: each repeats the last, now and then changed, shorter or without an answer."""
    found: list[tuple[list[Message], list[Message]]] = []
    history: list[Message] = [Message("user", (Text("go"),))]
    for number in range(draw(st.integers(2, 8))):
        if draw(st.booleans()):
            answer = Message("assistant", (*draw(st.lists(REASONING, max_size=1)), *draw(turn(number))[0].parts))
        else:
            answer = draw(SAID)
        found.append((history, [] if draw(st.integers(0, 4)) == 0 else [answer]))
        results = [ToolResultIR(part.id, ()) for part in answer.parts if isinstance(part, ToolCallIR)]
        said = draw(st.sampled_from((answer, Message("assistant", answer.parts[-1:]))))
        history = [*history, said, Message("user", (*results, *draw(st.sampled_from(((), (), (Text("more"),))))))]
        if draw(st.integers(0, 3)) == 0:
            at = draw(st.integers(0, len(history) - 1))
            others = st.one_of(ANY, SAID, st.just(Message("user", history[at].parts[:1])), st.just(history[at]))
            history = [*history[:at], *draw(st.lists(others, max_size=2)), *history[at + 1 :]]
    return found


@settings(max_examples=300, deadline=None)
@given(
    conversations(),
    st.lists(REASONING_TERMS, min_size=1, max_size=2),
    st.lists(st.sampled_from(("on", None, "off")), min_size=1, max_size=3),
    st.lists(st.booleans(), min_size=8, max_size=8),
    st.booleans(),
)
def test_reasoning_is_accounted_as_if_each_request_were_the_first(
    exchanges: list[tuple[list[Message], list[Message]]],
    terms: list[ReasoningTerms],
    thinking: list[str | None],
    again: list[bool],
    itemized: bool,
) -> None:
    """Answers arrive between the requests, and now and then some are taken back and others arrive."""
    known, received = Interned(), ReceivedAnswers()
    for number, (body, answer) in enumerate(exchanges):
        mode = thinking[number % len(thinking)]
        prefix = known.prefix(body)
        for each in terms:
            kept, alone = (
                ledger.derive(
                    ModelRequest("openai-chat", "m", messages=messages, itemized=itemized, thinking=mode),
                    None,
                    received.before(number),
                    each,
                )
                for messages in (prefix, tuple(body))
            )
            assert kept == alone
            assert [*kept.deviations] == [entry for entry in alone.entries if entry.deviates]
            assert [*kept.genuine.values()] == [entry for entry in alone.entries if entry.is_genuine]
        response = ModelResponse("openai-chat", messages=tuple(answer))
        received.add(number, response)
        if again[number % len(again)]:
            first = number // 2
            for n in range(number, first - 1, -1):
                received.drop(n)
            for n in range(first, number + 1):
                received.add(n, replace(response, messages=tuple(exchanges[n // 2][1])))


def has_calls(message: Message) -> bool:
    return any(True for _ in message.tool_calls())


def test_an_answer_that_repeats_an_old_call_id_is_matched_with_the_old_turn_too() -> None:
    known, received = Interned(), ReceivedAnswers()
    calls = [Message("assistant", (ToolCallIR(f"toolu_{n:020d}", "read", {}, "anthropic"),)) for n in range(3)]
    results = [Message("user", (ToolResultIR(f"toolu_{n:020d}", (Text("done"),)),)) for n in range(3)]
    history = [Message("user", (Text("go"),))]
    for number, answers in enumerate(((calls[0],), (calls[1],), (calls[0],), ())):
        prefix = known.prefix(history)
        kept, alone = (
            ledger.derive(ModelRequest("openai-chat", "m", messages=m), None, received.before(number), ReasoningTerms())
            for m in (prefix, tuple(history))
        )
        assert kept == alone
        received.add(number, ModelResponse("openai-chat", messages=answers))
        history = [*history, *(pair[number] for pair in (calls, results) if number < 3)]
    assert alone.entries[0].received_in == 2


THOUGHTS = st.builds(
    lambda text, signature: Reasoning(Carrier.REASONING_CONTENT, text, signature),
    st.sampled_from(("a", "b", "(no content)")),
    st.sampled_from((None, None, "s")),
)
MADE_OF = st.lists(
    st.tuples(
        st.sampled_from(("user", "assistant", "tool")),
        st.lists(st.one_of(CALL, RESULT, THOUGHTS, st.just(Text("x"))), max_size=3).map(tuple),
    ),
    max_size=6,
)


@given(
    st.lists(st.tuples(st.integers(0, 6), MADE_OF), max_size=8),
    st.sampled_from((IdPlaces, MergedTurns, UnprovedTexts)),
)
def test_a_fold_of_a_forked_history_is_one_that_was_begun_anew(
    steps: list[tuple[int, list[tuple[str, tuple[Part, ...]]]]], make: Callable[[], Any]
) -> None:
    history = GrowingHistory()
    for cut, said in steps:
        history = history.fork(max(len(history.messages) - cut, 0))
        for role, parts in said:
            history.append(b"", RepeatedMessage(role, parts), ())
        fresh = make()
        fresh.read(history.messages)
        assert vars(history.fold(make)) == vars(fresh)
