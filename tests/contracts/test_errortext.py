from __future__ import annotations

import json
import re
from functools import cache, partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import contracts
from workbench.contracts import pages
from workbench.contracts.error_text_lines import lines
from workbench.contracts.error_texts import MOST, explain, find_matches
from workbench.contracts.template import Template, plain_text

SAMPLE = {
    "id": "toolu_01A", "ids": "toolu_01A, toolu_02B", "path": "messages.3.cache", "name": "read_file", "block": "x",
    "role": "tool", "found": "text", "docs": "https://docs.example/x", "model": "gpt-5.6-luna", "pattern": "{1,64}$",
    "context": "('properties', 'p')", "key": "city", "field": "function", "content": "gAAAAB=", "kind": "function_call",
    "reasoning": "rs_1", "before": "user",
}  # fmt: skip


def filled(template: str) -> tuple[str, dict[str, str]]:
    """A message of the template, and the values in it."""
    values = {name: SAMPLE.get(name, "7") for name in re.findall(r"\{([a-z]+)\}", template)}
    return re.sub(r"\{([a-z]+)\}", lambda found: values[found[1]], template), values


EVERY = [
    *((name, check.rule, check.template) for name in contracts.names() for _, check in contracts.read(name).checks),
    *((refusal.provider, slug, refusal.message) for slug in pages.slugs() for refusal in pages.others(slug)),
]
TEXTS = [entry for entry in EVERY if entry[2]]

