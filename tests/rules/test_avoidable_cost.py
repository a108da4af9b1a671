"""What a request costs that it need not."""

from __future__ import annotations

import json

import pytest

from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

LONG = "Read the file before you edit it. " * 300
MARK = {"cache_control": {"type": "ephemeral"}}


def tool(name, about="does it"):
    return {"name": name, "description": about, "input_schema": {"type": "object", "properties": {"path": {}}}}


def user(text, **more):
    return {"role": "user", "content": [{"type": "text", "text": text, **more}]}


SAID = {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}
FIRST = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 99,
    "tools": [tool("read"), tool("edit")],
    "system": [{"type": "text", "text": LONG + "Today is 2026-11-20 10:15.", **MARK}],
    "messages": [user("go", **MARK)],
}
SECOND = {**FIRST, "messages": [user("go"), SAID, user("on", **MARK)]}


def exchange(number, body, usage=None, status=200, protocol="anthropic"):
    url = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions", "responses": "/v1/responses"}[protocol]
    counts = {"input_tokens": 9, "output_tokens": 9, **(usage or {})}
    answer = {"type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "ok"}],
              "stop_reason": "end_turn", "usage": counts}  # fmt: skip
    if protocol == "openai":
        said = {"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
        answer = {"object": "chat.completion", "model": "m", "choices": [said], "usage": usage}
    if status != 200:
        answer = {"type": "error", "error": {"type": "overloaded_error", "message": "later"}}
    head = Headers((("content-type", "application/json"),))
    return Exchange(
        str(number),
        HttpRequest(url=url, headers=head, body=Body(body if isinstance(body, bytes) else json.dumps(body).encode())),
        HttpResponse(status, head, Body(json.dumps(answer).encode())),
    )


def cost(*exchanges, provider="anthropic", rule="cost.cache-break"):
    result = Inspector(MemorySession("t", tuple(exchanges)), provider=provider).run()
    return [f for f in result.findings if f.rule == rule]


def pair(**changes):
    return cost(exchange(1, FIRST), exchange(2, {**SECOND, **changes}))


STRING = {"role": "user", "content": "go"}
TURNED = {**tool("read"), "input_schema": dict(reversed(tool("read")["input_schema"].items()))}
LATER = [{"type": "text", "text": LONG + "Today is 2026-11-20 10:16.", **MARK}]
EDITED = [{"type": "text", "text": "Now: " + LONG, **MARK}]
BREAKS = [
    ("nothing changed", {}, None),
    ("the mark went on", {"messages": [user("go"), SAID, user("on"), SAID, user("on", **MARK)]}, None),
    ("the mark made a list of a string", {"messages": [STRING, SAID, user("on", **MARK)]}, None),
    ("another question", {"messages": [user("go", **MARK)]}, None),
    ("other settings", {"temperature": 1, "max_tokens": 9}, None),
    ("a time in the system prompt", {"system": LATER}, ("/system/0/text", "a time", "6.", "info")),
    ("another beginning", {"system": EDITED}, ("/system/0/text", "the system prompt changed", "Now: ", "warning")),
    ("tools turned", {"tools": FIRST["tools"][::-1]}, ("/tools/0/name", "different order", "edit", "warning")),
    ("one tool more", {"tools": [*FIRST["tools"], tool("run")]}, ("/tools/2", "1 more", "", "warning")),
    ("another description", {"tools": [tool("read", "doing it"), tool("edit")]},
     ("/tools/0/description", "a tool definition changed", "ing it", "warning")),
    ("keys in another order", {"tools": [TURNED, tool("edit")]},
     ("/tools/0/input_schema/properties", "a tool definition changed", "", "warning")),
    ("an edited message", {"messages": [user("stop"), SAID, user("on", **MARK)]},
     ("/messages/0/content/0/text", "an earlier message of role 'user' changed", "stop", "info")),
    ("no marks", {"system": LONG + "Today is 2026-11-20 10:15.", "messages": [user("go"), SAID, user("on")]},
     ("", "cache breakpoints of exchange 1 are missing", "", "warning")),
    ("another model", {"model": "claude-opus-4-1", "system": EDITED}, None),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "expected"), [r[1:] for r in BREAKS], ids=[r[0] for r in BREAKS])
def test_the_first_byte_that_differs(changes, expected):
    found = pair(**changes)
    if expected is None:
        assert not found
        return
    pointer, words, now, severity = expected
    (finding,) = found
    assert (finding.pointer, finding.severity, finding.exchange, finding.check) == (pointer, severity, 1, None)
    assert words in finding.message
    body = json.dumps({**SECOND, **changes}).encode()
    if finding.span and now:
        assert body[slice(*finding.span)].decode().startswith((now, f'"{now}'))
    assert finding.origin.exchange == 0


