"""Hermes JSON: what each shape of text says, however it is cut."""

from __future__ import annotations

import pytest

from tests.toolcalls.formats.reading import Said, said, same_for_every_cut

CASES: list[tuple[str, str, Said]] = [
    (
        "whole",
        '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>',
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "text around",
        'Look.\n<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>\nDone.',
        [
            "Look.\n",
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
            '{"name": "read", "arguments": {"path": "a"}}\n'
            "</tool_call>\n"
            "<tool_call>\n"
            '{"name": "ping", "arguments": {}}\n'
            "</tool_call>"
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
        '<tool_call>{"name":"read","arguments":{"path":"a"}}</tool_call>',
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "other key order",
        '<tool_call>{"arguments": {"path": "a"}, "name": "read"}</tool_call>',
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "parameters",
        '<tool_call>{"name": "read", "parameters": {"path": "a"}}</tool_call>',
        [
            (
                "read",
                {"path": "a"},
                "the arguments are in the key 'parameters'",
            )
        ],
    ),
    (
        "arguments null",
        '<tool_call>{"name": "ping", "arguments": null}</tool_call>',
        [
            (
                "ping",
                {},
                "arguments are null",
            )
        ],
    ),
    (
        "arguments absent",
        '<tool_call>{"name": "ping"}</tool_call>',
        [
            (
                "ping",
                {},
                "arguments are missing",
            )
        ],
    ),
    (
        "arguments empty text",
        '<tool_call>{"name": "ping", "arguments": ""}</tool_call>',
        [
            (
                "ping",
                {},
                "arguments are empty",
            )
        ],
    ),
    (
        "arguments in a string",
        '<tool_call>{"name": "read", "arguments": "{\\"path\\": \\"a\\"}"}</tool_call>',
        [
            (
                "read",
                {"path": "a"},
                "arguments are a string that contains JSON",
            )
        ],
    ),
    (
        "arguments a list",
        '<tool_call>{"name": "read", "arguments": [1]}</tool_call>',
        [
            (
                "read",
                [1],
                "arguments are not an object",
            )
        ],
    ),
    (
        "list of calls",
        ('<tool_call>[{"name": "ping", "arguments": {}}, {"name": "read", "arguments": {"path": "é"}}]</tool_call>'),
        [
            (
                "ping",
                {},
            ),
            (
                "read",
                {"path": "é"},
            ),
        ],
    ),
    (
        "two objects in a block",
        ('<tool_call>\n{"name": "ping", "arguments": {}}\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>'),
        [
            (
                "ping",
                {},
            ),
            (
                "read",
                {"path": "a"},
                "several calls in one element",
            ),
        ],
    ),
    (
        "closing tag in a string",
        '<tool_call>{"name": "read", "arguments": {"path": "</tool_call>"}}</tool_call>',
        [
            (
                "read",
                {"path": "</tool_call>"},
            )
        ],
    ),
    (
        "both tags in a string",
        ('<tool_call>{"name": "read", "arguments": {"path": "<tool_call>x</tool_call> y"}}</tool_call>'),
        [
            (
                "read",
                {"path": "<tool_call>x</tool_call> y"},
            )
        ],
    ),
    (
        "escapes in a string",
        ('<tool_call>{"name": "read", "arguments": {"path": "C:\\\\</tool_call>\\"\\n\\u00e9"}}</tool_call>'),
        [
            (
                "read",
                {"path": 'C:\\</tool_call>"\né'},
            )
        ],
    ),
    (
        "trailing comma",
        '<tool_call>{"name": "read", "arguments": {"path": "a",}}</tool_call>',
        [
            (
                "read",
                {"path": "a"},
                "not JSON; parsed as Python",
            )
        ],
    ),
    (
        "single quotes",
        "<tool_call>{'name': 'read', 'arguments': {'path': 'a', 'all': True}}</tool_call>",
        [
            (
                "read",
                {"path": "a", "all": True},
                "not JSON; parsed as Python",
            )
        ],
    ),
    (
        "doubled braces",
        '<tool_call>{{"name": "read", "arguments": {"path": "a"}}}</tool_call>',
        [
            (
                "read",
                {"path": "a"},
                "doubled braces",
            )
        ],
    ),
    (
        "one brace missing",
        '<tool_call>\n{"name": "read", "arguments": {"path": "a"}\n</tool_call>',
        [
            (
                "read",
                {"path": "a"},
                "arguments are not JSON",
            )
        ],
    ),
    (
        "quote missing",
        '<tool_call>\n{"name": "read", "arguments": {"path": "a}}\n</tool_call>\nso',
        [
            (
                "read",
                None,
                "arguments are not JSON",
            ),
            "\nso",
        ],
    ),
    (
        "quote missing, then another",
        (
            '<tool_call>{"name": "read", "arguments": {"path": "a}}</tool_call><tool_call>{"name": "p'
            'ing", "arguments": {}}</tool_call>'
        ),
        [
            (
                "read",
                None,
                "arguments are not JSON",
            ),
            (
                "ping",
                {},
            ),
        ],
    ),
    (
        "line break in a string",
        '<tool_call>{"name": "read", "arguments": {"path": "a\nb"}}</tool_call>',
        [
            (
                "read",
                None,
                "arguments are not JSON",
            )
        ],
    ),
    (
        "one bad block of two",
        (
            '<tool_call>{"name": "read", "arguments": {path}}</tool_call>\n'
            '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
        ),
        [
            (
                "read",
                None,
                "arguments are not JSON",
            ),
            "\n",
            (
                "ping",
                {},
            ),
        ],
    ),
    (
        "text behind the JSON",
        '<tool_call>{"name": "ping", "arguments": {}} now</tool_call>',
        [
            (
                "ping",
                {},
                "text after the arguments",
            )
        ],
    ),
    (
        "unclosed",
        '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}',
        [
            (
                "read",
                {"path": "a"},
                "unclosed",
            )
        ],
    ),
    (
        "unclosed, then text",
        '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\nAnd then I wait.',
        [
            (
                "read",
                {"path": "a"},
                "unclosed",
            ),
            "\nAnd then I wait.",
        ],
    ),
    (
        "unclosed, then another",
        (
            "<tool_call>\n"
            '{"name": "ping", "arguments": {}}\n'
            "<tool_call>\n"
            '{"name": "ping", "arguments": {}}\n'
            "</tool_call>"
        ),
        [
            (
                "ping",
                {},
                "unclosed",
            ),
            "\n",
            (
                "ping",
                {},
            ),
        ],
    ),
    (
        "cut in the arguments",
        '<tool_call>\n{"name": "read", "arguments": {"path": "src/ma',
        [
            (
                "read",
                None,
                "arguments are not JSON",
                "unclosed",
            )
        ],
    ),
    ("cut in the name", '<tool_call>\n{"name": "re', ['<tool_call>\n{"name": "re']),
    (
        "opened twice",
        '<tool_call>\n<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>',
        [
            (
                "ping",
                {},
                "a duplicate opening tag",
            )
        ],
    ),
    (
        "closed twice",
        '<tool_call>{"name": "ping", "arguments": {}}</tool_call>\n</tool_call>',
        [
            (
                "ping",
                {},
                "a duplicate closing tag",
            )
        ],
    ),
    ("stray closing tag", "All done.</tool_call>", ["All done.</tool_call>"]),
    (
        "fence in the block",
        '<tool_call>\n```json\n{"name": "ping", "arguments": {}}\n```\n</tool_call>',
        [
            (
                "ping",
                {},
            )
        ],
    ),
    (
        "in reasoning",
        '<think>I see.\n<tool_call>{"name": "ping", "arguments": {}}</tool_call></think>Hi',
        [
            "<think>I see.\n",
            (
                "ping",
                {},
                "nested",
            ),
            "</think>Hi",
        ],
    ),
    (
        "reasoning ends in it",
        '<think><tool_call>{"name": "ping", "arguments": {}}</think>Hi',
        [
            "<think>",
            (
                "ping",
                {},
                "unclosed",
                "nested",
            ),
            "</think>Hi",
        ],
    ),
    (
        "unknown tool",
        '<tool_call>{"name": "rm", "arguments": {}}</tool_call>',
        [
            (
                "rm",
                {},
                "no such tool",
            )
        ],
    ),
    (
        "number too large",
        '<tool_call>{"name": "read", "arguments": {"x": 1e999}}</tool_call>',
        [
            (
                "read",
                None,
                "a number that JSON cannot represent",
            )
        ],
    ),
    ("no name", '<tool_call>{"arguments": {}}</tool_call>', ['<tool_call>{"arguments": {}}</tool_call>']),
    (
        "the tag as a word",
        "Use <tool_call> and </tool_call> around <tool_call>{...}</tool_call>.",
        ["Use <tool_call> and </tool_call> around <tool_call>{...}</tool_call>."],
    ),
    (
        "in backticks",
        'Write `<tool_call>{"name": "ping", "arguments": {}}</tool_call>` so.',
        ['Write `<tool_call>{"name": "ping", "arguments": {}}</tool_call>` so.'],
    ),
    (
        "in a fence",
        '```\n<tool_call>{"name": "ping", "arguments": {}}</tool_call>\n```',
        ['```\n<tool_call>{"name": "ping", "arguments": {}}</tool_call>\n```'],
    ),
    (
        "behind a closed span",
        'Use `ping` now:\n<tool_call>{"name": "ping", "arguments": {}}</tool_call>',
        [
            "Use `ping` now:\n",
            (
                "ping",
                {},
            ),
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(t, e, id=i) for i, t, e in CASES])
def test_reads(text: str, expected: Said) -> None:
    assert said("hermes", text) == expected


@pytest.mark.parametrize("text", [pytest.param(t, id=i) for i, t, _ in CASES])
def test_cuts_do_not_matter(text: str) -> None:
    same_for_every_cut("hermes", text)
