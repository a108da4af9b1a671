"""What dials refuse, what they leave unread, and what a scripted model makes out."""

from __future__ import annotations

import pytest

from tests.simulator.conftest import ask, chat
from workbench.errors import UsageError
from workbench.probes.media import png
from workbench.simulator import ScriptedModel, Simulator, dials_of
from workbench.simulator._dials import FEATURES, KEYWORD, UNREAD

CHAT = "/v1/chat/completions"
CODE = "The codeword is k1-x."
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def simulator(**dials):
    given = {k.replace("_", "-"): v for k, v in dials.items()}
    return Simulator("generic", model=ScriptedModel(dials_of({"enforces": False, **given})))


def said(body, **dials):
    status, answer = ask(simulator(**dials), CHAT, body)
    if status != 200:
        return f"{status}: {answer['error']['message']}"
    message = answer["choices"][0]["message"]
    return message["content"] or [c["function"]["arguments"] for c in message.get("tool_calls", ())]


def asked(*messages, **more):
    return {"model": "m", "messages": [*messages, user("What is the codeword?")], **more}


def user(text):
    return {"role": "user", "content": text}


def turn(result="fine", call=CALL, **more):
    answer = {"role": "assistant", "content": None, "tool_calls": [call], **more}
    return (
        user("Go on, and tell the codeword."),
        answer,
        {"role": "tool", "tool_call_id": call["id"], "content": result},
    )


def told(*messages, **more):
    return {"model": "m", "messages": list(messages), "tools": [TOOL], **more}


THOUGHT = "The user asks for something; a tool can find it."
SYSTEM, DEVELOPER = {"role": "system", "content": CODE}, {"role": "developer", "content": CODE}
LONG = {**CALL, "id": "call_" + "x" * 40}
STRICT = {"type": "function", "function": {**TOOL["function"], "strict": True}}
NAMED = {"type": "function", "function": {**TOOL["function"], "name": "a.b"}}

REQUESTS = {
    "tools": told(user("hi")),
    "stream": {**asked(), "stream": True},
    "strict": {**told(user("hi")), "tools": [STRICT]},
    "choice-auto": told(user("hi"), tool_choice="auto"),
    "choice-none": told(user("hi"), tool_choice="none"),
    "choice-any": told(user("hi"), tool_choice="required"),
    "choice-tool": told(user("hi"), tool_choice={"type": "function", "function": {"name": "f"}}),
    "system": asked(SYSTEM),
    "mid-system": asked(user("hi"), SYSTEM),
    "developer": asked(DEVELOPER),
    "errors": told(*turn('{"error": "no"}')),
    "reasoning": told(*turn(reasoning_content=THOUGHT)),
    "reasoning-missing": told(*turn()),
    "reasoning-empty": told(*turn(reasoning_content="")),
    "reasoning-altered": told(*turn(reasoning_content="The user")),
    "reasoning-stale": told(*turn(reasoning_content=THOUGHT), user("and?")),
    "reasoning-forgotten": told(*turn(), user("and?")),
    "results": told(*turn("long")),
    "context": asked(user("hi")),
    "odd-names": {**told(user("hi")), "tools": [NAMED]},
    "odd-ids": told(*turn(call={**CALL, "id": "a:b"})),
    "schema:properties": told(user("hi")),
}
LIMITS = {"results": {"result_limit": 2}, "context": {"context": 1}}


@pytest.mark.parametrize("feature", REQUESTS)
def test_a_feature_is_refused_where_it_is(feature: str) -> None:
    dials = {"refuses": feature, **LIMITS.get(feature, {})}
    assert said(REQUESTS[feature], **dials) == f"400: {feature} is not supported"
    plain = {"model": "m", "messages": [user("hi")]}
    assert said(plain, **{**dials, "context": 1000}) == "You said: hi", "what has no such thing is taken"


def test_every_feature_has_a_request() -> None:
    assert {*REQUESTS} >= {*FEATURES} - {"media"}


def test_names_and_ids_have_a_longest() -> None:
    assert said(told(*turn(call=LONG)), id_limit=40).startswith("400: the tool call id is longer")
    assert said(told(user("hi")), name_limit=1) == ["{}"]
    assert said({**told(user("hi")), "tools": [NAMED]}, name_limit=2).startswith("400: the tool name is longer")


UNSEEN = {
    "system": asked(SYSTEM),
    "mid-system": asked(user("hi"), SYSTEM),
    "developer": asked(DEVELOPER),
    "reasoning": told(*turn(reasoning_content=CODE)),
}


