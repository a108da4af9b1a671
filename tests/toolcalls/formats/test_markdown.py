"""Whether a place is inside Markdown code."""

from __future__ import annotations

import pytest

from workbench.toolcalls.formats._markdown import MarkdownCode


@pytest.mark.parametrize(
    ("text", "is_quoted"),
    [
        ("", False),
        ("a `b` c", False),
        ("a `b", True),
        ("a `b\n", False),
        ("a ``b ` c", True),
        ("a ``b ` c``", False),
        ("```\n", True),
        ("```xml\na\n", True),
        ("```\na\n```\n", False),
        ("a ```b", True),
        ("  ~~~\na", True),
        ("~~~~\n~~~\na", True),
        ("> ```\n> a", True),
        ("```\n`a`\n", True),
    ],
)
def test_markdown_code(text: str, is_quoted: bool) -> None:
    whole, pieces = MarkdownCode(), MarkdownCode()
    whole.pass_over(text)
    for char in text:
        pieces.pass_over(char)
    assert whole.is_quoted() is is_quoted
    assert pieces.is_quoted() is is_quoted
