"""What servers of open models refuse, in which words, and what they let pass. Cases of llama.cpp were measured."""

from __future__ import annotations

import json

import pytest

from workbench import contracts
from workbench.contracts import Verdict, choose, refusal_of
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.session import MemorySession

CHAT, NATIVE, MESSAGES, RESPONSES = "openai-chat", "ollama", "anthropic-messages", "openai-responses"
URLS = {CHAT: "/v1/chat/completions", NATIVE: "/api/chat", MESSAGES: "/v1/messages", RESPONSES: "/v1/responses"}

ASK, ANSWER = {"role": "user", "content": "go"}, {"role": "assistant", "content": "well"}
SYSTEM = {"role": "system", "content": "be brief"}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}}


def tool(**more):
    return {"type": "function", "function": {"name": "ls", "description": "list", "parameters": PARAMETERS, **more}}


TOOLS = {"tools": [tool()]}


def calls(*arguments):
    listed = [
        {"id": f"c{n}", "type": "function", "function": {"name": "ls", "arguments": text}}
        for n, text in enumerate(arguments, 1)
    ]
    return {"role": "assistant", "content": None, "tool_calls": listed}


NAMELESS = calls("{}")
del NAMELESS["tool_calls"][0]["id"]


def chat(*messages, model="m", **more):
    return {"model": model, "messages": list(messages), **more}


def replayed(arguments, **more):
    return chat(ASK, calls(arguments), RESULT, **TOOLS, **more)


def named(name):
    return {"type": "function", "function": {"name": name}}


def native(arguments):
    call = {"function": {"name": "ls", "arguments": arguments}}
    said = {"role": "assistant", "content": "", "tool_calls": [call]}
    return {"model": "m", "messages": [ASK, said, {"role": "tool", "tool_name": "ls", "content": "ok"}], **TOOLS}


def claude(choice):
    tools = [{"name": "ls", "input_schema": PARAMETERS}]
    return {"model": "m", "max_tokens": 9, "messages": [ASK], "tools": tools, "tool_choice": choice}


def judged(label, body, protocol):
    request = HttpRequest(url=URLS[protocol], body=Body(json.dumps(body).encode()))
    inspector = Inspector(MemorySession("test", (Exchange("1", request),)), protocol=protocol, provider="generic")
    trial = inspector.trial(0, request, provider=label, protocol=protocol)
    return trial.judgement, trial.case.contract


UNPARSED = "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1, column"
TURNS = "conversation roles must alternate user and assistant roles except for tool calls and results."
DANGLING = {"properties": {"path": {"$ref": "#/$defs/gone"}}}

