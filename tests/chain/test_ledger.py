from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chain.story import answer, message, messages, request
from workbench.chain.ledger import Entry, ReceivedAnswers, ReplayOutcome, derive
from workbench.ir import Carrier, Message, ModelRequest, ModelResponse, NodeRef, Reasoning, Text
from workbench.terms import ReasoningTerms, Scope

LOOP = ReasoningTerms(("reasoning_content",), Scope.TOOL_LOOP)
FOR_GOOD = ReasoningTerms(("reasoning_content",), Scope.TOOL_TURNS, thinking_default=True)
SIGNED = ReasoningTerms(("thinking",), Scope.TOOL_LOOP, exact="latest", required_when="on", leading=True)
ALWAYS = ReasoningTerms(("reasoning_content",), Scope.ALWAYS, thinking_default=True)
NEVER = ReasoningTerms()

TOOL_TURN = "user: what time?\nassistant: let me see | +c1:get_time\ntool: =c1"
ASKED_ON = f"{TOOL_TURN}\nuser: and tomorrow?"
REASONED = "user: what time?\nassistant: ~the clock | let me see | +c1:get_time\ntool: =c1"


def entries(
    story: str, terms: ReasoningTerms, *answers: str, thinking: str | None = "on", **more: object
) -> tuple[Entry, ...]:
    got = [(n, answer(a)) for n, a in enumerate(answers)]
    return derive(request(story, thinking=thinking, **more), None, got, terms).entries


CASES: dict[str, tuple[str, ReasoningTerms, tuple[str, ...], str | None, list[tuple[ReplayOutcome, bool, str]]]] = {
    "left out of an open loop": (
        TOOL_TURN,
        LOOP,
        ("~the clock | let me see | +c1:get_time",),
        "on",
        [(ReplayOutcome.MISSING, True, "the tool loop is still open")],
    ),
    "left out of an open loop, nothing recorded": (
        TOOL_TURN,
        LOOP,
        (),
        "on",
        [(ReplayOutcome.MISSING, True, "the tool loop is still open")],
    ),
    "the user goes on": (ASKED_ON, LOOP, (), "on", [(ReplayOutcome.NOT_OWED, False, "ended by the user message 4")]),
    "the user goes on, where it is owed for good": (
        ASKED_ON,
        FOR_GOOD,
        (),
        "on",
        [(ReplayOutcome.MISSING, True, "required for every turn with tool calls, in all later requests")],
    ),
    "thinking is on by default": (
        ASKED_ON,
        FOR_GOOD,
        (),
        None,
        [(ReplayOutcome.MISSING, True, "required for every turn with tool calls, in all later requests")],
    ),
    "thinking is off by default": (TOOL_TURN, LOOP, (), None, [(ReplayOutcome.NOT_OWED, False, "thinking is off")]),
    "thinking is off": (ASKED_ON, FOR_GOOD, (), "off", [(ReplayOutcome.NOT_OWED, False, "thinking is off")]),
    "nobody asks": (
        ASKED_ON,
        NEVER,
        (),
        "on",
        [(ReplayOutcome.NOT_OWED, False, "the provider does not require reasoning")],
    ),
    "only turns with calls owe": (
        "user: hi\nassistant: hello\nuser: more",
        FOR_GOOD,
        ("~greet | hello",),
        "on",
        [(ReplayOutcome.NOT_OWED, False, "not required: the turn called no tool")],
    ),
    "every turn with reasoning owes": (
        "user: hi\nassistant: hello\nuser: more\nassistant: unheard of\nuser: x",
        ALWAYS,
        ("~greet | hello",),
        "on",
        [
            (ReplayOutcome.MISSING, True, "required for every turn"),
            (ReplayOutcome.NOT_OWED, False, "no reasoning of this turn is known"),
        ],
    ),
    "some turns carry it, one does not": (
        "user: a\nassistant: ~look | I look\nuser: b\nassistant: +c1:read\ntool: =c1\nuser: c",
        FOR_GOOD,
        (),
        None,
        [
            (ReplayOutcome.SENT, False, "not required: the turn called no tool"),
            (ReplayOutcome.MISSING, True, "required for every turn with tool calls, in all later requests"),
        ],
    ),
    "sent back as it came": (
        REASONED,
        LOOP,
        ("~the clock | let me see | +c1:get_time",),
        "on",
        [(ReplayOutcome.SENT, True, "the tool loop is still open")],
    ),
    "the answer brought none": (
        TOOL_TURN,
        FOR_GOOD,
        ("let me see | +c1:get_time",),
        "on",
        [(ReplayOutcome.NOT_OWED, False, "the response (exchange 1) contained no reasoning")],
    ),
    "thinking switched on in the open loop": (
        TOOL_TURN,
        SIGNED,
        ("let me see | +c1:get_time",),
        "on",
        [(ReplayOutcome.MISSING, True, "the tool loop is still open")],
    ),
    "a later step of a loop may come without a block of its own": (
        "user: a\nassistant: ~t/s | +c1:ls\nuser: =c1\nassistant: +c2:ls\nuser: =c2",
        SIGNED,
        (),
        "on",
        [
            (ReplayOutcome.SENT, True, "the tool loop is still open"),
            (ReplayOutcome.NOT_OWED, False, "message 2 contains the signed reasoning of this tool loop"),
        ],
    ),
    "adaptive thinking may have brought none": (
        TOOL_TURN,
        SIGNED,
        (),
        "adaptive",
        [(ReplayOutcome.NOT_OWED, False, "no reasoning of this turn is known")],
    ),
    "adaptive thinking brought some": (
        TOOL_TURN,
        SIGNED,
        ("~the clock/s1 | let me see | +c1:get_time",),
        "adaptive",
        [(ReplayOutcome.MISSING, True, "the tool loop is still open")],
    ),
    "text beside the results does not end the loop it answers": (
        "user: a\nassistant: +c1:ls\nuser: =c1\nassistant: +c2:ls\nuser: =c2 | hurry",
        LOOP,
        (),
        "on",
        [
            (ReplayOutcome.NOT_OWED, False, "ended by the user message 5"),
            (ReplayOutcome.MISSING, True, "the tool loop is still open"),
        ],
    ),
    "a system note ends nothing": (
        f"{TOOL_TURN}\nsystem: be brief",
        LOOP,
        (),
        "on",
        [(ReplayOutcome.MISSING, True, "the tool loop is still open")],
    ),
}


