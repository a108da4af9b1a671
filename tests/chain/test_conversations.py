from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chain.story import TOOLS, answer, request
from workbench.chain.conversations import Conversation, Conversations
from workbench.ir import ApiError, Message, ModelRequest, ModelResponse, Text, ToolDef


class Session:
    """Feeds exchanges one by one and notes the lane of each."""

    def __init__(self) -> None:
        self.grouped = Conversations()
        self.lanes: list[int | None] = []

    def hear(
        self,
        asked: ModelRequest | None,
        got: ModelResponse | None = None,
        *,
        protocol: str | None = "test",
        hop: str = "",
        started: float | None = None,
    ) -> Conversation | None:
        exchange = SimpleNamespace(hop=hop, started_at=started, duration=None if started is None else 2.0)
        decoded = SimpleNamespace(
            index=len(self.lanes), protocol=protocol, request=asked, response=got, answer=got, exchange=exchange
        )
        found = self.grouped.add(decoded)  # type: ignore[arg-type]
        self.lanes.append(None if found is None else found.id)
        return found


def asks(system: str, story: str, **more: object) -> ModelRequest:
    tools = more.pop("tools", TOOLS)
    return request(story, system=(Text(system),) if system else (), tools=tools, **more)


FAILED = ModelResponse("test", error=ApiError("no"))

