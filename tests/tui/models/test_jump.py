"""Places that people type."""

from __future__ import annotations

import pytest

from tests.tui import samples
from workbench.tui.models.jump import Jump, node_of_id, parse_jump


@pytest.mark.parametrize(
    ("typed", "jump", "words"),
    [
        ("12", Jump("exchange", 11), "exchange 12"),
        ("3,719", Jump("exchange", 3718), "exchange 3,719"),
        ("x2", Jump("exchange", 1), "exchange 2"),
        ("m3", Jump("message", 2), "message 3"),
        ("E 17", Jump("event", 17), "event 17"),
        ("b2048", Jump("byte", 2048), "byte 2,048"),
        ("0", Jump("exchange", 0), "exchange 1"),
        ("/messages/2/content", Jump("pointer", text="/messages/2/content"), "pointer /messages/2/content"),
        ("toolu_01", Jump("id", text="toolu_01"), "id toolu_01"),
        ("b", Jump("id", text="b"), "id b"),
        (" m1 ", Jump("message", 0), "message 1"),
    ],
)
def test_a_typed_place(typed: str, jump: Jump, words: str) -> None:
    assert parse_jump(typed) == jump
    assert jump.words() == words


def test_nothing_typed_is_no_place() -> None:
    assert parse_jump("  ") is None


def test_the_call_of_an_id_comes_before_its_result() -> None:
    opened = samples.opened(samples.LOST_REASONING, 1)
    ids = [getattr(node.part, "id", None) for node in opened.outline.nodes]
    call = next(n for n, id in enumerate(ids) if id)
    assert node_of_id(opened, ids[call] or "") == call
    assert node_of_id(opened, (ids[call] or "")[:7]) == call
    assert node_of_id(opened, "no such id") is None
