from __future__ import annotations

from typing import Any

import pytest

from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._otlp import attributes_of, below, first, parse_structured, plain_value, spans_of


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"stringValue": "x"}, "x"),
        ({"intValue": "12"}, 12),
        ({"intValue": "-12"}, -12),
        ({"intValue": 12}, 12),
        ({"intValue": "1" * 5000}, "1" * 5000),
        ({"doubleValue": 0.5}, 0.5),
        ({"boolValue": False}, False),
        ({"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "a"}]}}, [1, "a"]),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"intValue": "1"}}]}}, {"a": 1}),
        ({"arrayValue": 5}, []),
        ({}, None),
    ],
)
def test_values(value: Any, expected: Any) -> None:
    assert plain_value(value) == expected


def test_attributes_are_a_list_or_an_object() -> None:
    assert attributes_of([{"key": "a", "value": {"stringValue": "x"}}, 5]) == {"a": "x"}
    assert attributes_of({"a": "x"}) == {"a": "x"}
    assert attributes_of(5) == {}


def test_names_with_dots_are_a_tree() -> None:
    flat = {"p.1.role": "b", "p.0.role": "a", "p.0.calls.0.id": "c", "q.0.role": "z", "p.10.role": "k"}
    assert below(flat, "p.") == [{"role": "a", "calls": [{"id": "c"}]}, {"role": "b"}, {"role": "k"}]
    assert below({"p.a": 1, "p.a.b": 2}, "p.") == {"a": {"": 1, "b": 2}}
    assert below({}, "p.") == {}


def test_a_value_that_is_json_text() -> None:
    assert (parse_structured('[{"a": 1}]'), parse_structured("[x"), parse_structured("x"), parse_structured(5)) == (
        [{"a": 1}],
        "[x",
        "x",
        5,
    )


def test_the_first_that_is_there() -> None:
    assert first({"b": 0, "a": None}, "a", "b") == 0


def test_older_scopes_and_order_of_starts() -> None:
    spans = [{"spanId": "2", "startTimeUnixNano": 5_000_000_000}, {"spanId": "1", "startTimeUnixNano": "3000000000"}]
    document = {"resourceSpans": [{"instrumentationLibrarySpans": [{"spans": spans}]}]}
    assert [(s.id, s.start) for s in spans_of([document], ImportDamage())] == [("1", 3.0), ("2", 5.0)]