WRAPS = {
    "bare": lambda m: m,
    "body": lambda m: json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": m}}),
    "ascii log": lambda m: "API Error: 400 " + json.dumps({"error": {"message": m.replace("`", "\u0060")}}),
    "twice": lambda m: json.dumps({"error": {"message": "Provider returned error", "raw": json.dumps({"m": m})}}),
    "three times": lambda m: json.dumps(json.dumps(json.dumps({"message": m, "code": 400}))),
    "repr": lambda m: f"Error code: 400 - { ({'error': {'message': m, 'param': None}})!r}",
    "no quotes": lambda m: m.replace("`", "").replace("'", "").replace('"', ""),
    "wrapped lines": lambda m: "400 " + m.replace(" ", "\n    "),
    "prefix and tail": lambda m: f"litellm.BadRequestError: Exception - {m} No fallback model group found.",
    "shouted": lambda m: m.upper(),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("number", range(len(WRAPS)), ids=WRAPS)
def test_every_known_text_is_recognised_however_wrapped(number, thin):
    """Every text bare (the even ones in the test of their values), and a sixth of all texts in each wrapping."""
    wrap, read = (
        list(WRAPS.values())[number],
        cache(partial(explain, is_answer=True)),
    )  # several providers say some of them
    missed = []
    for provider, rule, template in TEXTS[-number % 6 :: 6] if number else thin(TEXTS[1:], 4):
        message, _ = filled(template)
        found = {(m.provider.partition(":")[0], r) for m in read(wrap(message)) for r in (m.rule, *m.rules)}
        if (provider, rule) not in found:
            missed.append((provider, rule, template, found))
    assert not missed


def test_the_values_in_a_message_are_captured():
    for provider, rule, template in TEXTS[::2]:
        message, values = filled(template)
        match = next(m for m in find_matches(message) if (m.provider.partition(":")[0], m.rule) == (provider, rule))
        if match.template == template and not re.search(r"\}\W{0,3}\{", template):
            assert {k: v for k, v in match.captured.items() if k in values} == values, template


PUBLISHED = [
    ("anthropic closure.missing-result", "`tool_use` ids were found without `tool_result` blocks immediately after"),
    (
        "anthropic closure.missing-result",
        "tool_use ids were found without tool_result blocks immediately after: toolu_1",
    ),
    (
        "openai closure.orphan-result",
        "Invalid parameter: messages with role 'tool' must be a response to a preceding one",
    ),
    ("deepseek:v4 reasoning.missing", "The reasoning content in the thinking mode must be passed back to the API."),
    (
        "deepseek:v3.2 reasoning.missing",
        "Missing `reasoning_content` field in the assistant message at message index 112",
    ),
    ("deepseek reasoning.missing", "The `content[].thinking` in the thinking mode must be passed back to the API."),
    ("anthropic reasoning.missing", "Expected `thinking` or `redacted_thinking`, but found `tool_use`"),
    ("anthropic closure.wrong-role", "`tool_use` blocks can only be in `assistant` messages"),
    ("anthropic args.not-object", "Input should be a valid dictionary"),
    ("openai closure.id-format", "Invalid 'messages[3].tool_calls[0].id': string too long."),
    ("deepseek closure.missing-result", "No tool output found for tool call call-a."),
    ("openai closure.missing-result", "No tool output found for function call call_a."),
    ("groq args.schema", "Tool call validation failed: tool call validation failed: parameters for tool"),
    ("anthropic schema.name", "tools.7.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"),
]


@pytest.mark.parametrize(("rule", "text"), PUBLISHED)
def test_parts_and_spellings(rule, text):
    best = explain(text, is_answer=True)[0]
    assert f"{best.provider} {best.rule}" == rule


ANYBODYS = [
    "npm ERR! signature mismatch: package was modified",
    "AssertionError: Function not found: src/app/main.py:handle",
    "Comment content is required",
    "Pre-packaged database has an invalid schema: users",
    "Error: role must be either user or admin",
    "Repository name and/or commit message cannot be empty strings!",
    "Error: Unsupported parameter type: range",
    'GraphQL error: Unknown argument "first" on field "user" of type "Query".',
    "HttpMediaTypeNotSupportedException: Unsupported content type: text/plain",
    "System.ArgumentException: Function name must not be empty. (Parameter 'name')",
    "ssh-agent: agent refused operation: invalid signature",
    "error: unexpected argument '--tool' found",
    "500 Error converting to buffer: Invalid image data",
]
"""Texts of programs that have nothing to do with models."""


@pytest.mark.parametrize("text", ANYBODYS)
def test_words_that_any_program_may_say_tell_no_rule(text):
    assert not [m for m in explain(text) if m.rule or m.rules]
    assert [m for m in explain(text, is_answer=True) if m.rule or m.rules]


def test_anybodys_network_and_keys_are_kinds():
    kinds = [explain(text)[0].kind for text in ("connection refused", "Invalid API key", "Too many requests")]
    assert kinds == ["network", "key", "rate-limit"]


UNRELATED = [
    "",
    "   ",
    "connection refused",
    "Overloaded",
    "rate limit exceeded: please retry after 30 seconds",
    "Field required",
    "Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length 80.",
    "the tool_use of the messages and its tool_result must be unique in the content of an assistant",
    "Invalid API Key",
    '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
    "def test_messages(): assert tool_calls == []",
    "Please consult our documentation at https://docs.example",
    "Failed to deserialize the JSON body into the target type: messages[3]: missing field `content`",
    "This model does not support image input",
]


@pytest.mark.parametrize("text", UNRELATED)
def test_other_texts_belong_to_no_rule(text):
    """A text that no contract knows may be of a kind; a kind that says which rule was broken has words for it."""
    assert find_matches(text) == []
    by_kind = {
        "Invalid 'user'": "params.unsupported",
        "messages[3]: missing": "content.shape",
        "image input": "content.unsupported-part",
        "must be unique": "closure.duplicate-result",  # a guess
    }
    said = explain(text, is_answer=True)
    assert [m.rule for m in said if m.rule] == [rule for words, rule in by_kind.items() if words in text]


SHARED_BEGINNINGS = [
    ("schema.", "Invalid schema for function 'f': In context=('properties', 'a'), something else is wrong."),
    ("params.", "Invalid API parameter, please check the documentation. Parameter: tool_stream"),
]


@pytest.mark.parametrize(("family", "text"), SHARED_BEGINNINGS)
def test_a_beginning_that_several_rules_share_names_none_of_them(family, text):
    (match,) = explain(text)
    assert match.rule == ""
    assert len(match.rules) > 1
    assert any(rule.startswith(family) for rule in match.rules)


VALIDATORS = [
    ("schema.malformed", "Unable to submit request because function parameters schema should be of type OBJECT."),
    (
        "schema.malformed",
        "Invalid value at 'tools[0].function_declarations[3].parameters' (type.googleapis.com/Schema), 1",
    ),
    ("schema.missing-parameters", '"parameters" is a required property for "function" object in parameter "tools"'),
    (
        "choice.unsupported",
        "json: cannot unmarshal string into Go struct field ChatRequest.tool_choice of type api.Choice",
    ),
    ("choice.without-tools", "tool_choice is only allowed when tools are specified"),
    ("choice.thinking-conflict", "Thinking mode does not support this tool_choice"),
    (
        "content.shape",
        "1 validation error for ChatCompletionRequest messages.2.role Input should be 'user' or 'system'",
    ),
    ("args.schema", "AI_InvalidToolInputError: Type validation failed: expected array, received string"),
    ("args.invalid-json", "error parsing parameters: unexpected end of JSON input"),
    ("call.unknown-tool", "Tool 'grep' is not available. Please try again with one of these tools: [read]"),
    ("reasoning.unpaired", "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
]
"""Sentences of validators (protobuf, Vertex, Databricks, Go, OpenAI, Qwen, pydantic, zod, Go's JSON, gateways)."""


@pytest.mark.parametrize(("rule", "text"), VALIDATORS)
def test_a_sentence_of_a_validator_tells_the_rule_by_its_place_and_fault(rule, text):
    assert explain(text)[0].rule == rule


def test_a_text_that_is_said_of_other_faults_as_well_names_no_rule():
    """A request that is too large is no unknown parameter, and gateways say so in the same words."""
    (match,) = explain(
        '{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}'
    )
    assert (match.rule, match.kind) == ("", "request-too-large")


KINDS = [
    ("model-unknown", "", "model 'llama9' not found", "nothing", "llama9"),
    (
        "rate-limit",
        "",
        "Rate limit reached for requests. Please try again in 20s.",
        "nothing in the request",
        "in 20 s",
    ),
    (
        "context-length",
        "",
        "prompt too long; 213462 tokens exceed the maximum of 200000 tokens",
        "",
        "213,462 tokens of",
    ),
    ("tools-unsupported", "tools.unsupported", "foo/bar does not support function calling", "", ""),
    ("tool-result-missing", "closure.missing-result", "2 tool_calls without a matching tool result", "", ""),
]


@pytest.mark.parametrize(("kind", "rule", "text", "cause", "value"), KINDS, ids=[r[0] for r in KINDS])
def test_a_text_of_nobody_is_of_a_kind(kind, rule, text, cause, value):
    (match,) = explain(text)
    assert (match.kind, match.rule) == (kind, rule)
    shown = "\n".join(lines([match], 200))
    assert f"kind: {kind}" in shown and value in shown
    assert ("nothing in the request causes this" in shown) == (cause == "nothing in the request")


WITHOUT_RULE = [
    ("prompt is too long: 212164 tokens > 199999 maximum", "anthropic", "the context is too long",
     {"found": "212164", "limit": "199999"}),
    ("The model `gpt-9` does not exist or you do not have access to it.", "openai", "an unknown model",
     {"model": "gpt-9"}),
    ("models/g9 is not found for API version v1beta, or is not supported for generateContent.", "gemini",
     "an unknown model", {"model": "g9"}),
    ("The provided model identifier is invalid.", "bedrock", "an unknown model", {}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "provider", "when", "captured"), WITHOUT_RULE, ids=[r[1] for r in WITHOUT_RULE])
def test_a_text_that_no_rule_predicts_is_known_for_what_it_is_said_of(text, provider, when, captured):
    best = explain(f"400 {text} See the docs.")[0]
    assert (best.rule, best.provider, best.captured) == ("", provider, captured)
    assert best.when.startswith(when)
    assert next(lines([best], 200)).startswith(f"no rule: {when}")


UNANSWERED = next(t for p, r, t in TEXTS if (p, r) == ("anthropic", "closure.missing-result") and "{ids}" in t)


def test_a_text_of_a_rule_goes_before_the_words_around_it():
    message, _ = filled(UNANSWERED)
    assert [m.when for m in explain(f"Provider returned error: {message}") if not m.rule] == []
    assert [m.provider for m in explain("Provider returned error", is_answer=True)] == ["openrouter"]


def test_one_text_for_several_rules():
    message, _ = filled(UNANSWERED)
    assert [m.rule for m in explain(message) if m.provider == "anthropic"] == [
        "closure.missing-result",
        "closure.not-adjacent",
        "closure.result-not-first",
    ]


def test_one_text_of_several_providers_goes_to_the_one_that_is_named():
    text = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    matches = explain(text)
    assert {"openai", "deepseek", "kimi"} <= {m.provider for m in matches}
    assert {"deepseek", "kimi"} <= set(next(m for m in matches if m.provider == "openai").also)
    for name in ("OpenAI", "DeepSeek", "Moonshot"):
        best = explain(f"Error from provider ({name}): {text}")[0]
        assert best.provider == {"Moonshot": "kimi"}.get(name, name.lower())


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("messages: Field required", "params.missing"),
        ("Missing required parameter: 'input'.", "params.missing"),
        ("GenerateContentRequest.contents: contents is not specified", "content.shape"),
        ("unsupported role: developer", "content.shape"),
        ("'content' is a required property", "content.shape"),
    ],
)
def test_members_of_a_request_are_a_sign_of_one(text, rule):
    assert explain(text)[0].rule == rule