@pytest.mark.parametrize("feature", UNSEEN)
def test_a_codeword_is_told_from_wherever_it_is_read(feature: str) -> None:
    assert said(UNSEEN[feature]) == "The codeword: k1-x."
    assert said(UNSEEN[feature], ignores=feature) == "I see no such word."


def test_choices_go_unread() -> None:
    assert said(REQUESTS["choice-none"]) == "You said: hi"
    assert said(REQUESTS["choice-none"], ignores="choice-none") == ["{}"]
    forced = told(user("What is the codeword?"), tool_choice="required")
    assert (said(forced), said(forced, ignores="choice-any")) == (["{}"], "I see no such word.")


def test_what_is_too_long_goes_unread() -> None:
    result = told(*turn("x" * 500 + CODE))
    assert (said(result), said(result, result_limit=400)) == ("The codeword: k1-x.", "I see no such word.")
    history = asked(user(CODE), *(user("x" * 400) for _ in range(10)))
    assert (said(history), said(history, context=500)) == ("The codeword: k1-x.", "I see no such word.")


def test_keywords_go_unread_at_any_depth_and_names_are_no_keywords() -> None:
    held = {"type": "string", "enum": ["a"]}
    tool = {
        "type": "function",
        "function": {"name": "f", "parameters": {"type": "object", "properties": {"enum": held}}},
    }
    body = {**told(user("hi")), "tools": [tool]}
    assert (said(body), said(body, ignores="schema:enum")) == (['{"enum":"a"}'], ['{"enum":"hi"}'])
    bare = {**body, "tools": [{**tool, "function": {"name": "f", "parameters": {"properties": {"enum": {}}}}}]}
    assert said(bare, refuses="schema:enum") == ['{"enum":"hi"}']


def test_texts_between_tags_are_written_as_they_stand() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["a", "b"],
    }
    body = {**told(user('Call f: <text>\\n "1"</text> and <text>2</text>')), "tools": [TOOL]}
    body["tools"] = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    assert said(body) == ['{"a":"\\\\n \\"1\\"","b":"2"}']


def test_cancelled_calls_are_not_made_again() -> None:
    body = told(*turn('{"error": {"code": "cancelled"}}'))
    assert (said(body, mends=1), said(body, mends=1, stops=False)) == ("I see no such word.", ["{}"])


def test_results_are_of_no_use_without_the_reasoning_that_they_need() -> None:
    assert said(told(*turn()), needs_reasoning=True) == "I am done."
    assert said(told(*turn(reasoning_content=THOUGHT)), needs_reasoning=True) == "I see no such word."


@pytest.mark.parametrize("colour", ["red", "green", "blue"])
def test_the_colour_of_a_picture_is_told(colour: str) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": png(colour)}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "image", "source": source}]}
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    body = {
        "model": "m",
        "max_tokens": 99,
        "messages": [user("Look."), {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}],
    }
    for dials, words in (({}, colour), ({"ignores": "media"}, "no text")):
        _, answer = ask(simulator(**dials), "/v1/messages", body)
        assert answer["content"][0]["text"] == f"f returned: {words}"
    assert ask(simulator(refuses="media"), "/v1/messages", body)[0] == 400


@pytest.mark.parametrize("thinks", [True, False])
def test_reasoning_comes_where_the_dial_says(thinks: bool) -> None:
    _, answer = ask(simulator(thinks=thinks), CHAT, chat())
    assert ("reasoning" in str(answer["choices"][0]["message"])) is thinks


def test_what_the_contract_refuses_may_be_taken() -> None:
    body = told(*turn(), user("and?"))
    strict, lax = (Simulator("deepseek", model=ScriptedModel(dials_of({"enforces": e}))) for e in (True, False))
    assert (ask(strict, CHAT, body)[0], ask(lax, CHAT, body)[0]) == (400, 200)


@pytest.mark.parametrize(
    "given",
    [{"refuses": "rain"}, {"ignores": "tools"}, {"context": -1}, {"name-limit": "x"}, {"stops": "no"}, {"refuses": 3}],
    ids=str,
)
def test_dials_that_are_none(given) -> None:
    with pytest.raises(UsageError):
        dials_of(given)


def test_features_may_be_a_list_or_a_text() -> None:
    both = (f"{KEYWORD}enum, tools", [f"{KEYWORD}enum", "tools"])
    assert {dials_of({"refuses": value}).refuses for value in both} == {(f"{KEYWORD}enum", "tools")}
    assert set(UNREAD) <= set(FEATURES)
