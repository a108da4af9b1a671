"""Effects that are carried out twice, and steps of a history that repeat."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.conftest import brief
from workbench.ir import Text, ToolCallIR, ToolDef, ToolResultIR
from workbench.rules._shared.outcomes import FAILURE, has_failed
from workbench.rules._shared.repeats import has_effect

GO = {"role": "user", "content": "go"}
LOOP, TWICE = "retry.loop", "retry.duplicate-side-effect"


def call(number, name="charge_card", **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{number}", "type": "function", "function": function}


def turn(*calls):
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(number, content="charged"):
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": content}


def steps(*made):
    """Steps of (name, arguments, result), one call each."""
    found = [GO]
    for n, (name, arguments, content) in enumerate(made):
        found += [turn(call(n, name, **arguments)), result(n, content)]
    return found


CHARGE, READ, WRITE = ("charge_card", {"cents": 9}), ("read_file", {"path": "a"}), ("write_file", {"path": "a"})
SECOND = [(TWICE, "warning", "/messages/3/tool_calls/0")]

EFFECTS = [
    ("charged twice", steps((*CHARGE, "receipt 1"), (*CHARGE, "receipt 2")), SECOND),
    ("another amount", steps((*CHARGE, "receipt 1"), ("charge_card", {"cents": 8}, "receipt 2")), []),
    ("the first had failed", steps((*CHARGE, "Error: declined"), (*CHARGE, "receipt 2")), []),
    ("nobody knows what became of the first", steps((*CHARGE, "Error: timed out"), (*CHARGE, "receipt 2")), SECOND),
    ("the second failed", steps((*CHARGE, "receipt 1"), (*CHARGE, "error: already charged")), []),
    ("the second is open", [*steps((*CHARGE, "receipt 1")), turn(call(1, cents=9))], []),
    ("a read", steps((*READ, "x"), (*READ, "x")), []),
    ("a write of the same", steps((*WRITE, "ok"), (*WRITE, "ok")), []),
    ("asked again", [*steps((*CHARGE, "1")), GO, turn(call(7, cents=9)), result(7, "2")], []),
    (
        "asked again while the first is open",
        [GO, turn(call(0, cents=9)), GO, turn(call(1, cents=9)), result(0), result(1)],
        [(TWICE, "warning", "/messages/3/tool_calls/0")],
    ),
    (
        "side by side",
        [GO, turn(call(0, cents=9), call(1, cents=9)), result(0), result(1)],
        [(TWICE, "info", "/messages/1/tool_calls/1")],
    ),
]


@pytest.mark.parametrize(("messages", "expected"), [r[1:] for r in EFFECTS], ids=[r[0] for r in EFFECTS])
def test_effects(chat, messages, expected):
    found = [f for f in chat(messages, provider="generic") if f.rule.startswith("retry.")]
    assert brief(found) == expected


def test_a_user_who_speaks_while_a_call_is_open_asks_nothing_new(inspect):
    """Of a conversation that continues, too: the call was made before the user last spoke (livekit agents 2038)."""
    before = [GO, turn(call(0, cents=9)), GO]
    first = {"model": "m", "messages": before}
    made = {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": turn(call(1, cents=9))}]}
    later = {"model": "m", "messages": [*before, turn(call(1, cents=9)), result(0), result(1)]}
    found = inspect([(first, made), (later, None)], protocol="openai-chat")
    assert TWICE in {f.rule for f in found}
    answered = [GO, turn(call(0, cents=9)), result(0), GO, turn(call(1, cents=9)), result(1)]
    pairs = [({"model": "m", "messages": answered[:4]}, made), ({"model": "m", "messages": answered}, None)]
    assert TWICE not in {f.rule for f in inspect(pairs, protocol="openai-chat")}


def test_the_evidence_is_both_results(chat):
    (finding,) = chat(steps((*CHARGE, "receipt 1"), (*CHARGE, "receipt 2")), provider="generic")
    assert finding.evidence == "already ran in message 2 (/messages/1/tool_calls/0): 'receipt 1' · now: 'receipt 2'"
    assert finding.related == ("/messages/1/tool_calls/0",)


def answer(made):
    return {"object": "chat.completion", "choices": [{"index": 0, "message": made, "finish_reason": "tool_calls"}]}


def test_a_run_that_was_begun_again(inspect):
    failed = {"error": {"message": "overloaded"}}
    first, again = turn(call(1, cents=9)), turn(call(2, cents=9))
    body = {"model": "m"}
    pairs = [
        ({**body, "messages": [GO]}, answer(first)),
        ({**body, "messages": [GO, first, result(1, "receipt 1")]}, failed),
        ({**body, "messages": [GO]}, answer(again)),
        ({**body, "messages": [GO, again, result(2, "receipt 2")]}, None),
    ]
    (finding,) = [f for f in inspect(pairs, protocol="openai-chat") if f.rule == TWICE]
    assert finding.pointer == "/messages/1/tool_calls/0"
    assert finding.evidence.startswith(
        "exchange 2 contains the same call ('call_1') and its result, but got no response"
    )


def test_what_was_told_once_is_not_told_of_every_later_request(inspect):
    messages = steps((*CHARGE, "receipt 1"), (*CHARGE, "receipt 2"))
    done = {"role": "assistant", "content": "Done."}
    pairs = [({"model": "m", "messages": messages}, {"choices": [{"message": done, "finish_reason": "stop"}]})]
    later = ({"model": "m", "messages": [*messages, done, GO]}, None)
    assert not [f for f in inspect([*pairs, later], protocol="openai-chat") if f.rule == TWICE]


def test_a_loop_over_responses_that_the_server_holds(inspect):
    """Each request brings one result: the calls are in the responses before it."""

    def pair(number):
        made = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": "click"}
        output = [{**made, "arguments": '{"at": "#next"}', "status": "completed"}]
        given = [{"type": "function_call_output", "call_id": f"call_{number - 1}", "output": "clicked"}]
        held = {"previous_response_id": f"resp_{number - 1}"} if number > 1 else {}
        request = {"model": "gpt-5.2", **held, "input": given if held else "go"}
        return request, {"id": f"resp_{number}", "object": "response", "status": "completed", "output": output}

    pairs = [pair(number) for number in range(1, 6)]
    assert [f.pointer for f in inspect(pairs, protocol="openai-responses") if f.rule == LOOP] == ["/input/0"]
    assert not [f for f in inspect(pairs[:4], protocol="openai-responses") if f.rule == LOOP]


NAMES = [
    ("send_email", None, True),
    ("sendEmail", None, True),
    ("SendsEmail", None, True),
    ("mcp__shop__create_order", None, True),
    ("get_order", None, False),
    ("list_orders", None, False),
    ("order_status", None, False),
    ("preview_post", None, False),
    ("bash", "Run a shell command", False),
    ("card", "Charge the card on file", True),
    ("card", "Charges the card on file", True),
    ("card", "The card on file", False),
    ("Postgres", None, False),
    ("", "", False),
    ("calculator_add", None, False),
    ("add", "Add two numbers", False),
    ("add_numbers", None, False),
]


@pytest.mark.parametrize(("name", "description", "expected"), NAMES)
def test_what_a_tool_does(name, description, expected):
    tool = ToolDef(name, description, {})
    assert has_effect(ToolCallIR("1", name, {}, "openai"), {name: tool}) is expected


def test_a_tool_may_say_that_it_can_be_called_twice():
    tool = ToolDef("send_email", None, {}, extra={"annotations": {"idempotentHint": True}})
    assert not has_effect(ToolCallIR("1", "send_email", {}, "openai"), {"send_email": tool})


FAILURES = [
    "Error: no",
    "error: 'command' is required",
    '{"error": "no"}',
    "TypeError: x",
    "<tool_use_error>x",
    "Failed to read",
    "Traceback (most recent call last):",
    "bash: line 1: permission denied",
    "InputValidationError: x",
    "Fehler: Datei nicht gefunden",
    "错误：找不到文件",
]
FAILED = [
    *FAILURES,
    "exit code: 2",
    "Exited with code 1",
    "make\n[exit code 2]",
    "404 Not Found",
    "HTTP 502",
    "操作失败",
]
HELPFUL = [
    "ok",
    "0 errors",
    "450 results",
    "finished 12 tests",
    "return 42",
    "exit code: 0",
    "[exit code 0]",
    '{"code": 0}',
]


@pytest.mark.parametrize(("texts", "expected"), [(FAILED, True), (HELPFUL, False)])
def test_a_result_tells_of_a_failure(texts, expected):
    results = [ToolResultIR("1", (Text(text),)) for text in texts]
    assert [text for text, r in zip(texts, results, strict=True) if has_failed(r) is not expected] == []


@pytest.mark.parametrize("text", FAILURES)
def test_failures_in_words(text):
    assert FAILURE.match(text)


@pytest.mark.parametrize(
    "text", ["ok", "0 errors", "errors.py", "no error", "charged", "The error was fixed.", "failover.md"]
)
def test_no_failures(text):
    assert not FAILURE.match(text)


BAD, POLL = ("bash", {"args": "--help"}, "error: 'command' is required"), ("job", {"id": 1}, "pending")
A, B = ("read", {"path": "a"}, "x"), ("read", {"path": "b"}, "y")

LOOPS = [
    ("twice", steps(BAD, BAD), []),
    ("three times", steps(BAD, BAD, BAD), ["/messages/5/tool_calls/0"]),
    ("a useless call", steps(A, A, A), []),
    ("a useless call too often", steps(A, A, A, A), ["/messages/7/tool_calls/0"]),
    ("waiting", steps(*[POLL] * 19), []),
    ("waiting without end", steps(*[POLL] * 20), ["/messages/39/tool_calls/0"]),
    ("waiting for a JSON status", steps(*[(*POLL[:2], '{"status": "in_progress"}')] * 6), []),
    ("it brings something else", steps(POLL, POLL, POLL, (*POLL[:2], "done")), []),
    ("two that take turns", steps(A, B, A, B, A, B, A, B), ["/messages/15/tool_calls/0"]),
    ("another error each time", steps(*((*BAD[:2], f"error: {n}") for n in range(5))), []),
    (
        "one error whatever is tried",
        steps(*(("bash", {"n": n}, "error: no") for n in range(5))),
        ["/messages/9/tool_calls/0"],
    ),
    ("another error each time, of one length", steps(*((*BAD[:2], f"error: {n} of 9 files") for n in range(5))), []),
    (
        "one error, other arguments",
        steps(*(("bash", {"n": n}, "error: no") for n in range(3))),
        ["/messages/5/tool_calls/0"],
    ),
    ("an exit code alone", steps(*(("bash", {"n": n}, "Command exited with code 1") for n in range(4))), []),
    ("one error, other tools", steps(*((f"t{n}", {}, "error: no") for n in range(3))), []),
    (
        "one error, side by side",
        [GO, turn(*(call(n, n=n) for n in range(5))), *(result(n, "error: no") for n in range(5))],
        [],
    ),
    (
        "failed by status",
        steps(*[("fetch", {"id": 1}, '{"status": 404, "body": "x"}')] * 3),
        ["/messages/5/tool_calls/0"],
    ),
    (
        "failed by exit code",
        steps(*[("sh", {"c": "make"}, '{"exit_code": 1, "output": "x"}')] * 3),
        ["/messages/5/tool_calls/0"],
    ),
    ("failed by a flag", steps(*[("sh", {"c": "make"}, '{"success": false}')] * 3), ["/messages/5/tool_calls/0"]),
    ("failed in Chinese", steps(*[("sh", {"c": "make"}, "文件不存在")] * 3), ["/messages/5/tool_calls/0"]),
    (
        "nothing is found",
        steps(*[("search", {"q": "a"}, '{"results": [], "total": 0}')] * 3),
        ["/messages/5/tool_calls/0"],
    ),
    ("a read is silent", steps(*[("get_page", {"q": "a"}, "")] * 3), ["/messages/5/tool_calls/0"]),
    ("an act is silent", steps(*[("scroll", {"by": 1}, "null")] * 3), []),
    ("nothing new to wait for", steps(*[("poll_inbox", {}, "[]")] * 6), []),
    ("other searches find nothing", steps(*(("search", {"q": n}, "No results found.") for n in range(7))), []),
    (
        "no search finds anything",
        steps(*(("search", {"q": n}, "No results found.") for n in range(8))),
        ["/messages/15/tool_calls/0"],
    ),
    ("acts with other arguments are silent", steps(*(("bash", {"n": n}, "") for n in range(9))), []),
    (
        "times change",
        steps(
            *(("sh", {"c": "make"}, f"error: timed out at 2026-03-01T12:00:{n:02}Z after {n}.5 s") for n in range(3))
        ),
        ["/messages/5/tool_calls/0"],
    ),
    (
        "whitespace in arguments",
        steps(*(("sh", {"c": f"make{' ' * n} all"}, "error: no rule") for n in range(1, 4))),
        ["/messages/5/tool_calls/0"],
    ),
    (
        "a job makes progress",
        steps(*(("job", {"id": 1}, f'{{"status": "running", "done": {n}}}') for n in range(8))),
        [],
    ),
    (
        "a job runs, and the clock",
        steps(*(("get", {"id": 1}, f'{{"id": 7, "state": "queued", "at": "12:0{n}"}}') for n in range(8))),
        [],
    ),
    ("asked each time", [m for n in range(4) for m in (GO, turn(call(n, **BAD[1])), result(n, BAD[2]))], []),
]


ACT = ("classify", {"label": "spam"}, "saved")
FORCED_LOOPS = [
    ("an act twice", steps(ACT, ACT), []),
    ("an act three times", steps(ACT, ACT, ACT), ["/messages/5/tool_calls/0"]),
    ("a read twice", steps(A, A), ["/messages/3/tool_calls/0"]),
    ("a failure twice", steps(BAD, BAD), ["/messages/3/tool_calls/0"]),
]


@pytest.mark.parametrize(
    ("messages", "expected", "is_forced"),
    [(*row[1:], row in FORCED_LOOPS) for row in (*LOOPS, *FORCED_LOOPS)],
    ids=[row[0] for row in (*LOOPS, *FORCED_LOOPS)],
)
def test_loops(chat, messages, expected, is_forced):
    name = messages[-2]["tool_calls"][0]["function"]["name"] if is_forced else ""
    forced = {"tool_choice": {"type": "function", "function": {"name": name}}} if is_forced else {}
    found = [f for f in chat(messages, provider="generic", **forced) if f.rule == LOOP]
    assert [f.pointer for f in found] == expected


def test_calls_of_one_turn_fail_together_where_each_is_an_item_of_its_own(inspect):
    calls = [
        {"type": "function_call", "call_id": f"call_{n}", "name": "favourite", "arguments": json.dumps({"of": n})}
        for n in range(4)
    ]
    results = [
        {"type": "function_call_output", "call_id": f"call_{n}", "output": "failed with error: denied"}
        for n in range(4)
    ]
    one_turn = [GO, *calls, *results]
    one_by_one = [GO, *(item for pair in zip(calls, results, strict=True) for item in pair)]
    for items, expected in ((one_turn, []), (one_by_one, [LOOP])):
        found = inspect({"model": "gpt-4.1", "input": items}, protocol="openai-responses")
        assert [f.rule for f in found if f.rule.startswith("retry.")] == expected


@settings(max_examples=25)
@given(st.lists(st.sampled_from([A, B]), max_size=3), st.integers(1, 6))
def test_a_failing_call_is_a_loop_from_the_third_time_on(before, times):
    from workbench.rules.inspection import Inspector
    from workbench.wire.exchange import Body, Exchange, HttpRequest
    from workbench.wire.session import MemorySession

    body = {"model": "m", "messages": steps(*before, *[BAD] * times)}
    sent = Exchange("1", HttpRequest(url="/v1/chat/completions", body=Body(json.dumps(body).encode())))
    findings = Inspector(MemorySession("test", (sent,)), provider="generic").run().findings
    assert [f.rule for f in findings if f.rule == LOOP] == [LOOP] * (times >= 3)