@pytest.mark.parametrize(("story", "terms", "answers", "thinking", "expected"), CASES.values(), ids=CASES)
def test_debts(
    story: str,
    terms: ReasoningTerms,
    answers: tuple[str, ...],
    thinking: str | None,
    expected: list[tuple[ReplayOutcome, bool, str]],
) -> None:
    assert [(e.sent, e.owed, e.why) for e in entries(story, terms, *answers, thinking=thinking)] == expected


REPLAYS: dict[str, tuple[str, str, ReplayOutcome, str, int]] = {
    "the same": ("~a/s1 | +c1:ls", "~a/s1 | +c1:ls", ReplayOutcome.SENT, "", 0),
    "changed": ("~a!/s1 | +c1:ls", "~a/s1 | +c1:ls", ReplayOutcome.ALTERED, "text", 0),
    "another signature": ("~a/s1 | +c1:ls", "~a/s2 | +c1:ls", ReplayOutcome.ALTERED, "signature", 0),
    "no signature": ("~a/s1 | +c1:ls", "~a/ | +c1:ls", ReplayOutcome.EMPTY, "signature", 0),
    "emptied": ("~a | +c1:ls", "~ | +c1:ls", ReplayOutcome.EMPTY, "text", 0),
    "empty with a signature, as it came": ("~/s1 | +c1:ls", "~/s1 | +c1:ls", ReplayOutcome.SENT, "", 0),
    "one of two lost": ("~a/s1 | ~b/s2 | +c1:ls", "~a/s1 | +c1:ls", ReplayOutcome.ALTERED, "count", 0),
    "the first of two lost": ("~a/s1 | ~b/s2 | +c1:ls", "~b/s2 | +c1:ls", ReplayOutcome.ALTERED, "count", 0),
    "one added": ("~a/s1 | +c1:ls", "~a/s1 | ~b/s2 | +c1:ls", ReplayOutcome.ALTERED, "count", 1),
    "two swapped": ("~a/s1 | ~b/s2 | +c1:ls", "~b/s2 | ~a/s1 | +c1:ls", ReplayOutcome.ALTERED, "order", 0),
    "the second of two changed": (
        "~a/s1 | ~b!/s2 | +c1:ls",
        "~a/s1 | hm | ~b/s2 | +c1:ls",
        ReplayOutcome.ALTERED,
        "text",
        2,
    ),
    "made up": ("+c1:ls", "~invented | +c1:ls", ReplayOutcome.ALTERED, "count", 0),
    "an empty field where none came": ("+c1:ls", "~ | +c1:ls", ReplayOutcome.EMPTY, "", 0),
    "signed blocks joined to one": ("~a/s1 | ~b/ | +c1:ls", "~ab/s1 | +c1:ls", ReplayOutcome.ALTERED, "count", 0),
    "split differently": ("~a | ~b | +c1:ls", "~ab | +c1:ls", ReplayOutcome.SENT, "", 0),
}


