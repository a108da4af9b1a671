"""A simulator without a socket: where requests lead, how they are refused, what is remembered."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from tests.simulator.conftest import BLOCK_TOOL, JSON, SCHEMA, ask, block, chat
from workbench import contracts, protocols
from workbench.contracts import Verdict
from workbench.convert.normal import normal_response
from workbench.edits.repairs import offer
from workbench.ir import Message, ModelRequest, Text, ToolDef, ToolResultIR
from workbench.protocols.decode import DecodedExchange
from workbench.simulator import Dials, ScriptedModel, Simulator, read_script
from workbench.simulator import _memory as memory
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse, State
from workbench.wire.jsontext import dumps

PROTOCOLS = protocols.protocols()


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_goes_round_the_tool_loop(protocol, is_stream):
    """Question, two calls, results, answer: each answer decodes without a complaint, each request is accepted."""
    adapter, simulator = protocols.get(protocol), Simulator("generic", model=ScriptedModel(Dials(parallel=2)))
    tools = (ToolDef("read_file", "Read.", SCHEMA), ToolDef("list_dir", "List.", SCHEMA))
    asked = Message("user", (Text("use list_dir, please"),))
    request = ModelRequest(protocol, "a-model", (asked,), tools=tools, stream=is_stream, params={"max_tokens": 900})
    for number in range(2):
        body = dumps(adapter.write_request(request))
        reply = simulator.send("POST", adapter.path(request), (JSON,), body)
        assert (reply.status, reply.served.verdict) == (200, Verdict.ACCEPTS), reply.served.line()
        http = HttpRequest("POST", adapter.path(request), Headers((JSON,)), Body(body))
        response = HttpResponse(200, Headers(reply.headers), Body(reply.body()))
        decoded = DecodedExchange(number, Exchange(str(number), http, response), protocol)
        assert decoded.response and not decoded.problems
        assert (decoded.response.anomalies, decoded.response.is_complete) == ((), True)
        assert decoded.response.is_stream == is_stream
        assert decoded.response.usage or (protocol, is_stream) == ("openai-chat", True)
        (said,) = normal_response(decoded.response).response.messages
        calls = [call for _, call in said.tool_calls()]
        if number == 0:
            assert [(c.name, c.input) for c in calls] == [("list_dir", {"path": "."}), ("read_file", {"path": "."})]
            results = tuple(ToolResultIR(c.id, (Text(f"seen {n}"),), name=c.name) for n, c in enumerate(calls))
            request = ModelRequest(
                protocol, "a-model", (asked, said, Message("tool", results)), tools=tools, stream=is_stream
            )
    assert not calls
    text = "".join(part.text for part in said.parts if isinstance(part, Text))
    assert "seen 0" in text and "seen 1" in text


def test_gemini_signs_the_call_and_not_the_words_before_it():
    answer = {"text": "I read.", "calls": [{"name": "f"}]}
    script = json.dumps({"version": 1, "turns": [{"match": {"results": False}, "answer": answer}]})
    simulator = Simulator("gemini", model=read_script(script, "script"))
    asked, tools = {"role": "user", "parts": [{"text": "f"}]}, [{"functionDeclarations": [{"name": "f"}]}]
    path = "/v1beta/models/gemini-3-pro:generateContent"
    first = simulator.send("POST", path, (JSON,), dumps({"contents": [asked], "tools": tools}))
    said = json.loads(first.body())["candidates"][0]["content"]
    assert ["thoughtSignature" in part for part in said["parts"]] == [False, True]
    result = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "done"}}}]}
    reply = simulator.send("POST", path, (JSON,), dumps({"contents": [asked, said, result], "tools": tools}))
    assert (reply.status, reply.served.verdict) == (200, Verdict.ACCEPTS), reply.served.line()


def test_a_custom_call_goes_round_openai_s_loop_in_codex_s_words():
    """Its item has an id of its own prefix, which has to come back; the client says more of itself than the SDK can."""
    simulator = Simulator("openai")
    asked = {"role": "user", "content": "Run it with exec."}
    body = {"model": "gpt-5.5", "input": [asked], "tools": [{"type": "custom", "name": "exec"}], "client_metadata": {}}
    first = simulator.send("POST", "/v1/responses", (JSON,), dumps(body))
    said = json.loads(first.body())["output"]
    call = said[-1]
    assert (call["type"], call["id"][:4]) == ("custom_tool_call", "ctc_")
    result = {"type": "custom_tool_call_output", "call_id": call["call_id"], "output": "done"}
    again = dumps({**body, "input": [asked, *said, result]})
    reply = simulator.send("POST", "/v1/responses", (JSON,), again)
    assert (reply.status, reply.served.verdict) == (200, Verdict.ACCEPTS), reply.served.line()


@pytest.mark.parametrize(
    ("label", "method", "path", "status", "holds"),
    [
        ("anthropic", "POST", "/messages", 200, "tool_use"),
        ("anthropic", "POST", "/v1/messages?beta=true", 200, "tool_use"),
        ("anthropic", "POST", "/my/gateway/v1/messages", 200, "tool_use"),
        ("anthropic", "GET", "/v1/models", 200, '"claude-opus-4-8"'),
        ("anthropic", "GET", "/v1/models/claude-x", 200, '"id":"claude-x"'),
        ("anthropic", "POST", "/v1/messages/count_tokens", 200, '"input_tokens"'),
        ("anthropic", "POST", "/v1/chat/completions", 404, '"type":"not_found_error"'),
        ("anthropic", "GET", "/v1/messages", 405, '"type":"error"'),
        ("deepseek", "POST", "/anthropic/v1/messages", 200, "thinking"),
        ("deepseek", "GET", "/models", 200, '"object":"list"'),
        ("deepseek", "GET", "/anthropic/v1/models", 200, '"has_more":false'),
        ("openai", "GET", "/v1/models/gpt-x", 200, '"object":"model"'),
        ("openai", "GET", "/v1/nothing", 404, '"invalid_request_error"'),
        ("openai", "GET", "/v1/responses/resp_1", 404, "not found"),
        ("gemini", "GET", "/v1beta/models", 200, '"models/gemini-3-pro"'),
        ("gemini", "GET", "/v1beta/models/g", 200, '"name":"models/g"'),
        ("gemini", "GET", "/v1beta/nothing", 404, '"status":"NOT_FOUND"'),
        ("ollama", "GET", "/api/tags", 200, '"models"'),
        ("ollama", "GET", "/api/version", 200, '"version"'),
        ("ollama", "POST", "/api/show", 200, '"capabilities"'),
        ("llama.cpp", "GET", "/props", 200, "default_generation_settings"),
        ("llama.cpp", "GET", "/health", 200, '"ok"'),
        ("openai", "HEAD", "/", 200, ""),
        ("openai", "OPTIONS", "/v1/chat/completions", 204, ""),
    ],
)
def test_paths(label, method, path, status, holds):
    reply = Simulator(label).send(method, path, (JSON,), json.dumps(block()).encode())
    body = reply.body().decode()
    assert (reply.status, holds in body) == (status, True), body
    assert method != "HEAD" or not body


@pytest.mark.parametrize(
    ("label", "path", "body", "message"),
    [
        ("anthropic", "/v1/messages", b"{", "The request body is not valid JSON"),
        ("anthropic", "/v1/messages", b'{"max_tokens": 1, "messages": []}', "model: Field required"),
        ("anthropic", "/v1/messages", b'{"model": "m", "max_tokens": 1}', "messages: Field required"),
        ("openai", "/v1/chat/completions", b"{", "We could not parse the JSON body of your request"),
        ("openai", "/v1/chat/completions", b'{"messages": []}', "you must provide a model parameter"),
        ("openai", "/v1/chat/completions", b'{"model": "m"}', "Missing required parameter: 'messages'"),
        ("gemini", "/v1beta/models/g:generateContent", b"[1", "Invalid JSON payload received"),
        ("openai", "/v1/chat/completions", b"[]", "not a JSON object"),
    ],
)
def test_bodies_that_are_no_requests(label, path, body, message):
    status, said = ask(Simulator(label), path, body)
    assert status == 400 and message in said["error"]["message"]


@pytest.mark.parametrize(
    ("label", "method", "path", "foreign"),
    [
        ("deepseek", "POST", "/v1beta/models/x:generateContent", "gemini"),
        ("deepseek", "POST", "/v1beta/models/x:countTokens", "gemini"),
        ("anthropic", "POST", "/v1/chat/completions", "openai-chat"),
        ("openai", "POST", "/v2/chat", "cohere-v2"),
        ("gemini", "POST", "/v1beta/interactions", "gemini-interactions"),
        ("openai", "POST", "/v1/nothing", ""),
    ],
)
def test_a_path_of_a_protocol_that_the_contract_does_not_speak(label, method, path, foreign):
    reply = Simulator(label).send(method, path, (JSON,), b"{}")
    assert reply.status == 404 and b"error" in reply.body()
    said = f"contract '{label}' does not support {foreign}"
    assert reply.served.line().endswith(f"{method} {path} 404 {said}" if foreign else f"Invalid URL ({method} {path})")


def test_what_was_served_is_printed_as_its_line():
    simulator = Simulator("anthropic")
    ask(simulator, "/v1/messages", block(messages=ORPHAN))
    ask(simulator, "/v1/\u202enothing", block())
    refused, unknown = simulator.served
    assert repr(refused) == str(refused) == refused.line()
    assert "\u202e" not in repr(unknown) and "/v1/\\u202enothing" in repr(unknown)
    assert simulator.best_repair(refused, offer) == "turn tool result 'toolu_1' into plain text"
    assert simulator.best_repair(unknown, offer) == ""


def test_refusals_carry_the_headers_of_the_provider():
    reply = Simulator("anthropic").send("POST", "/v1/messages", (JSON,), b"{")
    assert dict(reply.headers)["request-id"] == json.loads(reply.body())["request_id"]
    assert "x-request-id" in dict(Simulator("openai").send("GET", "/v1/models").headers)


def test_compressed_bodies_are_read():
    body = gzip.compress(json.dumps(chat()).encode())
    reply = Simulator("openai").send("POST", "/v1/chat/completions", (JSON, ("Content-Encoding", "gzip")), body)
    assert reply.status == 200


ORPHAN = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}]}]


def test_permissive_answers_and_says_what_it_would_refuse():
    strict, permissive = Simulator("anthropic"), Simulator("anthropic", permissive=True)
    status, said = ask(strict, "/v1/messages", block(messages=ORPHAN))
    assert (status, said["error"]["type"]) == (400, "invalid_request_error")
    assert ask(permissive, "/v1/messages", block(messages=ORPHAN))[0] == 200
    (refused,), (answered,) = strict.served, permissive.served
    assert refused.line().startswith("POST /v1/messages 400 closure.orphan-result /messages/0/content/0")
    assert "200 (would refuse) closure.orphan-result" in answered.line()
    assert (refused.is_refused, answered.is_refused) == (True, False)


def test_counting_tokens_validates_and_is_no_turn():
    simulator = Simulator("anthropic")
    counted = {key: value for key, value in block().items() if key != "max_tokens"}
    assert ask(simulator, "/v1/messages/count_tokens", counted)[0] == 200
    status, said = ask(simulator, "/v1/messages/count_tokens", {**counted, "messages": ORPHAN})
    assert status == 400 and "unexpected `tool_use_id`" in said["error"]["message"]
    assert not list(simulator._memory.newest_first())


def thinking_turn(simulator, words="go"):
    asked = block(words, thinking={"type": "enabled", "budget_tokens": 1024})
    content = ask(simulator, "/v1/messages", asked)[1]["content"]
    result = {"type": "tool_result", "tool_use_id": content[-1]["id"], "content": "a"}
    said = [*asked["messages"], {"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
    return {**asked, "messages": said}


@pytest.mark.parametrize(
    ("change", "status"), [({}, 200), ({"thinking": "Other."}, 400), ({"signature": "EqQBCkgIBxABGAIiQL8x"}, 400)]
)
def test_reasoning_is_held_against_what_was_sent(change, status):
    simulator = Simulator("anthropic")
    follow_up = thinking_turn(simulator)
    follow_up["messages"][1]["content"][0].update(change)
    assert ask(simulator, "/v1/messages", follow_up)[0] == status


def test_a_history_of_another_server_is_no_forgery():
    """Its proofs are not ours to judge: the same words were answered otherwise elsewhere."""
    elsewhere = thinking_turn(Simulator("anthropic"))
    elsewhere["messages"][1]["content"][0]["signature"] = "EqQBCkgIBxABGAIiQL8xVn4R0uKeJw=="
    elsewhere["messages"][1]["content"][0]["thinking"] = "Thought elsewhere."
    simulator = Simulator("anthropic")
    thinking_turn(simulator)
    assert ask(simulator, "/v1/messages", elsewhere)[0] == 200


def test_what_is_known_from_before_is_held_against_it(monkeypatch):
    first = Simulator("anthropic")
    kept = []
    first._ended = kept.append
    follow_up = thinking_turn(first)
    follow_up["messages"][1]["content"][0]["thinking"] = "Other."
    from workbench.wire.session import MemorySession

    assert ask(Simulator("anthropic", known=MemorySession("before", tuple(kept))), "/v1/messages", follow_up)[0] == 400


def test_an_answer_counts_as_sent_before_its_last_piece_leaves():
    ended = []
    simulator = Simulator("anthropic", ended=ended.append)
    reply = simulator.send("POST", "/v1/messages", (JSON,), json.dumps(block(stream=True)).encode())
    assert not ended
    for piece in reply.pieces:
        if b"message_stop" in piece.data:
            assert [e.state for e in ended] == [State.COMPLETE]
    stopped = simulator.send("POST", "/v1/messages", (JSON,), json.dumps(block(stream=True)).encode())
    next(stopped.pieces)
    stopped.pieces.close()
    assert ended[-1].state is State.ABORTED and ended[-1].response.body.raw.startswith(b"event: message_start")


def test_conversations_run_beside_one_another():
    simulator = Simulator("anthropic")
    streams = [
        simulator.send("POST", "/v1/messages", (JSON,), json.dumps(block(f"go {n}", stream=True)).encode())
        for n in range(3)
    ]
    follow_ups = [thinking_turn(simulator, f"think {n}") for n in range(3)]
    assert [ask(simulator, "/v1/messages", f)[0] for f in follow_ups] == [200] * 3
    assert all(b"message_stop" in reply.body() for reply in streams)


def test_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(memory, "MOST_EXCHANGES", 4)
    simulator = Simulator("anthropic")
    follow_up = thinking_turn(simulator)
    opened = simulator.send("POST", "/v1/messages", (JSON,), json.dumps(block("open", stream=True)).encode())
    for n in range(9):
        assert ask(simulator, "/v1/messages", block(f"go {n}"))[0] == 200
    assert len(list(simulator._memory.newest_first())) <= 4
    assert b"message_stop" in opened.body()
    assert ask(simulator, "/v1/messages", follow_up)[0] == 200


def test_models_that_were_asked_for_are_listed():
    simulator = Simulator("openai")
    ask(simulator, "/v1/chat/completions", chat(model="my-model"))
    assert "my-model" in [m["id"] for m in ask(simulator, "/v1/models", b"", "GET")[1]["data"]]


@pytest.mark.parametrize(
    ("more", "calls"),
    [
        ({}, ["list_dir"]),
        ({"tool_choice": {"type": "none"}}, []),
        ({"tool_choice": {"type": "tool", "name": "other"}}, ["other"]),
        ({"max_tokens": 1}, []),
        ({"messages": [{"role": "user", "content": "use other now"}]}, ["other"]),
        ({"tools": [{**BLOCK_TOOL, "name": "Agent"}, BLOCK_TOOL]}, ["list_dir"]),  # an agent would ask it again
        ({"tools": [{**BLOCK_TOOL, "name": "Agent"}]}, ["Agent"]),
    ],
)
def test_the_model_calls_what_it_is_told(more, calls):
    body = block(**{"tools": [BLOCK_TOOL, {**BLOCK_TOOL, "name": "other"}], **more})
    _, said = ask(Simulator("anthropic"), "/v1/messages", body)
    assert [part["name"] for part in said["content"] if part["type"] == "tool_use"] == calls
    if more == {"max_tokens": 1}:
        assert said["stop_reason"] == "max_tokens"


def test_parallel_calls_can_be_switched_off():
    simulator = Simulator("openai", model=ScriptedModel(Dials(parallel=3)))
    for more, count in (({}, 3), ({"parallel_tool_calls": False}, 1)):
        _, said = ask(simulator, "/v1/chat/completions", chat(**more))
        assert len(said["choices"][0]["message"]["tool_calls"]) == count


def test_an_answer_in_a_schema_is_one():
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
    asked = {key: value for key, value in chat(response_format=form).items() if key != "tools"}
    _, said = ask(Simulator("openai"), "/v1/chat/completions", asked)
    assert json.loads(said["choices"][0]["message"]["content"]) == {"path": "."}


DOUBTED = {"perplexity": "tools.unsupported"}
"""Contract → what it doubts in a request with tools: Chat Completions of Perplexity take none."""

NOT_TAKEN_BACK = {("cloudflare", "openai-chat"): "content.shape"}
"""Contract and protocol → why its own answers are refused: Cloudflare says null beside calls, and refuses null."""

LOOPS = [
    (name, protocol)
    for name in contracts.names()
    for protocol in contracts.read(name).protocols
    if protocol in PROTOCOLS and name != "generic"
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "protocol"), LOOPS)
def test_what_a_provider_said_may_be_sent_back(name, protocol):
    """Under every contract: calls, results, an answer, the next question, all of it replayed as it came."""
    adapter, simulator = protocols.get(protocol), Simulator(name, model=ScriptedModel(Dials(parallel=2)))
    tools = (ToolDef("read_file", "Read.", SCHEMA), ToolDef("list_dir", "List.", SCHEMA))
    is_stream = len(name) % 2 == 0
    params = {"max_tokens": 900} if protocol in ("anthropic-messages", "bedrock-invoke") else {}
    asked = Message("user", (Text("use list_dir, please"),))
    request = ModelRequest(protocol, simulator.names()[0], (asked,), tools=tools, stream=is_stream, params=params)
    for number in range(3):
        body, path = dumps(adapter.write_request(request)), adapter.path(request)
        reply = simulator.send("POST", path, (JSON,), body)
        doubted = reply.served.finding.rule if reply.served.finding else ""
        if number and (name, protocol) in NOT_TAKEN_BACK:
            assert (reply.status, doubted) == (400, NOT_TAKEN_BACK[name, protocol])
            return
        assert (reply.status, doubted) == (200, DOUBTED.get(name, "")), reply.served.line()
        assert reply.served.verdict is (Verdict.SUSPICIOUS if doubted else Verdict.ACCEPTS)
        http = HttpRequest("POST", path, Headers((JSON,)), Body(body))
        response = HttpResponse(200, Headers(reply.headers), Body(reply.body()))
        decoded = DecodedExchange(number, Exchange(str(number), http, response), protocol)
        (said,) = normal_response(decoded.response).response.messages
        has_names = adapter.capabilities.tools.result_names or not adapter.capabilities.tools.call_ids
        calls = [call for _, call in said.tool_calls()]
        results = tuple(ToolResultIR(c.id, (Text("seen"),), name=c.name if has_names else None) for c in calls)
        next_one = Message("tool", results) if calls else Message("user", (Text("and read_file?"),))
        request = replace(request, messages=(*request.messages, said, next_one))
