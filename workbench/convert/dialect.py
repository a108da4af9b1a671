"""One protocol, spoken by many servers: fields that have another name with some of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from workbench.wire.jsontext import dumps, loads

SPELLINGS: Mapping[str, str] = {"max_completion_tokens": "max_tokens"}
"""Field as it is written here → the name that it has elsewhere (Chat Completions before OpenAI's reasoning models)."""


def spelled(body: bytes, known: Collection[str] | None) -> bytes:
    """A body that was written here, with fields under the names that a server knows.

    Args:
        body: a JSON object.
        known: every top-level field that the server knows; None where it is not known which.
    """
    names = {new: old for new, old in SPELLINGS.items() if known and new not in known and old in known}
    value = loads(body) if names else None
    if not isinstance(value, dict) or not names.keys() & value.keys():
        return body
    return dumps({names.get(key, key): inner for key, inner in value.items()})
