from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.importers._messages_transcript import (
    CachedMessages,
    HistoryEntry,
    MessagesHistory,
    MessagesSession,
    MessagesTurn,
    extend,
)
from workbench.ir import JsonValue
from workbench.wire.exchange import Exchange, Origin
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import exchanges_of

RESULT = HistoryEntry("user", results=(b'{"type":"tool_result","tool_use_id":"t"}',))
PROMPT = HistoryEntry("user", text=b'"go on"')
NOTE = HistoryEntry("user", blocks=(b'{"type":"text","text":"note"}',))
ANSWER = HistoryEntry("assistant", blocks=(b'{"type":"text","text":"yes"}',))
CALL = HistoryEntry("assistant", blocks=(b'{"type":"tool_use","id":"t"}', b'{"type":"tool_use","id":"u"}'))
EMPTY = HistoryEntry("user")


def history(*entries: HistoryEntry) -> MessagesHistory | None:
    found: MessagesHistory | None = None
    for said in entries:
        found = extend(found, said)
    return found


def messages(found: MessagesHistory | None) -> JsonValue:
    return loads(b"[" + (found.messages() if found else b"") + b"]")


def test_one_prompt_stays_the_string_it_was() -> None:
    assert messages(history(PROMPT)) == [{"role": "user", "content": "go on"}]


def test_what_a_user_says_in_a_row_is_one_message_results_first() -> None:
    held = messages(history(CALL, NOTE, RESULT, PROMPT, ANSWER, PROMPT))
    assert [m["role"] for m in held] == ["assistant", "user", "assistant", "user"]
    assert [b["type"] for b in held[1]["content"]] == ["tool_result", "text", "text"]
    assert [b.get("text") for b in held[1]["content"]] == [None, "note", "go on"]


def test_turns_of_a_model_are_not_joined() -> None:
    assert len(messages(history(PROMPT, ANSWER, ANSWER))) == 3


def test_what_says_nothing_adds_nothing() -> None:
    assert history(EMPTY) is None
    assert messages(history(PROMPT, EMPTY, ANSWER, HistoryEntry("assistant"))) == messages(history(PROMPT, ANSWER))


def test_branches_share_what_came_before() -> None:
    trunk = history(PROMPT, ANSWER)
    one, other = extend(trunk, PROMPT), extend(trunk, NOTE)
    assert one and other and one.before is other.before is trunk
    assert messages(one) != messages(other)


@given(st.lists(st.sampled_from([RESULT, PROMPT, NOTE, ANSWER, CALL, EMPTY]), max_size=12))
def test_the_size_is_known_without_making_the_messages(entries: list[HistoryEntry]) -> None:
    found = history(*entries)
    assert (found.size if found else 0) == len(found.messages() if found else b"")


ENTRIES = st.lists(st.sampled_from([RESULT, PROMPT, NOTE, ANSWER, CALL, EMPTY]), min_size=1, max_size=12)


@given(ENTRIES, ENTRIES)
def test_what_was_made_before_is_only_a_short_cut(first: list[HistoryEntry], more: list[HistoryEntry]) -> None:
    known, other = history(*first), history(*first, *more)
    for start in (known, other):
        if start and known and other:
            assert other.messages(CachedMessages(start, start.messages())) == other.messages()
            assert known.messages(CachedMessages(start, start.messages())) == known.messages()
    longer = known
    for said in more:
        longer = extend(longer, said)
    if longer and known:
        assert longer.messages(CachedMessages(known, known.messages())) == longer.messages()


def test_bodies_are_made_on_demand_and_listed_without() -> None:
    turns = [
        MessagesTurn(
            1, Exchange("a", origin=Origin.RECONSTRUCTED), history(PROMPT), "claude-x", dumps({"type": "message"})
        ),
        MessagesTurn(2, Exchange("b"), history(PROMPT, ANSWER, PROMPT), None, None),
        MessagesTurn(3, Exchange("c"), None, "m", b"", 529),
    ]
    session = MessagesSession("x", turns, url="/v1/messages", damage=(), title="t")
    for row, exchange in zip(session.summaries(), exchanges_of(session), strict=True):
        assert exchange.request and row.request_bytes == len(exchange.request.body.raw)
        assert row.response_bytes == (len(exchange.response.body.raw) if exchange.response else 0)
        assert row.status == (exchange.response.status if exchange.response else None)
        assert not exchange.request.body.is_raw
        assert isinstance(loads(exchange.request.body.raw)["messages"], list)
    assert [s.model for s in session.summaries()] == ["claude-x", None, "m"]


def test_thousands_of_prompts_in_a_row_are_linear() -> None:
    """A client that is never answered: each entry joins the message before it."""
    found = history(*[PROMPT] * 50_000)
    assert found and found.size == len(found.messages())
