"""What Anthropic, OpenAI, Google and those who serve their models refuse: by which check, and in what words."""

from __future__ import annotations

import json

import pytest

from workbench.contracts import refusal_of
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest
from workbench.wire.session import MemorySession

ANTHROPIC, CHAT, RESPONSES = "anthropic-messages", "openai-chat", "openai-responses"
GEMINI, CONVERSE = "gemini", "bedrock-converse"
VERTEX = "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers"
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
CLOSED = {**PARAMETERS, "additionalProperties": False}


GOOGLE = "https://generativelanguage.googleapis.com/v1beta/models"


def judged(label, protocol, body, *, url="", headers=()):
    """(judgement, the answer of the provider) of one request; that to Gemini names a model which has no facts."""
    url = url or (f"{GOOGLE}/gemini-pro:generateContent" if protocol == GEMINI else "")
    request = HttpRequest(url=url, headers=Headers(tuple(headers)), body=Body(json.dumps(body).encode()))
    inspector = Inspector(MemorySession("test", (Exchange("1", request),)), provider=label, protocol=protocol)
    trial = inspector.trial(0, request, protocol=protocol)
    judgement = trial.judgement
    return judgement, refusal_of(judgement.finding, trial.contract) if judgement.finding else None


def messages(*said, model="claude-sonnet-4-5", **more):
    return {"model": model, "max_tokens": 4096, "messages": list(said), **more}


def user(*content):
    return {"role": "user", "content": list(content)}


def assistant(*content):
    return {"role": "assistant", "content": list(content)}


def text(words="go"):
    return {"type": "text", "text": words}


def use(id="toolu_1"):
    return {"type": "tool_use", "id": id, "name": "f", "input": {}}


def result(id="toolu_1"):
    return {"type": "tool_result", "tool_use_id": id, "content": "ok"}


BLOCK = {"name": "f", "input_schema": PARAMETERS}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": PARAMETERS}}
FLAT = {"type": "function", "name": "f", "parameters": PARAMETERS}
DECLARED = [{"functionDeclarations": [{"name": "f", "parameters": PARAMETERS}]}]


def chat(*said, model="gpt-4.1", **more):
    return {"model": model, "messages": [{"role": "user", "content": "go"}, *said], **more}


def calls(*ids, **more):
    made = [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": made, **more}


def told(id="call_1"):
    return {"role": "tool", "tool_call_id": id, "content": "ok"}


def items(*said, model="gpt-5", **more):
    return {"model": model, "input": [{"role": "user", "content": "go"}, *said], **more}


def call(id="call_1", **more):
    return {"type": "function_call", "call_id": id, "name": "f", "arguments": "{}", **more}


def output(id="call_1"):
    return {"type": "function_call_output", "call_id": id, "output": "ok"}


def contents(*said, **more):
    return {"contents": [{"role": "user", "parts": [{"text": "go"}]}, *said], "tools": DECLARED, **more}


def model(*parts):
    return {"role": "model", "parts": list(parts)}


def asks(**more):
    return {"functionCall": {"name": "f", "args": {}}, **more}


def answers(*more):
    return {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "ok"}}}, *more]}


def g(name):
    return f"https://generativelanguage.googleapis.com/v1beta/models/{name}:generateContent"


UNANSWERED = (
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: {}. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
UNSIGNED = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance. Additional data, function call "
    "`default_api:f` , position {}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more "
    "details."
)
COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
NO_REASONING_HERE = (
    "Function tools with reasoning_effort are not supported for {} in /v1/chat/completions. To use function tools, "
    "use /v1/responses or set reasoning_effort to 'none'."
)
MANUAL, ADAPTIVE = {"type": "enabled", "budget_tokens": 2048}, {"type": "adaptive"}
OLD_BETA = [("anthropic-beta", "interleaved-thinking-2025-05-14")]

