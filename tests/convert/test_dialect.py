"""Fields under the names that a server knows."""

from __future__ import annotations

import pytest

from workbench import contracts
from workbench.contracts import Clues
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
    assert rename_fields(BODY, lambda name: None if known is None else name in known).replace(
        b" ", b""
    ) == body.replace(b" ", b"")


def test_what_is_no_object_or_has_no_such_field_stays() -> None:
    for body in (b'{"model": "m"}', b"[1]"):
        assert rename_fields(body, lambda name: name == "max_tokens") == body


def test_a_name_that_is_refused_is_written_in_the_other_way() -> None:
    """azure-models refuses max_completion_tokens for Mistral's models, and nothing lists the fields that it knows."""
    knows = contracts.get("azure-models", protocol="openai-chat", clues=Clues(model="mistral-large")).knows_field
    assert (knows("max_completion_tokens"), knows("max_tokens")) == (False, None)
    assert rename_fields(BODY, knows) == b'{"model":"m","max_tokens":9,"messages":[]}'