def test_the_longer_text_wins_over_its_beginning():
    start = "messages.1.content.0: Invalid `signature` in `thinking` block"
    bound = f"{start}. The block is bound to a different conversation."
    assert explain(start)[0].rule == "reasoning.foreign"
    assert [m.rule for m in explain(bound)] == ["reasoning.unbound"]


def test_a_match_says_what_to_do():
    text = "messages.22: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1, toolu_2."
    match = explain(f"API Error: 400 {text}")[0]
    assert match.captured == {"message": "22", "path": "messages.22", "ids": "toolu_1, toolu_2"}
    assert match.index.startswith("messages.N counts turns after neighbouring messages of one role have been merged")
    assert match.look_for == pages.page("closure.missing-result").look_for
    assert "workbench check FILE" in match.record
    assert match.record.index("workbench record -- COMMAND") < match.record.index("ANTHROPIC_LOG=debug")
    assert "github.com/anthropics/claude-code" in match.source
    assert (match.status, match.date[:4]) == (400, "2026")
    assert (
        "two exchanges"
        in explain("The `reasoning_content` in the thinking mode must be passed back to the API.")[0].record
    )


V4 = "The reasoning_content in the thinking mode must be passed back"
GROQ = "parameters for tool f did not match schema: errors: [missing: 'a', additionalProperties 'b' not allowed]"

