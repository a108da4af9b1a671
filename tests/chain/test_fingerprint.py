from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.fingerprint import digest, items, looks_unique, without_reminders
from workbench.ir import Carrier, Media, Message, Opaque, Part, Reasoning, Text, ToolCallIR, ToolResultIR


def said(*parts: Part, is_answer: bool = False) -> list[tuple[bool, int]]:
    return [(i.is_answer, i.plain) for i in items(Message("user", parts), is_answer=is_answer)]


CALL = ToolCallIR("c1", "ls", {"a": 1, "b": [2]}, "test")

SAME: dict[str, tuple[tuple[Part, ...], tuple[Part, ...]]] = {
    "a cache marker": ((Text("a"),), (Text("a", {"cache_control": {"type": "ephemeral"}}),)),
    "one string or several blocks": ((Text("ab"),), (Text("a"), Text("b"))),
    "whitespace at the ends": ((Text("a"),), (Text(" a\n"),)),
    "an empty block": ((Text("a"),), (Text("a"), Text(""))),
    "reasoning": ((Text("a"),), (Reasoning(Carrier.THINKING, "hm"), Text("a"))),
    "a reminder behind the text": ((Text("a"),), (Text("a\n<system-reminder>be brief</system-reminder>"),)),
    "a reminder of its own": ((Text("a"),), (Text("a"), Text("<environment_details>x</environment_details>"))),
    "key order": ((CALL,), (ToolCallIR("c1", "ls", {"b": [2], "a": 1}, "test"),)),
    "the call id": ((CALL,), (ToolCallIR("other", "ls", {"a": 1, "b": [2]}, "test"),)),
    "a marker in a call": ((CALL,), (ToolCallIR("c1", "ls", {"a": 1, "b": [2], "cache_control": 1}, "test"),)),
    "the id of a result": ((ToolResultIR("c1", (Text("x"),)),), (ToolResultIR("c2", (Text("x"),), is_error=False),)),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_what_says_the_same(one: tuple[Part, ...], other: tuple[Part, ...]) -> None:
    assert said(*one) == said(*other)


DIFFERENT: dict[str, tuple[tuple[Part, ...], tuple[Part, ...]]] = {
    "the text": ((Text("a"),), (Text("b"),)),
    "the name of a call": ((CALL,), (ToolCallIR("c1", "read", {"a": 1, "b": [2]}, "test"),)),
    "an argument": ((CALL,), (ToolCallIR("c1", "ls", {"a": 1, "b": [3]}, "test"),)),
    "broken arguments": (
        (ToolCallIR("c1", "ls", None, "test", raw="{", error="cut"),),
        (ToolCallIR("c1", "ls", None, "test", raw="[", error="cut"),),
    ),
    "the nesting of arguments": (
        (ToolCallIR("c1", "ls", {"a": [1], "b": 2}, "test"),),
        (ToolCallIR("c1", "ls", {"a": [1, "b", 2]}, "test"),),
    ),
    "the text of a result": ((ToolResultIR("c1", (Text("x"),)),), (ToolResultIR("c1", (Text("y"),)),)),
    "a picture": ((Media("image", data="AA"),), (Media("image", data="BB"),)),
    "a block of another type": ((Opaque("a", {}),), (Opaque("b", {}),)),
    "the order": ((Text("a"), CALL), (CALL, Text("a"))),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_what_says_something_else(one: tuple[Part, ...], other: tuple[Part, ...]) -> None:
    assert said(*one) != said(*other)


def test_it_matters_who_said_it() -> None:
    assert said(Text("a")) != said(Text("a"), is_answer=True)


def test_the_exact_fingerprint_has_the_call_id() -> None:
    (one,) = items(Message("assistant", (CALL,)), is_answer=True)
    (other,) = items(Message("assistant", (ToolCallIR("c2", "ls", CALL.input, "test"),)), is_answer=True)
    assert (one.plain, one.call_id, other.call_id) == (other.plain, "c1", "c2")
    assert one.exact != other.exact


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <system-reminder>b</system-reminder>", "a"),
        ("a <x-reminder>b</x-reminder> <x-reminder>c</x-reminder>\n", "a"),
        ("<system-reminder>b</system-reminder>", ""),
        ("<system-reminder>b</system-reminder> a", "<system-reminder>b</system-reminder> a"),
        ("a <code>b</code>", "a <code>b</code>"),
        ("a </system-reminder>", "a </system-reminder>"),
        ("a >", "a >"),
        ("", ""),
    ],
)
def test_reminders(text: str, left: str) -> None:
    assert without_reminders(text) == left


@pytest.mark.parametrize(
    ("call_id", "unique"),
    [
        ("toolu_01YGzqpRE16Vricda3Aqcejo", True),
        ("call_00_sXqYgMESDht75NCLLZtt9804", True),
        ("4f8cb52342424eb9bbc1b20e0d06add3", True),
        ("call_0", False),
        ("functions.get_weather:0", False),
        ("read_the_whole_file_12", False),
        ("D681PevKs", False),
        ("", False),
    ],
)
def test_ids_that_tell_conversations_apart(call_id: str, unique: bool) -> None:
    assert looks_unique(call_id) is unique


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_a_digest_does_not_see_key_order(value: object) -> None:
    def turned(node: object) -> object:
        if isinstance(node, dict):
            return {k: turned(v) for k, v in reversed(node.items())}
        return [turned(v) for v in node] if isinstance(node, list) else node

    assert digest(turned(value)) == digest(value)


def test_a_digest_survives_depth() -> None:
    value: object = 0
    for _ in range(100_000):
        value = {"a": value}
    assert digest(value) == digest(value)
