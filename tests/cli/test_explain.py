"""``workbench explain``: rules and pasted errors."""

from __future__ import annotations

import json
import re as regex
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench import contracts
from workbench.protocols import traits


def test_a_rule(run: Run) -> None:
    done = run("explain", "closure.missing-result")
    assert done.status == 0
    assert "A tool call has no result" in done.out
    assert "tool_use" in done.out


def test_a_rule_as_json(run: Run) -> None:
    page = json.loads(run("explain", "closure.missing-result", "--format", "json").out)["rule"]
    assert {"slug", "summary", "failing", "passing"} <= set(page)


@pytest.mark.parametrize(
    ("text", "rule", "provider"),
    [
        ("The reasoning_content in the thinking mode must be passed back to the API.", "reasoning.missing", "deepseek"),
        (
            "messages.22: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01Hq. Each "
            "`tool_use` block must have a corresponding `tool_result` block in the next message.",
            "closure.missing-result",
            "anthropic",
        ),
        (
            "Error code: 400 - {'error': {'message': \"Invalid parameter: messages with role 'tool' must be a response "
            "to a preceeding message with 'tool_calls'.\", 'type': 'invalid_request_error'}}",
            "closure.orphan-result",
            "openai",
        ),
    ],
)
def test_an_error_text(run: Run, text: str, rule: str, provider: str) -> None:
    done = run("explain", text)
    assert done.status == 0
    assert rule in done.out
    assert provider in done.out
    (first, *_) = json.loads(run("explain", "--format", "json", text).out)["matches"]
    assert first["rule"] == rule


def test_an_error_that_nobody_knows(run: Run) -> None:
    done = run("explain", "segmentation fault (core dumped)")
    assert done.status == 3
    assert "Traceback" not in done.err


def test_nothing_to_explain(run: Run) -> None:
    assert run("explain", "-", stdin=b"  \n").status == 2


def test_without_a_subject_the_rules_are_listed(run: Run) -> None:
    done = run("explain")
    assert done.status == 0
    assert "closure.missing-result  " in done.out
    assert "reasoning.missing" in json.loads(run("explain", "--format", "json").out)["rules"]


def test_several_rules(run: Run) -> None:
    done = run("explain", "closure.orphan-result", "args.empty")
    assert done.status == 0
    assert "closure.orphan-result: " in done.out
    assert "args.empty: " in done.out


def test_a_rule_that_does_not_exist_names_the_nearest(run: Run) -> None:
    done = run("explain", "closure.mising-result")
    assert done.status == 2
    assert "did you mean closure.missing-result" in done.err


def test_a_contract_is_explained_with_sources_and_order(run: Run) -> None:
    done = run("explain", "deepseek:v4", "--protocol", "openai-chat")
    assert done.status == 0
    assert done.out.startswith("deepseek:v4: DeepSeek\n")
    assert "Refuses, in the order of its checks" in done.out
    assert "reasoning.missing: 400 (openai-chat; v4)" in done.out
    assert "The `reasoning_content` in the thinking mode must be passed back to the" in done.out
    assert "content[].thinking" not in done.out
    assert "Missing `reasoning_content` field" not in done.out
    assert max(map(len, (line for line in done.out.splitlines() if "https://" not in line))) <= 80


def test_a_contract_is_one_json_object(run: Run) -> None:
    answer = json.loads(run("explain", "deepseek", "--format", "json").out)["contract"]
    assert answer["name"] == "deepseek"
    assert {v["name"] for v in answer["variants"]} >= {"v4", "v3.2"}
    assert all(f["source"] and f["date"] and f["term"] for f in answer["facts"])
    assert all(c["source"] and c["date"] and 400 <= c["status"] < 600 for c in answer["enforces"])