REFUSED = [
    ("llama.cpp", chat(ASK, ANSWER, SYSTEM, ASK, model="qwen3.5-27b"), CHAT, 400, "System message must be at the beg"),
    ("llama.cpp:own", chat(ASK, SYSTEM, ASK, model="Qwen/Qwen3.5-4B"), CHAT, 500, "Error: Jinja Exception: System me"),
    ("llama.cpp:own", chat(SYSTEM, model="qwen3.6-35b"), CHAT, 500, "Exception: No user query found in messages."),
    (
        "llama.cpp",
        chat(ASK, ASK, model="mistral-nemo-2407"),
        CHAT,
        400,
        "must alternate user/assistant/user/assistant/",
    ),
    ("llama.cpp", chat(ASK, ASK, model="ministral-3-14b"), CHAT, 500, TURNS),
    (
        "llama.cpp",
        chat(ASK, calls("{}"), RESULT, model="mistral-nemo"),
        CHAT,
        400,
        "IDs should be alphanumeric strings",
    ),
    ("llama.cpp", replayed('{"path": '), CHAT, 500, UNPARSED),
    ("llama.cpp", replayed(""), CHAT, 500, UNPARSED),
    ("llama.cpp", chat(ASK, calls("{}"), **TOOLS), CHAT, 400, "Cannot continue an assistant message that contains to"),
    ("llama.cpp", chat(ASK, tool_choice="any", **TOOLS), CHAT, 400, "Invalid tool_choice: any"),
    ("llama.cpp", chat(ASK, tools=[{"type": "custom", "custom": {"name": "x"}}]), CHAT, 500, "Unsupported tool type: "),
    ("llama.cpp", chat(ASK, grammar='root ::= "a"', **TOOLS), CHAT, 400, "custom grammar constraints with tools."),
    ("llama.cpp", chat(ASK, response_format={"type": "xml"}), CHAT, 400, 'or "json_object", but got: xml'),
    ("llama.cpp", chat(ASK, tools=[tool(parameters=DANGLING)]), CHAT, 400, "JSON schema error at"),
    ("llama.cpp", {"model": "m", "input": "hi", "previous_response_id": "r"}, RESPONSES, 400, "does not support 'prev"),
    ("vllm", chat(ASK, SYSTEM, model="Qwen/Qwen3.6-27B-FP8"), CHAT, 400, "System message must be at the beginning."),
    ("vllm", chat(ASK, ASK, model="mistral-7b-instruct"), CHAT, 400, TURNS),
    ("vllm", chat(ASK, tool_choice="auto"), CHAT, 400, "When using `tool_choice`, `tools` must be set."),
    ("vllm", chat(ASK, tools=[]), CHAT, 400, "`tools` must not be an empty array."),
    ("vllm", chat(ASK, tool_choice=named("cat"), **TOOLS), CHAT, 400, "does not match any of the specified `tools`"),
    (
        "vllm",
        chat(ASK, tool_choice="any", **TOOLS),
        CHAT,
        400,
        "Invalid value for `tool_choice`: any! Only named tools",
    ),
    ("vllm", chat(ASK, stream_options={"include_usage": True}), CHAT, 400, "only be defined when `stream=True`."),
    ("sglang", replayed("{"), CHAT, 400, "Assistant tool call function.arguments must be valid JSON."),
    ("sglang", replayed("null"), CHAT, 400, "Assistant tool call function.arguments must be a JSON object."),
    ("sglang", chat(ASK, tool_choice=named("cat"), **TOOLS), CHAT, 400, "Tool 'cat' not found in tools list."),
    (
        "sglang",
        chat(ASK, tool_choice="required"),
        CHAT,
        400,
        "Tools cannot be empty if tool choice is set to required.",
    ),
    ("ollama", native('{"path": "a"}'), NATIVE, 400, "json: cannot unmarshal string into Go struct field ChatRequest"),
    ("ollama", native([1]), NATIVE, 400, "json: cannot unmarshal array into Go struct field ChatRequest"),
    ("ollama", replayed("[1]"), CHAT, 400, "invalid tool call arguments"),
    ("ollama", chat(), CHAT, 400, "[] is too short - 'messages'"),
    ("ollama", {"model": "m", "messages": [ASK]}, MESSAGES, 400, "max_tokens is required and must be positive"),
    (
        "lm-studio",
        chat(ASK, tool_choice=named("ls"), **TOOLS),
        CHAT,
        400,
        "Invalid tool_choice type: 'object'. Supported",
    ),
    (
        "lm-studio",
        chat(ASK, calls("{}"), {**RESULT, "content": [PICTURE]}),
        CHAT,
        400,
        "Invalid 'messages' in payload.",
    ),
    ("qwen3-coder", replayed("[1]"), CHAT, 400, "Can only get item pairs from a mapping."),
    ("qwen3-coder:llama.cpp", replayed("[1]"), CHAT, 500, "Error: Unknown (built-in) filter 'items' for type"),
    ("qwen3-coder:sglang", replayed("[1]"), CHAT, 400, "must be a JSON object."),
    ("qwen3-coder:ollama", replayed("```json\n{}\n```"), CHAT, 400, "invalid tool call arguments"),
    ("hermes", chat(ASK, tools=[tool(description=None)]), CHAT, 400, 'concatenate str (not "NoneType") to str'),
    ("hermes:llama.cpp", replayed("{"), CHAT, 500, UNPARSED),
]


@pytest.mark.parametrize(("label", "body", "protocol", "status", "words"), REFUSED)
def test_refused_in_these_words(label, body, protocol, status, words):
    judgement, contract = judged(label, body, protocol)
    assert judgement.verdict is Verdict.REFUSES
    assert judgement.finding is not None
    answer = refusal_of(judgement.finding, contract)
    assert answer is not None and answer.status == status
    assert words in json.dumps(answer.body, ensure_ascii=False).replace('\\"', '"').replace("\\n", "\n")


