"""Every token of every text format is dropped, doubled, swapped, cut and moved: the call is found or its debris is.

The damages are generated from the tags of the format, or from the punctuation of its rendering where it has none. A
damaged call is never silent, and never read as a healthy call of something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.ir import ToolCallIR, ToolDef
from workbench.toolcalls.formats import TextCall, TextFormat, find_calls, formats, get, stray_markers
from workbench.toolcalls.formats._wrecks import vocabulary

CITY = {"city": "Rome"}
CALL = ToolCallIR("call_0_1AB", "get_weather", CITY, "test")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = (ToolDef("get_weather", None, SCHEMA),)
PUNCTUATION = re.compile(r"```\w*|[\[\](){}\":,=]")

UNNAMED = {
    '```json```json\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n```': "a fence in the name of a fence",
    '\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n``````json': "a fence that opens at the end",
    "[get_weather(city)'Rome'=]": "Python of which only the name is left",
}
"""Damaged text → why no finding names it yet."""


def tokens(text_format: TextFormat, text: str) -> list[tuple[int, int]]:
    tags = getattr(text_format.parser(TOOLS), "tags", None)
    found = [m.span() for m in tags.pattern.finditer(text)] if tags else []
    return found if len(found) > 1 else [*found, *(m.span() for m in PUNCTUATION.finditer(text))]


def damages(text: str, places: list[tuple[int, int]]) -> Iterator[str]:
    for start, end in places:
        token, rest = text[start:end], text[:start] + text[end:]
        yield rest
        yield text[:end] + token + text[end:]
        yield text[:start] + token[: len(token) // 2] + text[end:]
        yield text[:end]
        yield text[: end - 2 * (len(token) > 3)]
        yield rest + token
        yield token + rest
    for (a, b), (c, d) in pairwise(places):
        yield text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def is_false(call: TextCall) -> bool:
    return not call.problems and (call.name, call.input) != (CALL.name, CITY)


@pytest.mark.parametrize("name", formats())
def test_a_damaged_call_is_never_silent_and_never_another(name: str) -> None:
    text = get(name).render([CALL])
    is_tagged = name in vocabulary()  # else nothing is left of a call where its name is not
    damaged = set(damages(text, tokens(get(name), text))) - {text}
    assert len(damaged) > 9
    found = {one: find_calls(one, TOOLS) for one in damaged}
    assert [(one, calls) for one, calls in found.items() if any(map(is_false, calls))] == []
    silent = {one for one, calls in found.items() if not calls and not stray_markers(one, calls)}
    assert {one for one in silent if is_tagged or "get_weather" in one} - set(UNNAMED) == set()


OBJECT = '{"city": "Rome"}'
FORMS = {
    "gemma": "<start_function_call>call:get_weather{city:<escape>Rome<escape>}<end_function_call>",
    "gemma 4": '<|tool_call>call:get_weather{city:<|"|>Rome<|"|>}<tool_call|>',
    "react": f"Thought: I look.\nAction: get_weather\nAction Input: {OBJECT}",
    "react, one object": 'Action:\n```json\n{"action": "get_weather", "action_input": {"city": "Rome"}}\n```',
    "cline-xml": "<get_weather>\n<city>Rome</city>\n</get_weather>",
    "cline-xml, attributes": '<get_weather city="Rome"/>',
    "cline-xml, JSON": f"<get_weather>{OBJECT}</get_weather>",
    "tool-code": '```tool_code\nprint(get_weather(city="Rome"))\n```',
    "tool-code, element": '<tool_code>\nprint(default_api.get_weather(city="Rome"))\n</tool_code>',
    "functools": f'functools[{{"name": "get_weather", "arguments": {OBJECT}}}]',
    "groq": f"<function=get_weather>{OBJECT}</function>",
    "groq, no angle": f"<function=get_weather{OBJECT}</function>",
    "groq, head lost": f"get_weather{OBJECT}</function>",
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_that_no_server_asks_for_are_calls(form: str) -> None:
    text = FORMS[form]
    (call,) = find_calls(text, TOOLS)
    assert (call.format, call.name, call.input) == (form.partition(",")[0].partition(" ")[0], "get_weather", CITY)
    assert bool(call.problems) == form.startswith("groq,")
    assert call.end == len(text)
    assert stray_markers(text, [call]) == ()
    assert find_calls(f"It is written so:\n~~~~\n{text}\n~~~~\nThat is all.", TOOLS) == ()
    quoted = text.replace("\n", "\n> ")
    assert find_calls(f"For example:\n\n> {quoted}\n\nThat is all.", TOOLS) == ()


@pytest.mark.parametrize("form", ["gemma", "gemma 4", "tool-code, element"])
def test_a_damaged_form_is_never_silent_and_never_another(form: str) -> None:
    text, named = FORMS[form], form.partition(",")[0].partition(" ")[0]
    damaged = set(damages(text, [m.span() for m in vocabulary()[named].pattern.finditer(text)])) - {text}
    found = {one: find_calls(one, TOOLS) for one in damaged}
    assert [(one, calls) for one, calls in found.items() if any(map(is_false, calls))] == []
    assert {one for one, calls in found.items() if not calls and not stray_markers(one, calls)} == set()


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("I look.\n<tool_cal", "<tool_cal"),
        ("I look.\n<｜tool▁calls▁be", "<｜tool▁calls▁be"),
        ("[TOOL_CALL", "[TOOL_CALL"),
        ("I look.\n<|channel\nand wait", "<|channel"),
        ("<function_calls>", "<function_calls>"),
    ],
)
def test_halves_of_tokens_are_debris(text: str, marker: str) -> None:
    assert [m.text for m in stray_markers(text)] == [marker]


SENTENCES = (
    "Use `get_weather` to look, where a < b and c > d.",
    "The get_weather tool takes a city (a string).",
    "std::vector<std::pair<int, T>> holds get_weather results.",
    "```html\n<invoke name='get_weather'></invoke>\n```",
    "```python\nget_weather(city='Rome')\n```\nreads the weather.",
    "In HTML, <b>bold</b> and <p class='x'> are tags; get_weather is none.",
    '{"weather": {"city": "Rome", "temperature": 21}} is what get_weather returned.',
    "A <tool_call> tag opens a call to get_weather, and </tool_call> closes it.",
    "- `<arg_key>city</arg_key>` names an argument of get_weather",
    "see [get_weather](http://x.org/a) and [1], [2]",
    "It is 21 °C in Rome, <think> that was easy.",
    "if (x <y) { get_weather(); }",
    "Action: get_weather comes first, and then Action Input: with its arguments.",
    "<get_weather> is an element, </get_weather> its end.",
    "import functools\n\nfunctools.partial(get_weather, 'Rome')",
    "function get_weather(city) { return 21; }",
    "<parameters for get_weather are in the manual>",
    "In tool_code blocks get_weather is called.",
    "Use <get_weather/> where Action: get_weather[Rome] is what ReAct writes.",
    'The request body:\n\n{"name": "get_weather", "arguments": {...}}',
    "In Python it looks like this:\n\nget_weather(city=...)",
    "<function=get_weather> opens a function, and </function> closes it.",
    "<ul><li>get_weather</li><li><code>city</code></li></ul>",
)


@given(st.lists(st.tuples(st.sampled_from(SENTENCES), st.sampled_from(("\n", "\n\n"))), max_size=6))
def test_prose_with_tags_and_code_holds_no_call(pieces: list[tuple[str, str]]) -> None:
    text = "".join(sentence + gap for sentence, gap in pieces)
    assert [call for call in find_calls(text, TOOLS)] == []
    assert stray_markers(text) == ()


@pytest.mark.parametrize(
    "unit", ["<tool_call", "<|", "`", "get_weather ", "<arg_key>\n", "[{", "</function>" + "x" * 500]
)
def test_hostile_text_is_searched_in_linear_time(unit: str) -> None:
    assert all(call.problems for call in find_calls("get_weather" + unit * (100_000 // len(unit)), TOOLS))
