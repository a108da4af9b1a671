"""MiniMax M3 elements: what each shape of text says, however it is cut."""

from __future__ import annotations

import pytest

from tests.toolcalls.formats.reading import Said, said, same_for_every_cut

CASES: list[tuple[str, str, Said]] = [
    (
        "whole",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<path>a]<]minimax[>[</path>]<]minimax[>[</'
            "invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "no arguments",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>\n'
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "ping",
                {},
            )
        ],
    ),
    (
        "two calls",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<path>a]<]minimax[>[</path>]<]minimax[>[</'
            "invoke>\n"
            ']<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>\n'
            "]<]minimax[>[</tool_call>"
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
        "text around",
        (
            "Hi\n"
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>\n'
            "]<]minimax[>[</tool_call>\n"
            "so"
        ),
        [
            "Hi\n",
            (
                "ping",
                {},
            ),
            "\nso",
        ],
    ),
    (
        "types by schema",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<line>3]<]minimax[>[</line>]<]minimax[>[<p'
            "ath>3]<]minimax[>[</path>]<]minimax[>[<all>true]<]minimax[>[</all>]<]minimax[>[<x>2.5]<]"
            "minimax[>[</x>]<]minimax[>[<maybe>null]<]minimax[>[</maybe>]<]minimax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"line": 3, "path": "3", "all": True, "x": 2.5, "maybe": None},
            )
        ],
    ),
    (
        "array of items",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<tags>]<]minimax[>[<item>a]<]minimax[>[</i'
            "tem>]<]minimax[>[<item>b]<]minimax[>[</item>]<]minimax[>[</tags>]<]minimax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"tags": ["a", "b"]},
            )
        ],
    ),
    (
        "one item",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<tags>]<]minimax[>[<item>a]<]minimax[>[</i'
            "tem>]<]minimax[>[</tags>]<]minimax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"tags": ["a"]},
            )
        ],
    ),
    (
        "empty array",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<tags>]<]minimax[>[</tags>]<]minimax[>[</i'
            "nvoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"tags": []},
            )
        ],
    ),
    (
        "object",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<opts>]<]minimax[>[<a>1]<]minimax[>[</a>]<'
            "]minimax[>[<b>]<]minimax[>[<c>true]<]minimax[>[</c>]<]minimax[>[</b>]<]minimax[>[</opts>"
            "]<]minimax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"opts": {"a": "1", "b": {"c": True}}},
            )
        ],
    ),
    (
        "empty object",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<opts>]<]minimax[>[</opts>]<]minimax[>[</i'
            "nvoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"opts": {}},
            )
        ],
    ),
    (
        "repeated name is an array",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<opts>]<]minimax[>[<a>1]<]minimax[>[</a>]<'
            "]minimax[>[<a>2]<]minimax[>[</a>]<]minimax[>[</opts>]<]minimax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"opts": {"a": ["1", "2"]}},
            )
        ],
    ),
    (
        "array of arrays",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<tags>]<]minimax[>[<item>]<]minimax[>[<ite'
            "m>1]<]minimax[>[</item>]<]minimax[>[</item>]<]minimax[>[<item>]<]minimax[>[<item>2]<]min"
            "imax[>[</item>]<]minimax[>[</item>]<]minimax[>[</tags>]<]minimax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"tags": [["1"], ["2"]]},
            )
        ],
    ),
    (
        "same names in one another",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<opts>]<]minimax[>[<opts>]<]minimax[>[<opt'
            "s>x]<]minimax[>[</opts>]<]minimax[>[</opts>]<]minimax[>[</opts>]<]minimax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"opts": {"opts": {"opts": "x"}}},
            )
        ],
    ),
    (
        "undeclared leaf",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<n>3]<]minimax[>[</n>]<]minimax[>[<t>true]'
            "<]minimax[>[</t>]<]minimax[>[<s>x]<]minimax[>[</s>]<]minimax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"n": "3", "t": True, "s": "x"},
            )
        ],
    ),
    (
        "JSON in an element",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<opts>{"a": 1}]<]minimax[>[</opts>]<]minim'
            "ax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"opts": {"a": 1}},
            )
        ],
    ),
    (
        "blanks behind the marker",
        (
            "]<]minimax[>[ <tool_call>\n"
            ']<]minimax[>[ <invoke name="read">]<]minimax[>[ <path>a]<]minimax[>[ </path>]<]minimax[>'
            "[ </invoke>\n"
            "]<]minimax[>[ </tool_call>"
        ),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "line breaks between arguments",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">\n'
            "]<]minimax[>[<path>a]<]minimax[>[</path>\n"
            "]<]minimax[>[<line>1]<]minimax[>[</line>\n"
            "]<]minimax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"path": "a", "line": 1},
            )
        ],
    ),
    (
        "no block",
        (']<]minimax[>[<invoke name="read_file">]<]minimax[>[<path>C:\\x]<]minimax[>[</path>]<]minimax[>[</invoke>'),
        [
            (
                "read_file",
                {"path": "C:\\x"},
                "the opening tag around the call is missing",
                "no such tool",
            )
        ],
    ),
    (
        "no block, closed",
        ']<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
        [
            (
                "ping",
                {},
                "the opening tag around the call is missing",
            )
        ],
    ),
    (
        "block not closed",
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>',
        [
            (
                "ping",
                {},
                "the closing tag around the call is missing",
            )
        ],
    ),
    (
        "block not closed before text",
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>\nSo',
        [
            (
                "ping",
                {},
                "the closing tag around the call is missing",
            ),
            "\nSo",
        ],
    ),
    (
        "block opened twice",
        (
            "]<]minimax[>[<tool_call>\n"
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>\n'
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "ping",
                {},
                "a duplicate opening tag",
            )
        ],
    ),
    (
        "block closed twice",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>\n'
            "]<]minimax[>[</tool_call>]<]minimax[>[</tool_call>"
        ),
        [
            (
                "ping",
                {},
                "a duplicate closing tag",
            )
        ],
    ),
    (
        "call not closed",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<path>a]<]minimax[>[</path>\n'
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"path": "a"},
                "the closing tag of the call is missing",
            )
        ],
    ),
    (
        "element not closed",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<path>a]<]minimax[>[</invoke>\n'
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"path": "a"},
                "a parameter has no closing tag",
            )
        ],
    ),
    (
        "inner element not closed",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<opts>]<]minimax[>[<a>1]<]minimax[>[</opts'
            ">]<]minimax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"opts": "]<]minimax[>[<a>1]<]minimax[>[</opts>"},
                "a parameter has no closing tag",
            )
        ],
    ),
    (
        "plain markup in a value",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<path><p>a</p> </path>]<]minimax[>[</path>'
            "]<]minimax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"path": "<p>a</p> </path>"},
            )
        ],
    ),
    (
        "entities are text",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<path>&lt;]<]minimax[>[</path>]<]minimax[>'
            "[</invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"path": "&lt;"},
            )
        ],
    ),
    (
        "cut in a value",
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="read">]<]minimax[>[<path>src',
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
        "cut in a marker",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<path>a]<]minimax[>[</path>]<]minimax[>[</'
            "invoke>\n"
            "]<]mi"
        ),
        [
            (
                "read",
                {"path": "a"},
                "the closing tag around the call is missing",
            )
        ],
    ),
    (
        "same key twice",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<path>a]<]minimax[>[</path>]<]minimax[>[<p'
            "ath>b]<]minimax[>[</path>]<]minimax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>"
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
        "unknown tool",
        (']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="rm">]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>'),
        [
            (
                "rm",
                {},
                "no such tool",
            )
        ],
    ),
    (
        "in reasoning",
        (
            "<mm:think>a\n"
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>\n'
            "]<]minimax[>[</tool_call></mm:think>"
        ),
        [
            "<mm:think>a\n",
            (
                "ping",
                {},
                "nested",
            ),
            "</mm:think>",
        ],
    ),
    ("stray closing tag", "Done.]<]minimax[>[</tool_call>", ["Done.]<]minimax[>[</tool_call>"]),
    (
        "closed by another name",
        (
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="read">]<]minimax[>[<path>a]<]minimax[>[</line>]<]minimax[>[</'
            "invoke>\n"
            "]<]minimax[>[</tool_call>"
        ),
        [
            (
                "read",
                {"path": "a"},
                "a closing tag with a different name",
            )
        ],
    ),
    ("marker as a word", "The marker ]<]minimax[>[ precedes tags.", ["The marker ]<]minimax[>[ precedes tags."]),
    (
        "in backticks",
        '`]<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>`',
        ['`]<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>`'],
    ),
    (
        "in a fence",
        (
            "```\n"
            "]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>\n'
            "]<]minimax[>[</tool_call>\n"
            "```"
        ),
        [
            (
                "```\n"
                "]<]minimax[>[<tool_call>\n"
                ']<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>\n'
                "]<]minimax[>[</tool_call>\n"
                "```"
            )
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(t, e, id=i) for i, t, e in CASES])
def test_reads(text: str, expected: Said) -> None:
    assert said("minimax-m3", text) == expected


@pytest.mark.parametrize("text", [pytest.param(t, id=i) for i, t, _ in CASES])
def test_cuts_do_not_matter(text: str) -> None:
    same_for_every_cut("minimax-m3", text)
