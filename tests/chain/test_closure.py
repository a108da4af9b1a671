from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chain.story import answer, messages, request
from workbench.chain.closure import CallLine, CallState, Closure, Flaw, derive
from workbench.ir import (
    Carrier,
    Message,
    ModelRequest,
    ModelResponse,
    NodeRef,
    Reasoning,
    Source,
    Text,
    ToolCallIR,
    ToolResultIR,
)
from workbench.terms import ClosureTerms, Placement

TURNS = ClosureTerms(Placement.NEXT_MESSAGE, results_first=True, unique_ids="request", result_role="user")
MESSAGES = ClosureTerms(Placement.CONTIGUOUS, unique_ids="turn", result_role="tool")
ANYWHERE = ClosureTerms()


def states(closure: Closure) -> list[str]:
    return [f"{line.id} {line.state}" for line in closure.lines]


STORIES = {
    "answered in the next message": (
        TURNS,
        """
        user: read both
        assistant: +a:read | +b:read
        user: =b | =a
        """,
        ["a closed", "b closed"],
    ),
    "answered in two neighbours of one role": (
        TURNS,
        """
        assistant: +a:read
        assistant: +b:read
        user: =a
        user: =b | now go on
        """,
        ["a closed", "b closed"],
    ),
    "the user interrupts": (
        TURNS,
        """
        assistant: reading | +a:read | +b:read
        user: stop
        """,
        ["a missing", "b missing"],
    ),
    "text before the result": (
        TURNS,
        """
        assistant: +a:read
        user: the hook ran | =a
        """,
        ["a misplaced"],
    ),
    "text in a neighbour before the result": (
        TURNS,
        """
        assistant: +a:read
        user: the hook ran
        user: =a
        """,
        ["a misplaced"],
    ),
    "text between the results": (
        TURNS,
        """
        assistant: +a:read | +b:read
        user: =a | well | =b
        """,
        ["a closed", "b misplaced"],
    ),
    "a result one turn late": (
        TURNS,
        """
        assistant: +a:read
        user: wait
        assistant: waiting
        user: =a
        """,
        ["a misplaced"],
    ),
    "a note between call and tool message": (
        MESSAGES,
        """
        assistant: +a:read
        system: a warning
        tool: =a
        """,
        ["a misplaced"],
    ),
    "a second assistant message with calls before the tool messages": (
        MESSAGES,
        """
        assistant: +a:read
        assistant: +b:read
        tool: =a
        tool: =b
        """,
        ["a misplaced", "b closed"],
    ),
    "tool messages in any order": (
        MESSAGES,
        """
        assistant: +a:read | +b:read
        tool: =b
        tool: =a
        user: thanks
        """,
        ["a closed", "b closed"],
    ),
    "a user message among the tool messages": (
        MESSAGES,
        """
        assistant: +a:read | +b:read
        tool: =b
        user: hurry
        tool: =a
        """,
        ["a misplaced", "b closed"],
    ),
    "one of two answered": (
        MESSAGES,
        """
        assistant: +a:read | +b:read
        tool: =a
        user: and?
        """,
        ["a closed", "b missing"],
    ),
    "one of two answered, and sent like that": (
        MESSAGES,
        """
        assistant: +a:read | +b:read
        tool: =a
        """,
        ["a closed", "b missing"],
    ),
    "paired by id wherever it stands": (
        ANYWHERE,
        """
        assistant: +a:read
        user: wait
        user: =a
        """,
        ["a closed"],
    ),
    "open at the end": (
        TURNS,
        """
        user: read
        assistant: +a:read
        """,
        ["a pending"],
    ),
    "the result before its call": (
        ANYWHERE,
        """
        tool: =a
        assistant: +a:read
        user: so?
        """,
        ["a out-of-order"],
    ),
    "the call was trimmed away": (
        MESSAGES,
        """
        tool: =a
        user: sum it up
        """,
        ["a orphan"],
    ),
    "two results": (
        MESSAGES,
        """
        assistant: +a:read
        tool: =a
        tool: =a
        """,
        ["a duplicate"],
    ),
    "a second result much later": (
        TURNS,
        """
        assistant: +a:read
        user: =a
        assistant: done
        user: =a
        """,
        ["a duplicate"],
    ),
    "one id for two calls of a turn, one result": (
        TURNS,
        """
        assistant: +a:read | +a:read
        user: =a
        """,
        ["a closed", "a duplicate"],
    ),
    "one id for two calls of a turn, two results": (
        ANYWHERE,
        """
        assistant: +a:read | +a:read
        tool: =a
        tool: =a
        """,
        ["a closed", "a duplicate"],
    ),
    "ids that start again every turn": (
        MESSAGES,
        """
        assistant: +call_0:read
        tool: =call_0
        assistant: +call_0:read
        tool: =call_0
        assistant: +call_0:read
        """,
        ["call_0 closed", "call_0 closed", "call_0 pending"],
    ),
    "ids that start again, where they may not": (
        TURNS,
        """
        assistant: +call_0:read
        user: =call_0
        assistant: +call_0:read
        user: =call_0
        """,
        ["call_0 closed", "call_0 duplicate"],
    ),
    "a reused id belongs to the nearest turn": (
        MESSAGES,
        """
        assistant: +call_0:read
        user: stop
        assistant: +call_0:read
        tool: =call_0
        """,
        ["call_0 missing", "call_0 closed"],
    ),
    "no ids at all": (
        ANYWHERE,
        """
        assistant: +?:read | +?:ls
        user: =? | =?
        assistant: +?:read
        user: =?
        """,
        ["None closed", "None closed", "None closed"],
    ),
    "more results without an id than calls": (
        ANYWHERE,
        """
        assistant: +a:read
        tool: =?
        tool: =?
        """,
        ["a missing", "None orphan", "None orphan"],
    ),
    "a result without an id beside a call without one": (
        ANYWHERE,
        """
        assistant: +a:read | +?:ls
        tool: =?
        """,
        ["a missing", "None closed"],
    ),
    "a fresh id for the result": (
        ANYWHERE,
        """
        assistant: +a:read
        tool: =z
        """,
        ["a missing", "z orphan"],
    ),
    "a call in a user message": (
        TURNS,
        """
        assistant: ok
        user: +a:read | the agent is done
        """,
        ["a pending"],
    ),
    "a result in an assistant message": (
        TURNS,
        """
        assistant: +a:read | =a
        user: so?
        """,
        ["a misplaced"],
    ),
}


