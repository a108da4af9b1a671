"""Calls in text of unknown format: those that were meant, and none besides."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from tests.toolcalls.formats import answers, leaked
from tests.toolcalls.formats.innocent import ABOUT, GLM, HERMES, INVOKE, KIMI, M2, MARK, NATIVE, PLAIN, QWEN, dressed
from tests.toolcalls.formats.reading import TOOLS, briefly
from workbench.ir import ToolDef
from workbench.toolcalls.formats import find_calls, stray_markers
from workbench.wire import jsontext

INNOCENT = {
    **PLAIN,
    **ABOUT,
    **answers.INNOCENT,
    "declarations with the member of another API": '<function>{"name": "read", "description": "Read", '
    '"parametersJsonSchema": {"type": "object", "properties": {"path": {"type": "string"}}}}</function>\n'
    '<function>{"name": "get_weather", "parametersJsonSchema": {"type": "object"}}</function>',
    "declarations that the model lists": "<functions>\n<function>"
    '{"name": "get_weather", "description": "", "parameters": {"type": "object", "properties": {}}}'
    "</function>\n</functions>",
    **{f"{name} {dress}": text for name, native in NATIVE.items() for dress, text in dressed(native).items()},
}
BARE = "I'll list the files.\n\n<function=Glob>\n<parameter=pattern>\n*.md\n</parameter>\n</function>\n</tool_call>"
WEATHER = ToolDef("get_weather", None, {"type": "object", "properties": {"city": {"type": "string"}}})
OTHER_TOOLS = (ToolDef("search", None, {"properties": {}}),)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", [pytest.param(t, id=i) for i, t in INNOCENT.items()])
@pytest.mark.parametrize("tools", [(*TOOLS, WEATHER), OTHER_TOOLS, ()], ids=["declared", "others declared", "unknown"])
def test_innocent_texts_hold_no_call(text: str, tools: tuple[ToolDef, ...]) -> None:
    assert find_calls(text, tools) == ()
    assert stray_markers(text) == ()


@pytest.mark.parametrize("tools", [TOOLS, ()], ids=["declared", "unknown"])
@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", ""),
        ("I'll look.\n", ""),
        ("I'll look.\n\n", "\n"),
        ("I'll look. ", ""),
        ("Let me call it now:\n", ""),
        ("<think>Hm, a file.</think>\n", ""),
        ("Use `read` for that.\n", "\n"),
        ("```sh\nls\n```\n", ""),
        ("Some text.\n", "\nI wait for the result."),
    ],
)
def test_calls_are_found(name: str, before: str, behind: str, tools: tuple[ToolDef, ...]) -> None:
    (call,) = find_calls(before + NATIVE[name] + behind, tools)
    assert (call.format, call.name, call.input) == (name, "read", {"path": "a"})
    assert (call.start, call.end) == (len(before), len(before) + len(NATIVE[name]))
    assert call.problems == ()
    assert stray_markers(before + NATIVE[name] + behind, [call]) == ()


@pytest.mark.parametrize(
    ("text", "tools", "expected"),
    [
        pytest.param(
            BARE,
            (),
            [("Glob", {"pattern": "*.md"}, "the opening tag around the call is missing")],
            id="no opening tag",
        ),
        pytest.param(
            "<tool_call>\n<function=bash>\n<parameter=command>\nls -l\n</function>\n</tool_call>",
            (),
            [("bash", {"command": "ls -l"}, "a parameter has no closing tag")],
            id="parameter not closed",
        ),
        pytest.param(
            f"{QWEN}\n{QWEN}", TOOLS, [("read", {"path": "a"}), ("read", {"path": "a"})], id="two calls"
        ),
        pytest.param(f"{HERMES}\n{GLM}", TOOLS, [("read", {"path": "a"})] * 2, id="two formats"),
        pytest.param(f"Hm\n{HERMES}\n</think>\nok", TOOLS, [("read", {"path": "a"}, "nested")], id="prompt opened it"),
        pytest.param(f"<think>{HERMES}", TOOLS, [("read", {"path": "a"}, "nested")], id="in reasoning"),
        pytest.param(f"For example:\n{HERMES}", TOOLS, [("read", {"path": "a"})], id="announced, declared and last"),
        pytest.param(HERMES, OTHER_TOOLS, [("read", {"path": "a"}, "no such tool")], id="undeclared alone"),
        pytest.param(HERMES[:-20], TOOLS, [("read", None, "arguments are not JSON", "unclosed")], id="cut"),
        pytest.param(f"I'll read. {GLM}", TOOLS, [("read", {"path": "a"})], id="behind a sentence"),
        pytest.param(
            "call\n" + INVOKE.replace("<function_calls>\n", "").replace("\n</function_calls>", ""),
            TOOLS,
            [("read", {"path": "a"}, "the opening tag around the call is missing")],
            id="lone word before a bare call",
        ),
        pytest.param(
            QWEN.replace("\na\n", "\n" + HERMES + "\n"),
            TOOLS,
            [("read", {"path": HERMES}, "a value contains tags of this format")],
            id="a call inside a value",
        ),
    ],
)  # fmt: skip
def test_what_is_found(text: str, tools: tuple[ToolDef, ...], expected: list[tuple[object, ...]]) -> None:
    assert [briefly(c) for c in find_calls(text, tools)] == expected


@pytest.mark.parametrize("text", [pytest.param(t, id=i) for i, t in leaked.CALLS.items()])
def test_calls_that_users_report_are_found(text: str) -> None:
    found = find_calls(text, (*TOOLS, WEATHER))
    assert found
    assert {c.name for c in found} == {"get_weather"}
    if not any("cut" in p or "unclosed" in p or "no JSON" in p for c in found for p in c.problems):
        assert {str(c.input) for c in found} == {"{'city': 'Rome'}"}
    assert [d.text for d in stray_markers(text, found)] == (["<|im_end|>"] if text.endswith("<|im_end|>") else [])


THOUGHT = f"<|channel|>analysis<|message|>A `read, for example:\n```\nneed it<|end|><|start|>assistant{leaked.HARMONY}"


@pytest.mark.parametrize(
    ("before", "native"),
    [
        pytest.param("", THOUGHT, id="analysis before it"),
        pytest.param("<|start|>assistant", THOUGHT, id="analysis with its role"),
        pytest.param("Sure. ", THOUGHT, id="analysis behind prose"),
        pytest.param("", THOUGHT.replace("<|end|>", "<|end|>\n"), id="line break between messages"),
        pytest.param("x", leaked.CALLS["DeepSeek V3"], id="DeepSeek V3"),
        pytest.param("I look now", leaked.CALLS["DeepSeek V3.1"], id="DeepSeek V3.1"),
        pytest.param("I look now", leaked.CALLS["Kimi"], id="Kimi"),
        pytest.param("I look now", leaked.CALLS["Mistral, arguments"], id="Mistral"),
        pytest.param("I look now", leaked.CALLS["DSML"], id="DSML"),
        pytest.param("I look now", leaked.CALLS["MiniMax M3"], id="MiniMax M3"),
        pytest.param("I look now", leaked.HARMONY, id="Harmony"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("tools", [(), (WEATHER,)], ids=["unknown", "declared"])
def test_no_word_hides_a_call_in_control_tokens(before: str, native: str, tools: tuple[ToolDef, ...]) -> None:
    text = before + native
    (call,) = find_calls(text, tools)
    assert (call.name, call.input, call.is_nested) == ("get_weather", {"city": "Rome"}, False)
    assert stray_markers(text, [call]) == ()


def test_both_calls_behind_a_word_are_found() -> None:
    one = leaked.CALLS["DeepSeek V3"].removesuffix("<｜tool▁calls▁end｜>")
    text = f"x{one}\n{one.removeprefix('<｜tool▁calls▁begin｜>')}<｜tool▁calls▁end｜>"
    assert [c.name for c in find_calls(text)] == ["get_weather", "get_weather"]


@pytest.mark.parametrize("tools", [(), (WEATHER,)], ids=["unknown", "declared"])
@pytest.mark.parametrize("name", ["DeepSeek V3.1", "Kimi", "Mistral, arguments", "Harmony"])
@pytest.mark.parametrize("dress", ["`{}`", "```\n{}\n```", "> {}", "- {}", "A model writes {} for it.", 'He said "{}"'])
def test_a_quoted_call_in_control_tokens_is_none(dress: str, name: str, tools: tuple[ToolDef, ...]) -> None:
    for native in (leaked.CALLS[name], *([THOUGHT] if name == "Harmony" else [])):
        assert find_calls(dress.format(native), tools) == ()


@pytest.mark.parametrize("text", [f"<think>I call {HERMES} then</think>Hello", f"I call {HERMES} then</think>Hello"])
def test_a_call_within_a_thought_is_shown_where_it_is_asked_for(text: str) -> None:
    assert find_calls(text) == ()
    (call,) = find_calls(text, is_thought_shown=True)
    assert (call.name, call.is_nested) == ("read", True)
    assert (
        find_calls(text.replace("</think>", "") if text[0] != "<" else f"Hi {HERMES} then", is_thought_shown=True) == ()
    )
    assert find_calls(f"<think>`{HERMES}`</think>Hello".replace("\n", ""), is_thought_shown=True) == ()


@pytest.mark.parametrize("text", [pytest.param(t, id=i) for i, t in leaked.MARKERS.items()])
def test_markers_that_users_report_are_found(text: str) -> None:
    found = find_calls(text, (*TOOLS, WEATHER))
    assert found or stray_markers(text, found)


@pytest.mark.parametrize(
    "bit", ["<tools>{", "[TOOL_CALL][", '<tool>{"', "x{}\n", "read{", "to=functions.read{", "✿ARGS✿"]
)
def test_long_texts_without_known_tags_come_back(bit: str) -> None:
    text = bit * (60_000 // len(bit)) + "}"
    stray_markers(text, find_calls(text, TOOLS))


def test_named_formats_are_trusted() -> None:
    text = f"For example {HERMES} and more words."
    assert find_calls(text) == ()
    assert [c.name for c in find_calls(text, formats=["hermes"])] == ["read"]


def test_places_of_published_failures() -> None:
    text = BARE
    (call,) = find_calls(text)
    assert (call.start, call.end) == (22, 100)
    text = "<tool_call>\n<function=bash>\n<parameter=command>\nls -l\n</function>\n</tool_call>"
    (call,) = find_calls(text)
    assert call.places == ((54, 65),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("All done.\n</tool_call>", ["</tool_call>"]),
        ("All done.</tool_call>", ["</tool_call>"]),
        (f"Done.{MARK}</tool_call>", [f"{MARK}</tool_call>"]),
        ("Done\n</parameter>\n</function>\n</tool_call>", ["</parameter>\n</function>", "</tool_call>"]),
        ("<|tool_calls_section_begin|>\n", ["<|tool_calls_section_begin|>"]),
        ("Hello<|im_end|>", ["<|im_end|>"]),
        ("Hello<|im_end|>\n<|im_start|>assistant\n", ["<|im_end|>", "<|im_start|>assistant"]),
        ("Hello.\n<|start|>assi", ["<|start|>assi"]),
        ("Hello.<end_of_turn>", ["<end_of_turn>"]),
        ("Hello.\n<end_of_tur", ["<end_of_tur"]),
        ("I look.\n</think>\nHello.", ["</think>"]),
        ("<think>I look.</think>\nHello.", []),
        ("The </think> tag ends it.", []),
        ("<tool_call_none/>\nHi", ["<tool_call_none/>"]),
        ("Hi\n[e~[", ["[e~["]),
        ("[TOOL_CALLS]", ["[TOOL_CALLS]"]),
        ("Hi\n<｜DSML｜tool_calls>", ["<｜DSML｜tool_calls>"]),
        ("Hi\n<‖DSML‖tool_calls>\n", ["<‖DSML‖tool_calls>"]),
        ("Hi\n<｜tool▁calls▁end｜><｜end▁of▁sentence｜>", None),
        ("`</tool_call>`", []),
        ("```\n</tool_call>\n```", []),
        ("The </tool_call> tag ends it.", []),
        ("Nothing here.", []),
    ],
)
def test_debris(text: str, expected: list[str] | None) -> None:
    found = stray_markers(text, find_calls(text))
    assert all(text[d.start : d.end] == d.text for d in found)
    if expected is None:
        assert len(found) == 2
    else:
        assert [d.text for d in found] == expected


@pytest.mark.parametrize("native", [HERMES, M2, KIMI], ids=["hermes", "minimax", "kimi"])
def test_markers_of_found_calls_are_no_debris(native: str) -> None:
    text = f"{native}\n{native}\n</tool_call>"
    found = find_calls(text, TOOLS)
    assert len(found) == 2
    assert len(stray_markers(text, found)) <= 1


@pytest.mark.parametrize(
    "bit",
    [
        "</tool_call>",
        "<tool_call>",
        "`",
        "\n",
        "<|im_end|> a ",
        "<|channel|>a<|end|>",
        THOUGHT,
        f"<|end|>{leaked.HARMONY}",
        QWEN,
        HERMES + "\n",
    ],
)
def test_long_texts_come_back(bit: str) -> None:
    text = bit * (60_000 // len(bit))
    found = find_calls(text, TOOLS)
    assert all(a.end <= b.start for a, b in pairwise(found))
    stray_markers(text, found)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('<function=get_weather>\n<parameter name="city">Rome</parameter>\n</function>', "get_weather"),
        ("<tool_call>get_weathercity</arg_key><arg_value>Rome</arg_value></tool_call>", None),
    ],
)
def test_a_text_that_is_all_markup_is_a_damaged_call_though_no_tools_are_known(text: str, name: str | None) -> None:
    (found,) = find_calls(text)
    assert (found.name, found.problems, text[found.start : found.end]) == (name, ("damaged markup",), text)
    assert not find_calls(f"{text} is how it looks.") and not find_calls(f"Write {text}")


@pytest.mark.parametrize(
    "text", ["[tool_call: get_weather for Rome]", 'I look.\n[Calling tool: get_weather({"city": "Rome"})]']
)
def test_a_call_as_a_phrase_in_brackets_is_damaged(text: str) -> None:
    (found,) = find_calls(text, (WEATHER,))
    assert (found.name, found.problems) == ("get_weather", ("damaged markup",))
    assert not find_calls(text)


@pytest.mark.parametrize("frame", ["{}", "\n{}\n", "```json\n{}\n```"])
def test_a_whole_text_that_calls_an_undeclared_tool_is_a_call(frame: str) -> None:
    text = frame.format('{"name": "repository_structure", "arguments": {}}')
    (call,) = find_calls(text, TOOLS)
    assert (call.name, call.input) == ("repository_structure", {})
    assert find_calls(text.replace("arguments", "parameters"), TOOLS) == ()
    assert find_calls(f"The call was:\n\n{text}", TOOLS) == ()


@pytest.mark.parametrize("head", ['invoke name="read">', "function=read>"])
def test_tags_without_their_first_bracket_are_a_damaged_call(head: str) -> None:
    (call,) = find_calls(f'{head}\nparameter name="path">aparameter>\ninvoke>\n', TOOLS)
    assert (call.name, call.input, call.problems) == ("read", None, ("damaged markup",))
    assert find_calls(f"{head} is what the model writes.", TOOLS) == ()


def test_an_array_of_calls_is_indexed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    index = jsontext.JsonIndex
    monkeypatch.setattr(jsontext, "JsonIndex", lambda body: made.append(body) or index(body))
    text = json.dumps([{"name": "away", "arguments": {"x": n}} for n in range(50)])
    assert len(find_calls(text, TOOLS)) == 50
    assert len(made) <= 1
