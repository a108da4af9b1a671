"""Sentences in new words: the thing that they speak of, its fault, and the rule of both."""

from __future__ import annotations

import re

import pytest

from tests.breakages import unseen_texts
from workbench.config import resources
from workbench.contracts import explain, pages
from workbench.contracts.error_text_lines import match_lines
from workbench.protocols.refusals import _phrases

NEW = {
    "`toolCallIds` must not be blank": "closure.id-format",
    "Each identifier of a tool call has to be non-empty; tool_call_id was blank": "closure.id-format",
    "The gateway cannot handle extended thinking": "params.unsupported",
    "messages[3].tool_calls[0].function.arguments: failed to parse the call arguments": "args.invalid-json",
    "A user message must be provided": "content.role-order",
    "Duplicate tool-definitions are refused": "schema.duplicate-name",
    "Two functions were sent with the same name": "schema.duplicate-name",
    "Attachments cannot be sent to this host": "content.unsupported-part",
    "tools[0].function.parameters.properties.city.type is mandatory": "schema.malformed",
    "Default titles are not supported in a tool's schema": "schema.unsupported-keyword",
    "This request is not allowed for the chosen model": "",
    "stream: unexpected chunk without content": "",
    "No tool calls precede these tool results": "closure.orphan-result",
    "A user message having `tool_calls` is invalid": "content.shape",
    "工具名称重复: get_weather": "schema.duplicate-name",
    "工具调用参数不是合法 JSON": "args.invalid-json",
    "当前模型不支持工具调用": "tools.unsupported",
    "未找到与 tool_call_id 对应的工具调用": "closure.orphan-result",
    "今天天气很好": "",
    "the weather is fine": "",
    "Tool call 'a' has not been answered yet": "closure.missing-result",
    "Two tool calls share the same id": "closure.duplicate-id",
    "each tool message needs an assistant message with tool calls before it": "closure.orphan-result",
    "system messages are only allowed at the start": "content.system-position",
    "Only a single system message can be sent": "content.system-position",
    "the thinking blocks of the last turn must not be edited": "reasoning.altered",
    "context_management requires a native backend": "params.unsupported",
    "Expected 3 function responses, received 2": "closure.missing-result",
    "User turns may not hold tool calls": "closure.wrong-role",
    "only assistant messages may have function calls": "closure.wrong-role",
    "each function call needs a name": "content.shape",
    "assistant turns cannot carry images": "content.unsupported-part",
    "tool_call_id is only allowed on tool messages": "content.shape",
    "the call already has a result": "closure.duplicate-result",
    "tool call 'a' is not pending": "closure.orphan-result",
    "Unknown tool call: fly": "call.unknown-tool",
    "The LLM returned an invalid tool: 'fly'": "call.unknown-tool",
    "fly is not a valid tool": "call.unknown-tool",
    "an assistant message must contain content or reasoning": "content.empty",
    "tool results must contain only text, images or references": "content.unsupported-part",
    "a tool call has an empty id": "closure.id-format",
    "Temperature and seed cannot be used together": "params.conflict",
    "Tool calls and text content must not be in the same turn": "content.mixed-turn",
    "structured output is not supported with web search": "params.conflict",
    "A tool message must contain exactly one tool result": "",
    "tools are required when tool choice is specified": "choice.without-tools",
    "functions[2] is malformed": "schema.malformed",
    "there are more tool results than tool calls": "closure.orphan-result",
    "fewer tool results than tool calls": "closure.missing-result",
    "input exceeds the maximum tokens": "",
    "没有解析出内容": "",
    "tools[0].function.name is required": "schema.name",
    "reasoning must be a string": "content.shape",
    "messages must contain 1 to 40 entries": "",
    "The tool result is not available": "closure.missing-result",
    "the tool result is missing structuredContent": "",
    "no image support in this model": "content.unsupported-part",
    "gpt-3.5 does not support schemas": "params.unsupported",
    "there is no content in the last user message": "content.empty",
    "context caching is not supported": "gateway.unknown-field",
    "each tool must have a name": "schema.name",
    "attachments cannot be used together with the system prompt": "",
    "an image block requires data or url": "content.shape",
    "function 0 'get' parameters 'type' should be 'object'": "schema.malformed",
    "Tool call not allowed while a summary is written": "",
    "undefined function call to foo()": "",
    "jwt signature verification failed": "",
    "Unable to create thread: too many open files": "",
    "unknown command: tools": "",
}
"""Text → the rule that its words speak of; empty for none."""


@pytest.mark.parametrize("text", NEW)
def test_a_thing_and_its_fault_tell_the_rule(text):
    phrase = _phrases.phrase_in(text.replace("`", "'"))
    assert (phrase.rule if phrase else "") == NEW[text]


def test_a_guess_is_said_to_be_one():
    (match,) = explain("`toolCallIds` must not be blank")
    assert (match.rule, match.is_guess, match.rules) == ("closure.id-format", True, ())
    said = " ".join(" ".join(match_lines(match, 200)).split())
    assert (
        "guessed from the words of the error text; the error text itself is not known" in said
        and "call-id must not be blank" in said
    )
    match, _ = explain("Malformed call of the model: unexpected end of JSON input")  # of a kind that is known
    assert "only the kind of failure is known" in " ".join(match_lines(match, 200))
    assert not any(m.is_guess for m in explain("tools.3.cache_control: Extra inputs are not permitted"))


def test_every_rule_of_a_phrase_has_a_page_and_every_thing_a_word():
    table = _phrases._table()
    told = {*table.rules.values(), *(rule for _, rule in table.relations)} - {""}
    assert told <= set(pages.slugs())
    things = {thing for rows in table.things.values() for _, thing in rows}
    assert {f"<{thing}>" for thing, _, _ in table.rules} | {f"<{thing}>" for thing in table.wide} <= things
    assert {fault for _, fault, _ in table.rules} <= {fault.name for fault in table.faults}


def test_no_key_of_the_table_comes_twice():
    sections = re.split(r"^(?=\w)", resources.refusal_table("phrases").decode(), flags=re.MULTILINE)
    for section in sections:
        keys = re.findall(r"^  ([\w.-]+):", section, re.MULTILINE)
        assert len(keys) == len(set(keys)), [key for key in set(keys) if keys.count(key) > 1]


def test_a_pattern_is_cut_at_its_bars():
    assert unseen_texts.alternatives(r"a(?:b|c)|[|]d\|e") == ["a(?:b|c)", r"[|]d\|e"]
    assert unseen_texts.choices(r"x(?:ab|(?P<n>c|d))(?!e|f)") == (
        "x(?:ab|(?P<n>d))(?!e|f)",
        "x(?:ab|(?P<n>c))(?!e|f)",
        "x(?:(?P<n>c|d))(?!e|f)",
        "x(?:ab)(?!e|f)",
    )