@pytest.mark.parametrize(("came", "sent", "state", "differs", "block"), REPLAYS.values(), ids=REPLAYS)
def test_replays(came: str, sent: str, state: ReplayOutcome, differs: str, block: int) -> None:
    asked = request(f"user: a\nassistant: {sent}\nuser: =c1", thinking="on")
    (entry,) = derive(asked, None, [(0, answer(came))], SIGNED).entries
    assert (entry.sent, entry.differs) == (state, differs)
    assert entry.sent_part == NodeRef("request", 1, block)
    assert entry.received_in == 0


def test_an_entry_says_where_it_came_from_and_where_it_stands() -> None:
    (entry,) = entries(REASONED, LOOP, "~the clock | let me see | +c1:get_time")
    assert entry == Entry(
        turn=0,
        message=1,
        received_in=0,
        received_events=(0,),
        carrier="reasoning_content",
        text="the clock",
        signature=None,
        sent_part=NodeRef("request", 1, 0),
        owed=True,
        sent=ReplayOutcome.SENT,
        why="the tool loop is still open",
        sent_text="the clock",
        call_ids=("c1",),
    )


def test_what_the_answer_brings_in() -> None:
    ledger = derive(request("user: hi"), answer("~a/s | ~b/s | hello"), [], SIGNED)
    assert ledger.came_in == (NodeRef("response", 0, 0), NodeRef("response", 0, 1))
    assert derive(None, answer("~a | hello"), [], SIGNED).came_in == (NodeRef("response", 0, 0),)


def test_reasoning_in_another_carrier_is_sent() -> None:
    got = ModelResponse("test", messages=(message("assistant: ~the clock | +c1:ls", carrier=Carrier.REASONING),))
    asked = request("user: a\nassistant: ~the clock | +c1:ls\ntool: =c1", thinking="on")
    (entry,) = derive(asked, None, [(0, got)], LOOP).entries
    assert (entry.sent, entry.carrier) == (ReplayOutcome.SENT, "reasoning")
    assert entry.why == "the tool loop is still open; received in reasoning, sent as reasoning_content"


def test_tags_on_lines_of_their_own_change_nothing() -> None:
    got = ModelResponse("test", messages=(message("assistant: ~the clock | +c1:ls", carrier=Carrier.REASONING),))
    tagged = Reasoning(Carrier.THINK_TEXT, "\nthe clock\n")
    turn = Message("assistant", (tagged, *message("assistant: +c1:ls").parts))
    asked = ModelRequest("test", "m", (turn, *messages("tool: =c1")), thinking="on")
    (entry,) = derive(asked, None, [(0, got)], LOOP).entries
    assert (entry.sent, entry.why) == (
        ReplayOutcome.SENT,
        "the tool loop is still open; received in reasoning, sent as think_text",
    )


