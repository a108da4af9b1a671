"""Scripts: the turn that fits answers, and what is no script says where."""

from __future__ import annotations

import pytest

from tests.simulator.conftest import ask, chat
from workbench.errors import WorkbenchError
from workbench.simulator import Simulator, read_script

CHAT = "/v1/chat/completions"
SCRIPT = """
version: 1
dials: {parallel: 2}
turns:
- match: {text: Weather, results: false}
  answer:
    thinking: Where?
    text: Let me look.
    calls: [{name: get_weather, arguments: {city: Paris}}, {name: list_dir}]
  times: 1
- match: {turn: 2, model: "gpt-*"}
  answer: {text: Sunny., calls: []}
- match: {tool: other}
  dials: {http: "503:once", parallel: 1}
"""


def said(simulator, body):
    status, answer = ask(simulator, CHAT, body)
    return status, answer.get("choices", [{}])[0].get("message")


def test_turns_answer_what_they_fit():
    simulator = Simulator("generic", model=read_script(SCRIPT, "script"))
    _, first = said(simulator, chat("what WEATHER is it?", model="gpt-x"))
    assert (first["content"], first["reasoning_content"]) == ("Let me look.", "Where?")
    calls = [(c["function"]["name"], c["function"]["arguments"]) for c in first["tool_calls"]]
    assert calls == [("get_weather", '{"city":"Paris"}'), ("list_dir", '{"path":"."}')]
    result = [{"role": "tool", "tool_call_id": c["id"], "content": "x"} for c in first["tool_calls"]]
    history = [{"role": "user", "content": "weather?"}, first, *result]
    assert said(simulator, chat(model="gpt-x", messages=history))[1]["content"] == "Sunny."
    assert said(simulator, chat(model="m", messages=history))[1]["content"].startswith("get_weather returned: x")


def test_a_turn_that_is_used_up_leaves_the_request_to_the_next():
    simulator = Simulator("generic", model=read_script(SCRIPT, "script"))
    first, second = (said(simulator, chat("the weather"))[1] for _ in range(2))
    assert first["content"] == "Let me look." and len(second["tool_calls"]) == 2


@pytest.mark.parametrize(
    ("answer", "content", "calls"),
    [("{text: done}", "done", 0), ("{thinking: hm}", None, 1), ("{text: look, calls: [{name: ls}]}", "look", 1)],
)
def test_a_text_alone_makes_no_calls(answer, content, calls):
    simulator = Simulator("generic", model=read_script(f"version: 1\nturns: [{{answer: {answer}}}]", "script"))
    message = said(simulator, chat())[1]
    assert (message["content"], len(message.get("tool_calls", ()))) == (content, calls)


def test_dials_of_a_turn():
    simulator = Simulator("generic", model=read_script(SCRIPT, "script"))
    tool = {"type": "function", "function": {"name": "other", "parameters": {"type": "object"}}}
    assert said(simulator, chat(tools=[tool]))[0] == 503
    assert len(said(simulator, chat(tools=[tool]))[1]["tool_calls"]) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("turns: []", "must begin with .version: 1."),
        ("version: 1\nturn: []", "unknown key 'turn'"),
        ("version: 1\nturns: {}", "not a list"),
        ("version: 1\nturns: [{match: {txt: a}}]", "unknown key 'txt'"),
        ("version: 1\nturns: [{match: {results: 1}}]", "neither true nor false"),
        ("version: 1\nturns: [{times: -1}]", "must not be negative"),
        ("version: 1\nturns: [{answer: {calls: [{arguments: {}}]}}]", "missing"),
        ("version: 1\nturns: [{dials: {stream: x}}]", "stream: 'x' is not known"),
        ("version: 1\ndials: 3", "not a mapping"),
        ("a: [", "not YAML"),
    ],
)
def test_what_is_no_script_says_where(text, message):
    with pytest.raises(WorkbenchError, match=message) as failed:
        read_script(text, "turns.yaml")
    assert "turns.yaml" in (failed.value.where or "")
