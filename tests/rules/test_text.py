"""Calls left in text: found where they are meant, never where they are talked about."""

from __future__ import annotations

import json

import pytest

from workbench.cli import main

TOOLS = [
    {
        "type": "function",
        "function": {"name": "read_file", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}},
    }
]
GO = [{"role": "user", "content": "go"}]
HERMES = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>'
QWEN = "<tool_call>\n<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>"
BROKEN = QWEN.replace("</parameter>\n", "")
BARE = QWEN.removeprefix("<tool_call>\n")
DSML = (
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="read_file">\n<｜DSML｜parameter name="path" string="true">a'
    "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
)
CALL = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a"}'}}


def answer(content=None, reason="stop", **more):
    message = {"role": "assistant", "content": content, **more}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


CONTENT, THINKING = "/choices/0/message/content", "/choices/0/message/reasoning_content"
NAME = "/choices/0/message/tool_calls/0/function/name"


def named(name):
    return {"tool_calls": [{**CALL, "function": {**CALL["function"], "name": name}}]}


ARGUMENTS = "/choices/0/message/tool_calls/0/function/arguments"


def given(arguments):
    return {"tool_calls": [{**CALL, "function": {**CALL["function"], "arguments": arguments}}]}


CASES = [
    ("hermes", answer(HERMES), [("text.unparsed-call", "error", CONTENT)]),
    ("qwen xml behind prose", answer("I will read it.\n\n" + QWEN), [("text.unparsed-call", "error", CONTENT)]),
    ("no opening tag", answer("I will read it.\n\n" + BARE), [("text.unparsed-call", "error", CONTENT)]),
    ("dsml", answer(DSML), [("text.unparsed-call", "error", CONTENT)]),
    ("broken", answer(BROKEN), [("text.malformed-call", "error", CONTENT)]),
    ("cut by the limit", answer(QWEN[:60], "length"), [("text.unparsed-call", "error", CONTENT)]),
    (
        "at the end of reasoning",
        answer(None, reasoning_content="So:\n" + QWEN),
        [("text.call-in-reasoning", "error", THINKING)],
    ),
    (
        "in reasoning, and said",
        answer("Done.", reasoning_content="So:\n" + QWEN),
        [("text.call-in-reasoning", "warning", THINKING)],
    ),
    ("in reasoning, and made", answer(None, "tool_calls", reasoning_content="So:\n" + QWEN, tool_calls=[CALL]), []),
    ("thought of on the way", answer("Done.", reasoning_content=QWEN + "\nNo, better not."), []),
    (
        "a channel in the name",
        answer(None, "tool_calls", **named("read_file<|channel|>commentary")),
        [("text.special-token", "error", NAME)],
    ),
    (
        "tags in the name",
        answer(None, "tool_calls", **named("read_file<arg_key>path</arg_key>")),
        [("text.special-token", "error", NAME)],
    ),
    (
        "a token of the structure in a value",
        answer(None, "tool_calls", **given('{"path": "a}.functions.ls:1 <|tool_call_argument_begin|> {"}')),
        [("text.special-token", "warning", ARGUMENTS)],
    ),
    ("the format in a value", answer(None, "tool_calls", **given(json.dumps({"path": DSML}))), []),
    ("a tag left over", answer("All is done.\n</tool_call>"), [("text.special-token", "warning", CONTENT)]),
    ("an open section", answer("<think>I should", "length"), [("text.unclosed-tag", "warning", CONTENT)]),
    ("in a fence", answer(f"Write it so:\n```xml\n{QWEN}\n```\nand wait."), []),
    ("talked about", answer("Models write `<tool_call>` and `</tool_call>` around a call."), []),
    ("a structured call", answer(None, "tool_calls", tool_calls=[CALL]), []),
    ("json for an answer", answer('{"name": "Ada", "arguments": 3}'), []),
    ("a call of no tool", answer('{"name": "Ada", "arguments": {}}'), [("text.unparsed-call", "warning", CONTENT)]),
]


REACT = [{"role": "user", "content": "Use this format:\nAction: the action\nAction Input: its input\nObservation: …"}]


@pytest.mark.parametrize(
    ("asked", "said", "expected"),
    [
        (REACT, "5 + 3", [("text.unparsed-call", "info")]),  # the input of a ReAct agent is any text
        (REACT, '{"sum": 5 +', [("text.malformed-call", "error")]),
        (GO, "5 + 3", [("text.malformed-call", "error")]),
    ],
)
def test_a_prompt_asks_for_calls_with_any_text(chat, asked, said, expected):
    body = answer(f"Thought: I add.\nAction: calculator\nAction Input: {said}")
    found = [f for f in chat(asked, body) if f.rule.startswith("text.")]
    assert [(f.rule, str(f.severity)) for f in found] == expected


def test_an_object_that_the_request_asks_for_is_no_call(inspect):
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}}}
    asked = {"type": "json_schema", "json_schema": {"name": "prompt", "schema": schema}}
    body = answer('{"name": "review", "arguments": {}}')
    request = {"model": "m", "messages": GO, "tools": TOOLS, "response_format": asked}
    found = inspect(request, body, protocol="openai-chat", provider="generic")
    assert not [f for f in found if f.rule.startswith("text.")]


@pytest.mark.parametrize(("body", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_texts(chat, body, expected):
    found = [f for f in chat(GO, body, tools=TOOLS) if f.rule.startswith("text.")]
    assert [(f.rule, f.severity, f.pointer) for f in found] == expected


def test_code_for_the_server_that_calls_a_declared_tool(inspect):
    code = {"executableCode": {"language": "PYTHON", "code": "print(default_api.read_file(path='a'))"}}
    call = {"functionCall": {"name": "read_file", "args": {"path": "a"}}}
    tools = [{"functionDeclarations": [{"name": "read_file", "parameters": {"type": "OBJECT", "properties": {}}}]}]
    request = {"contents": [{"role": "user", "parts": [{"text": "go"}]}], "tools": tools}
    for parts, expected in (([code], ["text.unparsed-call"]), ([code, call], [])):
        body = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
        found = inspect(request, body, protocol="gemini", provider="gemini")
        assert [f.rule for f in found if f.rule.startswith("text.")] == expected


def test_the_bytes_are_those_of_the_markup(chat):
    import json

    body = answer("äöü: read.\n" + BROKEN)
    (found,) = [f for f in chat(GO, body, tools=TOOLS) if f.rule == "text.malformed-call"]
    text = json.dumps(body).encode()
    assert found.span is not None
    assert text[slice(*found.span)].startswith(b"</function>")


@pytest.mark.parametrize(("server", "name"), [("vllm", "qwen3_coder"), ("sglang", "qwen3_coder"), ("openai", "")])
def test_a_server_is_told_with_the_parser_that_reads_the_format(chat, server, name):
    (found,) = [f for f in chat(GO, answer(QWEN), tools=TOOLS, provider=server) if f.rule == "text.unparsed-call"]
    assert found.message.endswith(f"--tool-call-parser {name}") == bool(name)


def test_a_text_by_itself_is_judged(tmp_path, capsys):
    path = tmp_path / "said.txt"
    path.write_text("ü: I will read it.\n\n" + BARE, encoding="utf-8")
    assert main(["check", str(path)]) == 1
    said = capsys.readouterr().out
    assert "text.unparsed-call" in said
    assert "bytes 21–" in said
    path.write_text("All is well.", encoding="utf-8")
    assert main(["check", str(path)]) == 3, "nobody said that a model wrote it"
    assert main(["check", str(path), "--protocol", "text"]) == 0
