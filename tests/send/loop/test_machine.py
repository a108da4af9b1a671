"""The loop: each step, what can come of it, and why it ends."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.send.loop.samples import answered, call, chat, exchanged
from workbench.ir import JsonValue
from workbench.send.loop import (
    AnswerCall,
    CallResult,
    ConversationLoop,
    EndReason,
    Limits,
    LoopEnd,
    Say,
    Send,
    plain,
    refusal_result,
)
from workbench.wire.exchange import Exchange, State
from workbench.wire.jsontext import dumps, loads

ASKED = chat({"role": "user", "content": "?"})
RESULT = CallResult("a b")


def loop_of(answer: bytes | None, asked: bytes = ASKED, **more: object) -> ConversationLoop:
    return ConversationLoop(exchanged(asked, answer), "openai-chat", "generic", **more)  # type: ignore[arg-type]


def sent(loop: ConversationLoop) -> JsonValue:
    """The body of the request that is next."""
    step = loop.step
    assert isinstance(step, Send), step
    return loads(step.request.body.raw)


def test_a_request_without_an_answer_is_sent_as_it_is() -> None:
    loop = loop_of(None)
    assert isinstance(loop.step, Send)
    assert loop.step.request is loop.exchange.request
    assert loop.step.added == ()


def test_calls_are_answered_in_order_then_everything_goes_together() -> None:
    loop = loop_of(answered(call("c1"), call("c2", '{"path":"b"}'), reasoning_content="Hm."))
    for number, wanted in enumerate(("c1", "c2")):
        step = loop.step
        assert isinstance(step, AnswerCall)
        assert (step.call.id, step.number, step.of, step.refusal) == (wanted, number, 2, None)
        loop = loop.after(CallResult(f"of {wanted}"))
    *_, said, first, second = sent(loop)["messages"]
    assert said["reasoning_content"] == "Hm."
    assert [first, second] == [
        {"role": "tool", "content": "of c1", "tool_call_id": "c1"},
        {"role": "tool", "content": "of c2", "tool_call_id": "c2"},
    ]


def test_arguments_are_read_by_the_ladder_and_a_bad_call_gets_an_error_the_model_can_act_on() -> None:
    loop = loop_of(answered(call("c1", '{"path":1}'), call("c2", '{"file":"a"}'), call("c3", name="rm")))
    steps = []
    while isinstance(step := loop.step, AnswerCall):
        steps.append(step)
        loop = loop.after(refusal_result(step.refusal) if step.refusal else RESULT)
    assert steps[0].arguments == {"path": "1"}, "coerced by the schema"
    assert [step.refusal and step.refusal.code.value for step in steps] == [
        None, "SCHEMA_VALIDATION_FAILED", "UNKNOWN_TOOL",
    ]  # fmt: skip
    told = loads(sent(loop)["messages"][-1]["content"])
    assert told["is_error"] and told["error_code"] == "UNKNOWN_TOOL" and told["retryable"]


def test_a_failure_is_said_by_the_flag_or_in_words() -> None:
    loop = loop_of(answered(call())).after(CallResult("no such file", is_error=True))
    assert sent(loop)["messages"][-1]["content"] == "Error: no such file"


@given(
    body=st.fixed_dictionaries({"model": st.text(max_size=5), "temperature": st.floats(0, 2)}),
    indent=st.sampled_from([None, 1, 4]),
)
def test_all_that_was_there_stays_byte_for_byte(body: dict[str, JsonValue], indent: int | None) -> None:
    import json

    history = [{"role": "user", "content": 'ü \\ " 東'}]
    text = json.dumps({**body, "messages": history, "z": [1.0, 2e3]}, indent=indent, ensure_ascii=indent == 4)
    asked = text.encode()
    step = loop_of(answered(call()), asked).after(RESULT).step
    assert isinstance(step, Send)
    made, at = step.request.body.raw, asked.rindex(b"}", 0, asked.rindex(b"]", 0, asked.index(b'"z"'))) + 1
    assert made.startswith(asked[:at])
    assert made.endswith(asked[at:])
    assert loads(made)["messages"] == [*history, *step.added]


def test_a_step_can_be_changed_before_it_happens() -> None:
    """Another request was sent than the one proposed: the loop goes on from what was sent."""
    loop = loop_of(answered(call())).after(RESULT)
    other = chat({"role": "user", "content": "something else"})
    loop = loop.after(exchanged(other, answered(call("c9"))))
    assert sent(loop.after(RESULT))["messages"][0]["content"] == "something else"


def test_the_users_next_words_let_an_answered_conversation_go_on() -> None:
    loop = loop_of(answered())
    assert loop.step == LoopEnd(EndReason.DONE, "the model answered without a call")
    *_, said, told = sent(loop.after(Say("And now?")))["messages"]
    assert (said["content"], told) == ("done", {"role": "user", "content": "And now?"})


# -- why it ends


ENDS = {
    "an error instead of a response": (b'{"error":{"message":"no"}}', EndReason.REFUSED, "no"),
    "no answer at all": (b"<html>", EndReason.CUT, "there is no readable response"),
    "a call in text": (
        answered(content='<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>'),
        EndReason.TEXT_CALL, "the model wrote a call to 'read' as text (hermes)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_it_ends_with_a_reason(name: str) -> None:
    answer, reason, text = ENDS[name]
    step = loop_of(answer).step
    assert isinstance(step, LoopEnd)
    assert (step.reason, step.text) == (reason, text)


def test_an_answer_that_broke_off_can_be_asked_for_again() -> None:
    loop = loop_of(answered())
    torn = replace(loop, exchange=replace(loop.exchange, state=State.ABORTED, note="the connection broke"))
    assert torn.step == LoopEnd(EndReason.CUT, "the response is aborted: the connection broke")
    assert isinstance(torn.retry().step, Send)
    assert loop.retry() is loop


def test_limits_stop_it_and_others_let_it_go_on() -> None:
    loop = loop_of(answered(call()), limits=Limits(turns=1)).after(RESULT)
    loop = loop.after(exchanged(ASKED, answered(call("c2", '{"path":"b"}')))).after(RESULT)
    assert loop.step == LoopEnd(EndReason.TURNS, "limit of 1 requests reached")
    assert isinstance(loop.after(Limits(turns=2)).step, Send)
    short = loop.after(Limits(tokens=5)).step
    assert isinstance(short, LoopEnd) and short.reason is EndReason.TOKENS
    assert "an estimated" in short.text, "the answers bring no counts"


def test_tokens_are_those_of_the_usage_where_there_is_one() -> None:
    counted = loads(answered()) | {"usage": {"prompt_tokens": 30, "completion_tokens": 4, "total_tokens": 34}}
    loop = loop_of(None).after(exchanged(ASKED, dumps(counted)))
    assert (loop.tokens, loop.is_estimated, loop.turns) == (34, False, 1)


def test_the_same_call_again_and_again_stops_it() -> None:
    loop, spaced = loop_of(answered(call("c1"))), '{ "path" : "a" }'
    for name in ("c2", "c3"):
        loop = loop.after(RESULT).after(exchanged(ASKED, answered(call(name, spaced))))
    assert loop.step == LoopEnd(EndReason.REPEATED, "the model made the same call to 'read' 3 times")
    assert isinstance(loop.with_limits(Limits(repeats=0)).step, AnswerCall)


def test_what_cannot_come_of_a_step_is_refused() -> None:
    with pytest.raises(TypeError, match="Say cannot be the outcome of a step of type AnswerCall"):
        loop_of(answered(call())).after(Say("?"))


# -- protocols


def test_calls_in_text_are_read_by_the_parser_and_answered_by_the_user() -> None:
    text = '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>'
    loop = loop_of(answered(content=text), parser="hermes")
    step = loop.step
    assert isinstance(step, AnswerCall)
    assert (step.call.name, step.arguments) == ("read", {"path": "a"})
    *_, said, told = sent(loop.after(RESULT))["messages"]
    assert said["content"] == text
    assert told["role"] == "user" and "a b" in told["content"]


RESPONSE = {
    "id": "resp_2", "object": "response", "status": "completed",
    "output": [
        {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA="},
        {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
    ],
}  # fmt: skip
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "a b"}


def items(asked: dict[str, JsonValue]) -> JsonValue:
    """The body that follows on ``RESPONSE``."""
    loop = ConversationLoop(
        exchanged(dumps({"model": "gpt-5", **asked}), dumps(RESPONSE)), "openai-responses", "openai"
    )
    return sent(loop.after(RESULT))


def test_an_input_that_is_one_string_becomes_a_list() -> None:
    assert items({"input": "hi"})["input"] == [{"role": "user", "content": "hi"}, *RESPONSE["output"], OUTPUT]


def test_a_request_that_names_the_answer_before_it_gets_the_new_items_alone() -> None:
    made = items({"input": [{"role": "user", "content": "hi"}], "previous_response_id": "resp_1", "store": True})
    assert made == {"model": "gpt-5", "input": [OUTPUT], "previous_response_id": "resp_2", "store": True}


def test_a_conversation_keeps_its_name() -> None:
    made = items({"input": "hi", "conversation": "conv_1"})
    assert made == {"model": "gpt-5", "input": [OUTPUT], "conversation": "conv_1"}


def test_an_answer_that_paused_goes_back_without_a_result() -> None:
    asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}
    block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "pause_turn",
        "content": [block],
    }
    loop = ConversationLoop(exchanged(dumps(asked), dumps(answer)), "anthropic-messages", "anthropic")
    assert sent(loop)["messages"][-1] == {"role": "assistant", "content": [block]}


# -- plain data


def test_a_loop_is_resumed_from_plain_data() -> None:
    from workbench.ir import Media

    loop = loop_of(answered(call(), call("c2", '{"path":"b"}')), limits=Limits(tokens=9))
    for result in (CallResult("x", is_error=True), CallResult(parts=(Media("image", "image/png", "AAAA"),))):
        loop = loop.after(result)
        again = plain.load(loads(dumps(plain.dump(loop))))
        assert again == loop
        assert again.step == loop.step


@pytest.mark.parametrize("broken", [None, {}, {"version": 2}, {"version": 1, "exchange": {}}])
def test_what_is_no_loop_is_refused(broken: JsonValue) -> None:
    from workbench.errors import SessionFormatError

    with pytest.raises(SessionFormatError):
        plain.load(broken)


def test_an_exchange_without_a_request_cannot_be_continued() -> None:
    assert ConversationLoop(Exchange("e")).step == LoopEnd(EndReason.UNREADABLE, "no request was recorded")


def test_the_deprecated_call_gets_the_deprecated_result() -> None:
    old = loads(answered(content=None, function_call={"name": "read", "arguments": '{"path":"a"}'}))
    loop = loop_of(dumps(old)).after(RESULT)
    assert sent(loop)["messages"][-1] == {"role": "function", "name": "read", "content": "a b"}


def test_a_list_of_messages_that_is_null_is_filled() -> None:
    asked = b'{"model":"m","messages":null}'
    assert [m["role"] for m in sent(loop_of(answered(call()), asked).after(RESULT))["messages"]] == [
        "assistant",
        "tool",
    ]
