"""What is said of broken arguments: one text with every small edit, and one value for each keyword of a schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.toolcalls.arguments.test_proof import RECOVERED, REFUSED
from workbench.ir import JsonValue, ToolCallIR, ToolDef
from workbench.toolcalls.arguments._proof import Lossy, prove
from workbench.toolcalls.arguments.ladder import Ladder, climb, judge

Hold = Callable[[str, Iterable[str]], None]

TEXTS: tuple[tuple[str, JsonValue], ...] = (
    ('{"a": "x\'y", "b": [1, true, null, -2.5]}', {"a": "x'y", "b": [1, True, None, -2.5]}),
    ('["é\\n", "\\ud83d\\ude00", {"k": false}]', ["é\n", "😀", {"k": False}]),
)
INSERTED = (",", '"', "'", "}", "]", "{", "[", ":", "#", "/*x*/", "//x\n", "\\", "x", " 0", "\n", "`")
CHANGED = {"true": "True", "null": "None", "false": "FALSE", '"': "'", "-2.5": "-2.50", "1": "01", ",": ";", ", ": " "}
AROUND = (
    "so: {}",
    "```json\n{}\n```",
    "<tool_call>{}</tool_call>",
    "{} and more",
    "{}}}",
    "{},",
    "a {}: b",
    "{} // done",
    "1 {}",
    "true {}",
    "{} …",
    "{};\n",
    "'{}'",
)


def edits(text: str, inserted: tuple[str, ...]) -> Iterator[str]:
    """Each one character left out, signs put in before each one, words changed, words around it, its beginnings."""
    yield from (text[:n] + text[n + 1 :] for n in range(len(text)))
    yield from (text[:n] + sign + text[n:] for sign in inserted for n in range(len(text) + 1))
    yield from (text.replace(old, new) for old, new in CHANGED.items())
    yield from (form.replace("{}", text, 1).replace("}}", "}") for form in AROUND)
    yield from (text[:n] for n in range(len(text)))


def outcome(text: str, value: JsonValue) -> str:
    try:
        return " · ".join(prove(text, value)) or "nothing changed"
    except Lossy as error:
        return f"refused: {error}"


def test_what_a_repair_changed(approved: Hold) -> None:
    known = [(text, value) for text, value in RECOVERED if isinstance(value, dict | list)]
    known += [(text, value) for text in REFUSED for value in ({"q": "a"}, {"a": 1}, {"a": "b"}, [1])]
    first, second = TEXTS
    every = [*known, *((text, first[1]) for text in dict.fromkeys(edits(first[0], INSERTED)))]
    every += [(text, second[1]) for text in dict.fromkeys(edits(second[0], ()))]
    approved("proofs", (f"{text!r} → {outcome(text, value)}" for text, value in every))


OBJECT: Any = {
    "type": "object",
    "properties": {
        "s": {"type": "string"},
        "i": {"type": "integer"},
        "b": {"type": "boolean"},
        "l": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        "o": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on", "off"]},
        "e": {"enum": ["r", 1, None, True, "long " * 90]},
        "a": {"anyOf": [{"type": "object", "properties": {"d": {"type": "string"}}}, {"type": "null"}]},
        "f": {"oneOf": [{"type": "integer"}, {"type": "boolean"}]},
        "p": {"type": "string", "pattern": "^[a-z]+$"},
        "u": {"type": ["string", "null"]},
    },
    "required": ["s"],
    "additionalProperties": False,
}
VALUES: tuple[Any, ...] = (
    {},
    None,
    [],
    "x",
    5,
    *({"s": value} for value in (1, 1.5, None, True, [], {}, "x" * 900)),
    *({"s": "x", "i": value} for value in ("5", " 5 ", "5.0", "x", "1e3", 1.0, 1.5, True, None, "None", "[1]", "")),
    *({"s": "x", "b": value} for value in ("true", "True", "False", "yes", 0, "0", None)),
    *({"s": "x", "l": value} for value in ("[1]", "[1, 1]", "1", [1, 1.0], [True, 1], [2**53, 2**53 + 1], {}, ["1"])),
    *({"s": "x", "o": value} for value in ({}, {"on": "x"}, '{"on": true, "off": 1}', "{", None, {"on": True})),
    *({"s": "x", "e": value} for value in ("x", "1", 1, None, "None", True, [1])),
    *({"s": "x", "a": value} for value in ({"d": 1}, "x", '{"d": "x"}', [], "null", 0)),
    *({"s": "x", "f": value} for value in ("5", 1.5, {}, "True")),
    *({"s": "x", "p": value} for value in ("X", 5, "")),
    *({"s": "x", "u": value} for value in (5, ["x"])),
    {"s": "x", "odd": 1, "more": 2},
    {"i": "x", "b": "y", "l": [1, 1], "odd": 1},
)
ARGUMENTS = (
    '{"s": "x"}',
    '{"s": "x", "s": "y"}',
    '{"o": {"a": 1, "a": 2}}',
    '"{\\"s\\": \\"x\\"}"',
    '"\\"{\\\\\\"s\\\\\\": 1}\\""',
    '"text"',
    '{"s": "x", "i": "5"}',
    '{"s": "x", "i": null}',
    '{"s": NaN}',
    "",
    " ",
    "no idea",
    "[1, 2]",
    "5",
    '{"s": "x',
    '{"s": "x"',
    '{"s": "x"}{"s": "x"}',
    "{'s': 'x'}",
    "{'s': 'x', 'i': '5', 'odd': None}",
    "<tool>x</tool>",
)
SCHEMAS: tuple[Any, ...] = (None, True, False, {}, OBJECT, {"type": "map"}, {"$ref": "#/$defs/none"}, "x")


def told(ladder: Ladder) -> str:
    """All that it says, but for the words of the standard library, which change."""
    faults = [(f.pointer, f.keyword, f.message, f.kind, f.replacement) for f in ladder.faults]
    steps = [(str(step.rung), step.before, step.after, step.note) for step in ladder.steps]
    whole = f"{steps} {faults} {ladder.error!r} {ladder.problem!r} {ladder.refusal}"
    return re.sub(r"not JSON: [^()]*", "not JSON ", whole)


def test_what_the_ladder_says(approved: Hold) -> None:
    rows = [f"{value!r:.200}: {told(climb(None, value, OBJECT))}" for value in VALUES]
    rows += [f"{schema!r:.40} {{'s': 1}}: {told(climb(None, {'s': 1}, schema))}" for schema in SCHEMAS]
    rows += [f"{text}: {told(climb(text, None, OBJECT))}" for text in ARGUMENTS]
    rows += [f"{text}, no schema: {told(climb(text, None, None))}" for text in ARGUMENTS]
    for count in (0, 1, 8, 9):
        tools = [ToolDef(f"tool{n}", None, OBJECT) for n in range(count)]
        for name in ("tool0", "other", None):
            call = ToolCallIR("c1", name, {"s": 1}, "function")
            rows.append(f"{name} of {count}: {told(judge(call, tools))}")
    approved("ladders", rows)
