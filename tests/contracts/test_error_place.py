"""Where in the request an error text points, in every spelling that providers use."""

from __future__ import annotations

import json

import pytest

from workbench import contracts
from workbench.contracts.error_place import find_place
from workbench.ir import ApiError
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Body, Exchange, HttpRequest

CALL = {"id": "call_abc123", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
CHAT = {
    "model": "gpt-4.1",
    "temperature": 9,
    "tools": [{"type": "function", "function": {"name": "list_dir", "parameters": {"type": "objekt"}}}],
    "messages": [
        {"role": "user", "content": "ls"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_abc123", "content": "a"},
        {"role": "wizard", "content": "go on"},
    ],
}
RESPONSES = {
    "model": "gpt-5",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "ls"}]},
        {"type": "reasoning", "id": "rs_0123", "summary": []},
        {"type": "function_call", "call_id": "call_x1", "name": "ls", "arguments": "{}"},
    ],
}
GEMINI = {
    "contents": [
        {"role": "user", "parts": [{"text": "ls"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {}}}]},
    ],
    "generationConfig": {"maxOutputTokens": 9},
}
USE = {"type": "tool_use", "id": "toolu_1234", "name": "ls", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1234", "content": "a"}
MERGED = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 9,
    "tools": [{"name": "ls", "input_schema": {"type": "object"}}],
    "messages": [
        {"role": "user", "content": "one"},
        {"role": "user", "content": [{"type": "text", "text": "two"}, {"type": "text", "text": ""}]},
        {"role": "assistant", "content": [USE]},
        {"role": "user", "content": [RESULT]},
        {"role": "user", "content": [{"type": "text", "text": "three"}]},
    ],
}
BODIES = {
    "openai-chat": (CHAT, "openai"),
    "openai-responses": (RESPONSES, "openai"),
    "gemini": (GEMINI, "gemini"),
    "anthropic-messages": (MERGED, "anthropic"),
}

ROWS = [
    ("a path with a bare index", "openai-chat", "Invalid value: 'messages[3].role'", "", "/messages/3/role"),
    ("OpenAI's own spelling", "openai-chat", "Invalid value.", "messages.[3].role", "/messages/3/role"),
    ("pydantic's place", "openai-chat", "body.messages.3.role: Input should be", "", "/messages/3/role"),
    ("a refused role", "openai-chat", "Input is required. - Role wizard not supported.", "", "/messages/3/role"),
    ("the index in words", "openai-chat", "Unexpected role in message at index 3", "", "/messages/3"),
    ("a tool", "openai-chat", "Invalid 'tools[0].function.parameters'", "", "/tools/0/function/parameters"),
    ("a tool by its name", "openai-chat", "Invalid schema for function 'list_dir': no", "", "/tools/0"),
    ("a parameter", "openai-chat", "Unsupported parameter: 'temperature'", "", "/temperature"),
    ("a field that is not there", "openai-chat", "Missing", "session.response_format.temperature", "/response_format"),
    ("a word that is no place", "openai-chat", "the messages are not what I like", "", None),
    ("a role that is named as a member is", "openai-chat", "Unexpected role 'user' after role 'tools'", "", None),
    ("a call id", "openai-chat", "no tool call call_abc123 here", "", "/messages/1/tool_calls/0"),
    ("an item", "openai-responses", "No tool output for input[2].", "", "/input/2"),
    ("an item by its id", "openai-responses", "Item 'rs_0123' of type 'reasoning' was provided", "input", "/input/1"),
    ("an index too high", "openai-responses", "input[12] is odd", "", "/input"),
    ("parts", "gemini", "contents[2].parts[0] is not paired", "", "/contents/2/parts/0"),
    ("snake case", "gemini", "contents[2].parts[0].function_response.name: empty", "",
     "/contents/2/parts/0/functionResponse/name"),
    ("a config", "gemini", "* generation_config.max_output_tokens: bad", "", "/generationConfig/maxOutputTokens"),
    ("turns are counted merged", "anthropic-messages", "messages.2: bad", "", "/messages/3"),
    ("and so are their parts", "anthropic-messages", "messages.0.content.2: empty text", "", "/messages/1/content/1"),
    ("counted from one", "anthropic-messages", "Value 'a' at 'messages.1.member.content' failed", "",
     "/messages/0/content"),
    ("one of them", "openai-chat", "did not have response messages: message[1].role", "", "/messages/1/role"),
    ("a name for the whole", "gemini", "* GenerateContentRequest.contents[2].parts[0]: bad", "", "/contents/2/parts/0"),
    ("a position that is no byte", "gemini", "call `default_api:read`, position 2. See", "", None),
    ("a string is one part", "anthropic-messages", "messages.0.content.0: bad", "", "/messages/0/content"),
    ("behind a merge", "anthropic-messages", "messages.2.content.1.text.text: bad", "", "/messages/4/content/0/text"),
    ("a union tag", "anthropic-messages", "tools.0.custom.name: bad", "", "/tools/0/name"),
    ("a JSON pointer", "openai-chat", "#/messages/3/role: must be equal to one of", "", "/messages/3/role"),
    ("steps between slashes", "openai-chat", "messages/2/content must NOT be empty", "", "/messages/2/content"),
    ("an address that is no place", "openai-chat", "see https://a.example/docs/messages/2/content", "", None),
    ("steps between arrows", "openai-chat", "body -> messages -> 3 -> role: Field required", "", "/messages/3/role"),
    ("a list of steps", "openai-chat", "'loc': ['body', 'messages', 1, 'tool_calls', 0, 'id'], 'msg': 'bad'", "",
     "/messages/1/tool_calls/0/id"),
    ("a list with a union tag", "openai-responses", "('body', 'input', 'list[union]', 2, 'arguments')", "",
     "/input/2/arguments"),
    ("a place in a schema", "openai-chat", "Invalid schema for function 'list_dir': In context=('type',), bad", "",
     "/tools/0/function/parameters/type"),
    ("a place in the only schema that has it", "openai-chat", "details: <At path 'type': not defined>", "",
     "/tools/0/function/parameters/type"),
    ("members without an index", "openai-chat", "Go struct field Ask.messages.tool_calls.function.arguments", "",
     "/messages/1/tool_calls/0/function/arguments"),
]  # fmt: skip