@pytest.mark.parametrize("name", contracts.names())
def test_every_contract_is_explained(run: Run, name: str) -> None:
    done = run("explain", name)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"{name}: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("deepseek:v9",), "has no variant 'v9'"),
        (("deepseek", "--protocol", "gemini"), "deepseek does not cover gemini; known: openai-chat"),
    ],
)
def test_what_a_contract_does_not_have_is_one_line(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run("explain", *words)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_contracts_are_listed_with_the_rules(run: Run) -> None:
    done = run("explain")
    assert "deepseek:v3.2                DeepSeek, V3.2" in done.out
    assert json.loads(run("explain", "--format", "json").out)["contracts"]["generic"] == "Any provider"


def test_a_family_lists_its_rules(run: Run) -> None:
    done = run("explain", "closure")
    assert (done.status, done.err) == (0, "")
    assert "closure.missing-result       A tool call has no result" in done.out
    answer = json.loads(run("explain", "closure", "--format", "json").out)
    assert (answer["family"], {slug.partition(".")[0] for slug in answer["rules"]}) == ("closure", {"closure"})


@pytest.mark.parametrize(
    ("word", "meant"),
    [("deepsek", "deepseek"), ("deepsek:v4", "deepseek:v4"), ("opneai", "openai"), ("closrue", "closure")],
)
def test_a_word_that_is_nearly_a_contract_or_a_family(run: Run, word: str, meant: str) -> None:
    done = run("explain", word)
    assert (done.status, done.err) == (2, f"workbench: no rule or contract named {word}; did you mean {meant}?\n")


def test_kinds_of_failures_are_listed_and_shown(run: Run) -> None:
    listed = run("explain", "kinds")
    assert listed.status == 0 and "rate-limit" in listed.out and "model-unknown" in listed.out
    one = run("explain", "rate-limit")
    assert (
        "nothing" not in one.out
        and "a rate limit is reached" in one.out
        and "the same request can succeed later" in one.out
    )
    (kind,) = json.loads(run("explain", "parameter-range", "--format", "json").out)["kinds"]
    assert (kind["kind"], kind["cause"], kind["at"]) == ("parameter-range", "request", "parameter")


def test_a_text_that_no_contract_knows_is_of_a_kind(run: Run) -> None:
    done = run("explain", "--format", "json", "Error: too many requests, please retry after 26 seconds")
    (match,) = json.loads(done.out)["matches"]
    assert (done.status, match["rule"], match["kind"]) == (0, None, "rate-limit")
    assert match["captured"] == {"reset": "in 26 s"}


def test_coverage_says_what_is_known_of_each_place_and_of_which_nothing_is(run: Run) -> None:
    done = run("explain", "coverage", "--protocol", "openai-chat")
    assert done.status == 0
    paragraphs = {block.splitlines()[0]: " ".join(block.split()) for block in regex.split(r"\n(?=\S)", done.out)}
    assert regex.search(r"refused .*openai \(.*o3-mini\*", paragraphs["sampling.temperature"])
    assert regex.search(r"typed .*openrouter.*unknown .*cohere", paragraphs["sampling.temperature"])
    assert regex.search(r"ignored .*kimi", paragraphs["/enable_thinking"])


def test_coverage_as_json_has_every_named_place_of_every_contract(run: Run) -> None:
    told = json.loads(run("explain", "coverage", "--protocol", "gemini", "--format", "json").out)
    assert told["words"] >= 250
    found = {(each["place"], each["outcome"]) for each in told["coverage"] if each["contract"] == "gemini"}
    assert ("reasoning.effort", "refused") in found and ("result.id", "typed") in found
    assert set(traits("gemini").places) <= {place.partition("/")[0] for place, _ in found if place[0] != "/"}


CHAT = {
    "model": "m",
    "temperature": 0.3,
    "tool_choice": "any",
    "messages": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_abc123", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_abc123", "content": [1]},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
}
GEMINI = {
    "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    "tools": [
        {
            "function_declarations": [
                {
                    "name": "a",
                    "parameters": {
                        "type": "object",
                        "properties": {"x": {"type": "string"}, "y": {"type": ["string", "null"]}},
                    },
                }
            ]
        }
    ],
}
CONVERSE = {
    "modelId": "anthropic.claude",
    "messages": [{"role": "user", "content": [{"text": "hi", "kind": 1}]}],
    "toolConfig": {"tools": [{"toolSpec": {"name": "a", "inputSchema": {"json": {"type": "array"}}}}]},
}
NAMED = "tools[0].function_declarations[0].parameters.properties[1].value"
POINTED = {
    "pydantic, list of errors": (CHAT, "'loc': ('body', 'messages', 2, 'content'), 'msg': 'Input should be a string'",
                                 "/messages/2/content"),
    "pydantic, text": (CHAT, "1 validation error for Chat\nmessages.2.content\n  Input should be a valid string",
                       "/messages/2/content"),
    "serde": (CHAT, "target type: messages[1]: data did not match any variant at line 1 column 9", "/messages/1"),
    "Groq": (CHAT, "'messages.2' : for 'role:tool' the following must be satisfied[('messages.2.content' : value must "
                   "be a string)]", "/messages/2/content"),
    "OpenAI, a name": (CHAT, "Unsupported parameter: 'temperature' is not supported with this model.", "/temperature"),
    "OpenAI, param": (CHAT, '{"error": {"message": "nope", "param": "messages.[2].role", "code": null}}',
                      "/messages/2/role"),
    "ajv": (CHAT, "#/messages/1/tool_calls/0: extraneous key [x] is not permitted", "/messages/1/tool_calls/0"),
    "Go, without an index": (CHAT, "json: cannot unmarshal string into Go struct field R.temperature of type int",
                             "/temperature"),
    "an id": (CHAT, "tool id(call_abc123) not found (2013)", "/messages/2"),
    "protobuf, which counts properties": (
        GEMINI, f"Unknown name \"type\" at '{NAMED}': Proto field is not repeating, cannot start list.",
        "/tools/0/function_declarations/0/parameters/properties/y/type"),
    "Amazon Bedrock": (
        CONVERSE, "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: x.",
        "/toolConfig/tools/0/toolSpec/inputSchema/json/type"),
    "botocore": (CONVERSE, 'Unknown parameter in messages[0].content[0]: "kind", must be one of: text, image',
                 "/messages/0/content/0"),
}  # fmt: skip


