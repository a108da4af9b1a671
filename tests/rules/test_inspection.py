from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.contracts import Verdict
from workbench.errors import SessionFormatError
from workbench.protocols.decode import DecodedExchange
from workbench.rules import FAILED
from workbench.rules.inspection import DETAILS_KEPT, Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse, Origin, State
from workbench.wire.session import MemorySession

ANTHROPIC, CHAT = "https://api.anthropic.com/v1/messages", "https://api.deepseek.com/chat/completions"
TOOLS = [{"name": "ls", "input_schema": {"type": "object"}}]


def exchange(number, url, request, response=None, status=200, **more):
    body = request if isinstance(request, bytes) else json.dumps(request).encode()
    answer = None
    if response is not None:
        answer = HttpResponse(
            status, Headers((("content-type", "application/json"),)), Body(json.dumps(response).encode())
        )
    return Exchange(f"e{number}", HttpRequest(url=url, body=Body(body)), answer, **more)


def ask(*messages, **more):
    return {"model": "claude-sonnet-4-5", "max_tokens": 9, "tools": TOOLS, "messages": list(messages), **more}


def said(*blocks, reason="end_turn"):
    return {
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": list(blocks),
        "stop_reason": reason,
    }


GO = {"role": "user", "content": "list the folder"}
USE = {"type": "tool_use", "id": "toolu_abcdefgh12345678", "name": "ls", "input": {}}
CALL = {"role": "assistant", "content": [USE]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": USE["id"], "content": "a b"}]}
FIRST = exchange(1, ANTHROPIC, ask(GO), said(USE, reason="tool_use"))
SECOND = exchange(2, ANTHROPIC, ask(GO, CALL, RESULT), said({"type": "text", "text": "two files"}))
BROKEN = exchange(3, ANTHROPIC, ask(GO, CALL, {"role": "user", "content": "stop"}))
OTHER = exchange(4, "https://example.org/health", b"")


def inspect(*exchanges, **more):
    return Inspector(MemorySession("test", exchanges), **more)


def test_a_row_says_what_the_list_shows():
    first, second, other = inspect(FIRST, SECOND, OTHER).run().rows
    assert (first.protocol, first.provider, first.model) == ("anthropic-messages", "anthropic", "claude-sonnet-4-5")
    assert "api.anthropic.com" in first.provider_from
    assert (first.calls, first.finish_reason, first.has_reasoning) == (("ls",), "tool_use", False)
    assert first.conversation == second.conversation == 0
    assert (other.protocol, other.provider, other.conversation) == (None, None, None)
    assert other.protocol_from


def test_findings_are_in_order_of_exchanges():
    result = inspect(BROKEN, SECOND, BROKEN).run()
    assert [(f.exchange, f.rule) for f in result.findings] == [
        (0, "closure.missing-result"),
        (2, "closure.missing-result"),
    ]


def test_steps_go_on_when_the_session_has_grown():
    session = Growing((FIRST, SECOND))
    for _ in range(Growing.ALL + 1):
        session.grow(0)
    inspector = Inspector(session)
    inspector.refresh()
    assert [r.index for r in inspector.steps()] == [0]
    assert [f.rule for f in inspector.rows[0].findings] == ["closure.pending"]
    for _ in range(Growing.ALL + 1):
        session.grow(1)
    inspector.refresh()
    assert [r.index for r in inspector.steps()] == [1]
    assert not inspector.rows[0].findings
    assert not list(inspector.steps())


def test_detail_knows_what_came_before_and_not_after():
    inspector = inspect(FIRST, SECOND, BROKEN)
    detail = inspector.detail(1)
    assert detail.row.index == 1 and len(inspector.rows) == 2
    assert [line.state for line in detail.closure.lines] == ["closed"]
    inspector.run()
    assert inspector.detail(0).row is inspector.rows[0]
    assert [line.state for line in inspector.detail(0).closure.lines] == ["pending"]
    with pytest.raises(IndexError):
        inspector.detail(3)


def test_few_details_are_kept():
    inspector = inspect(*[FIRST] * (DETAILS_KEPT + 3))
    for n in range(DETAILS_KEPT + 3):
        inspector.detail(n)
    assert len(inspector._details) == DETAILS_KEPT


PROVIDERS = [
    ("anthropic", "anthropic", "as requested"),
    ("deepseek:v3.2", "deepseek:v3.2", "as requested"),
    ("hermes", "hermes:vllm", "as requested"),
    ("openai", "openai", "does not cover"),
]


@pytest.mark.parametrize(("asked", "label", "how"), PROVIDERS)
def test_a_provider_that_was_asked_for(asked, label, how):
    (row,) = inspect(FIRST, provider=asked).run().rows
    assert row.provider == label
    assert how in row.provider_from


def test_what_cannot_be_decoded_is_a_problem_of_its_row():
    row, good = inspect(exchange(1, ANTHROPIC, b"{"), SECOND).run().rows
    assert row.problems and row.protocol == "anthropic-messages"
    assert not good.problems


def test_what_cannot_be_read_is_a_problem_of_its_row():
    class Torn(MemorySession):
        def exchange(self, index):
            if index == 0:
                raise SessionFormatError("piece 3 is missing", where="exchange 1")
            return super().exchange(index)

    torn, good = Inspector(Torn("torn", (FIRST, SECOND))).run().rows
    assert torn.problems == ("exchange 1: piece 3 is missing",)
    assert good.conversation == 0


def test_an_interleaved_title_request_gives_no_finding():
    title = exchange(
        9,
        ANTHROPIC,
        {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Title?"}]},
    )
    result = inspect(FIRST, title, SECOND).run()
    assert [r.conversation for r in result.rows] == [0, 1, 0]
    assert not result.findings


def test_reasoning_is_followed_across_exchanges():
    call = {"id": "call_00_abcdefghijklmnop", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "reasoning_content": "List it.", "tool_calls": [call]}
    answer = {"model": "deepseek-v4-pro", "choices": [{"message": message, "finish_reason": "tool_calls"}]}
    bare = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "a"}
    request = {"model": "deepseek-v4-pro", "messages": [GO]}
    first = exchange(1, CHAT, request, answer)
    second = exchange(
        2, CHAT, {**request, "messages": [GO, bare, result]}, {"error": {"message": "must be passed back"}}, 400
    )
    (finding,) = [f for f in inspect(first, second).run().findings if f.severity == "error"]
    assert (finding.exchange, finding.rule, finding.pointer) == (1, "reasoning.missing", "/messages/1")
    assert "exchange 1" in finding.evidence


def test_the_tools_of_a_thread_that_the_server_holds_are_those_of_its_last_request():
    thread = {"thread": {"previous_message_id": "msg_1"}}
    first = exchange(1, ANTHROPIC, ask(GO), {**said(USE, reason="tool_use"), "id": "msg_1"})
    odd = {**USE, "id": "toolu_zyxwvuts87654321", "input": []}
    second = ask(RESULT, **thread)
    del second["tools"]
    again = exchange(2, ANTHROPIC, second, said({**odd, "input": {}}, reason="tool_use"))
    result = inspect(first, again).run()
    assert [r.conversation for r in result.rows] == [0, 0]
    assert [f.rule for f in result.findings] == ["gateway.unknown-field", "closure.pending"]  # no beta header


def test_a_rebuilt_transcript_is_not_blamed_for_what_it_does_not_hold():
    request = {"model": "claude-fable-5", "messages": [GO, CALL, RESULT]}
    rebuilt = exchange(1, ANTHROPIC, request, said(USE, reason="tool_use"), origin=Origin.RECONSTRUCTED)
    assert {f.severity for f in inspect(rebuilt).run().findings} <= {"info", "warning"}


NAMES = """role content type text id tool_use_id tool_call_id tool_calls function name arguments input thinking
    signature reasoning_content reasoning_details source data is_error"""
KEYS = st.sampled_from(NAMES.split())
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from(["", " ", "a", "assistant", "tool", "\ud83d", "{}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
TYPES = st.sampled_from(
    ["text", "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "server_tool_use"]
)
BLOCK = st.fixed_dictionaries(
    {"type": TYPES}, optional={k: JSON for k in ("id", "tool_use_id", "input", "content", "text")}
)
ROLES = st.sampled_from(["user", "assistant", "tool", "system", "function"])
MESSAGE = st.fixed_dictionaries({"role": ROLES, "content": JSON | st.lists(BLOCK, max_size=3)}, optional={
    "tool_calls": st.lists(JSON, max_size=2), "tool_call_id": JSON, "reasoning_content": JSON})  # fmt: skip


@given(
    st.lists(MESSAGE | JSON, max_size=5), JSON, JSON, st.sampled_from(["anthropic", "openai", "deepseek", "generic"])
)
@settings(max_examples=20, deadline=None)
def test_no_traffic_breaks_a_rule(messages, tools, answer, provider):
    url = ANTHROPIC if provider == "anthropic" else CHAT
    request = {"model": "m", "thinking": {"type": "enabled"}, "messages": messages, "tools": tools}
    choice = {"choices": [{"message": answer, "finish_reason": "stop"}], "content": [answer]}
    result = inspect(exchange(1, url, request, choice), exchange(2, url, request), provider=provider).run()
    assert not [f for f in result.findings if f.rule == FAILED]
    assert all(f.span is None or 0 <= f.span[0] <= f.span[1] for f in result.findings)


STREAM = Headers((("content-type", "text/event-stream"),))


def streamed(*blocks):
    """An answer as a stream: the bytes."""
    counts = {"input_tokens": 9, "output_tokens": 1}
    message = {**said(), "id": "msg_1", "content": [], "stop_reason": None, "usage": counts}
    events = [{"type": "message_start", "message": message}]
    for n, block in enumerate(blocks):
        start = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        delta = {"type": "text_delta", "text": block["text"]} if block["type"] == "text" else {
            "type": "input_json_delta", "partial_json": json.dumps(block["input"])}  # fmt: skip
        events += (
            {"type": "content_block_start", "index": n, "content_block": start},
            {"type": "content_block_delta", "index": n, "delta": delta},
            {"type": "content_block_stop", "index": n},
        )
    reason = "tool_use" if any(b["type"] == "tool_use" for b in blocks) else "end_turn"
    events += ({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": counts}, {"type": "message_stop"})
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


class Growing(MemorySession):
    """A session of which a part of every exchange is there: none of it (-1), its request (0), more and more, all."""

    ALL = 4

    def __init__(self, whole):
        super().__init__("growing", ())
        self.whole, self.there, self.order, self.changed = whole, [-1] * len(whole), [], set()

    def grow(self, number):
        """Exchanges stand in order of their requests."""
        if number not in self.order:
            self.order.append(number)
        self.there[number] = min(self.there[number] + 1, self.ALL)
        self.changed.add(self.order.index(number))

    def refresh(self):
        self.exchanges = tuple(self._part(n) for n in self.order)
        self._summaries = ()
        changed, self.changed = frozenset(self.changed), set()
        return changed

    def _part(self, number):
        whole, there = self.whole[number], self.there[number]
        if there == self.ALL:
            return whole
        raw = whole.response.body.raw if whole.response and there else None
        response = raw and replace(whole.response, body=Body(raw[: len(raw) * (there - 1) // (self.ALL - 1)]))
        return replace(whole, state=State.OPEN, response=response, duration=None)


def inspected(session):
    result = Inspector(session).run()
    return result.rows, result.findings, result.conversations


TEXT = {"type": "text", "text": "two files"}
SUB = {"role": "user", "content": "look into the other folder"}
OTHER_USE = {**USE, "id": "toolu_subagent87654321"}
OTHER_CALL = {"role": "assistant", "content": [OTHER_USE]}
OTHER_RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": OTHER_USE["id"], "content": "c"}]}
LINES = [
    ((GO,), USE),
    ((GO, CALL, RESULT), TEXT),
    ((GO, CALL, {"role": "user", "content": "stop"}), TEXT),
    ((SUB,), OTHER_USE),
    ((SUB, OTHER_CALL, OTHER_RESULT), TEXT),
    ((GO,), USE),
    ((GO, CALL, RESULT, {"role": "assistant", "content": [TEXT]}, SUB), USE),
]


@st.composite
def traffic(draw):
    """Exchanges, and the order in which they grow, each until it is whole."""
    exchanges = []
    for number, line in enumerate(draw(st.lists(st.sampled_from(range(len(LINES))), min_size=1, max_size=6))):
        messages, answer = LINES[line]
        request = HttpRequest(url=ANTHROPIC, body=Body(json.dumps(ask(*messages, stream=True)).encode()))
        response = HttpResponse(200, STREAM, Body(streamed(answer)))
        timed = {"started_at": float(number), "duration": 2.0} if draw(st.booleans()) else {}
        exchanges.append(Exchange(f"e{number}", request, response, **timed))
    steps = [n for n in range(len(exchanges)) for _ in range(Growing.ALL + 1)]
    looks = st.lists(st.sampled_from(("look", "step", "all", "")), min_size=len(steps), max_size=len(steps))
    return exchanges, draw(st.permutations(steps)), draw(looks)


@given(traffic())
@settings(max_examples=20, deadline=None)
def test_a_session_inspected_while_it_grows_ends_as_one_that_was_over(drawn):
    exchanges, steps, looks = drawn
    session = Growing(exchanges)
    inspector = Inspector(session)
    for number, look in zip(steps, looks, strict=True):
        session.grow(number)
        if look:
            inspector.refresh()
        if look == "step":
            next(inspector.steps(), None)
        elif look == "all":
            result = inspector.run()
            assert len(result.rows) == len(session)
            assert not [f for f in result.findings if f.side == "response" and is_open(session, f.exchange)]
            for row in result.rows:
                assert inspector.detail(row.index).row is row
    inspector.refresh()
    ended = inspector.run()
    over = MemorySession("over", tuple(exchanges[n] for n in session.order))
    assert (ended.rows, ended.findings, ended.conversations) == inspected(over)
    details = [Inspector(over).detail(n) for n in range(len(over))]
    assert [(d.closure, d.ledger) for d in details] == [
        (inspector.detail(n).closure, inspector.detail(n).ledger) for n in range(len(over))
    ]


def is_open(session, index):
    return session.exchange(index).state is State.OPEN


def test_an_open_exchange_is_a_row_at_once_with_what_is_wrong_with_its_request():
    broken = ask(GO, CALL, {"role": "user", "content": "stop"}, stream=True)
    whole = Exchange(
        "e",
        HttpRequest(url=ANTHROPIC, body=Body(json.dumps(broken).encode())),
        HttpResponse(200, STREAM, Body(streamed(TEXT, OTHER_USE))),
    )
    session = Growing([whole])
    inspector = Inspector(session)
    session.grow(0)
    assert inspector.refresh() == {0}
    assert not inspector.is_done
    (row,) = inspector.run().rows
    assert (row.summary.state, row.model, row.conversation) == (State.OPEN, "claude-sonnet-4-5", 0)
    assert [f.rule for f in row.findings] == ["closure.missing-result"]
    assert row.problems == ()
    calls = []
    while session.there[0] < Growing.ALL:
        session.grow(0)
        inspector.refresh()
        (row,) = inspector.run().rows
        calls.append(row.calls)
    assert calls == [(), (), ("ls",), ("ls",)]
    found = sorted({f.rule for f in row.findings})
    assert found == ["closure.missing-result", "closure.pending", "contract.disagrees"]


def test_how_a_stream_ends_is_not_judged_before_it_does():
    cut = streamed(TEXT, USE)[:-200]
    exchange = Exchange("e", HttpRequest(url=ANTHROPIC), HttpResponse(200, STREAM, Body(cut)), state=State.ABORTED)
    slugs = [
        {a.slug for a in DecodedExchange(0, replace(exchange, state=state)).response.anomalies}
        for state in (State.ABORTED, State.OPEN)
    ]
    assert slugs[0] & {"stream.truncated", "stream.no-terminator"}
    assert slugs[1] == set()


def test_growth_inspects_one_row_again(monkeypatch):
    exchanges = [SECOND] * 20 + [replace(FIRST, response=replace(FIRST.response, body=Body(streamed(USE))))]
    session = Growing(exchanges)
    inspector = Inspector(session)
    for number in range(20):
        session.there[number] = Growing.ALL - 1
        session.grow(number)
    session.grow(20)
    inspector.refresh()
    inspector.run()
    read = []
    monkeypatch.setattr(Growing, "exchange", lambda self, n: read.append(n) or self.exchanges[n])
    while session.there[20] < Growing.ALL:
        session.grow(20)
        inspector.refresh()
        inspector.run()
    assert set(read) == {20}


def test_rules_look_back_at_an_open_exchange_as_it_was_read(monkeypatch):
    inspector, read = inspect(*[replace(FIRST, state=State.OPEN, response=None)] * 5), []
    look = inspector.session.exchange
    monkeypatch.setattr(MemorySession, "exchange", lambda self, n: read.append(n) or look(n))
    inspector.run()
    assert read == [0, 1, 2, 3, 4]


def test_a_trial_stands_where_its_exchange_stood():
    inspector = inspect(FIRST, SECOND)
    broken = inspector.trial(1, BROKEN.request)
    assert broken.judgement.verdict is Verdict.REFUSES
    assert [f.rule for f in broken.findings if f.side == "request"] == ["closure.missing-result"]
    assert inspector.trial(1, SECOND.request).judgement.verdict is Verdict.ACCEPTS
    assert inspector.trial(1, BROKEN.request, provider="generic").judgement.verdict is Verdict.SUSPICIOUS
    assert [row.findings for row in inspector.run().rows] == [(), ()]


def test_rules_can_look_back():
    inspector = inspect(FIRST, SECOND, BROKEN)
    inspector.run()
    case = inspector.trial(2, BROKEN.request).case
    assert case.peek(0).request.messages == DecodedExchange(0, FIRST).request.messages
    assert case.peek(0) is case.peek(0)
    assert [s.id for s in case.summaries] == ["e1", "e2", "e3"]


@pytest.mark.parametrize(
    ("status", "message", "kinds"),
    [
        (404, "The model `davinci-9` does not exist or you do not have access to it.", ["model-unknown"]),
        (200, "no error", []),
    ],
)
def test_a_failure_of_a_protocol_that_is_not_decoded_is_named(status, message, kinds):
    asked = {"model": "davinci-9", "prompt": "Once", "max_tokens": 5}
    failed = exchange(1, "https://api.openai.com/v1/completions", asked, {"error": {"message": message}}, status)
    findings = Inspector(MemorySession("test", (failed,))).run().findings
    assert {f.rule for f in findings} >= {"request.unread", "answer.unread"}
    assert [f.kind for f in findings if f.rule == "answer.error"] == kinds


TOOL_CALL = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "ls", "arguments": {"path": "a"}}}
TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {"path": "."}}
TOOL_RESULT = {"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": "one file, and another"}]}}
POSTED = HttpRequest("POST", "http://tools.example/messages?sessionId=1", body=Body(json.dumps(TOOL_CALL).encode()))
EVENTS = b"event: endpoint\ndata: /messages?sessionId=1\n\n: %s\n\nevent: message\ndata: %s\n\n: %s\n\n" % (
    b"a" * 160,
    json.dumps(TOOL_RESULT).encode(),
    b"b" * 200,
)


def told_of_a_tool():
    """A tool server's stream that stays open; a call on it, with other arguments; a request that tells half of it."""
    use = [{"role": "assistant", "content": [TOOL_USE]}]
    result = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "one file,"}]}]
    models = [
        Exchange(
            f"m{n}",
            HttpRequest(url=ANTHROPIC, body=Body(json.dumps(ask(GO, *more, stream=True)).encode())),
            HttpResponse(200, STREAM, Body(streamed(said))),
            started_at=float(n),
        )
        for n, (more, said) in enumerate((((), TOOL_USE), ((*use, *result), TEXT)))
    ]
    opened = HttpRequest("GET", "http://tools.example/sse", Headers((("accept", "text/event-stream"),)))
    return [
        Exchange("g", opened, HttpResponse(200, STREAM, Body(EVENTS)), started_at=0.0),
        models[0],
        Exchange("p", POSTED, HttpResponse(202, body=Body(b"Accepted")), started_at=0.5),
        models[1],
    ]


def test_findings_on_the_tool_hop_stay_while_exchanges_grow_and_come_with_a_response_on_an_open_stream():
    exchanges = told_of_a_tool()
    session = Growing(exchanges)
    inspector = Inspector(session)

    def grow(number, steps=1):
        for _ in range(steps):
            session.grow(number)
            inspector.refresh()
            inspector.run()
        return {(f.rule, f.exchange) for row in inspector.rows for f in row.findings if f.rule.startswith("mcp.")}

    grow(0, 3)
    grow(1, Growing.ALL + 1)
    assert grow(2, Growing.ALL + 1) == {("mcp.args-changed", 2)}
    grow(0)
    both = {("mcp.args-changed", 2), ("mcp.result-dropped", 3)}
    seen = [grow(3) for _ in range(Growing.ALL + 1)]
    assert seen == [both] * (Growing.ALL + 1), "of a request that is open from its first byte on"
    assert grow(0) == both
    assert inspector.rows[3].tool_links
    ended, over = inspector.run(), MemorySession("over", exchanges)
    assert (ended.rows, ended.findings, ended.conversations) == inspected(over)
