"""Kimi K2 tokens: what each shape of text says, however it is cut."""

from __future__ import annotations

import pytest

from tests.toolcalls.formats.reading import Said, said, same_for_every_cut

CASES: list[tuple[str, str, Said]] = [
    (
        "whole",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begi"
            'n|>{"path": "a"}<|tool_call_end|><|tool_calls_section_end|>'
        ),
        [
            (
                "read",
                {"path": "a"},
                "id functions.read:0",
            )
        ],
    ),
    (
        "two calls",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begi"
            'n|>{"path": "a"}<|tool_call_end|><|tool_call_begin|>functions.ping:1<|tool_call_argument'
            "_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        [
            (
                "read",
                {"path": "a"},
                "id functions.read:0",
            ),
            (
                "ping",
                {},
                "id functions.ping:1",
            ),
        ],
    ),
    (
        "blanks between tokens",
        (
            "<|tool_calls_section_begin|>\n"
            "<|tool_call_begin|> functions.ping:0 <|tool_call_argument_begin|>\n"
            "{}\n"
            "<|tool_call_end|>\n"
            "<|tool_calls_section_end|>"
        ),
        [
            (
                "ping",
                {},
                "id functions.ping:0",
            )
        ],
    ),
    (
        "text around",
        (
            "Now.\n"
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begi"
            "n|>{}<|tool_call_end|><|tool_calls_section_end|> So."
        ),
        [
            "Now.\n",
            (
                "ping",
                {},
                "id functions.ping:0",
            ),
            " So.",
        ],
    ),
    (
        "no prefix in the id",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>ping:0<|tool_call_argument_begin|>{}<|too"
            "l_call_end|><|tool_calls_section_end|>"
        ),
        [
            (
                "ping",
                {},
                "id ping:0",
            )
        ],
    ),
    (
        "dots and dashes in the name",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.my.tool-x:3<|tool_call_argument"
            "_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        [
            (
                "my.tool-x",
                {},
                "no such tool",
                "id functions.my.tool-x:3",
            )
        ],
    ),
    (
        "colons in the name",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.srv:tool:3<|tool_call_argument_"
            "begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        [
            (
                "srv:tool",
                {},
                "no such tool",
                "id functions.srv:tool:3",
            )
        ],
    ),
    (
        "bare counter",
        (
            '<|tool_calls_section_begin|><|tool_call_begin|>3<|tool_call_argument_begin|>{"path": "a"'
            "}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        [
            (
                None,
                {"path": "a"},
                "the id does not have the form functions.NAME:INDEX",
                "no name",
                "id 3",
            )
        ],
    ),
    (
        "underscores in the id",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions_read_1<|tool_call_argument_begi"
            'n|>{"path": "a"}<|tool_call_end|><|tool_calls_section_end|>'
        ),
        [
            (
                "read",
                {"path": "a"},
                "the id does not have the form functions.NAME:INDEX",
                "id functions_read_1",
            )
        ],
    ),
    (
        "nothing between in the id",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functionsread0<|tool_call_argument_begin|"
            '>{"path": "a"}<|tool_call_end|><|tool_calls_section_end|>'
        ),
        [
            (
                "read",
                {"path": "a"},
                "the id does not have the form functions.NAME:INDEX",
                "id functionsread0",
            )
        ],
    ),
    (
        "foreign id",
        (
            '<|tool_calls_section_begin|><|tool_call_begin|>call_abc<|tool_call_argument_begin|>{"pat'
            'h": "a"}<|tool_call_end|><|tool_calls_section_end|>'
        ),
        [
            (
                None,
                {"path": "a"},
                "the id does not have the form functions.NAME:INDEX",
                "no name",
                "id call_abc",
            )
        ],
    ),
    (
        "section not closed",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begi"
            "n|>{}<|tool_call_end|>"
        ),
        [
            (
                "ping",
                {},
                "the closing tag around the call is missing",
                "id functions.ping:0",
            )
        ],
    ),
    (
        "section not closed before text",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begi"
            "n|>{}<|tool_call_end|>\n"
            "Done"
        ),
        [
            (
                "ping",
                {},
                "the closing tag around the call is missing",
                "id functions.ping:0",
            ),
            "\nDone",
        ],
    ),
    (
        "call not closed",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begi"
            "n|>{}<|tool_calls_section_end|>"
        ),
        [
            (
                "ping",
                {},
                "the closing tag of the call is missing",
                "id functions.ping:0",
            )
        ],
    ),
    (
        "call not closed before the next",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begi"
            "n|>{}<|tool_call_begin|>functions.ping:1<|tool_call_argument_begin|>{}<|tool_call_end|><"
            "|tool_calls_section_end|>"
        ),
        [
            (
                "ping",
                {},
                "the closing tag of the call is missing",
                "id functions.ping:0",
            ),
            (
                "ping",
                {},
                "id functions.ping:1",
            ),
        ],
    ),
    (
        "no section",
        "<|tool_call_begin|>functions.ping:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
        [
            (
                "ping",
                {},
                "the opening tag around the call is missing",
                "id functions.ping:0",
            )
        ],
    ),
    (
        "no section, closed",
        (
            "<|tool_call_begin|>functions.ping:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool"
            "_calls_section_end|>"
        ),
        [
            (
                "ping",
                {},
                "the opening tag around the call is missing",
                "id functions.ping:0",
            )
        ],
    ),
    (
        "two calls without a section",
        (
            "<|tool_call_begin|>functions.ping:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool"
            "_call_begin|>functions.ping:1<|tool_call_argument_begin|>{}<|tool_call_end|>"
        ),
        [
            (
                "ping",
                {},
                "the opening tag around the call is missing",
                "id functions.ping:0",
            ),
            (
                "ping",
                {},
                "the opening tag around the call is missing",
                "id functions.ping:1",
            ),
        ],
    ),
    (
        "misspelled section",
        (
            "<|tool_call_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begin"
            "|>{}<|tool_call_end|><|tool_call_section_end|>"
        ),
        [
            (
                "ping",
                {},
                "a token is misspelled",
                "id functions.ping:0",
            )
        ],
    ),
    (
        "begun twice",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_begin|>functi"
            "ons.ping:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        [
            (
                "ping",
                {},
                "a duplicate opening tag",
                "id functions.ping:0",
            )
        ],
    ),
    (
        "section begun twice",
        (
            "<|tool_calls_section_begin|><|tool_calls_section_begin|><|tool_call_begin|>functions.pin"
            "g:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        [
            (
                "ping",
                {},
                "a duplicate opening tag",
                "id functions.ping:0",
            )
        ],
    ),
    (
        "no argument token",
        (
            '<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0{"path": "a"}<|tool_call_'
            "end|><|tool_calls_section_end|>"
        ),
        [
            (
                "read",
                {"path": "a"},
                "the token before the arguments is missing",
                "id functions.read:0",
            )
        ],
    ),
    (
        "no arguments",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_end|><|tool_calls_section_end|>",
        [
            (
                "ping",
                {},
                "arguments are empty",
                "id functions.ping:0",
            )
        ],
    ),
    (
        "empty arguments",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begi"
            "n|><|tool_call_end|><|tool_calls_section_end|>"
        ),
        [
            (
                "ping",
                {},
                "arguments are empty",
                "id functions.ping:0",
            )
        ],
    ),
    (
        "arguments no JSON",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begi"
            'n|>{"path": a}<|tool_call_end|><|tool_calls_section_end|>'
        ),
        [
            (
                "read",
                None,
                "arguments are not JSON",
                "id functions.read:0",
            )
        ],
    ),
    (
        "arguments no object",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begi"
            "n|>[1]<|tool_call_end|><|tool_calls_section_end|>"
        ),
        [
            (
                "read",
                [1],
                "arguments are not an object",
                "id functions.read:0",
            )
        ],
    ),
    (
        "token in a string",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begi"
            'n|>{"path": "<|tool_call_end|><|tool_calls_section_end|>"}<|tool_call_end|><|tool_calls_'
            "section_end|>"
        ),
        [
            (
                "read",
                {"path": "<|tool_call_end|><|tool_calls_section_end|>"},
                "id functions.read:0",
            )
        ],
    ),
    (
        "quote missing",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begi"
            'n|>{"path": "a}<|tool_call_end|><|tool_call_begin|>functions.ping:1<|tool_call_argument_'
            "begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        [
            (
                "read",
                None,
                "arguments are not JSON",
                "id functions.read:0",
            ),
            (
                "ping",
                {},
                "the opening tag around the call is missing",
                "id functions.ping:1",
            ),
        ],
    ),
    (
        "arguments in a string",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begi"
            'n|>"{\\"path\\": \\"a\\"}"<|tool_call_end|><|tool_calls_section_end|>'
        ),
        [
            (
                "read",
                {"path": "a"},
                "arguments are a string that contains JSON",
                "id functions.read:0",
            )
        ],
    ),
    (
        "cut in the arguments",
        ('<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path": "src'),
        [
            (
                "read",
                None,
                "unclosed",
                "arguments are not JSON",
                "id functions.read:0",
            )
        ],
    ),
    (
        "cut in the id",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.re",
        [
            (
                None,
                {},
                "unclosed",
                "the id does not have the form functions.NAME:INDEX",
                "arguments are empty",
                "no name",
                "id functions.re",
            )
        ],
    ),
    (
        "cut in a token",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begi"
            "n|>{}<|tool_call_end|><|tool_calls_sect"
        ),
        [
            (
                "ping",
                {},
                "the closing tag around the call is missing",
                "id functions.ping:0",
            )
        ],
    ),
    (
        "unknown tool",
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.rm:0<|tool_call_argument_begin|"
            ">{}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        [
            (
                "rm",
                {},
                "no such tool",
                "id functions.rm:0",
            )
        ],
    ),
    (
        "in reasoning",
        (
            "<think>a\n"
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begi"
            "n|>{}<|tool_call_end|><|tool_calls_section_end|></think>"
        ),
        [
            "<think>a\n",
            (
                "ping",
                {},
                "nested",
                "id functions.ping:0",
            ),
            "</think>",
        ],
    ),
    (
        "empty section",
        "<|tool_calls_section_begin|><|tool_calls_section_end|>",
        ["<|tool_calls_section_begin|><|tool_calls_section_end|>"],
    ),
    (
        "the token as a word",
        "The token <|tool_calls_section_begin|> opens a section, <|tool_call_begin|> a call.",
        ["The token <|tool_calls_section_begin|> opens a section, <|tool_call_begin|> a call."],
    ),
    (
        "in backticks",
        (
            "`<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_beg"
            "in|>{}<|tool_call_end|><|tool_calls_section_end|>`"
        ),
        [
            (
                "`<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_beg"
                "in|>{}<|tool_call_end|><|tool_calls_section_end|>`"
            )
        ],
    ),
    (
        "in a fence",
        (
            "```\n"
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begi"
            "n|>{}<|tool_call_end|><|tool_calls_section_end|>\n"
            "```\n"
        ),
        [
            (
                "```\n"
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begi"
                "n|>{}<|tool_call_end|><|tool_calls_section_end|>\n"
                "```\n"
            )
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(t, e, id=i) for i, t, e in CASES])
def test_reads(text: str, expected: Said) -> None:
    assert said("kimi", text) == expected


@pytest.mark.parametrize("text", [pytest.param(t, id=i) for i, t, _ in CASES])
def test_cuts_do_not_matter(text: str) -> None:
    same_for_every_cut("kimi", text)