def test_one_of_two_carriers_is_enough() -> None:
    both = message("assistant: ~the clock | +c1:ls").parts
    details = Reasoning(Carrier.REASONING_DETAILS, "the clock", data={"type": "reasoning.text"})
    got = ModelResponse("test", messages=(Message("assistant", (both[0], details, *both[1:])),))
    for sent in (both, (details, *both[1:]), (replace(both[0], text=""), details, *both[1:])):
        asked = ModelRequest("test", "m", (Message("assistant", sent), *messages("tool: =c1")), thinking="on")
        (entry,) = derive(asked, None, [(0, got)], LOOP).entries
        assert entry.sent is ReplayOutcome.SENT


def test_a_redacted_block_counts_by_its_data() -> None:
    def turn(data: str) -> Message:
        hidden = Reasoning(Carrier.REDACTED_THINKING, None, data=data)
        return Message("assistant", (hidden, *message("assistant: +c1:ls").parts))

    got = ModelResponse("test", messages=(turn("xyz"),))
    for data, state, differs in (("xyz", ReplayOutcome.SENT, ""), ("abc", ReplayOutcome.ALTERED, "data")):
        asked = ModelRequest("test", "m", (turn(data), *messages("user: =c1")), thinking="on")
        (entry,) = derive(asked, None, [(0, got)], SIGNED).entries
        assert (entry.sent, entry.differs, entry.text) == (state, differs, None)


def test_a_turn_is_found_by_call_id_then_by_text_then_by_order() -> None:
    story = """
        user: a
        assistant: +toolu_01ABCDEFGHIJKL:ls
        user: =toolu_01ABCDEFGHIJKL
        assistant: the same words
        user: b
        assistant: cut off
        user: c
        assistant: last
        user: d
        """
    found = entries(
        story,
        ALWAYS,
        "~r0 | looking | +toolu_01ABCDEFGHIJKL:ls",
        "~r1 | the same words",
        "~r2 | cut off in the middle",
        "~r3 | last",
    )
    assert [(e.received_in, e.text, e.sent) for e in found] == [(n, f"r{n}", ReplayOutcome.MISSING) for n in range(4)]


def test_an_answer_of_reasoning_alone_is_found_by_order() -> None:
    found = entries("user: a\nassistant: ~hm\nuser: go on\nassistant: yes\nuser: b", ALWAYS, "~hm!", "~r | yes")
    assert [(e.received_in, e.sent) for e in found] == [(0, ReplayOutcome.ALTERED), (1, ReplayOutcome.MISSING)]


def test_order_alone_does_not_match_what_was_never_recorded() -> None:
    story = "user: a\nassistant: never heard\nuser: b\nassistant: yes\nuser: c"
    found = entries(story, ALWAYS, "~lost | another answer", "~r | yes")
    assert [(e.turn, e.received_in, e.sent) for e in found] == [
        (-1, 0, ReplayOutcome.NOT_OWED),
        (0, None, ReplayOutcome.NOT_OWED),
        (1, 1, ReplayOutcome.MISSING),
    ]


def test_counters_are_told_apart_by_order() -> None:
    step = "assistant: +call_0:ls\ntool: =call_0\n"
    found = entries("user: a\n" + step * 3, FOR_GOOD, *(f"~r{n} | +call_0:ls" for n in range(3)))
    assert [e.text for e in found] == ["r0", "r1", "r2"]
    late = entries("user: a\n" + step * 3, FOR_GOOD, "~r1 | +call_0:ls", "~r2 | +call_0:ls")
    assert [e.text for e in late] == [None, "r1", "r2"]


WITHOUT_IDS = [
    pytest.param('+?:read{"path": "a"}', '+?:read{"path": "a"}', id="no ids"),
    pytest.param('+:read{"path": "a"}', '+:read{"path": "a"}', id="empty ids"),
    pytest.param('+?:read{"path": "a"}', '+c1:read{"path": "a"}', id="the client gave it one"),
    pytest.param('+c1:read{"path": "a"}', '+?:read{"path": "a"}', id="the client took it away"),
]