@pytest.mark.parametrize(("terms", "story", "expected"), STORIES.values(), ids=STORIES)
def test_states(terms: ClosureTerms, story: str, expected: list[str]) -> None:
    assert states(derive(request(story), None, terms)) == expected


def line(terms: ClosureTerms, story: str, call_id: str) -> CallLine:
    """The last line of an id."""
    return [x for x in derive(request(story), None, terms).lines if x.id == call_id][-1]


def test_what_stands_between_is_pointed_at() -> None:
    found = line(MESSAGES, STORIES["a note between call and tool message"][1], "a")
    assert found.flaws == (Flaw.NOT_ADJACENT,)
    assert found.between == 1
    assert found.note == "answered by message 3, message 2 is between the call and its result"


def test_a_late_result_points_at_the_message_after_the_calls() -> None:
    found = line(TURNS, STORIES["a result one turn late"][1], "a")
    assert (found.flaws, found.between) == ((Flaw.NOT_ADJACENT,), 1)


def test_results_of_other_calls_do_not_stand_between() -> None:
    found = line(TURNS, "assistant: +a:ls | +b:ls\nuser: =a\nassistant: waiting\nuser: =b", "b")
    assert (found.state, found.between) == (CallState.MISPLACED, 2)


def test_what_stands_before_the_results_is_pointed_at() -> None:
    found = line(TURNS, STORIES["text before the result"][1], "a")
    assert found.flaws == (Flaw.RESULT_NOT_FIRST,)
    assert found.before == NodeRef("request", 1, 0)
    apart = line(TURNS, STORIES["text in a neighbour before the result"][1], "a")
    assert apart.before == NodeRef("request", 1, 0)


@pytest.mark.parametrize(("where", "flaws"), [("/parts/0", ()), ("/parts/1", (Flaw.RESULT_NOT_FIRST,))])
def test_a_signature_on_a_result_is_not_before_it(where: str, flaws: tuple[Flaw, ...]) -> None:
    """It is the same node of the body; a signature of a part of its own is another one, and stands before it."""
    told = request("assistant: +a:ls\nuser: =a")
    call, answered = told.messages
    result = replace(answered.parts[0], source=Source(where))
    proof = Reasoning(Carrier.THOUGHT_SIGNATURE, None, "c2lnbmVk", source=Source("/parts/0"))
    told = replace(told, messages=(call, replace(answered, parts=(proof, result))))
    assert derive(told, None, TURNS).lines[0].flaws == flaws


def test_a_twin_names_the_first_call_and_keeps_its_own_result() -> None:
    found = line(ANYWHERE, STORIES["one id for two calls of a turn, two results"][1], "a")
    assert found.twin == NodeRef("request", 0, 0)
    assert found.call == NodeRef("request", 0, 1)
    assert found.results == (NodeRef("request", 2, 0),)
    assert found.flaws == (Flaw.DUPLICATE_ID,)