PLAYBOOKS: dict[str, tuple[list[tuple[ModelRequest, ModelResponse | None]], list[int]]] = {
    "a tool loop": (
        [
            (asks("S", "user: hi"), answer("+toolu_01ABCDEFGHIJKL:ls")),
            (asks("S", "user: hi\nassistant: +toolu_01ABCDEFGHIJKL:ls\nuser: =toolu_01ABCDEFGHIJKL"), answer("done")),
            (
                asks(
                    "S",
                    "user: hi\nassistant: +toolu_01ABCDEFGHIJKL:ls\nuser: =toolu_01ABCDEFGHIJKL\n"
                    "assistant: done\nuser: more",
                ),
                answer("ok"),
            ),
        ],
        [0, 0, 0],
    ),
    "a title request runs in between": (
        [
            (asks("Make a title.", "user: hi", tools=()), answer("Greeting")),
            (asks("S", "user: hi"), answer("hello")),
            (asks("Make a title.", "user: hi", tools=()), answer("Greeting again")),
            (asks("S", "user: hi\nassistant: hello\nuser: more"), answer("ok")),
        ],
        [0, 1, 0, 1],
    ),
    "a title request without a system prompt of its own": (
        [
            (asks("", "user: hi"), answer("hello")),
            (asks("", "user: hi", tools=(ToolDef("set_title", None, None),)), answer("+c9:set_title")),
            (asks("", "user: hi", tools=()), answer("Greeting")),
            (asks("", "user: hi\nassistant: hello\nuser: more"), answer("ok")),
        ],
        [0, 1, 2, 0],
    ),
    "one greeting, two conversations, one after the other": (
        [
            (asks("S", "user: hi"), answer("hello")),
            (asks("S", "user: hi\nassistant: hello\nuser: a"), answer("A")),
            (asks("S", "user: hi"), answer("good day")),
            (asks("S", "user: hi\nassistant: good day\nuser: b"), answer("B")),
            (asks("S", "user: hi\nassistant: hello\nuser: a\nassistant: A\nuser: c"), answer("C")),
        ],
        [0, 0, 1, 1, 0],
    ),
    "retries, then a ladder of changed ones": (
        [
            (asks("S", "user: hi"), FAILED),
            (asks("S", "user: hi", thinking="off"), FAILED),
            (asks("S", "user: hi", tools=(*TOOLS, ToolDef("more", None, None))), FAILED),
            (asks("S", "user: hi", tools=()), None),
            (asks("S", "user: hi\nuser: are you there?"), answer("yes")),
        ],
        [0, 0, 0, 0, 0],
    ),
    "the same question to two models": (
        [
            (asks("S", "user: hi", model="m1"), answer("hello")),
            (asks("S", "user: hi", model="m2"), answer("hello")),
            (asks("S", "user: hi\nassistant: hello\nuser: a", model="m1"), answer("A")),
        ],
        [0, 1, 0],
    ),
    "the same question to two models, then to the first again": (
        [
            (asks("S", "user: hi", model="m1"), answer("hello")),
            (asks("S", "user: hi", model="m2"), answer("hello")),
            (asks("S", "user: hi", model="m1"), answer("hello again")),
        ],
        [0, 1, 0],
    ),
    "another provider is told the thinking as text, under its own ids": (
        [
            (asks("S", "user: list it", model="m1"), answer('~look there | Let me see. | +c1:ls{"path": "x"}')),
            (
                asks(
                    "Be brief.",
                    'user: list it\nmodel: <thinking>look there</thinking>Let me see. | +z9:ls{"path": "x"}\ntool: =z9',
                    model="m2",
                ),
                answer("two files"),
            ),
        ],
        [0, 0],
    ),
    "another provider is told a long answer behind its thinking": (
        [
            (asks("S", "user: hi", model="m1"), answer("~hm | The answer is forty-two, as ever.")),
            (
                asks("S", "user: hi\nassistant: (hm) The answer is forty-two, as ever.\nuser: more", model="m2"),
                answer("ok"),
            ),
        ],
        [0, 0],
    ),
    "another provider is told other arguments": (
        [
            (asks("S", "user: list it", model="m1"), answer('Let me see. | +c1:ls{"path": "x"}')),
            (
                asks("S", 'user: list it\nassistant: so: Let me see. | +z9:ls{"path": "y"}\ntool: =z9', model="m2"),
                answer("two files"),
            ),
        ],
        [0, 1],
    ),
    "another provider is told another question before the same call": (
        [
            (asks("S", "user: list it", model="m1"), answer('~a | Let me see. | +c1:ls{"path": "x"}')),
            (
                asks(
                    "S", 'user: what is there?\nassistant: a Let me see. | +z9:ls{"path": "x"}\ntool: =z9', model="m2"
                ),
                answer("two files"),
            ),
        ],
        [0, 1],
    ),
    "a short word at the end of another answer is chance": (
        [
            (asks("S", "user: hi", model="m1"), answer("yes")),
            (asks("S", "user: hi\nassistant: I think yes\nuser: more", model="m2"), answer("ok")),
        ],
        [0, 1],
    ),
    "a sub-agent is given the words of the turn, not the turn": (
        [
            (asks("S", "user: list it", model="m1"), answer('~a | Let me see. | +c1:ls{"path": "x"}')),
            (asks("Sub", "user: list it", model="m2"), answer("two files")),
            (asks("Title", "user: list it Let me see.", model="m3", tools=()), answer("Listing")),
        ],
        [0, 1, 2],
    ),
    "another model takes over": (
        [
            (asks("S", "user: hi", model="m1"), answer("hello")),
            (asks("S", "user: hi\nassistant: hello\nuser: a", model="m2"), answer("A")),
        ],
        [0, 0],
    ),
    "a fallback to another model": (
        [
            (asks("S", "user: hi", model="m1"), FAILED),
            (asks("S", "user: hi", model="m2"), answer("hello")),
        ],
        [0, 0],
    ),
    "sampling the same request": (
        [
            (asks("S", "user: hi"), answer("a")),
            (asks("S", "user: hi"), answer("b")),
            (asks("S", "user: hi\nassistant: b\nuser: more"), answer("c")),
            (asks("S", "user: hi\nassistant: a\nuser: more"), answer("d")),
        ],
        [0, 0, 0, 0],
    ),
    "parallel agents with the same call ids": (
        [
            (asks("S", "user: go north"), answer("+call_0:ls")),
            (asks("S", "user: go south"), answer("+call_0:ls")),
            (asks("S", "user: go south\nassistant: +call_0:ls\ntool: =call_0"), answer("+call_0:read")),
            (asks("S", "user: go north\nassistant: +call_0:ls\ntool: =call_0"), answer("done")),
        ],
        [0, 1, 1, 0],
    ),
    "an agent with call ids that others use too, from its second step on": (
        [
            (asks("S", "user: go north"), answer("+call_0:ls")),
            (asks("T", "user: go south\nassistant: +call_0:ls\ntool: =call_0"), answer("done")),
        ],
        [0, 1],
    ),
    "an edit of an earlier turn": (
        [
            (asks("S", "user: a"), answer("A")),
            (asks("S", "user: a\nassistant: A\nuser: b"), answer("B")),
            (asks("S", "user: a\nassistant: A\nuser: b2"), answer("B2")),
            (asks("S", "user: a\nassistant: A\nuser: b2\nassistant: B2\nuser: c"), None),
        ],
        [0, 0, 0, 0],
    ),
    "a summary, then the tail": (
        [
            (asks("S", "user: a"), answer("+c1:ls")),
            (asks("S", "user: a\nassistant: +c1:ls\ntool: =c1:one\nassistant: hm\nuser: b"), answer("+c2:read")),
            (asks("S", "user: what was: ...\nuser: b\nassistant: +c2:read\ntool: =c2"), answer("done")),
        ],
        [0, 0, 0],
    ),
    "another system prompt every time": (
        [
            (asks("S at noon", "user: a"), answer("+c1:ls")),
            (asks("S at one", "user: a\nassistant: +c1:ls\ntool: =c1"), answer("done")),
        ],
        [0, 0],
    ),
    "recorded from the middle": (
        [
            (asks("S", "user: a\nassistant: A\nuser: b"), None),
            (asks("S", "user: a\nassistant: A\nuser: b\nassistant: B\nuser: c"), answer("C")),
        ],
        [0, 0],
    ),
    "worked examples in front": (
        [
            (asks("S", "user: 1+1\nassistant: 2\nuser: 2+2"), answer("4")),
            (asks("S", "user: 1+1\nassistant: 2\nuser: 3+3"), answer("6")),
            (asks("S", "user: 1+1\nassistant: 2\nuser: 2+2\nassistant: 4\nuser: why?"), answer("so")),
        ],
        [0, 1, 0],
    ),
    "a client that changes the answer": (
        [
            (asks("S", "user: hi"), answer("hello, nice to see you")),
            (asks("S", "user: hi\nassistant: hello, nice\nuser: what?"), answer("sorry")),
            (asks("S", "user: hi\nassistant: bonjour\nuser: what?"), answer("pardon")),
        ],
        [0, 0, 1],
    ),
    "a client that makes up ids": (
        [
            (asks("S", "user: hi"), answer("+?:ls")),
            (asks("S", "user: hi\nassistant: +made_up_1:ls\ntool: =made_up_1"), answer("done")),
        ],
        [0, 0],
    ),
    "a client that drops the text beside a call": (
        [
            (asks("S", "user: hi"), answer("let me see | +toolu_01ABCDEFGHIJKL:ls")),
            (asks("S", "user: hi\nassistant: +toolu_01ABCDEFGHIJKL:ls\nuser: =toolu_01ABCDEFGHIJKL"), answer("done")),
        ],
        [0, 0],
    ),
    "reminders come and go": (
        [
            (asks("S", "user: hi <system-reminder>be brief</system-reminder>\nsystem: be brief"), answer("hello")),
            (asks("S", "user: hi\nassistant: hello\nuser: so | <system-reminder>x</system-reminder>"), answer("A")),
            (asks("S", "user: hi\nassistant: hello\nuser: so\nassistant: A\nuser: [note 1]"), answer("B")),
            (asks("S", "user: hi\nassistant: hello\nuser: so\nassistant: A\nuser: on\nassistant: B"), answer("C")),
        ],
        [0, 0, 0, 0],
    ),
    "the first words change, the answer is held": (
        [
            (asks("S", "user: hi [step 1]"), answer("hello")),
            (asks("S", "user: hi [step 2]\nassistant: hello\nuser: so"), answer("A")),
        ],
        [0, 0],
    ),
    "a summary, then the tail, and no calls": (
        [
            (asks("S", "user: a"), answer("A")),
            (asks("S", "user: a\nassistant: A\nuser: b"), answer("B")),
            (asks("S", "user: what was: ...\nuser: b\nassistant: B\nuser: c"), answer("C")),
        ],
        [0, 0, 0],
    ),
    "a call that tells by its id alone": (
        [
            (asks("S", "user: hi [step 1]"), answer("let me see | +toolu_01ABCDEFGHIJKL:ls")),
            (asks("T", "user: [step 2]\nassistant: +toolu_01ABCDEFGHIJKL:ls\nuser: =toolu_01ABCDEFGHIJKL"), None),
        ],
        [0, 0],
    ),
    "a counter and the words before it": (
        [
            (asks("S at noon", "user: hi"), answer("let me see | +call_0:ls")),
            (asks("S at one", "user: hi\nassistant: +call_0:ls\nuser: =call_0"), None),
        ],
        [0, 0],
    ),
    "a question with something beside it is another question": (
        [
            (asks("S", "user: what is this?"), answer("what is what?")),
            (asks("S", "user: what is this? | =c1:a picture"), answer("a cat")),
        ],
        [0, 1],
    ),
    "agents that end alike, with a clock in their instructions": (
        [
            (asks("S 1", "user: north\nassistant: +call_0:ls\ntool: =call_0"), answer("done")),
            (asks("S 2", "user: south\nassistant: +call_0:ls\ntool: =call_0"), answer("done")),
            (
                asks("S 3", "user: north\nassistant: +call_0:ls\ntool: =call_0\nassistant: done\nuser: x"),
                answer("x"),
            ),
        ],
        [0, 1, 0],
    ),
    "a retry with another note among the messages": (
        [
            (asks("S", "user: hi\nsystem: it is noon"), FAILED),
            (asks("S", "user: hi\nsystem: it is one"), answer("hello")),
        ],
        [0, 0],
    ),
    "a retry with another short instruction beside the long one": (
        [
            (request("user: hi", system=(Text("id 1"), Text("You are a helper."))), FAILED),
            (request("user: hi", system=(Text("id 2"), Text("You are a helper."))), answer("hello")),
        ],
        [0, 0],
    ),
    "the server holds the history": (
        [
            (asks("S", "user: hi"), answer("+c1:ls", id="msg_1")),
            (asks("", "user: =c1", previous_id="msg_1", tools=()), answer("done", id="msg_2")),
            (asks("", "user: more", previous_id="msg_2", tools=()), answer("A", id="msg_3")),
            (asks("S", "user: hi\nassistant: +c1:ls\nuser: =c1\nassistant: done\nuser: more"), answer("B")),
        ],
        [0, 0, 0, 0],
    ),
    "the server holds what was not recorded": (
        [
            (asks("", "user: =c1", previous_id="msg_0"), FAILED),
            (asks("", "user: =c1:other", previous_id="msg_0"), answer("done")),
        ],
        [0, 0],
    ),
}


