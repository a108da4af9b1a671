"""What became of each value on its way: every kind of fate, and what is none."""

from __future__ import annotations

import pytest

from tests.growth import MOST, steps
from workbench.chain import fates
from workbench.ir import JsonValue
from workbench.limits import MAX_JSON_DEPTH

SAME = (
    ({"a": 1, "b": [True, None]}, {"b": [True, None], "a": 1}),
    ([1, 2.5], [1, 2.5]),
    ("", ""),
    (1.0, 1),
)

FATES: dict[str, tuple[JsonValue, JsonValue, list[str]]] = {
    "a number as text": ({"n": 1}, {"n": "1"}, ["retyped /n /n"]),
    "one as true": ({"n": 1}, {"n": True}, ["retyped /n /n"]),
    "an integer as a float": ({"n": 1}, {"n": 1.0}, ["retyped /n /n"]),
    "one value as a list": ({"n": "a"}, {"n": ["a"]}, ["retyped /n /n"]),
    "an object as text": ({"o": {"a": 1}}, {"o": '{"a": 1}'}, ["stringified /o /o"]),
    "a text as an object": ({"o": '{"a": 1}'}, {"o": {"a": 1}}, ["parsed /o /o"]),
    "a cut text": ({"t": "a text that is long enough"}, {"t": "a text that is lo…"}, ["truncated /t /t"]),
    "an escaped text": ({"t": "a <b>"}, {"t": "a &lt;b&gt;"}, ["recoded /t /t"]),
    "another text": ({"t": "a"}, {"t": "b"}, ["changed /t /t"]),
    "a member that is gone": ({"a": 1, "b": 2}, {"a": 1}, ["dropped /b /b"]),
    "a member that is new": ({"a": 1}, {"a": 1, "b": 2}, ["added /b /b"]),
    "a member in another spelling": ({"pageId": 1}, {"page_id": 1}, ["renamed /pageId /page_id"]),
    "a member under another name": ({"q": "what is asked"}, {"query": "what is asked"}, ["renamed /q /query"]),
    "a member in another one": (
        {"q": "what is asked", "n": 1},
        {"n": {"q": "what is asked"}},
        ["moved /q /n/q", "changed /n /n"],
    ),
    "an element that is gone": ({"l": [1, 2, 3]}, {"l": [1, 3]}, ["dropped /l/1 /l"]),
    "an element that is there twice": ({"l": [1, 2]}, {"l": [1, 2, 2]}, ["doubled /l /l/2"]),
    "a name with a slash": ({"a/b": 1}, {"a/b": 2}, ["changed /a~1b /a~1b"]),
}


@pytest.mark.parametrize(("before", "after"), SAME)
def test_what_is_the_same_has_no_fate(before: JsonValue, after: JsonValue) -> None:
    assert list(fates(before, after)) == []


@pytest.mark.parametrize("name", FATES)
def test_each_fate_has_its_two_places(name: str) -> None:
    before, after, expected = FATES[name]
    assert [f"{one.kind} {one.pointer} {one.there}" for one in fates(before, after)] == expected


def nested(levels: int, leaf: JsonValue) -> JsonValue:
    for _ in range(levels):
        leaf = {"a": leaf}
    return leaf


def test_what_is_as_deep_as_json_may_be_is_compared() -> None:
    before, after = nested(MAX_JSON_DEPTH, 1), nested(MAX_JSON_DEPTH, 2)
    assert [one.kind for one in fates(before, after)] == ["changed"]
    assert {one.kind for one in fates({"x": before}, {"y": after})} == {"dropped", "added"}


def members(prefix: str, count: int) -> dict[str, JsonValue]:
    return {f"{prefix}{n}": f"{prefix} is the text {n}" for n in range(count)}


@pytest.mark.parametrize("kind", ["objects", "lists"])
def test_steps_grow_with_the_input_where_nothing_is_found_again(kind: str) -> None:
    def taken(count: int) -> int:
        before, after = members("a", count), members("b", count + 1)
        held = (before, after) if kind == "objects" else ([*before.values()], [*after.values()])
        return steps(lambda: list(fates(*held)))

    assert taken(400) <= MOST * taken(100)
