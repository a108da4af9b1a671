"""A client's history gets back what the upstream said, and loses what is ours."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.ir import Carrier, Message, ModelRequest, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.recorder.translation.history import restore_history
from workbench.recorder.translation.memory import RememberedResponse, ResponseMemory, content_of, context_of
from workbench.recorder.translation.reasoning_proofs import handle

THOUGHT = Reasoning(Carrier.REASONING_CONTENT, "hm")
LATER = Reasoning(Carrier.REASONING_CONTENT, "so")


def call(id, path="."):
    return ToolCallIR(id, "ls", {"path": path}, "function")


OWN = (THOUGHT, Text("I look."), LATER, call("up1"), call("up2", "/"))
USER = Message("user", (Text("ls"),))
RESULTS = Message("user", (ToolResultIR("c1", (Text("a"),)), ToolResultIR("c2", (Text("b"),))))


@pytest.fixture
def memory():
    memory = ResponseMemory()
    ids = {"c1": "up1", "c2": "up2"}
    memory.keep(RememberedResponse("n1", OWN, ids, content_of(OWN), context_of([USER])))
    return memory


def back(memory, *messages, wanted=lambda part: True):
    return restore_history(ModelRequest("anthropic-messages", "m", messages), memory, wanted)


def test_an_answer_goes_back_as_it_came(memory):
    client = Message("assistant", (Text("I look."), call("c1"), call("c2", "/")))
    made = back(memory, USER, client, RESULTS)
    assert made.request.messages[1].parts == OWN
    assert [part.tool_call_id for part in made.request.messages[2].parts] == ["up1", "up2"]
    assert {change.kind for change in made.changes} == {"reasoning", "id"}


def test_results_of_a_client_without_ids_get_those_of_the_calls_they_answer(memory):
    memory.keep(RememberedResponse("n2", OWN, {}, content_of(OWN), context_of([USER])))
    client = Message("model", (Text("I look."), call(None), call(None, "/")))
    answers = tuple(ToolResultIR(None, (Text(text),), name="ls") for text in ("a", "b", "one too many"))
    made = back(memory, USER, client, Message("user", answers)).request
    assert [part.tool_call_id for part in made.messages[2].parts] == ["up1", "up2", None]


def test_items_that_are_one_answer_go_back_as_one(memory):
    client = [Message("assistant", (part,)) for part in (Text("I look."), call("c1"), call("c2", "/"))]
    assert back(memory, USER, *client, RESULTS).request.messages[1].parts == OWN


def test_what_a_client_changed_stays_changed(memory):
    client = Message("assistant", (Text("I look"), call("c2", "/"), Text("more")))
    parts = back(memory, USER, client, RESULTS).request.messages[1].parts
    assert parts == (THOUGHT, Text("I look"), LATER, call("up2", "/"), Text("more"))


def test_handles_never_travel(memory):
    mine = Reasoning(Carrier.THINKING, "hm", handle("n1", Carrier.THINKING))
    other = Reasoning(Carrier.THINKING, "before", handle("n0", Carrier.THINKING))
    sealed = Reasoning(Carrier.REDACTED_THINKING, None, data=handle("n0", Carrier.THINKING))
    first = Message("assistant", (other, sealed, Text("hello")))
    made = back(memory, USER, first, USER, Message("assistant", (mine, Text("I look."))))
    assert made.request.messages[1].parts == (Reasoning(Carrier.THINKING, "before"), Text("hello"))
    assert made.request.messages[3].parts == (THOUGHT, Text("I look."), LATER)
    assert [change.kind for change in made.changes].count("handle") == 3


def test_reasoning_that_the_upstream_refuses_is_left_out(memory):
    client = Message("assistant", (THOUGHT, Text("I look."), call("c1"), call("c2", "/")))
    made = back(memory, USER, client, RESULTS, wanted=lambda part: False)
    assert made.request.messages[1].parts == tuple(part for part in OWN if not isinstance(part, Reasoning))
    assert any("refuses reasoning" in change.text for change in made.changes)


def test_what_nobody_knows_stays_as_it_is():
    client = Message("assistant", (THOUGHT, Text("I look."), call("c1")), pointer="/messages/1")
    made = back(ResponseMemory(), USER, client, RESULTS)
    assert made.request.messages == (USER, client, RESULTS) and not made.changes
    assert made.context == context_of([RESULTS])


PARTS = st.one_of(
    st.just(Text("I look.")),
    st.builds(Text, st.text(max_size=3)),
    st.builds(call, st.sampled_from(["c1", "c2", "up1", None, ""])),
    st.builds(ToolResultIR, st.sampled_from(["c1", None]), st.just((Text("a"),))),
    st.builds(
        Reasoning,
        st.sampled_from(list(Carrier)),
        st.sampled_from(["hm", None]),
        st.sampled_from([None, "sig", "workbench:n1", "workbench:n7", "workbench:?"]),
    ),
)
MESSAGES = st.lists(
    st.builds(Message, st.sampled_from(["user", "assistant", "tool", "x"]), st.lists(PARTS, max_size=4).map(tuple)),
    max_size=5,
)


@settings(max_examples=20)
@given(MESSAGES)
def test_any_history_loses_its_handles_and_nothing_said(messages):
    memory = ResponseMemory()
    memory.keep(RememberedResponse("n1", OWN, {"c1": "up1", "c2": None}, content_of(OWN), context_of([USER])))
    made = back(memory, *messages).request
    proofs = [part.signature or "" for m in made.messages for _, part in m.reasoning() if m.role == "assistant"]
    assert not any(proof.startswith("workbench:") for proof in proofs)
    texts = [part.text for m in messages if m.role != "assistant" for part in m.parts if isinstance(part, Text)]
    assert texts == [p.text for m in made.messages if m.role != "assistant" for p in m.parts if isinstance(p, Text)]