STRETCHES = [
    ("cut off", f"400 {V4}", V4),
    ("a sentence of several", f"{V4} to the API. Try again.", f"{V4} to the API."),
    ("a line of several", f"{V4}\nat line 3", V4),
    ("in a body", json.dumps({"error": {"message": f"{V4} to the API", "type": "t"}}), f"{V4} to the API"),
    ("in a body as Python shows it", str({"error": {"message": V4, "param": None}}), V4),
    ("quotes inside", f"Error code: 400 - { ({'message': GROQ, 'type': 't'})!r}", GROQ),
]


@pytest.mark.parametrize(("text", "message"), [r[1:] for r in STRETCHES], ids=[r[0] for r in STRETCHES])
def test_the_stretch_of_a_match_ends_with_its_sentence(text, message):
    assert explain(text)[0].message == message


HOSTILE = [
    "\\" * 300_000,
    "\\u005c" * 50_000,
    "messages." * 50_000,
    "'" * 300_000,
    "tool_use ids were found without " * 20_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda t: t[:10])
def test_hostile_text_is_answered(text):
    assert isinstance(explain(text), list)


def test_an_error_at_the_end_of_a_long_log_is_found():
    assert explain("noise\n" * MOST + "messages: text content blocks must be non-empty")[0].rule == "content.empty"


@given(st.text(max_size=300) | st.lists(st.sampled_from([t[2] for t in TEXTS])).map("".join))
@settings(max_examples=60, deadline=None)
def test_any_text_is_answered(text):
    for match in explain(text):
        assert match.message in " ".join(text.split()) or "\\" in text


@pytest.mark.parametrize(
    ("message", "text", "values"),
    [
        ("unknown parameter {name} of tool", "unknown parameters of tool", {}),
        ("unknown parameter {name}", "unknown parameters here", {}),
        ("unknown parameter {name}", "unknown parameter 'city'", {"name": "city"}),
        ("no result for call {id}", "no result for call toolu_01", {"id": "toolu_01"}),
        ("tool {name} is not declared", "use of tools in tool read is not declared", {"name": "read"}),
        ("tool {name} is not declared", "tools is not declared", {"name": "tools"}),
        ("no output at item{item} was found", "no output at item12 was found", {"item": "12"}),
    ],
)
def test_a_variable_begins_with_a_word(message: str, text: str, values: dict[str, str]) -> None:
    found = Template(message).find(plain_text(text))
    assert found is not None
    assert found.values == values
