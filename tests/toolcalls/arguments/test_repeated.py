"""Keys that stand twice, as the ladder says it."""

from __future__ import annotations

import json

import pytest

from workbench.toolcalls.arguments import climb

TWICE = "is repeated; the last one is used"


@pytest.mark.parametrize(
    ("raw", "note"),
    [
        ('{"path": "a", "limit": 1}', ""),
        ('{"path": "a", "path": "b"}', f"key 'path' {TWICE}"),
        ('{"path": "a", "pa\\u0074h": "b"}', f"key 'path' {TWICE}"),
        ('{"deep": [{"a/b": 1, "a/b": 2}]}', f"key 'a/b' of '/deep/0' {TWICE}"),
        ('{"\ud800": 1, "\ud800": 2, "x": "\ud800"}', f"key '\\ud800' {TWICE}"),
        ("[" * 150 + '{"a": 1}' + "]" * 150, ""),
    ],
    ids=["none", "plain", "escaped", "nested", "lone surrogate", "deep"],
)
def test_a_key_that_stands_twice_is_said(raw, note):
    assert climb(raw, None, None).steps[0].note == note


def test_keys_that_stand_twice_are_counted_and_said_of_what_was_unwrapped():
    raw = json.dumps("{" + ",".join(f'"k{n}": 0, "k{n}": 1' for n in range(6)) + "}")
    strict, unwrapped = climb(raw, None, None).steps
    assert strict.note == ""
    assert unwrapped.note.startswith("JSON inside a JSON string was unwrapped; key 'k0' is repeated")
    assert unwrapped.note.endswith("and 2 more keys")


def test_a_text_written_twice_says_it_too():
    (step,) = climb('{"a": 1, "a": 2}' * 2, None, None).steps
    assert step.note == f"the arguments occur twice; one copy was used; key 'a' {TWICE}"