def decoded(protocol, text=None):
    body = text or json.dumps(BODIES[protocol][0]).encode()
    return DecodedExchange(0, Exchange("e", HttpRequest(body=Body(body))), protocol)


def place(protocol, message, param="", text=None, rule=""):
    contract = contracts.get(BODIES[protocol][1], protocol=protocol)
    return find_place(ApiError(message, param=param or None), decoded(protocol, text), contract, prefers=rule)


@pytest.mark.parametrize(("protocol", "message", "param", "pointer"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_the_place_that_a_text_names(protocol, message, param, pointer):
    found = place(protocol, message, param)
    assert (found.pointer if found else None) == pointer
    if found:
        assert found.span == decoded(protocol).request_index.span(pointer)


def test_a_message_number_alone_is_enough_in_a_long_history():
    turns = [{"role": ("user", "assistant")[n % 2], "content": f"turn {n}"} for n in range(250)]
    text = json.dumps({**MERGED, "messages": turns}).encode()
    found = place("anthropic-messages", "messages.243: all messages must have non-empty content", text=text)
    assert found.pointer == "/messages/243"
    assert json.loads(text[slice(*found.span)]) == turns[243]


def test_an_id_means_the_result_where_the_rule_is_about_results():
    assert place("anthropic-messages", "unexpected id toolu_1234", rule="closure.orphan-result").pointer == (
        "/messages/3/content/0"
    )
    assert place("anthropic-messages", "unexpected id toolu_1234", rule="closure.missing-result").pointer == (
        "/messages/2/content/0"
    )


COLUMNS = [
    ("char", "Expecting value: line 1 column {column} (char {char})"),
    ("column", "invalid type at line 1 column {column}"),
    ("position", "Unexpected token in JSON at position {char}"),
]


@pytest.mark.parametrize("template", [c[1] for c in COLUMNS], ids=[c[0] for c in COLUMNS])
def test_a_column_of_the_body(template):
    text = json.dumps(CHAT).encode()
    at = text.index(b"wizard")
    found = place("openai-chat", template.format(column=at + 1, char=at), text=text)
    assert (found.pointer, found.span) == ("/messages/3/role", (at, at + 1))


def test_a_char_counts_characters_and_a_span_bytes():
    text = json.dumps({**CHAT, "user": "größe"}, ensure_ascii=False).encode()
    char = text.decode().index("größe") + 5
    found = place("openai-chat", f"bad (char {char})", text=text)
    assert found.span[0] == char + 2


def test_a_body_that_is_no_json_has_a_byte_and_no_pointer():
    text = b'{"model": "gpt-4.1", "messages": [}'
    found = place("openai-chat", "Expecting value: line 1 column 35 (char 34)", text=text)
    assert found.span == (34, 35)
    assert place("openai-chat", "Expecting value: line 7 column 35", text=text) is None
    assert place("openai-chat", "Expecting value (char 3400)", text=text) is None


def test_an_index_beyond_a_list_means_the_only_element_with_the_rest_of_the_path():
    marked = {**MERGED, "messages": [*MERGED["messages"]]}
    on = {"type": "text", "text": "on", "cache_control": {"ttl": "1h"}}
    marked["messages"][4] = {"role": "user", "content": [on]}
    text = json.dumps(marked).encode()
    path = "messages.66.content.3.text.cache_control.ttl: Extra inputs are not permitted"
    assert place("anthropic-messages", path, text=text).pointer == "/messages/4/content/0/cache_control/ttl"
    several = "messages.66.content.3.type: Input should be 'text'"
    assert place("anthropic-messages", several, text=text).pointer.count("/") < 4


def test_a_path_without_indices_means_the_value_that_the_text_says_is_wrong():
    listed = "supported values are: `text`, `thinking`, `image`, 'tool_use' and `tool_result`"
    told = f"The parameter `messages.content.type` is not valid: invalid value: `document`, {listed}."
    document = {"type": "document", "source": {"type": "text", "data": "x"}}
    body = {**MERGED, "messages": [*MERGED["messages"], {"role": "user", "content": [RESULT, document]}]}
    assert place("anthropic-messages", told, text=json.dumps(body).encode()).pointer == "/messages/5/content/1/type"
    nested = {**MERGED, "messages": [{"role": "user", "content": [{**RESULT, "content": [document]}]}]}
    found = place("anthropic-messages", told, text=json.dumps(nested).encode())
    assert found.pointer == "/messages/0/content/0/content/0/type"
    assert place("anthropic-messages", told).pointer.count("/") < 4  # no value is the wrong one


@pytest.mark.parametrize(
    ("protocol", "text", "pointer"),
    [
        ("openai-chat", "reasoning_effort: Input should be 'low'", "/reasoning_effort"),
        ("anthropic-messages", "thinking.budget_tokens: Input should be greater than or equal to 1024", "/thinking"),
        ("openai-chat", "Reason: the model is busy", None),
    ],
)
def test_a_field_that_the_request_lacks_is_one_that_its_grammar_has(protocol, text, pointer):
    found = place(protocol, text)
    assert (found and (found.pointer, found.span)) == (pointer and (pointer, None))
