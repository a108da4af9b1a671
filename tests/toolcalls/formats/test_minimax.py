"""MiniMax M2 XML: what each shape of text says, however it is cut."""

from __future__ import annotations

import pytest

from tests.toolcalls.formats.reading import Said, said, same_for_every_cut

CASES: list[tuple[str, str, Said]] = [
    (
        "whole",
        (
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>"
        ),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "no parameters",
        '<minimax:tool_call>\n<invoke name="ping">\n</invoke>\n</minimax:tool_call>',
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            '<invoke name="ping">\n'
            "</invoke>\n"
            "</minimax:tool_call>"
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>\n"
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>\n"
            "<minimax:tool_call>\n"
            '<invoke name="ping">\n'
            "</invoke>\n"
            "</minimax:tool_call>"
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
        ('<minimax:tool_call><invoke name="read"><parameter name="path">a</parameter></invoke></minimax:tool_call>'),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "single quotes",
        ("<minimax:tool_call><invoke name='read'><parameter name='path'>a</parameter></invoke></minimax:tool_call>"),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "no quotes",
        ("<minimax:tool_call><invoke name=read><parameter name=path>a</parameter></invoke></minimax:tool_call>"),
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
            '<minimax:tool_call><invoke name="read" id="1"><parameter name="path" type="string">a</pa'
            "rameter></invoke></minimax:tool_call>"
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
        '<minimax:tool_call><invoke name="ping"/></minimax:tool_call>',
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="line">12</parameter>\n'
            '<parameter name="path">12</parameter>\n'
            '<parameter name="opts">{"a": [1]}</parameter>\n'
            '<parameter name="tags">["x"]</parameter>\n'
            '<parameter name="all">true</parameter>\n'
            '<parameter name="x">2.5</parameter>\n'
            '<parameter name="maybe">null</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>"
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="n">3</parameter>\n'
            '<parameter name="s">x y</parameter>\n'
            '<parameter name="o">{"a": 1}</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>"
        ),
        [
            (
                "read",
                {"n": 3, "s": "x y", "o": {"a": 1}},
            )
        ],
    ),
    (
        "blanks in a value are data",
        (
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">\n'
            "  a \n"
            "</parameter>\n"
            "</invoke>\n"
            "</minimax:tool_call>"
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a &lt; b &amp;&amp; c</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>"
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path"><div>a > b</div></parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>"
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
        ('<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>\n</minimax:tool_call>'),
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
        ('<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>'),
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
        ('<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>\nThen.'),
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call></minimax:tool_call>"
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
            "<minimax:tool_call>\n"
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>"
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
        ('<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</minimax:tool_call>'),
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            '<invoke name="ping">\n'
            "</invoke>\n"
            "</minimax:tool_call>"
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a\n'
            '<parameter name="line">1</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>"
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
        ('<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">a</invoke>\n</minimax:tool_call>'),
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
        ('<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">a</minimax:tool_call>'),
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
        ('<minimax:tool_call>\n<invoke name="read">\n<parameter>a</parameter>\n</invoke>\n</minimax:tool_call>'),
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">x </parameter> y</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>"
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">x </invoke> y</parameter>\n'
            '<parameter name="line">1</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>"
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            '<parameter name="path">b</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>"
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
        '<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">src',
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
        ('<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>\n</minimax:tool_'),
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
        ('<minimax:tool_call>\n<invoke name="ping">\n</parameter>\n</invoke>\n</minimax:tool_call>'),
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
        (
            "<minimax:tool_call>\n"
            '<invoke name="rm">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>"
        ),
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
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call></think>"
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
        'Open with <minimax:tool_call> and <invoke name="x"> then write.',
        ['Open with <minimax:tool_call> and <invoke name="x"> then write.'],
    ),
    (
        "in backticks",
        '`<minimax:tool_call><invoke name="ping"></invoke></minimax:tool_call>`',
        ['`<minimax:tool_call><invoke name="ping"></invoke></minimax:tool_call>`'],
    ),
    (
        "in a fence",
        (
            "```xml\n"
            "<minimax:tool_call>\n"
            '<invoke name="read">\n'
            '<parameter name="path">a</parameter>\n'
            "</invoke>\n"
            "</minimax:tool_call>\n"
            "```"
        ),
        [
            (
                "```xml\n"
                "<minimax:tool_call>\n"
                '<invoke name="read">\n'
                '<parameter name="path">a</parameter>\n'
                "</invoke>\n"
                "</minimax:tool_call>\n"
                "```"
            )
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(t, e, id=i) for i, t, e in CASES])
def test_reads(text: str, expected: Said) -> None:
    assert said("minimax", text) == expected


@pytest.mark.parametrize("text", [pytest.param(t, id=i) for i, t, _ in CASES])
def test_cuts_do_not_matter(text: str) -> None:
    same_for_every_cut("minimax", text)