TAKEN = [
    ("llama.cpp", chat(ASK, SYSTEM, ASK), CHAT),
    ("llama.cpp", chat(ASK, ASK, model="qwen3.5-27b"), CHAT),
    ("llama.cpp", chat(ASK, tool_choice="required"), CHAT),
    ("llama.cpp", chat(ASK, tool_choice={"type": "allowed_tools", "allowed_tools": {}}, **TOOLS), CHAT),
    ("llama.cpp", replayed({"path": "."}), CHAT),
    ("llama.cpp", replayed("null"), CHAT),
    ("llama.cpp:own", replayed("null", model="qwen3.5-4b"), CHAT),
    ("llama.cpp", chat(ASK, ANSWER), CHAT),
    ("llama.cpp", chat(ASK, NAMELESS, RESULT, **TOOLS), CHAT),
    ("vllm", chat(ASK, tool_choice="none"), CHAT),
    ("vllm", replayed("{"), CHAT),
    ("vllm", chat(ASK, SYSTEM, ASK, model="qwen3-coder-30b"), CHAT),
    ("sglang", replayed({"path": "."}), CHAT),
    ("ollama", native({"path": "."}), NATIVE),
    ("ollama", chat(ASK, tool_choice="any", **TOOLS), CHAT),
    ("lm-studio", chat(ASK, calls("{}"), RESULT, tool_choice="required", **TOOLS), CHAT),
    ("lm-studio", chat(ASK, calls("{}"), {**RESULT, "content": [{"type": "text", "text": "ok"}]}), CHAT),
    ("qwen3-coder", replayed("{"), CHAT),
    ("qwen3-coder", chat(ASK, tools=[tool(description=None)]), CHAT),
    ("hermes:llama.cpp", chat(ASK, tools=[tool(description=None)]), CHAT),
    ("hermes:llama.cpp", replayed("[1]"), CHAT),
    *(
        (f"qwen3-coder:{server}", claude({"type": "any"}), MESSAGES)
        for server in ("vllm", "sglang", "llama.cpp", "ollama", "lm-studio")
    ),
    ("generic", chat(ASK, SYSTEM, ASK, ASK, tool_choice="any", tools=[]), CHAT),
]


@pytest.mark.parametrize(("label", "body", "protocol"), TAKEN)
def test_taken(label, body, protocol):
    assert judged(label, body, protocol)[0].verdict is not Verdict.REFUSES


def test_thinking_is_a_field_of_messages_of_ollama():
    thought = native({"path": "."})
    thought["messages"][1]["thinking"] = "The folder first."
    request = HttpRequest(url=URLS[NATIVE], body=Body(json.dumps(thought).encode()))
    session = MemorySession("test", (Exchange("1", request),))
    assert Inspector(session, provider="ollama").run().findings == ()


@pytest.mark.parametrize("label", ["llama.cpp", "vllm", "sglang", "ollama", "lm-studio", "qwen3-coder", "hermes"])
def test_a_chain_that_is_answered_over_is_no_healthy_one(label):
    judgement, _ = judged(label, chat(ASK, calls("{}"), ASK, **TOOLS), CHAT)
    assert judgement.verdict is Verdict.SUSPICIOUS
    assert judgement.finding is not None and judgement.finding.rule == "closure.missing-result"


def test_the_error_a_server_makes_first_is_told():
    """llama.cpp reads tools, then the choice, then arguments, and renders the template last."""
    faults = chat(ASK, SYSTEM, calls("{"), RESULT, model="qwen3.5-4b", tool_choice="any", **TOOLS)
    assert judged("llama.cpp:own", faults, CHAT)[0].finding.rule == "choice.unsupported"
    faults["tool_choice"] = "auto"
    assert judged("llama.cpp:own", faults, CHAT)[0].finding.rule == "args.invalid-json"
    faults["messages"][2] = calls("{}")
    assert judged("llama.cpp:own", faults, CHAT)[0].finding.rule == "content.system-position"


CHOSEN = [
    ("http://localhost:11434/v1/chat/completions", "mistral-small3.2:24b", CHAT, "ollama"),
    ("http://127.0.0.1:11434/api/chat", "qwen3-coder:30b", NATIVE, "ollama"),
    ("https://ollama.com/v1/chat/completions", "gpt-oss:20b", CHAT, "ollama"),
    ("http://127.0.0.1:1234/v1/chat/completions", "qwen3-4b", CHAT, "lm-studio"),
    ("http://10.0.0.4:30000/v1/chat/completions", "qwen3-4b", CHAT, "sglang"),
    ("http://10.0.0.4:8080/v1/chat/completions", "qwen3-4b", CHAT, "generic"),
    ("http://10.0.0.4:8000/v1/chat/completions", "meta-llama/Llama-3.3-70B", CHAT, "generic"),
    ("http://10.0.0.4:8080/v1/chat/completions", "qwen3-coder-30b", CHAT, "qwen3-coder:llama.cpp"),
    ("http://10.0.0.4:8000/v1/chat/completions", "Qwen/Qwen3-Coder-30B-A3B-Instruct", CHAT, "qwen3-coder:vllm"),
    (None, "minimax-m2:cloud", NATIVE, "ollama"),
    (None, "hermes-3-llama-3.1-8b", CHAT, "hermes:vllm"),
]


@pytest.mark.parametrize(("url", "model", "protocol", "label"), CHOSEN)
def test_servers_are_told_by_port_protocol_and_model(url, model, protocol, label):
    assert choose(contracts.Clues(url, model), protocol)[0].label == label