def test_every_result_of_a_call_is_listed() -> None:
    found = line(TURNS, STORIES["a second result much later"][1], "a")
    assert [r.message for r in found.results] == [1, 3]
    assert Flaw.DUPLICATE_RESULT in found.flaws


def test_an_id_mismatch_links_both_sides() -> None:
    story = STORIES["a fresh id for the result"][1]
    assert line(ANYWHERE, story, "a").flaws == (Flaw.ID_MISMATCH,)
    orphan = line(ANYWHERE, story, "z")
    assert orphan.stands_for == NodeRef("request", 0, 0)
    assert orphan.flaws == (Flaw.ID_MISMATCH,)


def test_a_mismatch_is_only_claimed_where_the_numbers_fit() -> None:
    story = "assistant: +a:read | +b:read\ntool: =z"
    assert all(not x.flaws for x in derive(request(story), None, ANYWHERE).lines)


def test_results_without_an_id_are_paired_by_name_where_the_place_is_not_enough() -> None:
    calls = Message("assistant", (ToolCallIR("a", "ls", {}, "test"), ToolCallIR("b", "read", {}, "test")))
    result = Message("tool", (ToolResultIR(None, (Text("ok"),), name="read"),))
    closure = derive(ModelRequest("test", "m", (calls, result)), None, ANYWHERE)
    assert states(closure) == ["a missing", "b closed"]
    assert closure.lines[1].flaws == (Flaw.BY_POSITION,)


@pytest.mark.parametrize(("name", "expected"), [("ls", ["None closed"]), (None, ["None missing", "z orphan"])])
def test_a_call_without_an_id_is_answered_by_its_name_whatever_id_the_result_has(name, expected) -> None:
    call = Message("assistant", (ToolCallIR(None, "ls", {}, "test"),))
    result = Message("tool", (ToolResultIR("z", (Text("ok"),), name=name),))
    closure = derive(ModelRequest("test", "m", (call, result)), None, ANYWHERE)
    assert states(closure) == expected
    assert (Flaw.BY_POSITION in closure.lines[0].flaws) == (name is not None)


def test_wrong_roles_are_flagged() -> None:
    assert line(TURNS, STORIES["a call in a user message"][1], "a").flaws == (Flaw.CALL_ROLE,)
    assert line(TURNS, STORIES["a result in an assistant message"][1], "a").flaws == (Flaw.RESULT_ROLE,)
    assert line(MESSAGES, "assistant: +a:read\nuser: =a", "a").flaws == (Flaw.RESULT_ROLE,)
    assert line(MESSAGES, "user: =a", "a").flaws == (Flaw.RESULT_ROLE,)


def test_calls_of_the_answer_are_pending() -> None:
    closure = derive(request("user: hi"), answer("+a:ls | +b:ls"), TURNS)
    assert states(closure) == ["a pending", "b pending"]
    assert closure.lines[0].call == NodeRef("response", 0, 0)
    assert (closure.calls, closure.closed_count) == (2, 0)


def test_an_orphan_is_no_early_result_of_a_call_that_the_answer_makes() -> None:
    closure = derive(request("tool: =call_0\nuser: go on"), answer("+call_0:ls"), MESSAGES)
    assert states(closure) == ["call_0 orphan", "call_0 pending"]


def test_the_server_holds_the_calls() -> None:
    said = answer("+a:ls | +b:ls", id="msg_1").messages
    both = derive(request("user: =a | =b", previous_id="msg_1"), None, TURNS, remembered=said)
    assert states(both) == ["a closed", "b closed"]
    assert (both.calls, both.closed_count) == (2, 2)
    assert all(x.is_remembered and x.call is None for x in both.lines)
    one = derive(request("user: =a", previous_id="msg_1"), None, TURNS, remembered=said)
    assert sorted(states(one)) == ["a closed", "b missing"]
    other = derive(request("user: =z", previous_id="msg_1"), None, TURNS, remembered=answer("hello").messages)
    assert states(other) == ["z orphan"]


def test_an_unrecorded_answer_is_trusted() -> None:
    (found,) = derive(request("user: =a", previous_id="msg_0"), None, TURNS).lines
    assert (found.state, found.is_remembered) == (CallState.CLOSED, True)
    assert found.note == "answers a call from an earlier response that only the server stores"


def test_nothing_recorded() -> None:
    assert derive(None, None, TURNS) == Closure()


ids = st.lists(st.integers(1, 3), min_size=1, max_size=5)


