"""What is computed along a history that grows is what is computed for each request alone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.chain import closure
from workbench.chain._history_keys import HistoryKeys, State
from workbench.chain.terms import ClosureTerms, Placement
from workbench.ir import Anomaly, Message, ModelRequest, ModelResponse, Text, ToolCallIR, ToolResultIR
from workbench.protocols.history import HistoryPrefix, where
from workbench.protocols.known_messages import KnownMessages

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
    ids = [f"call_{number}_{n}" for n in range(draw(st.integers(1, 3)))]
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


@settings(max_examples=300, deadline=None)
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
    known = Interned()
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
        assert [*found.flawed] == [*expected.flawed]
        keys, own = HistoryKeys(State("", 1), "m", prefix), HistoryKeys(State("", 1), "m", tuple(body))
        assert [*keys.items] == [*own.items]
        assert [*keys.runs()] == [*own.runs()]
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


def has_calls(message: Message) -> bool:
    return any(True for _ in message.tool_calls())