@pytest.mark.parametrize(("came", "shown"), WITHOUT_IDS)
def test_calls_without_ids_are_found_by_what_they_call(came: str, shown: str) -> None:
    """Also where order tells nothing: of two tries, with turns that nobody saw come before."""
    story = f"user: a\nassistant: +?:ls\ntool: =?\nassistant: hello\nuser: b\nassistant: {shown}\ntool: =?"
    *_, last = entries(story, SIGNED, "hello", f"~r1/s1 | {came}", f"~r2/s2 | {came}")
    assert (last.received_in, last.signature, last.sent) == (2, "s2", ReplayOutcome.MISSING)


def test_other_calls_and_calls_of_other_ids_are_not_matched() -> None:
    story = "user: a\nassistant: unheard of\nuser: b\nassistant: {}\ntool: =?"
    for shown, came in (("+?:ls", "+?:read"), ("+c2:ls", "+c1:ls"), ("+?:ls | +?:ls", "+?:ls")):
        *_, last = entries(story.format(shown), SIGNED, f"~r/s | {came}")
        assert last.received_in is None


def test_the_same_call_in_every_turn_shows_one_answer_each() -> None:
    story = "user: a" + "\nassistant: +?:poll\ntool: =?" * 3
    found = entries(story, SIGNED, "~a/1 | +?:poll", "~b/2 | +?:poll", "~c/3 | +?:poll")
    assert [e.signature for e in found] == ["1", "2", "3"]
    kept = "user: a\nassistant: ~b/2 | +?:poll\ntool: =?\nassistant: +?:poll\ntool: =?"
    found = entries(kept, SIGNED, "~a/1 | +?:poll", "~b/2 | +?:poll", "~c/3 | +?:poll")
    assert [e.signature for e in found if e.turn >= 0] == ["2", "3"]


def test_of_two_tries_the_one_that_was_kept_counts() -> None:
    tries = ("~first | +c1:ls", "~second | +c1:ls")
    for kept in ("first", "second"):
        found = entries(f"user: a\nassistant: ~{kept} | +c1:ls\ntool: =c1", LOOP, *tries)
        assert [e.sent for e in found if e.turn == 0] == [ReplayOutcome.SENT]


def test_a_turn_that_is_gone_is_listed_with_its_reason() -> None:
    lost, kept = entries("user: what was: ...\nassistant: hm\nuser: b", LOOP, "~a | +c1:ls", "~b | hm")
    assert (lost.turn, lost.message, lost.received_in, lost.text) == (-1, None, 0, "a")
    assert (lost.sent, lost.why) == (ReplayOutcome.NOT_OWED, "the history does not contain this turn")
    assert kept.received_in == 1
    (held,) = entries("user: =c1", LOOP, "~a | +c1:ls", previous_id="msg_1")
    assert held.why == "the server stores this turn"


def test_the_list_of_turns_that_are_gone_has_an_end() -> None:
    found = entries("user: a", LOOP, *(f"~r{n} | +c{n}:ls" for n in range(80)))
    assert [e.text for e in found] == [f"r{n}" for n in range(30, 80)]


def test_neighbouring_assistant_messages_are_one_turn() -> None:
    story = "user: a\nassistant: ~r/s\nassistant: let me see\nassistant: +c1:ls\nuser: =c1"
    (entry,) = entries(story, SIGNED, "~r/s | let me see | +c1:ls")
    assert (entry.message, entry.sent, entry.sent_part) == (3, ReplayOutcome.SENT, NodeRef("request", 1, 0))


def test_what_came_after_the_request_does_not_count() -> None:
    received = ReceivedAnswers.of((n, answer(f"~r{n} | +c{n}:ls")) for n in range(3))
    asked = request("user: a\nassistant: +c0:ls\ntool: =c0\nassistant: +c2:ls\ntool: =c2", thinking="on")
    before = derive(asked, None, received.before(2), LOOP).entries
    assert [(e.turn, e.received_in) for e in before] == [(-1, 1), (0, 0), (1, None)]
    assert len(derive(asked, None, received, LOOP).entries) == 3


