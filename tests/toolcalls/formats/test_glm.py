"""GLM XML: what each shape of text says, however it is cut."""

from __future__ import annotations

import pytest

from tests.toolcalls.formats.reading import Said, said, same_for_every_cut

CASES: list[tuple[str, str, Said]] = [
    (
        "4.7",
        "<tool_call>read<arg_key>path</arg_key><arg_value>a</arg_value></tool_call>",
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "4.6",
        "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>",
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "no arguments, 4.7",
        "<tool_call>ping</tool_call>",
        [
            (
                "ping",
                {},
            )
        ],
    ),
    (
        "no arguments, 4.6",
        "<tool_call>ping\n</tool_call>",
        [
            (
                "ping",
                {},
            )
        ],
    ),
    (
        "two calls",
        ("<tool_call>ping</tool_call><tool_call>read<arg_key>path</arg_key><arg_value>b</arg_value></tool_call>"),
        [
            (
                "ping",
                {},
            ),
            (
                "read",
                {"path": "b"},
            ),
        ],
    ),
    (
        "text around",
        "Let me see.<tool_call>ping</tool_call> so",
        [
            "Let me see.",
            (
                "ping",
                {},
            ),
            " so",
        ],
    ),
    (
        "types by schema",
        (
            "<tool_call>read<arg_key>line</arg_key><arg_value>3</arg_value><arg_key>path</arg_key><ar"
            'g_value>3</arg_value><arg_key>opts</arg_key><arg_value>{"a": null}</arg_value><arg_key>a'
            "ll</arg_key><arg_value>true</arg_value></tool_call>"
        ),
        [
            (
                "read",
                {"line": 3, "path": "3", "opts": {"a": None}, "all": True},
            )
        ],
    ),
    (
        "undeclared keys are JSON where they can be",
        (
            "<tool_call>read<arg_key>n</arg_key><arg_value>3</arg_value><arg_key>s</arg_key><arg_valu"
            "e>x y</arg_value></tool_call>"
        ),
        [
            (
                "read",
                {"n": 3, "s": "x y"},
            )
        ],
    ),
    (
        "Python literal",
        "<tool_call>read<arg_key>tags</arg_key><arg_value>['a']</arg_value></tool_call>",
        [
            (
                "read",
                {"tags": ["a"]},
            )
        ],
    ),
    (
        "blanks in a value are data",
        "<tool_call>read<arg_key>path</arg_key><arg_value>\n a \n</arg_value></tool_call>",
        [
            (
                "read",
                {"path": "\n a \n"},
            )
        ],
    ),
    (
        "blanks around a key",
        "<tool_call>read<arg_key> path </arg_key><arg_value>a</arg_value></tool_call>",
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "literal backslash n between",
        "<tool_call>read\\n<arg_key>path</arg_key>\\n<arg_value>a</arg_value>\\n</tool_call>",
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "value not closed before the next key",
        (
            "<tool_call>read<arg_key>path</arg_key><arg_value>a<arg_key>line</arg_key><arg_value>1</a"
            "rg_value></tool_call>"
        ),
        [
            (
                "read",
                {"path": "a", "line": 1},
                "a parameter has no closing tag",
            )
        ],
    ),
    (
        "value closed by the call",
        "<tool_call>read<arg_key>path</arg_key><arg_value>a</tool_call>",
        [
            (
                "read",
                {"path": "a"},
                "a parameter has no closing tag",
            )
        ],
    ),
    (
        "value closed twice",
        "<tool_call>read<arg_key>path</arg_key><arg_value>a</arg_value></arg_value></tool_call>",
        [
            (
                "read",
                {"path": "a"},
                "a duplicate closing tag",
            )
        ],
    ),
    (
        "cut in a value",
        "<tool_call>read<arg_key>path</arg_key><arg_value>src",
        [
            (
                "read",
                {"path": "src"},
                "a parameter has no closing tag",
                "unclosed",
            )
        ],
    ),
    (
        "cut behind a value",
        "<tool_call>read<arg_key>path</arg_key><arg_value>src</arg_value>",
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
        "<tool_call>read<arg_key>path</arg_key><arg_value>src</arg_val",
        [
            (
                "read",
                {"path": "src"},
                "a parameter has no closing tag",
                "unclosed",
            )
        ],
    ),
    ("cut in the name", "<tool_call>rea", ["<tool_call>rea"]),
    (
        "not closed before the next",
        ("<tool_call>read<arg_key>path</arg_key><arg_value>a</arg_value><tool_call>ping</tool_call>"),
        [
            (
                "read",
                {"path": "a"},
                "unclosed",
            ),
            (
                "ping",
                {},
            ),
        ],
    ),
    (
        "not closed before text",
        "<tool_call>read<arg_key>path</arg_key><arg_value>a</arg_value>\nSo.",
        [
            (
                "read",
                {"path": "a"},
                "unclosed",
            ),
            "\nSo.",
        ],
    ),
    (
        "same key twice",
        (
            "<tool_call>read<arg_key>path</arg_key><arg_value>a</arg_value><arg_key>path</arg_key><ar"
            "g_value>b</arg_value></tool_call>"
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
        "key without a name",
        "<tool_call>read<arg_key></arg_key><arg_value>a</arg_value></tool_call>",
        [
            (
                "read",
                {},
                "a parameter without a name",
            )
        ],
    ),
    (
        "closing tag in a value",
        ("<tool_call>read<arg_key>path</arg_key><arg_value>a</arg_value> b</arg_value></tool_call>"),
        [
            (
                "read",
                {"path": "a</arg_value> b"},
                "a value contains tags of this format",
            )
        ],
    ),
    (
        "call's closing tag in a value",
        ("<tool_call>read<arg_key>path</arg_key><arg_value>a</tool_call> b</arg_value></tool_call>"),
        [
            (
                "read",
                {"path": "a</tool_call> b"},
                "a value contains tags of this format",
            )
        ],
    ),
    (
        "entities are text",
        "<tool_call>read<arg_key>path</arg_key><arg_value>&lt;b&gt;</arg_value></tool_call>",
        [
            (
                "read",
                {"path": "&lt;b&gt;"},
            )
        ],
    ),
    (
        "markup in a value",
        "<tool_call>read<arg_key>path</arg_key><arg_value><p>a</p></arg_value></tool_call>",
        [
            (
                "read",
                {"path": "<p>a</p>"},
            )
        ],
    ),
    (
        "unknown tool",
        "<tool_call>rm<arg_key>path</arg_key><arg_value>a</arg_value></tool_call>",
        [
            (
                "rm",
                {"path": "a"},
                "no such tool",
            )
        ],
    ),
    (
        "in reasoning",
        "<think>So <tool_call>ping</tool_call>",
        [
            "<think>So ",
            (
                "ping",
                {},
                "nested",
            ),
        ],
    ),
    ("JSON is another format", '<tool_call>{"name": "ping"}</tool_call>', ['<tool_call>{"name": "ping"}</tool_call>']),
    (
        "XML is another format",
        "<tool_call>\n<function=ping>\n</function>\n</tool_call>",
        ["<tool_call>\n<function=ping>\n</function>\n</tool_call>"],
    ),
    (
        "the tag as a word",
        "The <tool_call> tag, then text; also <tool_call>two words</tool_call>.",
        ["The <tool_call> tag, then text; also <tool_call>two words</tool_call>."],
    ),
    ("in backticks", "`<tool_call>ping</tool_call>`", ["`<tool_call>ping</tool_call>`"]),
    ("in a fence", "~~~\n<tool_call>ping</tool_call>\n~~~\nx", ["~~~\n<tool_call>ping</tool_call>\n~~~\nx"]),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(t, e, id=i) for i, t, e in CASES])
def test_reads(text: str, expected: Said) -> None:
    assert said("glm", text) == expected


@pytest.mark.parametrize("text", [pytest.param(t, id=i) for i, t, _ in CASES])
def test_cuts_do_not_matter(text: str) -> None:
    same_for_every_cut("glm", text)