BYTES = [("京x", "亰x"), ("😀", "😁"), ("a\n", "a\t"), ("é", "e"), ("go on", "go"), ("a", "ab")]


@pytest.mark.parametrize(("was", "now"), BYTES)
@pytest.mark.parametrize("is_ascii", [True, False])
def test_the_byte_is_the_first_that_differs_on_the_wire(was, now, is_ascii):
    def sent(body, text):
        system = [{"type": "text", "text": LONG + text, **MARK}]
        return json.dumps({**body, "system": system}, ensure_ascii=is_ascii).encode()

    one, other = sent(FIRST, was), sent(SECOND, now)
    (finding,) = cost(exchange(1, one), exchange(2, other))
    byte = next(n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    assert f" at byte {byte:,}: " in finding.message


def test_a_shorter_list_breaks_where_it_ends():
    (finding,) = pair(tools=[tool("read")])
    body = json.dumps({**SECOND, "tools": [tool("read")]}).encode()
    assert (finding.pointer, body[slice(*finding.span)]) == ("/tools", b"]")
    assert "the list of tools changed: 1 fewer" in finding.message


def test_what_is_paid_is_estimated_and_said_to_be():
    (finding,) = pair(system=EDITED)
    assert "an estimated 2,5" in finding.message


def test_what_is_paid_is_measured_where_both_answers_count_it():
    wrote, read = {"cache_creation_input_tokens": 5000}, {"cache_read_input_tokens": 1200}
    (finding,) = cost(exchange(1, FIRST, wrote), exchange(2, {**SECOND, "system": EDITED}, read))
    assert "3,800 tokens that the previous request had cached are no longer cached" in finding.message
    all_read = {"cache_read_input_tokens": 5000}
    assert not cost(exchange(1, FIRST, wrote), exchange(2, {**SECOND, "system": EDITED}, all_read))


def test_requests_that_failed_are_stepped_over():
    broken = {**SECOND, "system": EDITED}
    found = cost(exchange(1, FIRST), exchange(2, broken, status=529), exchange(3, SECOND))
    assert [f.exchange for f in found] == [1]


def test_what_is_not_marked_is_not_cached_there():
    plain = {**FIRST, "system": LONG, "messages": [user("go")]}
    assert not cost(exchange(1, plain), exchange(2, {**plain, "system": "Now: " + LONG}))


CHAT = {"model": "gpt-4.1", "messages": [{"role": "system", "content": LONG}, {"role": "user", "content": "go"}]}
OK = {"role": "assistant", "content": "ok"}


def test_automatic_caches_need_no_marks():
    later = {"role": "system", "content": "It is 10:15. " + LONG}
    grown = [*CHAT["messages"], OK, {"role": "user", "content": "on"}]
    first = exchange(1, CHAT, protocol="openai")
    assert not cost(first, exchange(2, {**CHAT, "messages": grown}, protocol="openai"), provider="openai")
    broken = exchange(2, {**CHAT, "messages": [later, *grown[1:]]}, protocol="openai")
    (finding,) = cost(first, broken, provider="openai")
    assert (finding.pointer, finding.severity) == ("/messages/0/content", "warning")
    cut = exchange(2, {**CHAT, "messages": [CHAT["messages"][0], *grown[2:]]}, protocol="openai")
    (finding,) = cost(first, cut, provider="openai")
    assert (finding.pointer, finding.severity) == ("/messages/1/role", "info")


def test_tools_that_outweigh_the_prompt():
    many = [tool(f"tool_{n}", "It does what its name says. " * 20) for n in range(40)]
    body = {**FIRST, "tools": many}
    (finding,) = cost(
        exchange(1, body), exchange(2, {**body, "messages": SECOND["messages"]}), rule="cost.tool-overhead"
    )
    assert (finding.pointer, finding.severity, finding.exchange) == ("/tools", "info", 0)
    assert "40 tool definitions are" in finding.message
    assert "Anthropic adds 496 tokens for tool use" in finding.message
    assert not cost(exchange(1, FIRST), rule="cost.tool-overhead")
    (more,) = cost(exchange(1, {**body, "tools": [tool(f"t_{n}", LONG) for n in range(10)]}), rule="cost.tool-overhead")
    assert more.severity == "warning"


def test_tools_inside_a_tool_are_not_counted_twice():
    functions = [{"type": "function", **tool(f"tool_{n}", LONG), "parameters": {}} for n in range(10)]
    tools = [{"type": "namespace", "name": "functions", "tools": functions}]
    body = {"model": "gpt-5.5", "input": [{"role": "user", "content": "hi"}], "tools": tools}
    (finding,) = cost(exchange(1, body, protocol="responses"), rule="cost.tool-overhead")
    assert 90 < int(finding.message.partition("%")[0].rpartition(" ")[2]) <= 100