@pytest.mark.parametrize(("exchanges", "lanes"), PLAYBOOKS.values(), ids=PLAYBOOKS)
def test_playbooks(exchanges: list[tuple[ModelRequest, ModelResponse | None]], lanes: list[int]) -> None:
    session = Session()
    for asked, got in exchanges:
        session.hear(asked, got)
    assert session.lanes == lanes


def test_what_is_no_model_exchange_has_no_lane() -> None:
    session = Session()
    assert session.hear(request("user: hi"), protocol=None) is None
    assert session.hear(None) is None
    assert session.grouped.all == []


def test_answers_and_exchanges_are_kept_in_order() -> None:
    session = Session()
    session.hear(request("user: a"), FAILED)
    session.hear(request("user: other"), answer("X"))
    found = session.hear(request("user: a"), answer("A"))
    assert found is session.grouped.all[0]
    assert found.exchanges == [0, 2]
    assert found.answers == [(2, answer("A"))]


def test_a_conversation_as_it_was() -> None:
    session = Session()
    session.hear(request("user: a"), answer("A", id="1"))
    session.hear(request("user: a\nassistant: A\nuser: b"), answer("B", id="2"))
    found = session.hear(request("user: c", previous_id="2"), answer("C", id="3"))
    assert found is not None
    then = found.before(1)
    assert (then.id, then.label, then.exchanges, then.answers) == (0, "m: a", [0], [(0, answer("A", id="1"))])
    assert (len(then.received), len(found.received)) == (1, 3)
    assert found.answer("2") == answer("B").messages
    assert then.answer("2") == then.answer(None) == ()