REFUSED = [
    # label, protocol, request, rule, pointer, text
    ("anthropic", ANTHROPIC, messages(user(text()), assistant(use())), "closure.missing-result",
     "/messages/1/content/0", UNANSWERED.format("toolu_1")),
    ("anthropic", ANTHROPIC, messages(user(text()), assistant(use()), user(text("wait"), result())),
     "closure.result-not-first", "/messages/2/content/0", UNANSWERED.format("toolu_1")),
    ("anthropic", ANTHROPIC, messages(user(text()), user(result())), "closure.orphan-result", "/messages/1/content/0",
     "messages.0.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block "
     "must have a corresponding `tool_use` block in the previous message."),
    ("anthropic", ANTHROPIC, messages(user(text()), assistant(text("a")), model="claude-opus-4-8"),
     "content.assistant-last", "/messages/1",
     "This model does not support assistant message prefill. The conversation must end with a user message."),
    ("anthropic", ANTHROPIC, messages(user(text()), model="claude-opus-4-8", thinking=MANUAL), "params.unsupported",
     "/thinking/type", '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
     '"output_config.effort" to control thinking behavior.'),
    ("anthropic", ANTHROPIC, messages(user(text()), thinking=ADAPTIVE), "params.unsupported", "/thinking/type",
     "adaptive thinking is not supported on this model"),
    ("anthropic", ANTHROPIC, messages(user(text()), thinking=MANUAL, tools=[BLOCK], tool_choice={"type": "any"}),
     "choice.thinking-conflict", "/tool_choice", "Thinking may not be enabled when tool_choice forces tool use."),
    ("anthropic", ANTHROPIC, messages(user(text()), model="claude-opus-5-5", tools=[BLOCK],
     tool_choice={"type": "any"}), "choice.unsupported", "/tool_choice",
     'tool_choice: type "tool" and "any" are not supported for this model.'),
    ("anthropic", ANTHROPIC, messages(user(text()), prompt_cache_key="k"), "gateway.unknown-field", "/prompt_cache_key",
     "prompt_cache_key: Extra inputs are not permitted"),
    ("anthropic", ANTHROPIC, messages(user(text()), tools=[{**BLOCK, "name": "a.b"}]), "schema.name", "/tools/0/name",
     "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    ("openai", CHAT, chat(calls("call_1", "call_2"), told()), "closure.missing-result", "/messages/1/tool_calls/1",
     "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The "
     "following tool_call_ids did not have response messages: call_2"),
    ("openai", CHAT, chat(told()), "closure.orphan-result", "/messages/1",
     "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."),
    ("openai", CHAT, chat(tools=[FUNCTION], model="gpt-5.6-luna"), "params.missing", "/reasoning_effort",
     NO_REASONING_HERE.format("gpt-5.6-luna")),
    ("openai", RESPONSES, items(call()), "closure.missing-result", "/input/1",
     "No tool output found for function call call_1."),
    ("openai", RESPONSES, items(output()), "closure.orphan-result", "/input/1",
     "No tool call found for function call output with call_id call_1."),
    ("openai", RESPONSES, items(call(id="call_9"), output("call_9"), {"type": "function_call", "id": "call_1",
     "call_id": "call_1", "name": "f", "arguments": "{}"}, output()), "closure.id-format", "/input/3/id",
     "Invalid 'input[3].id': 'call_1'. Expected an ID that begins with 'fc'."),
    ("openai", RESPONSES, items({"type": "reasoning", "id": "rs_1", "summary": []}, call(), output(), store=False),
     "reasoning.by-reference", "/input/1",
     "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set "
     "to true, or remove this item from your input."),
    ("gemini", GEMINI, contents(model(asks(), asks()), answers()), "closure.missing-result",
     "/contents/1/parts/1", COUNT),
    ("gemini", GEMINI, {**contents(), "contents": [model(asks()), answers()]}, "content.role-order", "/contents/0",
     "Please ensure that function call turn comes immediately after a user turn or after a function response turn."),
    ("gemini", GEMINI, contents(model(asks()), {"role": "user", "parts": [{"functionResponse": {"response": {}}}]}),
     "closure.id-format", "/contents/2/parts/0",
     "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty."),
    ("gemini", GEMINI, contents(model(asks()), answers({"text": "and?"})), "closure.result-not-first",
     "/contents/2/parts/1", COUNT),
    ("gemini", GEMINI, contents(toolBox={}), "gateway.unknown-field", "/toolBox",
     'Invalid JSON payload received. Unknown name "toolBox": Cannot find field.'),
    ("gemini-openai", CHAT, chat(calls("call_1"), told("call_2")), "closure.id-mismatch", "/messages/2/tool_call_id",
     "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty."),
    ("groq", CHAT, chat(calls("call_1", reasoning_content="r"), told()), "reasoning.foreign",
     "/messages/1/reasoning_content", "'messages.1' : for 'role:assistant' the following must be "
     "satisfied[('messages.1' : property 'reasoning_content' is unsupported)]"),
    ("bedrock", CONVERSE, {"messages": [user({"text": "go"}), assistant(
     {"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}})]}, "schema.tools-missing", "/messages/1/content/0",
     "The toolConfig field must be defined when using toolUse and toolResult content blocks."),
]  # fmt: skip
NAMES = [f"{row[0]} {row[3]} {number}" for number, row in enumerate(REFUSED)]


@pytest.mark.parametrize(("label", "protocol", "body", "rule", "pointer", "words"), REFUSED, ids=NAMES)
def test_refused_in_the_words_of_the_provider(label, protocol, body, rule, pointer, words):
    judgement, answer = judged(label, protocol, body, headers=OLD_BETA)
    assert (judgement.finding.rule, judgement.verdict) == (rule, "refuses")
    assert judgement.finding.pointer.startswith(pointer)
    assert words in json.dumps(answer.body).replace('\\"', '"')


ACCEPTED = [
    ("anthropic", ANTHROPIC, messages(user(text()), assistant(use()), user(result(), text("and?")), tools=[BLOCK])),
    ("anthropic", ANTHROPIC, messages(user(text()), model="claude-opus-4-8", thinking=ADAPTIVE, tools=[BLOCK],
     tool_choice={"type": "any"})),
    ("anthropic", ANTHROPIC, messages(user(text()), model="claude-3-7-sonnet-20250219", thinking=MANUAL)),
    ("openai", CHAT, chat(tools=[FUNCTION], model="gpt-5.6-luna", reasoning_effort="none")),
    ("openai", CHAT, chat(tools=[FUNCTION], model="gpt-5.1", reasoning_effort="high")),
    ("openai", RESPONSES, items(call(), call("call_2"), output("call_2"), output(), tools=[FLAT])),
    ("openai", RESPONSES, items({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"},
     call(id="call_1"), output(), store=False)),
    ("groq", CHAT, chat(calls("call_1", reasoning="r"), told())),
    ("xai", CHAT, chat(calls("call_1", reasoning_content="r"), told(), model="grok-3-mini")),
    ("openrouter", CHAT, chat(calls("call_1", reasoning_details=[]), told(), model="openai/gpt-5-mini")),
]  # fmt: skip


@pytest.mark.parametrize(("label", "protocol", "body"), ACCEPTED)
def test_accepted(label, protocol, body):
    judgement, _ = judged(label, protocol, body)
    assert judgement.verdict == "accepts", judgement.finding


PDF = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjQ="}}
LEFT_OUT = {k: v for k, v in messages(user(text())).items() if k != "model"}
AT_VERTEX = "https://host/v1/projects/p/locations/l/publishers"
BESIDE_TEXT = {"contents": [
    {"role": "user", "parts": [{"text": "go"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"id": "id", "name": "f", "response": {}}}, {"text": "a file"}]},
], "tools": DECLARED}  # fmt: skip
CLOSED = {**PARAMETERS, "additionalProperties": False}
RECORDED = [
    ("openai", CHAT, chat(user(PDF), model="gpt-5-mini"), "", []),
    ("anthropic", ANTHROPIC, LEFT_OUT, f"{AT_VERTEX}/anthropic/models/claude-3-7-sonnet@20250219:streamRawPredict", []),
    ("anthropic", ANTHROPIC, messages(user(text()), output_format={"type": "json_schema", "schema": CLOSED}),
     "", [("anthropic-beta", "structured-outputs-2025-11-13")]),
    ("gemini", GEMINI, BESIDE_TEXT, "https://host/v1beta/models/gemini-2.5-flash:generateContent", []),
]  # fmt: skip


@pytest.mark.parametrize(("label", "protocol", "body", "url", "headers"), RECORDED)
def test_what_recordings_show_accepted_is_accepted(label, protocol, body, url, headers):
    judgement, _ = judged(label, protocol, body, url=url, headers=headers)
    assert judgement.verdict == "accepts", judgement.finding


def test_the_same_without_what_it_was_accepted_with_is_refused():
    for label, protocol, body, url in (row[:4] for row in RECORDED[1:]):
        elsewhere = url.replace("2.5-flash", "1.5-pro").partition("/anthropic")[0]
        judgement, _ = judged(label, protocol, body, url=elsewhere, headers=[("anthropic-version", "2023-06-01")])
        assert judgement.verdict == "refuses"


BODIES = [
    ("anthropic", ANTHROPIC, messages(user(text()), x=1), [("x-a", "b")], {"type", "error", "request_id"}, "error"),
    ("openai", CHAT, chat(told()), [], {"error"}, {"message", "type", "param", "code"}),
    ("gemini", GEMINI, contents(x=1), [], {"error"}, {"code", "message", "status"}),
    ("bedrock", CONVERSE, REFUSED[-1][2], [], {"message"}, None),
    ("groq", CHAT, REFUSED[-2][2], [], {"error"}, {"message", "type"}),
    (
        "openrouter",
        CHAT,
        chat(told(), model="anthropic/claude-opus-4.6"),
        [],
        {"error"},
        {"message", "code", "metadata"},
    ),
]


@pytest.mark.parametrize(("label", "protocol", "body", "headers", "outer", "inner"), BODIES, ids=[b[0] for b in BODIES])
def test_each_refuses_in_its_own_shape(label, protocol, body, headers, outer, inner):
    _, answer = judged(label, protocol, body, headers=headers)
    assert set(answer.body) == outer
    if isinstance(inner, set):
        assert set(answer.body["error"]) == inner


def test_gemini_answers_its_openai_wire_with_an_array():
    _, answer = judged("gemini-openai", CHAT, chat(calls("call_1"), told("call_2")))
    (error,) = answer.body
    assert (error["error"]["code"], error["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_openrouter_wraps_what_the_upstream_said():
    _, answer = judged("openrouter", CHAT, chat(calls("call_1"), model="anthropic/claude-opus-4.6"))
    raw = json.loads(answer.body["error"]["metadata"]["raw"])
    assert raw["error"]["message"] == UNANSWERED.format("call_1")


STEPS = [
    # model, contents behind the question, message of the call that lacks its signature
    ("gemini-3-pro-preview", [model(asks()), answers()], 2),
    ("gemini-3.5-flash", [model(asks(thoughtSignature="AA=="), asks()), answers()], 0),
    ("gemini-3-flash", [model(asks(thoughtSignature="AA==")), answers(), model(asks()), answers()], 4),
    ("gemini-3-flash", [model(asks()), answers(), model({"text": "a"}), {"role": "user", "parts": [{"text": "b"}]}], 0),
    ("gemini-3-flash", [model(asks(thoughtSignature="skip_thought_signature_validator")), answers()], 0),
    ("gemini-2.5-pro", [model(asks()), answers()], 0),
]


@pytest.mark.parametrize(("name", "said", "position"), STEPS)
def test_the_first_call_of_every_step_of_the_current_turn_owes_its_signature(name, said, position):
    said = [dict(c) for c in said]
    if said[0]["parts"][1:] and position == 0 and len(said[0]["parts"]) == 2:
        said[1] = {"role": "user", "parts": answers()["parts"] * 2}
    judgement, answer = judged("gemini", GEMINI, contents(*said), url=g(name))
    if position:
        assert judgement.finding.rule == "reasoning.missing"
        assert answer.body["error"]["message"] == UNSIGNED.format(position)
    else:
        assert judgement.verdict == "accepts"


def test_vertex_says_it_in_other_words_and_refuses_other_betas():
    body, url = contents(model(asks()), answers()), f"{VERTEX}/google/models/gemini-3-pro:generateContent"
    _, answer = judged("gemini", GEMINI, body, url=url)
    assert "function call `default_api:f` in the 2. content block is missing a `thought_signature`" in str(answer.body)
    url, beta = (
        f"{VERTEX}/anthropic/models/claude-sonnet-4-5:rawPredict",
        [("anthropic-beta", "prompt-caching-x")],
    )
    body = {"anthropic_version": "vertex-2023-10-16", "max_tokens": 9, "messages": [user(text())]}
    judgement, answer = judged("anthropic", ANTHROPIC, body, url=url, headers=beta)
    assert (judgement.finding.rule, judgement.finding.pointer) == ("gateway.beta-header", "/headers/anthropic-beta")
    assert answer.body["error"]["message"].startswith("Unexpected value(s) `prompt-caching-x` for the `anthropic-")
    assert judged("anthropic", ANTHROPIC, messages(user(text())), headers=beta)[0].verdict == "accepts"


def test_one_error_is_reported_the_first_that_the_provider_looks_for():
    body = messages(user(text()), assistant(use("a.b")), user(text("x")), tools=[{**BLOCK, "name": "a b"}])
    for fix, rule in (
        (lambda: body["tools"].clear(), "schema.name"),
        (lambda: body["messages"].__setitem__(1, assistant(use())), "closure.id-format"),
        (lambda: body["messages"].insert(2, user(result())), "closure.missing-result"),
    ):
        assert judged("anthropic", ANTHROPIC, body)[0].finding.rule == rule
        fix()
    assert judged("anthropic", ANTHROPIC, body)[0].verdict == "accepts"
