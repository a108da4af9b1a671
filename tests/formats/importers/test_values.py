from __future__ import annotations

import pytest

from workbench.formats.importers._values import (
    as_list,
    content_parts,
    mapping,
    mappings,
    measure,
    rest,
    text,
    token_count,
)
from workbench.ir import JsonValue, Media, Opaque, Part, Text


@pytest.mark.parametrize("value", [None, 5, True, 1.5, "x", [1], {"a": 1}])
def test_nothing_of_another_type_comes_through(value: JsonValue) -> None:
    assert text(value) == (value if value == "x" else "")
    assert mapping(value) == (value if value == {"a": 1} else {})
    assert as_list(value) == (value if value == [1] else [])
    assert list(mappings([value])) == ([value] if value == {"a": 1} else [])


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (10**400, None),
        (5, 5),
        (5.0, 5),
        (0, 0),
        (-1, None),
        (True, None),
        ("5", None),
        (float("inf"), None),
        (float("nan"), None),
    ],
)
def test_counts(value: JsonValue, number: int | None) -> None:
    assert token_count(value) == number
    assert measure(value) == (number if value != float("inf") else None)


def test_what_is_left_says_something() -> None:
    assert rest({"a": 1, "b": None, "c": 0}, "a") == {"c": 0}


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("", ()),
        ("hi", (Text("hi"),)),
        (None, ()),
        (5, ()),
        ({"text": "hi"}, (Text("hi"),)),
        (["a", {"type": "text", "text": "b"}, 5], (Text("a"), Text("b"))),
        ([{"type": "image", "data": "aGk=", "mimeType": "image/png"}], (Media("image", "image/png", data="aGk="),)),
        (
            [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}],
            (Media("image", "image/png", data="aGk="),),
        ),
        ([{"type": "image", "image": "https://x/y.png"}], (Media("image", url="https://x/y.png"),)),
        ([{"type": "image"}], (Opaque("image", {"type": "image"}),)),
        ([{"type": "text", "text": 5}], (Opaque("text", {"type": "text", "text": 5}),)),
        ([{"type": ["x"]}], (Opaque("unknown", {"type": ["x"]}),)),
    ],
)
def test_content(content: JsonValue, parts: tuple[Part, ...]) -> None:
    assert content_parts(content) == parts