def test_an_answer_without_its_request_is_a_lane() -> None:
    session = Session()
    session.hear(None, answer("A"))
    session.hear(None, answer("A"))
    assert session.lanes == [0, 1]


def test_two_places_of_recording_are_two_lanes() -> None:
    session = Session()
    for hop in ("client", "gateway"):
        session.hear(request("user: a"), answer("A", id="1"), hop=hop)
    for hop in ("client", "gateway"):
        session.hear(request("user: a\nassistant: A\nuser: b"), answer("B"), hop=hop)
        session.hear(request("user: c", previous_id="1"), hop=hop)
    assert session.lanes == [0, 1, 0, 0, 1, 1]


def test_the_label_is_the_model_and_the_last_words_of_the_user() -> None:
    story = (
        "user: first\nassistant: A\nuser: <system-reminder>x</system-reminder> | " + "last  words " * 20 + "\ntool: =c"
    )
    found = Session().hear(request(story))
    assert found is not None
    assert found.label == "m: " + ("last words " * 20)[:60].rstrip()
    silent = Session().hear(ModelRequest("test", None, ()))
    assert silent is not None
    assert silent.label == "no model"


def test_deep_arguments_are_no_problem() -> None:
    deep: object = "x"
    for _ in range(5_000):
        deep = [deep]
    session = Session()
    call = answer("+c1:ls").messages[0]
    bent = Message("assistant", (call.parts[0].__class__("c1", "ls", deep, "test"),))  # type: ignore[call-arg]
    session.hear(request("user: a"), ModelResponse("test", messages=(bent,)))
    session.hear(ModelRequest("test", "m", (*request("user: a").messages, bent)), None)
    assert session.lanes == [0, 0]


