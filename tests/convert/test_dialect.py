"""Fields under the names that a server knows."""

from __future__ import annotations

import pytest

from workbench.convert.convert import rename_fields

BODY = b'{"model": "m", "max_completion_tokens": 9, "messages": []}'


@pytest.mark.parametrize(
    ("known", "body"),
    [
        (None, BODY),
        (("model", "messages", "max_completion_tokens", "max_tokens"), BODY),
        (("model", "messages"), BODY),
        (("model", "messages", "max_tokens"), b'{"model":"m","max_tokens":9,"messages":[]}'),
    ],
)
def test_a_field_is_renamed_only_where_the_other_name_is_known(known: tuple[str, ...] | None, body: bytes) -> None:
    assert rename_fields(BODY, known).replace(b" ", b"") == body.replace(b" ", b"")


def test_what_is_no_object_or_has_no_such_field_stays() -> None:
    for body in (b'{"model": "m"}', b"[1]"):
        assert rename_fields(body, ("max_tokens",)) == body
