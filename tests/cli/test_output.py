"""JSON is printed the same however much it is."""

from __future__ import annotations

import json
import sys

import pytest

from workbench.cli import _output
from workbench.ir import JsonValue

VALUES: list[JsonValue] = [
    {},
    [],
    {"empty": [{}, [], ""], "number": [0, -1, 1.5, 1e300, 10**40], "other": [True, None]},
    {'"quoted"\\/': "é 日本 \t\n\x00\x7f\x9b \u202e \u2028 \ud83d", "nested": {"a": [[1, [2]], {"b": {}}]}},
    {"no JSON": float("nan")},
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_it_is_laid_out_alike_by_both_ways(
    value: JsonValue, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _output.emit_json(value)
    monkeypatch.setattr(_output, "MUCH", 0)
    _output.emit_json(value)
    monkeypatch.setattr(_output, "MUCH", 1_000)
    monkeypatch.delitem(sys.modules, "msgspec", raising=False)
    _output.emit_json(value)
    said = capsys.readouterr().out
    third = len(said) // 3
    assert said[:third] == said[third : 2 * third] == said[2 * third :]
    assert json.dumps(json.loads(said[:third])) == json.dumps(value)
    assert said[:third].count("\n") == json.dumps(value, indent=2).count("\n") + 1
    assert not {"\x00", "\x7f", "\x9b", "\u202e", "\ud83d"} & {*said}