def test_every_choice_of_an_answer_was_received() -> None:
    got = ModelResponse("test", messages=(*answer("~a | one").messages, *answer("~b | two").messages))
    asked = request("user: x\nassistant: two\nuser: y", thinking="on")
    found = derive(asked, None, [(0, got)], ALWAYS).entries
    assert [(e.turn, e.text) for e in found] == [(-1, "a"), (0, "b")]


steps = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=8)


@given(steps, st.sampled_from([LOOP, FOR_GOOD, ALWAYS]), st.sampled_from(["on", "off", "adaptive", None]))
def test_whoever_sends_everything_back_owes_nothing(
    told: list[tuple[bool, bool]], terms: ReasoningTerms, thinking: str | None
) -> None:
    """Turns with calls (all named ``call_0``) and without, with reasoning and without, replayed as they came."""
    history, answers = list(messages("user: a")), []
    for n, (calls, reasons) in enumerate(told):
        got = answer(f"{f'~r{n}/s{n} | ' if reasons else ''}step | {'+call_0:ls' if calls else ''}")
        answers.append((n, got))
        history += [*got.messages, *messages("user: =call_0" if calls else "user: on")]
    asked = ModelRequest("test", "m", tuple(history), thinking=thinking)
    found = derive(asked, None, answers, terms).entries
    assert [e.received_in for e in found] == list(range(len(told)))
    assert [e.sent for e in found] == [ReplayOutcome.SENT if reasons else ReplayOutcome.NOT_OWED for _, reasons in told]


parts = st.one_of(
    st.builds(Text, st.sampled_from(["", "a", "b"])),
    st.builds(
        Reasoning, st.sampled_from(list(Carrier)), st.sampled_from([None, "", "r"]), st.sampled_from([None, "s"])
    ),
    st.sampled_from([*message("assistant: +call_0:ls | +?:ls | +:ls | +toolu_01ABCDEFGHIJKL:ls | =call_0").parts]),
)
told_messages = st.lists(
    st.builds(
        Message, st.sampled_from(["user", "assistant", "tool", "system"]), st.lists(parts, max_size=3).map(tuple)
    ),
    max_size=6,
)


@given(told_messages, told_messages, st.sampled_from([LOOP, FOR_GOOD, SIGNED, ALWAYS, NEVER]))
def test_any_history_has_one_entry_a_turn(told: list[Message], received: list[Message], terms: ReasoningTerms) -> None:
    answers = [(n, ModelResponse("test", messages=(m,))) for n, m in enumerate(received)]
    asked = ModelRequest("test", "m", tuple(told), thinking="on")
    found = [e for e in derive(asked, None, answers, terms).entries if e.turn >= 0]
    starts = [n for n, m in enumerate(told) if m.role == "assistant" and (not n or told[n - 1].role != "assistant")]
    assert [e.turn for e in found] == list(range(len(starts)))
    assert all(e.owed for e in found if e.sent is ReplayOutcome.MISSING)
    assert all(not e.owed for e in found if e.sent is ReplayOutcome.NOT_OWED)


def test_a_carrier_that_the_provider_does_not_read_is_missing() -> None:
    asked = ModelRequest(
        "test",
        "m",
        (
            Message("assistant", (Reasoning(Carrier.REASONING, "the clock"), *message("assistant: +c1:ls").parts)),
            *messages("tool: =c1"),
        ),
        thinking="on",
    )
    (entry,) = derive(asked, None, [], LOOP).entries
    assert (entry.sent, entry.why) == (
        ReplayOutcome.MISSING,
        "the tool loop is still open; sent as reasoning, which the provider does not read",
    )
    spoken = ModelResponse("test", messages=(Message("assistant", asked.messages[0].parts),))
    (entry,) = derive(asked, None, [(0, spoken)], LOOP).entries
    assert entry.sent is ReplayOutcome.SENT
