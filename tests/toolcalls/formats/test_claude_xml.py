"""Claude-like XML: what each shape of text says, however it is cut."""

from __future__ import annotations

import pytest

from tests.toolcalls.formats.reading import Said, said, same_for_every_cut

CASES: list[tuple[str, str, Said]] = [
    (
        "whole",
        ('<function_calls>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>\n</function_calls>'),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "no parameters",
        '<function_calls>\n<invoke name="ping">\n</invoke>\n</function_calls>',
        [
            (
                "ping",
                {},
            )
        ],
    ),
    (
        "two calls in a block",
        (
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            '<invoke name="ping">\n'
            "</invoke>\n"
            "</function_calls>"
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
            "I look.\n"
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</function_calls>\n"
            "Done."
        ),
        [
            "I look.\n",
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
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</function_calls>\n"
            "<function_calls>\n"
            '<invoke name="ping">\n'
            "</invoke>\n"
            "</function_calls>"
        ),
        [
            (
                "read",
                {"path": "a"},
            ),
            "\n",
            (
                "ping",
                {},
            ),
        ],
    ),
    (
        "no line breaks",
        ('<function_calls><invoke name="read"><parameter name="path">a</parameter></invoke></function_calls>'),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "single quotes",
        ("<function_calls><invoke name='read'><parameter name='path'>a</parameter></invoke></function_calls>"),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "no quotes",
        ("<function_calls><invoke name=read><parameter name=path>a</parameter></invoke></function_calls>"),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "more attributes",
        (
            '<function_calls><invoke name="read" id="1"><parameter name="path" type="string">a</param'
            "eter></invoke></function_calls>"
        ),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "closed in itself",
        '<function_calls><invoke name="ping"/></function_calls>',
        [
            (
                "ping",
                {},
            )
        ],
    ),
    (
        "types by schema",
        (
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="line">12</parameter>\n'
            '<parameter name="path">12</parameter>\n'
            '<parameter name="opts">{"a": [1]}</parameter>\n'
            '<parameter name="tags">["x"]</parameter>\n'
            '<parameter name="all">true</parameter>\n'
            '<parameter name="x">2.5</parameter>\n'
            '<parameter name="maybe">null</parameter>\n'
            "</invoke>\n"
            "</function_calls>"
        ),
        [
            (
                "read",
                {"line": 12, "path": "12", "opts": {"a": [1]}, "tags": ["x"], "all": True, "x": 2.5, "maybe": None},
            )
        ],
    ),
    (
        "undeclared keys",
        (
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="n">3</parameter>\n'
            '<parameter name="s">x y</parameter>\n'
            '<parameter name="o">{"a": 1}</parameter>\n'
            "</invoke>\n"
            "</function_calls>"
        ),
        [
            (
                "read",
                {"n": "3", "s": "x y", "o": {"a": 1}},
            )
        ],
    ),
    (
        "blanks in a value are data",
        (
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">\n'
            "  a \n"
            "</parameter>\n"
            "</invoke>\n"
            "</function_calls>"
        ),
        [
            (
                "read",
                {"path": "\n  a \n"},
            )
        ],
    ),
    (
        "entities are text",
        (
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a &lt; b &amp;&amp; c</parameter>\n'
            "</invoke>\n"
            "</function_calls>"
        ),
        [
            (
                "read",
                {"path": "a &lt; b &amp;&amp; c"},
            )
        ],
    ),
    (
        "markup in a value",
        (
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path"><div>a > b</div></parameter>\n'
            "</invoke>\n"
            "</function_calls>"
        ),
        [
            (
                "read",
                {"path": "<div>a > b</div>"},
            )
        ],
    ),
    (
        "no opening tag around it",
        ('<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>\n</function_calls>'),
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
        'count\n<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>',
        [
            "count\n",
            (
                "read",
                {"path": "a"},
                "the opening tag around the call is missing",
            ),
        ],
    ),
    (
        "two bare calls",
        ('<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>\n<invoke name="ping">\n</invoke>'),
        [
            (
                "read",
                {"path": "a"},
                "the opening tag around the call is missing",
            ),
            "\n",
            (
                "ping",
                {},
                "the opening tag around the call is missing",
            ),
        ],
    ),
    (
        "block not closed",
        ('<function_calls>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>'),
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
        ('<function_calls>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>\nThen.'),
        [
            (
                "read",
                {"path": "a"},
                "the closing tag around the call is missing",
            ),
            "\nThen.",
        ],
    ),
    (
        "block closed twice",
        (
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</function_calls></function_calls>"
        ),
        [
            (
                "read",
                {"path": "a"},
                "a duplicate closing tag",
            )
        ],
    ),
    (
        "block opened twice",
        (
            "<function_calls>\n"
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</function_calls>"
        ),
        [
            (
                "read",
                {"path": "a"},
                "a duplicate opening tag",
            )
        ],
    ),
    (
        "call not closed",
        ('<function_calls>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</function_calls>'),
        [
            (
                "read",
                {"path": "a"},
                "the closing tag of the call is missing",
            )
        ],
    ),
    (
        "call not closed before the next",
        (
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            '<invoke name="ping">\n'
            "</invoke>\n"
            "</function_calls>"
        ),
        [
            (
                "read",
                {"path": "a"},
                "the closing tag of the call is missing",
            ),
            (
                "ping",
                {},
            ),
        ],
    ),
    (
        "parameter not closed before the next",
        (
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a\n'
            '<parameter name="line">1</parameter>\n'
            "</invoke>\n"
            "</function_calls>"
        ),
        [
            (
                "read",
                {"path": "a\n", "line": 1},
                "a parameter has no closing tag",
            )
        ],
    ),
    (
        "parameter closed by the call",
        ('<function_calls>\n<invoke name="read">\n<parameter name="path">a</invoke>\n</function_calls>'),
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
        '<function_calls>\n<invoke name="read">\n<parameter name="path">a</function_calls>',
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
        "parameter without a name",
        ('<function_calls>\n<invoke name="read">\n<parameter>a</parameter>\n</invoke>\n</function_calls>'),
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
        (
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">x </parameter> y</parameter>\n'
            "</invoke>\n"
            "</function_calls>"
        ),
        [
            (
                "read",
                {"path": "x </parameter> y"},
                "a value contains tags of this format",
            )
        ],
    ),
    (
        "call's closing tag in a value",
        (
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">x </invoke> y</parameter>\n'
            '<parameter name="line">1</parameter>\n'
            "</invoke>\n"
            "</function_calls>"
        ),
        [
            (
                "read",
                {"path": "x </invoke> y", "line": 1},
                "a value contains tags of this format",
            )
        ],
    ),
    (
        "same key twice",
        (
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            '<parameter name="path">b</parameter>\n'
            "</invoke>\n"
            "</function_calls>"
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
        "cut in a value",
        '<function_calls>\n<invoke name="read">\n<parameter name="path">src',
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
        "cut in a tag",
        ('<function_calls>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>\n</function_c'),
        [
            (
                "read",
                {"path": "a"},
                "the closing tag around the call is missing",
            )
        ],
    ),
    (
        "stray closing tag of a parameter",
        '<function_calls>\n<invoke name="ping">\n</parameter>\n</invoke>\n</function_calls>',
        [
            (
                "ping",
                {},
                "a closing tag without its opening tag",
            )
        ],
    ),
    (
        "unknown tool",
        ('<function_calls>\n<invoke name="rm">\n<parameter name="path">a</parameter>\n</invoke>\n</function_calls>'),
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
        (
            "<think>Hm\n"
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</function_calls></think>"
        ),
        [
            "<think>Hm\n",
            (
                "read",
                {"path": "a"},
                "nested",
            ),
            "</think>",
        ],
    ),
    (
        "the tag as a word",
        'Open with <function_calls> and <invoke name="x"> then write.',
        ['Open with <function_calls> and <invoke name="x"> then write.'],
    ),
    (
        "in backticks",
        '`<function_calls><invoke name="ping"></invoke></function_calls>`',
        ['`<function_calls><invoke name="ping"></invoke></function_calls>`'],
    ),
    (
        "in a fence",
        (
            "```xml\n"
            "<function_calls>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</function_calls>\n"
            "```"
        ),
        [
            (
                "```xml\n"
                "<function_calls>\n"
                '<invoke name="read">\n'
                '<parameter name="path">a</parameter>\n'
                "</invoke>\n"
                "</function_calls>\n"
                "```"
            )
        ],
    ),
    (
        "prefixed tags",
        (
            "<antml:function_calls>\n"
            '<antml:invoke name="read">\n'
            '<antml:parameter name="path">a</antml:parameter>\n'
            "</antml:invoke>\n"
            "</antml:function_calls>"
        ),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "prefixed call with a plain parameter",
        (
            "<antml:function_calls>\n"
            '<antml:invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</antml:invoke>\n"
            "</antml:function_calls>"
        ),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "the older shape",
        (
            "<function_calls>\n"
            "<invoke>\n"
            "<tool_name>read</tool_name>\n"
            "<parameters>\n"
            "<path>a</path>\n"
            "<line>2</line>\n"
            "</parameters>\n"
            "</invoke>\n"
            "</function_calls>"
        ),
        [
            (
                "read",
                {"path": "a", "line": 2},
            )
        ],
    ),
    (
        "an element of that name in other XML",
        '<config><invoke method="a"/><parameter name="x">1</parameter></config>',
        ['<config><invoke method="a"/><parameter name="x">1</parameter></config>'],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(t, e, id=i) for i, t, e in CASES])
def test_reads(text: str, expected: Said) -> None:
    assert said("claude-xml", text) == expected


@pytest.mark.parametrize("text", [pytest.param(t, id=i) for i, t, _ in CASES])
def test_cuts_do_not_matter(text: str) -> None:
    same_for_every_cut("claude-xml", text)
