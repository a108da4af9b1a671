"""What the tests of single text formats share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from workbench.errors import LocalProtocolError
from workbench.ir import Text, ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.formats import Prose, ProseOrCall, TextCall, TextFormat

TOOLS = (
    *(
        ToolDef(name, None, {"type": "object", "properties": {key: {} for key in ("a", "b", "path")}})
        for name in ("read", "list", "get_weather")
    ),
    ToolDef("find", None, {"type": "object", "properties": {"q": {"type": "string"}}}),
)

Case = tuple[str, str, list[tuple[Any, ...]]]
"""Id, text, and for each call: name, input, and its problems."""


def read(text_format: TextFormat, pieces: Sequence[str], tools: Sequence[ToolDef] = TOOLS) -> list[ProseOrCall]:
    """What a parser finds in pieces; neighbouring prose joined."""
    parser = text_format.parser(tools)
    found: list[ProseOrCall] = []
    prose: list[Prose] = []
    for finding in [*(f for piece in pieces for f in parser.feed(piece)), *parser.close()]:
        if isinstance(finding, Prose) and (not prose or prose[-1].end == finding.start):
            prose.append(finding)
            continue
        found += _joined(prose)
        prose = [finding] if isinstance(finding, Prose) else []
        found += [] if prose else [finding]
    return found + _joined(prose)


def _joined(prose: list[Prose]) -> list[Prose]:
    return [Prose("".join(p.text for p in prose), prose[0].start, prose[-1].end)] if prose else []


def calls(text_format: TextFormat, text: str, tools: Sequence[ToolDef] = TOOLS) -> list[TextCall]:
    return [f for f in read(text_format, [text], tools) if isinstance(f, TextCall)]


def check(text_format: TextFormat, text: str, expected: list[tuple[Any, ...]]) -> None:
    """The calls are as expected, and findings tile the text."""
    found = calls(text_format, text)
    assert [(c.name, c.input, *c.problems) for c in found] == expected
    assert all(c.format == text_format.name for c in found)
    check_places(text_format, text)


def check_places(text_format: TextFormat, text: str) -> None:
    at = 0
    for finding in read(text_format, [text]):
        assert finding.start == at
        assert finding.end > at
        at = finding.end
        if isinstance(finding, Prose):
            assert text[finding.start : finding.end] == finding.text
        else:
            assert finding.raw in text[finding.start : finding.end]
    assert at == len(text)


def check_cuts(text_format: TextFormat, text: str) -> None:
    """Every cut in two, and pieces of one, two, three and five characters, give the same findings."""
    whole = read(text_format, [text])
    for cut in range(1, len(text)):
        assert read(text_format, [text[:cut], text[cut:]]) == whole, cut
    for size in (1, 2, 3, 5):
        assert read(text_format, [text[n : n + size] for n in range(0, len(text), size)]) == whole, size


def check_prose(text_format: TextFormat, text: str) -> None:
    """No call, in one piece and in many; the text comes out as it went in."""
    assert read(text_format, [text]) == ([Prose(text, 0, len(text))] if text else [])
    assert read(text_format, list(text)) == read(text_format, [text])


def check_round_trip(text_format: TextFormat, said: Sequence[tuple[str, dict[str, Any]]], size: int) -> None:
    """What is rendered is read again, in pieces of some size."""
    text = "Hi\n" + text_format.render([call(*c) for c in said])
    again = read(text_format, [text[n : n + size] for n in range(0, len(text), size)])
    assert [(c.name, c.input, c.problems) for c in again if isinstance(c, TextCall)] == [(*c, ()) for c in said]


def call(name: str | None, value: Any, id_: str | None = None) -> ToolCallIR:
    return ToolCallIR(id_, name, value, "test")


def result(text: str, name: str | None = "read", id_: str | None = "abcdefghi") -> ToolResultIR:
    return ToolResultIR(id_, (Text(text),), name=name)


def outcome(text_format: TextFormat, said: Sequence[ToolCallIR]) -> str | None:
    """What is rendered, None where the format refuses it."""
    try:
        return text_format.render(said)
    except LocalProtocolError:
        return None


def arguments(markup: Sequence[str], keys: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments whose strings hold pieces of a format's own markup."""
    words = st.lists(st.sampled_from([*markup, '"', "\\", "{", "}", "[", "]", "'", "\n", " ", "é", "\u2028", "x"]))
    strings = st.one_of(st.text(max_size=8), words.map("".join))
    leaves = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), strings
    )
    values = st.recursive(
        leaves, lambda v: st.one_of(st.lists(v, max_size=3), st.dictionaries(strings, v, max_size=3)), max_leaves=5
    )
    return st.dictionaries(strings if keys is None else keys, values, max_size=3)


UNSAYABLE = [
    ToolCallIR("", "read", None, "test", raw="{"),
    call(None, {}),
    call("", {}),
    call("read", [1]),
    call("read", {"a": float("nan")}),
    call("read", {"a": object()}),
]
"""Calls that no text format can write."""

NAMES = st.sampled_from(["read", "list", "get_weather"])

ANSWERS = [
    "",
    "Paris is the capital of France.",
    '{"answer": 42, "unit": "m"}',
    "[1, 2, 3]",
    '{"name": "Ada", "age": 36}',
    '```json\n{"name": "Ada", "age": 36}\n```',
    "```python\ndef read(path):\n    return [x for x in open(path)]\n```\nThat is all.",
    "A list [a](http://x.org), `code` and {braces}; a < b > c, a | b || c.",
    "<b>bold</b> <think>not sure</think> yes",
    "To call a tool, the model writes its name and its arguments as JSON.",
    "\n\n  \n",
    "if (a[0] < b) { return c[1]; } // read(path)\n",
]
"""Ordinary answers: in no format a call."""
