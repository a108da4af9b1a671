"""Kimi K3 channels: what each shape of text says, however it is cut."""

from __future__ import annotations

import pytest

from tests.toolcalls.formats.reading import Said, said, same_for_every_cut

CASES: list[tuple[str, str, Said]] = [
    (
        "whole",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'
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
        ('<|open|>tools<|sep|><|open|>call tool="ping" index="1"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'),
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
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool="pin'
            'g" index="2"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'
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
            'Hi <|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="pa'
            'th" type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep'
            "|> there"
        ),
        [
            "Hi ",
            (
                "read",
                {"path": "a"},
            ),
            " there",
        ],
    ),
    (
        "the types it says",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>1<|close|>argument<|sep|><|open|>argument key="line" type="number"<'
            '|sep|>1<|close|>argument<|sep|><|open|>argument key="all" type="boolean"<|sep|>true<|clo'
            'se|>argument<|sep|><|open|>argument key="maybe" type="null"<|sep|>null<|close|>argument<'
            '|sep|><|open|>argument key="opts" type="object"<|sep|>{"a": 1}<|close|>argument<|sep|><|'
            'open|>argument key="tags" type="array"<|sep|>[1]<|close|>argument<|sep|><|close|>call<|s'
            "ep|><|close|>tools<|sep|>"
        ),
        [
            (
                "read",
                {"path": "1", "line": 1, "all": True, "maybe": None, "opts": {"a": 1}, "tags": [1]},
            )
        ],
    ),
    (
        "not of the type it says",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="line"'
            ' type="number"<|sep|>many<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep'
            "|>"
        ),
        [
            (
                "read",
                {"line": "many"},
            )
        ],
    ),
    (
        "no type",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="line"'
            "<|sep|>5<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
        ),
        [
            (
                "read",
                {"line": "5"},
            )
        ],
    ),
    (
        "attributes in another order",
        (
            '<|open|>tools<|sep|><|open|>call index="1" tool="read"<|sep|><|open|>argument type="numb'
            'er" key="line"<|sep|>5<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'
        ),
        [
            (
                "read",
                {"line": 5},
            )
        ],
    ),
    (
        "escapes in attributes",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="a&quo'
            't;b&amp;c" type="string"<|sep|>x &amp; y<|close|>argument<|sep|><|close|>call<|sep|><|cl'
            "ose|>tools<|sep|>"
        ),
        [
            (
                "read",
                {'a"b&c': "x &amp; y"},
            )
        ],
    ),
    (
        "arguments as JSON",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>json type="object"<'
            '|sep|>{"path": "a"}<|close|>json<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'
        ),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "arguments as broken JSON",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>json type="object"<'
            '|sep|>{"path": <|close|>json<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'
        ),
        [
            (
                "read",
                None,
                "arguments are not JSON",
            )
        ],
    ),
    (
        "line breaks between tags",
        (
            "<|open|>tools<|sep|>\n"
            '<|open|>call tool="read" index="1"<|sep|>\n'
            '<|open|>argument key="path" type="string"<|sep|>a<|close|>argument<|sep|>\n'
            "<|close|>call<|sep|>\n"
            "<|close|>tools<|sep|>"
        ),
        [
            (
                "read",
                {"path": "a"},
            )
        ],
    ),
    (
        "line breaks in a value are data",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>\n'
            "a\n"
            "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
        ),
        [
            (
                "read",
                {"path": "\na\n"},
            )
        ],
    ),
    (
        "no channel",
        (
            '<|open|>call tool="read" index="1"<|sep|><|open|>argument key="path" type="string"<|sep|'
            ">a<|close|>argument<|sep|><|close|>call<|sep|>"
        ),
        [
            (
                "read",
                {"path": "a"},
                "the opening tag around the call is missing",
            )
        ],
    ),
    (
        "no channel, closed",
        (
            '<|open|>call tool="read" index="1"<|sep|><|open|>argument key="path" type="string"<|sep|'
            ">a<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
        ),
        [
            (
                "read",
                {"path": "a"},
                "the opening tag around the call is missing",
            )
        ],
    ),
    (
        "channel not closed",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|>'
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
        "channel not closed before text",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|>So'
        ),
        [
            (
                "read",
                {"path": "a"},
                "the closing tag around the call is missing",
            ),
            "So",
        ],
    ),
    (
        "channel opened twice",
        (
            '<|open|>tools<|sep|><|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|'
            '>argument key="path" type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|><|'
            "close|>tools<|sep|>"
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
        "channel closed twice",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><'
            "|close|>tools<|sep|>"
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
        "call not closed",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>a<|close|>argument<|sep|><|close|>tools<|sep|>'
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
        "argument not closed",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>a<|close|>call<|sep|><|close|>tools<|sep|>'
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
        "argument closed twice",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>a<|close|>argument<|sep|><|close|>argument<|sep|><|close|>call<|sep'
            "|><|close|>tools<|sep|>"
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
        "closing tag in a value",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>a<|close|>argument<|sep|>b<|close|>argument<|sep|><|close|>call<|se'
            "p|><|close|>tools<|sep|>"
        ),
        [
            (
                "read",
                {"path": "a<|close|>argument<|sep|>b"},
                "a value contains tags of this format",
            )
        ],
    ),
    (
        "cut in an opening tag",
        ('<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path" type="strin'),
        [
            (
                "read",
                {},
                "unclosed",
            )
        ],
    ),
    (
        "cut in a value",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>a'
        ),
        [
            (
                "read",
                {"path": "a"},
                "a parameter has no closing tag",
                "unclosed",
            )
        ],
    ),
    (
        "cut behind a tag's beginning",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|><|close|>'
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
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>a<|close|>argument<|sep|><|open|>argument key="path" type="string"<'
            "|sep|>b<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
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
        ('<|open|>tools<|sep|><|open|>call tool="rm" index="1"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'),
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
            '<|open|>think<|sep|>a<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open'
            '|>argument key="path" type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|><'
            "|close|>tools<|sep|><|close|>think<|sep|>b"
        ),
        [
            "<|open|>think<|sep|>a",
            (
                "read",
                {"path": "a"},
                "nested",
            ),
            "<|close|>think<|sep|>b",
        ],
    ),
    (
        "in another channel",
        (
            '<|open|>response<|sep|>Hi<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="'
            'read" index="1"<|sep|><|open|>argument key="path" type="string"<|sep|>a<|close|>argument'
            "<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>"
        ),
        [
            "<|open|>response<|sep|>Hi<|close|>response<|sep|>",
            (
                "read",
                {"path": "a"},
            ),
            "<|close|>message<|sep|>",
        ],
    ),
    (
        "entities in a value are text",
        (
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>&quot;<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|s'
            "ep|>"
        ),
        [
            (
                "read",
                {"path": "&quot;"},
            )
        ],
    ),
    (
        "a tag as a word",
        "The tag <|open|>tools<|sep|> opens a channel.",
        ["The tag <|open|>tools<|sep|> opens a channel."],
    ),
    (
        "in backticks",
        (
            '`<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path'
            '" type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'
            "`"
        ),
        [
            (
                '`<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path'
                '" type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'
                "`"
            )
        ],
    ),
    (
        "in a fence",
        (
            "```\n"
            '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
            ' type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>\n'
            "```"
        ),
        [
            (
                "```\n"
                '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path"'
                ' type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>\n'
                "```"
            )
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(t, e, id=i) for i, t, e in CASES])
def test_reads(text: str, expected: Said) -> None:
    assert said("kimi-k3", text) == expected


@pytest.mark.parametrize("text", [pytest.param(t, id=i) for i, t, _ in CASES])
def test_cuts_do_not_matter(text: str) -> None:
    same_for_every_cut("kimi-k3", text)
