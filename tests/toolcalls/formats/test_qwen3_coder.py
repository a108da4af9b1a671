"""Qwen3-Coder XML: what each shape of text says, however it is cut."""

from __future__ import annotations

import pytest

from tests.toolcalls.formats.reading import Said, said, same_for_every_cut

CASES: list[tuple[str, str, Said]] = [
    (
        "whole",
        ("<tool_call>\n<function=read>\n<parameter=path>\na.py\n</parameter>\n</function>\n</tool_call>"),
        [
            (
                "read",
                {"path": "a.py"},
            )
        ],
    ),
    (
        "no parameters",
        "<tool_call>\n<function=ping>\n</function>\n</tool_call>",
        [
            (
                "ping",
                {},
            )
        ],
    ),
    (
        "text around",
        (
            "I'll look.\n"
            "\n"
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "a\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>\n"
            "Done."
        ),
        [
            "I'll look.\n\n",
            (
                "read",
                {"path": "a"},
            ),
            "\nDone.",
        ],
    ),
    (
        "two blocks",
        (
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "a\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>\n"
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "b\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>"
        ),
        [
            (
                "read",
                {"path": "a"},
            ),
            "\n",
            (
                "read",
                {"path": "b"},
            ),
        ],
    ),
    (
        "two calls in a block",
        (
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "a\n"
            "</parameter>\n"
            "</function>\n"
            "<function=ping>\n"
            "</function>\n"
            "</tool_call>"
        ),
        [
            (
                "read",
                {"path": "a"},
            ),
            (
                "ping",
                {},
            ),
        ],
    ),
    (
        "types by schema",
        (
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=line>\n"
            "12\n"
            "</parameter>\n"
            "<parameter=opts>\n"
            '{"a": [1]}\n'
            "</parameter>\n"
            "<parameter=tags>\n"
            '["x"]\n'
            "</parameter>\n"
            "<parameter=all>\n"
            "True\n"
            "</parameter>\n"
            "<parameter=x>\n"
            "2.5\n"
            "</parameter>\n"
            "<parameter=path>\n"
            "7\n"
            "</parameter>\n"
            "<parameter=maybe>\n"
            "null\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>"
        ),
        [
            (
                "read",
                {"line": 12, "opts": {"a": [1]}, "tags": ["x"], "all": True, "x": 2.5, "path": "7", "maybe": None},
            )
        ],
    ),
    (
        "python literals",
        (
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=opts>\n"
            "{'a': None}\n"
            "</parameter>\n"
            "<parameter=tags>\n"
            "['x', 1]\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>"
        ),
        [
            (
                "read",
                {"opts": {"a": None}, "tags": ["x", 1]},
            )
        ],
    ),
    (
        "not of the type",
        (
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=line>\n"
            "many\n"
            "</parameter>\n"
            "<parameter=all>\n"
            "maybe\n"
            "</parameter>\n"
            "<parameter=x>\n"
            "NaN\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>"
        ),
        [
            (
                "read",
                {"line": "many", "all": "maybe", "x": "NaN"},
            )
        ],
    ),
    (
        "undeclared key stays text",
        ("<tool_call>\n<function=read>\n<parameter=depth>\n3\n</parameter>\n</function>\n</tool_call>"),
        [
            (
                "read",
                {"depth": "3"},
            )
        ],
    ),
    (
        "one line break belongs to the markup",
        ("<tool_call>\n<function=read>\n<parameter=path>\n\n  a\n\n\n</parameter>\n</function>\n</tool_call>"),
        [
            (
                "read",
                {"path": "\n  a\n\n"},
            )
        ],
    ),
    (
        "no line breaks",
        "<tool_call><function=read><parameter=path>a b</parameter></function></tool_call>",
        [
            (
                "read",
                {"path": "a b"},
            )
        ],
    ),
    (
        "blanks in tags",
        ("<tool_call >\n< function = read >\n< parameter = path >\na\n</ parameter >\n</ function >\n< / tool_call>"),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "no opening tag around it",
        "<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
        [
            (
                "read",
                {"path": "a"},
                "the opening tag around the call is missing",
            )
        ],
    ),
    (
        "bare call",
        "<function=read>\n<parameter=path>\na\n</parameter>\n</function>",
        [
            (
                "read",
                {"path": "a"},
                "the opening tag around the call is missing",
            )
        ],
    ),
    (
        "parameter not closed before the next",
        (
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "a\n"
            "<parameter=line>\n"
            "3\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>"
        ),
        [
            (
                "read",
                {"path": "a", "line": 3},
                "a parameter has no closing tag",
            )
        ],
    ),
    (
        "parameter closed by the function",
        "<tool_call>\n<function=read>\n<parameter=path>\na\n</function>\n</tool_call>",
        [
            (
                "read",
                {"path": "a"},
                "a parameter has no closing tag",
            )
        ],
    ),
    (
        "parameter closed by the block",
        "<tool_call>\n<function=read>\n<parameter=path>\na\n</tool_call>",
        [
            (
                "read",
                {"path": "a"},
                "a parameter has no closing tag",
                "the closing tag of the call is missing",
            )
        ],
    ),
    (
        "parameter closed twice",
        ("<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</parameter>\n</function>\n</tool_call>"),
        [
            (
                "read",
                {"path": "a"},
                "a duplicate closing tag",
            )
        ],
    ),
    (
        "function not closed",
        "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</tool_call>",
        [
            (
                "read",
                {"path": "a"},
                "the closing tag of the call is missing",
            )
        ],
    ),
    (
        "block not closed",
        "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>",
        [
            (
                "read",
                {"path": "a"},
                "the closing tag around the call is missing",
            )
        ],
    ),
    (
        "block not closed before text",
        "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\nAnd now?",
        [
            (
                "read",
                {"path": "a"},
                "the closing tag around the call is missing",
            ),
            "\nAnd now?",
        ],
    ),
    (
        "block not closed before the next",
        (
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "a\n"
            "</parameter>\n"
            "</function>\n"
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "b\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>"
        ),
        [
            (
                "read",
                {"path": "a"},
                "the closing tag around the call is missing",
            ),
            "\n",
            (
                "read",
                {"path": "b"},
            ),
        ],
    ),
    (
        "block closed twice",
        ("<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call></tool_call>"),
        [
            (
                "read",
                {"path": "a"},
                "a duplicate closing tag",
            )
        ],
    ),
    (
        "opened twice",
        ("<tool_call>\n<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>"),
        [
            (
                "read",
                {"path": "a"},
                "a duplicate opening tag",
            )
        ],
    ),
    (
        "cut in a value",
        "<tool_call>\n<function=read>\n<parameter=path>\nsrc/ma",
        [
            (
                "read",
                {"path": "src/ma"},
                "a parameter has no closing tag",
                "unclosed",
            )
        ],
    ),
    (
        "cut behind a value",
        "<tool_call>\n<function=read>\n<parameter=path>\nsrc\n</parameter>",
        [
            (
                "read",
                {"path": "src"},
                "unclosed",
            )
        ],
    ),
    (
        "cut in a tag",
        "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool",
        [
            (
                "read",
                {"path": "a"},
                "the closing tag around the call is missing",
            )
        ],
    ),
    (
        "cut behind the name",
        "<tool_call>\n<function=ping>\n",
        [
            (
                "ping",
                {},
                "unclosed",
            )
        ],
    ),
    (
        "same key twice",
        (
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "a\n"
            "</parameter>\n"
            "<parameter=path>\n"
            "b\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>"
        ),
        [
            (
                "read",
                {"path": "b"},
                "a duplicate parameter",
            )
        ],
    ),
    (
        "closing tags in the wrong order",
        ("<tool_call>\n<function=read>\n<parameter=path>\na\n</function>\n</parameter>\n</tool_call>"),
        [
            (
                "read",
                {"path": "a"},
                "closing tags in the wrong order",
            )
        ],
    ),
    (
        "closing tag in a value",
        (
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "echo </parameter> x\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>"
        ),
        [
            (
                "read",
                {"path": "echo </parameter> x"},
                "a value contains tags of this format",
            )
        ],
    ),
    (
        "function end in a value",
        ("<tool_call>\n<function=read>\n<parameter=path>\necho </function> x\n</parameter>\n</function>\n</tool_call>"),
        [
            (
                "read",
                {"path": "echo </function> x"},
                "a value contains tags of this format",
            )
        ],
    ),
    (
        "opening tag in a value",
        (
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "a <parameter=nope> b\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>"
        ),
        [
            (
                "read",
                {"path": "a <parameter=nope> b"},
                "a value contains tags of this format",
            )
        ],
    ),
    (
        "entities are text",
        ("<tool_call>\n<function=read>\n<parameter=path>\na &lt; b &amp; c\n</parameter>\n</function>\n</tool_call>"),
        [
            (
                "read",
                {"path": "a &lt; b &amp; c"},
            )
        ],
    ),
    (
        "comparison signs in a value",
        (
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "if a < b and c > d: <p>\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>"
        ),
        [
            (
                "read",
                {"path": "if a < b and c > d: <p>"},
            )
        ],
    ),
    (
        "unknown tool",
        ("<tool_call>\n<function=write>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>"),
        [
            (
                "write",
                {"path": "a"},
                "no such tool",
            )
        ],
    ),
    (
        "in reasoning",
        (
            "<think>Hm.\n"
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "a\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>\n"
            "</think>\n"
            "ok"
        ),
        [
            "<think>Hm.\n",
            (
                "read",
                {"path": "a"},
                "nested",
            ),
            "\n</think>\nok",
        ],
    ),
    (
        "text between parameters",
        (
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "a\n"
            "</parameter>\n"
            "then\n"
            "<parameter=line>\n"
            "1\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>"
        ),
        [
            (
                "read",
                {"path": "a", "line": 1},
                "text between the parameters",
            )
        ],
    ),
    (
        "new call while a value is open",
        ("<tool_call>\n<function=read>\n<parameter=path>\na\n<tool_call>\n<function=ping>\n</function>\n</tool_call>"),
        [
            (
                "read",
                {"path": "a"},
                "a parameter has no closing tag",
                "unclosed",
            ),
            (
                "ping",
                {},
            ),
        ],
    ),
    (
        "JSON in the block is another format",
        '<tool_call>\n{"name": "read", "arguments": {}}\n</tool_call>',
        ['<tool_call>\n{"name": "read", "arguments": {}}\n</tool_call>'],
    ),
    (
        "JSON in the function is another format",
        '<function=read>{"path": "a"}</function>',
        ['<function=read>{"path": "a"}</function>'],
    ),
    (
        "the tag as a word",
        "A <tool_call> holds a <function=NAME> with parameters.",
        ["A <tool_call> holds a <function=NAME> with parameters."],
    ),
    (
        "in backticks",
        "Write `<function=read><parameter=path>a</parameter></function>` to call.",
        ["Write `<function=read><parameter=path>a</parameter></function>` to call."],
    ),
    (
        "in a fence",
        (
            "So:\n"
            "```xml\n"
            "<tool_call>\n"
            "<function=read>\n"
            "<parameter=path>\n"
            "a\n"
            "</parameter>\n"
            "</function>\n"
            "</tool_call>\n"
            "```\n"
            "End."
        ),
        [
            (
                "So:\n"
                "```xml\n"
                "<tool_call>\n"
                "<function=read>\n"
                "<parameter=path>\n"
                "a\n"
                "</parameter>\n"
                "</function>\n"
                "</tool_call>\n"
                "```\n"
                "End."
            )
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(t, e, id=i) for i, t, e in CASES])
def test_reads(text: str, expected: Said) -> None:
    assert said("qwen3-coder", text) == expected


@pytest.mark.parametrize("text", [pytest.param(t, id=i) for i, t, _ in CASES])
def test_cuts_do_not_matter(text: str) -> None:
    same_for_every_cut("qwen3-coder", text)
