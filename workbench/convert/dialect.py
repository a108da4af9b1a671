"""Renames fields that servers of one protocol spell differently."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from workbench.wire import dumps, loads

SPELLINGS: Mapping[str, str] = {"max_completion_tokens": "max_tokens"}
"""Field name we write → older name of the same field (Chat Completions before OpenAI's reasoning models)."""


def rename_fields(body: bytes, known: Collection[str] | None) -> bytes:
    """Rename fields of a body we wrote to the names that a server knows.

    Args:
        body: a JSON object.
        known: all top-level fields that the server knows; None if unknown.
    """
    names = {new: old for new, old in SPELLINGS.items() if known and new not in known and old in known}
    value = loads(body) if names else None
    if not isinstance(value, dict) or not names.keys() & value.keys():
        return body
    return dumps({names.get(key, key): inner for key, inner in value.items()})
