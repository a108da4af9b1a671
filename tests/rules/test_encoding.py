from __future__ import annotations

import pytest

ENCODINGS = [
    ("half of a pair", rb'"done \ud83d"', 1),
    ("the other half", rb'"done \ude00"', 1),
    ("a pair", rb'"done \ud83d\ude00"', 0),
    ("an escaped backslash", rb'"done \\ud83d"', 0),
    ("not UTF-8", b'"done \xff"', 1),
]


@pytest.mark.parametrize(("content", "count"), [r[1:] for r in ENCODINGS], ids=[r[0] for r in ENCODINGS])
def test_damaged_characters(anthropic, content, count, inspect):
    body = (
        b'{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "a"}, '
        b'{"role": "user", "content": ' + content + b"}]}"
    )
    found = inspect(body, None, protocol="anthropic-messages", provider="anthropic")
    assert [(f.rule, f.severity, f.pointer) for f in found] == [
        ("args.encoding", "error", "/messages/1/content")
    ] * count
