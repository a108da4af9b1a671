"""What a recording answered to the same call."""

from __future__ import annotations

from tests.send.loop.samples import answered, call, chat, exchanged
from workbench.ir import ToolCallIR
from workbench.send.loop import AnswerCall, CallResult, ConversationLoop, RecordedResults, Send
from workbench.wire.exchange import Exchange
from workbench.wire.jsontext import dumps
from workbench.wire.session import MemorySession

RESPONSES = "https://api.openai.com/v1/responses"

USER = {"role": "user", "content": "?"}


def told(call_id: str, text: str, arguments: str = '{"path":"a"}') -> Exchange:
    """An exchange that tells a result."""
    asked = {"role": "assistant", "content": None, "tool_calls": [call(call_id, arguments)]}
    return exchanged(chat(USER, asked, {"role": "tool", "tool_call_id": call_id, "content": text}), answered())


def wanted(call_id: str | None, path: str = "a") -> ToolCallIR:
    return ToolCallIR(call_id, "read", {"path": path}, "openai")


def recording(*exchanges: Exchange) -> RecordedResults:
    return RecordedResults(MemorySession("s", exchanges))


def test_the_id_counts_first_then_name_and_arguments() -> None:
    known = recording(told("c1", "one"), told("c2", "two"))
    by_id, by_meaning = known.of(wanted("c1")), known.of(wanted("new"))
    assert by_id and by_meaning
    assert (by_id.result, by_id.exchange, by_id.is_same_id) == (CallResult("one"), 0, True)
    assert (by_meaning.result, by_meaning.exchange, by_meaning.is_same_id) == (CallResult("two"), 1, False)
    assert by_meaning.others == 1
    assert known.of(wanted("new", "b")) is None


def test_of_several_the_latest_before_counts_else_the_first_after() -> None:
    known = recording(told("c1", "one"), told("c2", "two"), told("c3", "three"))
    found = [known.of(wanted("new"), n) for n in (0, 1, 2)]
    assert [f and f.result.text for f in found] == ["one", "two", "three"]
    later = recording(exchanged(chat(USER), answered(call("c9"))), told("c1", "one"), told("c2", "two"))
    first = later.of(wanted("c9"), 0)
    assert first and first.result.text == "one"


def test_arguments_are_the_same_however_they_are_written() -> None:
    known = recording(told("c1", "one", '{"n": 1, "path": "a"}'))
    assert known.of(ToolCallIR("x", "read", {"path": "a", "n": 1}, "anthropic"))
    assert not known.of(ToolCallIR("x", "write", {"path": "a", "n": 1}, "anthropic"))


def test_a_counter_of_another_call_does_not_take_its_result() -> None:
    """Ids like ``call_0`` come again: the same id with other arguments gives way to the same arguments."""
    known = recording(told("call_0", "of a"), told("call_0", "of b", '{"path":"b"}'))
    found = known.of(wanted("call_0", "b"), 0)
    assert found and found.result.text == "of b"


def test_a_call_that_only_the_server_remembers_is_found_in_its_answer() -> None:
    first = exchanged(
        b'{"model":"m","input":"hi"}',
        b'{"id":"resp_1","object":"response","status":"completed","output":[{"type":"function_call","call_id":"c1",'
        b'"name":"read","arguments":"{\\"path\\":\\"a\\"}"}]}',
        url="https://api.openai.com/v1/responses",
    )
    output = b'{"type":"function_call_output","call_id":"c1","output":"one"}'
    second = exchanged(
        b'{"model":"m","previous_response_id":"resp_1","input":[' + output + b"]}",
        url="https://api.openai.com/v1/responses",
    )
    found = recording(first, second).of(wanted("c1"), 0)
    assert found and (found.result.text, found.exchange) == ("one", 1)


def test_the_result_of_a_built_in_tool_keeps_its_own_form() -> None:
    call = {"type": "local_shell_call", "call_id": "c1", "action": {"type": "exec", "command": ["ls"]}, "id": "lsh_1"}
    output = {"type": "local_shell_call_output", "call_id": "c1", "output": "a b", "status": "completed"}
    asked = {"model": "m", "input": [{"role": "user", "content": "?"}]}
    answer = {"id": "resp_1", "object": "response", "status": "completed", "output": [call]}
    first = exchanged(dumps(asked), dumps(answer), url=RESPONSES)
    second = exchanged(dumps({**asked, "input": [*asked["input"], call, output]}), url=RESPONSES)
    loop = ConversationLoop(first, "openai-responses", "openai")
    assert isinstance(loop.step, AnswerCall)
    found = recording(first, second).of(loop.step.call, 0)
    assert found
    step = loop.after(found.result).step
    assert isinstance(step, Send)
    assert step.added == (call, output)
