"""Ids and names that are rewritten: the same every time, never two into one, call and result alike."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.convert.names import ConversationIds, name_check, rewrite_words
from workbench.ir import Message, ToolCallIR, ToolResultIR
from workbench.protocols import Capabilities, ToolCapabilities

PATTERNS = {
    "words": ("[a-zA-Z0-9_-]+", None),
    "short words": ("[a-zA-Z0-9_-]+", 12),
    "nine letters": ("[a-zA-Z0-9]{9}", 9),
    "begins with a letter": ("[a-z][a-z0-9_]{0,20}", 21),
    "anything of 64": ("", 64),
}


@pytest.mark.parametrize(("pattern", "longest"), PATTERNS.values(), ids=PATTERNS)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(words=st.lists(st.text(max_size=80).filter(bool), max_size=8))
def test_names_fit_and_stay_apart(pattern: str, longest: int | None, words: list[str]) -> None:
    fits = name_check(pattern, longest)
    new = rewrite_words(words, fits, longest)
    assert new == rewrite_words(words, fits, longest)
    assert len(set(new.values())) == len(set(words))
    for old, made in new.items():
        assert made == old if fits(old) else fits(made)
        assert not pattern or re.fullmatch(pattern, made)


def test_a_name_that_is_taken_is_not_given_again() -> None:
    new = rewrite_words(["a:b", "a_b", "a/b"], name_check("[a-z_0-9]+", None), None)
    assert new["a_b"] == "a_b"
    assert len(set(new.values())) == 3


def call(call_id: str | None, name: str = "f") -> ToolCallIR:
    return ToolCallIR(call_id, name, {}, "function")


def result(call_id: str | None, name: str | None = None) -> ToolResultIR:
    return ToolResultIR(call_id, (), name=name)


def ids(*messages: Message) -> ConversationIds:
    return ConversationIds(
        messages,
        Capabilities(
            tools=ToolCapabilities(
                id_pattern="[a-zA-Z0-9_-]+",
            ),
        ),
    )


def test_missing_ids_are_numbered_and_results_go_by_name_and_order() -> None:
    made = ids(
        Message("assistant", (call(None, "f"), call(None, "g"), call(None, "f"))),
        Message("tool", (result(None, "g"), result(None, "f"), result(None, "f"))),
        Message("assistant", (call(None),)),
        Message("tool", (result(None),)),
    )
    assert made.by_place == {
        (0, 0): "call_1",
        (0, 1): "call_2",
        (0, 2): "call_3",
        (1, 0): "call_2",
        (1, 1): "call_1",
        (1, 2): "call_3",
        (2, 0): "call_4",
        (3, 0): "call_4",
    }
    assert made.origin == dict.fromkeys(("call_1", "call_2", "call_3", "call_4"))


def test_an_empty_id_is_remembered_as_empty() -> None:
    made = ids(Message("assistant", (call(""),)), Message("tool", (result(""),)))
    assert made.origin == {"call_1": ""}
    assert made.by_place == {(0, 0): "call_1", (1, 0): "call_1"}


def test_a_made_id_is_not_one_that_is_there() -> None:
    made = ids(Message("assistant", (call("call_1"), call(None))), Message("tool", (result(None), result("call_1"))))
    assert made.by_place[0, 1] != "call_1" and made.by_place[0, 1] == made.by_place[1, 0]


def test_a_result_without_a_call_stays_without_one() -> None:
    made = ids(Message("tool", (result(None), result("lost:1"))))
    assert made.by_place == {(0, 0): "call_1"}
    assert made.origin == {"lost_1": "lost:1", "call_1": None}
