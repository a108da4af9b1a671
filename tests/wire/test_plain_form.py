"""Trees of dataclasses, enumerations and named tuples as JSON, and back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import pytest

from workbench.wire import plain_form


class Colour(StrEnum):
    RED = "red"


class Pair(NamedTuple):
    one: int
    other: Colour


@dataclass(frozen=True)
class Node:
    value: Any
    below: tuple[Any, ...] = ()


CLASSES = (Colour, Node, Pair)


@pytest.mark.parametrize(
    "value",
    [
        Node(None, (Node("a"), Node(1.5), Node(True))),
        Pair(1, Colour.RED),
        Node([1, [2], (3,)], ({"a": Colour.RED, "b": Pair(0, Colour.RED)},)),
        Node(b"\xff\0", (Colour.RED, "red", "\ud83d")),
    ],
)
def test_a_tree_comes_back_with_its_types(value: Any) -> None:
    found = plain_form.decode(plain_form.encode(value, CLASSES), CLASSES)
    assert found == value
    assert repr(found) == repr(value)


def test_a_class_that_is_not_among_them_is_the_text_or_the_tuple_that_it_is() -> None:
    assert plain_form.decode(plain_form.encode(Pair(1, Colour.RED), ()), ()) == (1, "red")


def test_another_object_has_no_plain_form() -> None:
    with pytest.raises(TypeError, match="Node"):
        plain_form.encode(Node(1), ())


def test_what_is_there_twice_is_written_and_made_once() -> None:
    value = tuple(Node("a", (Pair(1, Colour.RED),)) for _ in range(3))
    text = plain_form.encode(value, CLASSES)
    assert text.count('"a"') == 1
    found = plain_form.decode(text, CLASSES)
    assert found == value
    assert found[0] is found[2]


def test_what_may_be_changed_is_not_shared() -> None:
    found = plain_form.decode(plain_form.encode([[1], [1], Node({}), Node({})], CLASSES), CLASSES)
    found[0].append(2)
    found[2].value["a"] = 1
    assert found[1] == [1]
    assert found[3].value == {}


@pytest.mark.parametrize("text", ["[]", "[[],[7]]", '[[],["Other"]]', "[[],[]]", '[[["Node"]],[0]]'])
def test_another_text_is_told(text: str) -> None:
    with pytest.raises((ValueError, TypeError, LookupError)):
        plain_form.decode(text, CLASSES)