@pytest.mark.parametrize("form", POINTED)
def test_an_error_text_points_at_its_node(run: Run, tmp_path: Path, form: str) -> None:
    body, text, pointer = POINTED[form]
    file = tmp_path / "request.json"
    file.write_text(json.dumps(body), encoding="utf-8")
    found = json.loads(run("explain", text, "--in", str(file), "--format", "json").out)["in"]
    assert (found["pointer"], found["exchange"], found["path"]) == (pointer, 0, str(file))
    start, end = found["bytes"]
    assert file.read_bytes()[start:end].decode() == found["value"]
    done = run("explain", text, "--in", str(file))
    assert done.status == 0
    assert f"exchange 1: {pointer}, bytes {start}–{end}" in done.out


def test_a_text_without_a_place_says_so(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    file.write_text(json.dumps(CHAT), encoding="utf-8")
    done = run("explain", "segmentation fault (core dumped)", "--in", str(file))
    assert done.status == 3
    assert "does not name a place in this request" in done.out
    found = json.loads(run("explain", "segmentation fault", "--in", str(file), "--format", "json").out)["in"]
    assert found["pointer"] is found["bytes"] is None


SPEAKERS = [
    ("client botocore", 'Parameter validation failed:\nUnknown parameter in messages[0].content[0]: "kind"'),
    ("client MCP", "McpError: MCP error -32602: Invalid arguments for tool x"),
    ("gateway LiteLLM", "litellm.BadRequestError: OpenAIException - Unsupported parameter: 'stop' is not supported"),
    ("provider", "Unsupported parameter: 'temperature' is not supported with this model."),
]


@pytest.mark.parametrize(("speaker", "text"), SPEAKERS)
def test_who_says_it_is_told(run: Run, speaker: str, text: str) -> None:
    (first, *_) = json.loads(run("explain", "--format", "json", text).out)["matches"]
    assert first["speaker"] == speaker
    assert f"error text written by: {speaker}" in run("explain", text).out


def test_a_model_has_its_facts_each_with_source_and_date(run: Run) -> None:
    done = run("explain", "claude-opus-4-7")
    assert "claude-opus-4-7 at anthropic: does not accept sampling parameters" in done.out
    assert "litellm" in done.out
    told = json.loads(run("explain", "gpt-4.1", "--format", "json").out)
    assert told["model"] == "gpt-4.1"
    assert {"reasoning"} <= {fact["name"] for fact in told["facts"]}


def test_a_refusal_that_no_rule_knows_is_narrowed_down_to_what_is_new(run: Run, tmp_path: Path) -> None:
    address = "https://gateway.example/v1/chat/completions"
    before = {"model": "m", "messages": [{"role": "user", "content": "go"}]}
    answer = {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}}]}
    after = {
        "model": "m",
        "messages": [*before["messages"], {"role": "assistant", "content": "ok"}, {"role": "user", "content": "on"}],
        "verbosity": "high",
    }
    trips = [(before, 200, answer), (after, 400, {"error": {"message": "Bad request (E4411)"}})]
    entries = [
        {
            "request": {"method": "POST", "url": address, "headers": [], "postData": {"text": json.dumps(sent)}},
            "response": {"status": status, "headers": [], "content": {"text": json.dumps(said)}},
        }
        for sent, status, said in trips
    ]
    file = tmp_path / "session.har"
    file.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}), encoding="utf-8")
    done = run("explain", "Bad request (E4411)", "--in", str(file))
    assert "suspected: /verbosity" in done.out
    found = json.loads(run("explain", "Bad request (E4411)", "--in", str(file), "--format", "json").out)["in"]
    assert found["pointer"] is None and found["suspected"][0] == "/verbosity"