def closed_story(sizes: list[int]) -> list[Message]:
    """A history of turns with so many calls each, every one answered in its place."""
    told: list[Message] = []
    for turn, size in enumerate(sizes):
        names = [f"c{turn}_{n}" for n in range(size)]
        told += messages(
            f"user: step {turn}\nassistant: {' | '.join(f'+{n}:ls' for n in names)}\n"
            f"user: {' | '.join(f'={n}' for n in reversed(names))}\nassistant: done"
        )
    return told


def closure_of(told: list[Message], terms: ClosureTerms = TURNS) -> Closure:
    return derive(ModelRequest("test", "m", tuple(told)), None, terms)


@given(ids)
def test_closing_every_call_closes_the_history(sizes: list[int]) -> None:
    closure = closure_of(closed_story(sizes))
    assert closure.closed_count == closure.calls == sum(sizes)


@given(ids, st.data())
def test_taking_one_result_away_makes_one_call_missing(sizes: list[int], data: st.DataObject) -> None:
    told = closed_story(sizes)
    places = [(m, p) for m, x in enumerate(told) for p, _ in x.tool_results()]
    at, gone = data.draw(st.sampled_from(places))
    parts = told[at].parts
    told[at] = Message("user", parts[:gone] + parts[gone + 1 :])
    wrong = [x for x in closure_of(told).lines if x.state is not CallState.CLOSED]
    assert [(x.state, x.id) for x in wrong] == [(CallState.MISSING, parts[gone].tool_call_id)]  # type: ignore[union-attr]


roles = st.sampled_from(["user", "assistant", "tool", "system"])
call_ids = st.sampled_from(["a", "b", "call_0", "", None])
parts = st.one_of(
    st.builds(Text, st.just("hm")),
    st.builds(ToolCallIR, call_ids, st.just("ls"), st.just({}), st.just("test")),
    st.builds(ToolResultIR, call_ids, st.just(()), name=st.sampled_from([None, "ls"])),
)
histories = st.lists(st.builds(Message, roles, st.lists(parts, max_size=4).map(tuple)), max_size=8)


@given(histories, histories, st.sampled_from([TURNS, MESSAGES, ANYWHERE]), st.sampled_from([None, "msg_1"]))
def test_every_call_and_every_result_has_one_place(
    told: list[Message], remembered: list[Message], terms: ClosureTerms, previous: str | None
) -> None:
    asked = ModelRequest("test", "m", tuple(told), previous_id=previous)
    closure = derive(asked, None, terms, tuple(remembered) if previous else ())
    results = [r for x in closure.lines for r in x.results if r.side == "request"]
    assert sorted(results) == [("request", m, p) for m, x in enumerate(told) for p, _ in x.tool_results()]
    calls = [x.call for x in closure.lines if x.call]
    assert calls == [("request", m, p) for m, x in enumerate(told) for p, _ in x.tool_calls()]


def test_calls_that_the_provider_runs_have_lines():
    done, open_, mine = (ToolCallIR(name, name, {}, "f", is_server=name != "mine") for name in ("done", "open", "mine"))
    result = ToolResultIR("done", (), is_server=True)
    history = ModelRequest("p", "m", (Message("user", (Text("go"),)), Message("assistant", (done, open_))))
    said = ModelResponse("p", messages=(Message("assistant", (result, mine)),))
    closure = derive(history, said, TURNS)
    assert [(line.id, line.state, line.is_server) for line in closure.lines] == [
        ("done", "closed", True),
        ("open", "pending", True),
        ("mine", "pending", False),
    ]
    assert closure.lines[0].results == (NodeRef("response", 0, 0),)
    assert "run by the provider" in closure.lines[1].note
    assert (closure.closed_count, closure.calls) == (1, 3)


ITEMS = """
    assistant: +a:read
    assistant: a word
    assistant: +b:read
    tool: =a
    tool: =b
"""


@pytest.mark.parametrize(("calls_last", "expected"), [(False, ["closed", "closed"]), (True, ["misplaced", "closed"])])
def test_what_is_said_behind_a_call_may_begin_another_turn(calls_last, expected):
    terms = replace(MESSAGES, calls_last=calls_last)
    lines = derive(replace(request(ITEMS), itemized=True), None, terms).lines
    assert [line.state for line in lines] == expected
    assert [line.between for line in lines] == [1 if calls_last else None, None]


def test_words_beside_a_result_do_not_stand_between() -> None:
    for story in ("tool: =a | by the way", "tool: by the way | =a"):
        assert line(MESSAGES, f"assistant: +a:ls\n{story}\nuser: go\ntool: =a", "a").between is None
