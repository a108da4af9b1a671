"""A choice of tools: taken or not, by its kind, by the tool it names, beside thinking, and without any tool."""

from __future__ import annotations

import pytest

from workbench.rules import choice

GO = [{"role": "user", "content": "go"}]
RUN = [{"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}]
NAMED = {"type": "function", "function": {"name": "run"}}
OF_ANOTHER = {"type": "tool", "name": "run"}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [NAMED]}}

CHECKS = [
    ("choice.unsupported", "expected another than {found}", "value"),
    ("choice.unsupported", "no tool {name}", "unknown-tool"),
    ("choice.thinking-conflict", "not while thinking: {found}"),
    ("choice.without-tools", "only with tools"),
]
TERMS = {"choice.values": ["auto", "none", "required", "function"]}
THINKING = {"choice.forced-with-thinking": "refused"}
MANUAL = {"choice.forced-with-thinking": "refused-when-manual"}
ON = {"thinking": {"type": "enabled"}}

UNSUPPORTED, CONFLICT, WITHOUT = "choice.unsupported", "choice.thinking-conflict", "choice.without-tools"
ROWS = [
    ("nothing said", TERMS, {}, []),
    ("auto", TERMS, {"tool_choice": "auto"}, []),
    ("a named tool", TERMS, {"tool_choice": NAMED}, []),
    ("a word of another wire", TERMS, {"tool_choice": "any"}, [(UNSUPPORTED, "expected another than any")]),
    ("an object of another wire", TERMS, {"tool_choice": OF_ANOTHER}, [(UNSUPPORTED, "expected another than tool")]),
    ("a word of nobody", TERMS, {"tool_choice": "maybe"}, [(UNSUPPORTED, "expected another than maybe")]),
    ("a kind that is not listed", TERMS, {"tool_choice": ALLOWED},
     [(UNSUPPORTED, "expected another than allowed_tools")]),
    ("a tool that is not there", TERMS, {"tool_choice": {"type": "function", "function": {"name": "x"}}},
     [(UNSUPPORTED, "no tool x")]),
    ("forced, thinking", TERMS | THINKING, {"tool_choice": "required", **ON},
     [(CONFLICT, "not while thinking: required")]),
    ("named, thinking", TERMS | THINKING, {"tool_choice": NAMED, **ON}, [(CONFLICT, "not while thinking: function")]),
    ("auto, thinking", TERMS | THINKING, {"tool_choice": "auto", **ON}, []),
    ("forced, off", TERMS | THINKING, {"tool_choice": "required", "thinking": {"type": "disabled"}}, []),
    ("forced, nothing said of thinking", TERMS | THINKING, {"tool_choice": "required"}, []),
    ("forced, adaptive", TERMS | MANUAL, {"tool_choice": "required", "thinking": {"type": "adaptive"}}, []),
    ("forced, manual", TERMS | MANUAL, {"tool_choice": "required", **ON}, [(CONFLICT, "not while thinking: required")]),
    ("forced by a list", THINKING, {"tool_choice": ALLOWED, **ON}, [(CONFLICT, "not while thinking: allowed_tools")]),
    ("no tools", TERMS, {"tools": [], "tool_choice": "auto"}, [(WITHOUT, "only with tools")]),
]  # fmt: skip


@pytest.mark.parametrize(("terms", "asked", "expected"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_chat(under, terms, asked, expected):
    found = under(choice, terms, CHECKS, {"model": "m", "messages": GO, "tools": RUN, **asked})
    assert [(f.rule, f.refusal) for f in found] == expected
    assert all(f.severity == "error" and f.pointer == "/tool_choice" and f.span for f in found)


def test_what_is_refused_in_unknown_words_is_an_error_that_no_refusal_is_quoted_for(under):
    body = {"model": "m", "messages": GO, "tools": RUN, "tool_choice": "any"}
    (finding,) = under(choice, TERMS, CHECKS[1:], body)
    assert (finding.severity, finding.check, finding.refusal) == ("error", None, "")
    (finding,) = under(choice, {}, [], body | {"tool_choice": "maybe"})
    assert finding.severity == "warning", "no word of the protocol: the decoder says so, and nobody is known to refuse"


def test_a_model_that_takes_no_forced_calls(under):
    body = {"model": "m", "messages": GO, "tools": RUN, "tool_choice": "required"}
    assert not under(choice, TERMS, [], body)
    (finding,) = under(choice, TERMS, [(UNSUPPORTED, "not for {model}", "model")], body)
    assert finding.refusal == "not for m"


def test_a_choice_of_a_tool_says_which(under):
    body = {"messages": GO, "tools": [{"name": "run", "input_schema": {}}], "tool_choice": {"type": "tool"}}
    assert not under(choice, {}, [], body, protocol="anthropic-messages")
    (finding,) = under(choice, {}, [(UNSUPPORTED, "no name", "unnamed")], body, protocol="anthropic-messages")
    assert (finding.pointer, finding.severity, finding.refusal) == ("/tool_choice", "error", "no name")


def test_parallel_calls_without_tools(under):
    body = {"model": "m", "messages": GO, "parallel_tool_calls": False}
    assert not under(choice, TERMS, CHECKS, body)
    (finding,) = under(choice, TERMS, [*CHECKS, (WITHOUT, "no parallel", "parallel")], body)
    assert (finding.pointer, finding.refusal) == ("/parallel_tool_calls", "no parallel")


FUNCTION = {"name": "run", "parameters": {"type": "object"}}
ELSEWHERE = [
    (
        "anthropic-messages",
        {"messages": GO, "tools": [{"name": "run", "input_schema": {}}], "tool_choice": {"type": "any"}},
        "/tool_choice",
    ),
    (
        "openai-responses",
        {"input": "go", "tools": [{"type": "function", **FUNCTION}], "tool_choice": "required"},
        "/tool_choice",
    ),
    (
        "gemini",
        {
            "contents": [{"role": "user", "parts": [{"text": "go"}]}],
            "tools": [{"functionDeclarations": [FUNCTION]}],
            "tool_config": {"function_calling_config": {"mode": "ANY"}},
        },
        "/tool_config/function_calling_config",
    ),
    (
        "bedrock-converse",
        {
            "messages": [{"role": "user", "content": [{"text": "go"}]}],
            "toolConfig": {
                "tools": [{"toolSpec": {"name": "run", "inputSchema": {"json": {}}}}],
                "toolChoice": {"any": {}},
            },
        },
        "/toolConfig/toolChoice",
    ),
]


@pytest.mark.parametrize(("protocol", "body", "pointer"), ELSEWHERE, ids=[r[0] for r in ELSEWHERE])
def test_every_protocol_has_a_place_for_it(under, protocol, body, pointer):
    (finding,) = under(choice, {"choice.values": ["auto"]}, [], body, protocol=protocol)
    assert (finding.rule, finding.pointer, bool(finding.span)) == (UNSUPPORTED, pointer, True)