names = st.lists(st.sampled_from("abc"), min_size=1, max_size=12)


@given(names)
def test_strangers_in_between_change_nothing(order: list[str]) -> None:
    """Three agents with the same instructions, tools and counters for ids, interleaved at random."""
    session = Session()
    told = {name: f"user: agent {name}" for name in order}
    lanes: dict[str, set[int | None]] = {name: set() for name in order}
    for name in order:
        session.hear(asks("S", told[name]), answer("+call_0:ls"))
        lanes[name].add(session.lanes[-1])
        told[name] += "\nassistant: +call_0:ls\ntool: =call_0"
    assert all(len(found) == 1 for found in lanes.values())
    assert len(session.grouped.all) == len(lanes)


@pytest.mark.parametrize(("second", "lanes"), [(1.0, [0, 1, 1, 0]), (3.0, [0, 0, 0, 0]), (None, [0, 0, 0, 0])])
def test_what_is_asked_twice_at_one_time_are_two_conversations(second: float | None, lanes: list[int]) -> None:
    session = Session()
    session.hear(asks("S", "user: hi"), answer("hello"), started=0.0)
    session.hear(asks("S", "user: hi"), answer("good day"), started=second)
    session.hear(asks("S", "user: hi\nassistant: good day\nuser: b"), answer("B"), started=5.0)
    session.hear(asks("S", "user: hi\nassistant: hello\nuser: a"), answer("A"), started=6.0)
    assert session.lanes == lanes


def state(grouped: Conversations) -> str:
    """All that is kept, in words: tables and sets in any order."""
    tables = [sorted(map(repr, v.items())) for v in vars(grouped).values() if isinstance(v, dict)]
    return repr(
        (
            tables,
            [sorted(said.fingerprints) for said in grouped._item_sets],
            grouped.all,
            [len(c.received) for c in grouped.all],
        )
    )


@pytest.mark.parametrize("name", PLAYBOOKS)
def test_what_was_heard_is_taken_back_without_a_trace(name: str) -> None:
    session, states, marks = Session(), [], []
    session.grouped.journal.is_on = True
    for asked, got in PLAYBOOKS[name][0]:
        states.append(state(session.grouped))
        marks.append(session.grouped.journal.mark())
        session.hear(asked, got)
    for before, mark in zip(reversed(states), reversed(marks), strict=True):
        session.grouped.journal.rewind(mark)
        assert state(session.grouped) == before


def test_a_retry_belongs_to_the_newest_of_the_conversations_that_asked_the_same():
    session, asked = Session(), asks("S", "user: hi")
    session.hear(asked, answer("one"), started=0.0)
    session.hear(asked, answer("two"), started=1.0)  # before the first was answered: another agent
    session.hear(asked, answer("three"), started=9.0)
    assert session.lanes == [0, 1, 1]
