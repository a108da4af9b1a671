"""Facts of a capability profile in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.wire import dumps

if TYPE_CHECKING:
    from workbench.ir import JsonValue

MOST_FACT = 200
"""Characters of a fact."""


def fact_words(value: JsonValue) -> str:
    """A fact of a capability profile in a few words."""
    if value is None:
        return "not measured"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {fact_words(held)}" for name, held in value.items())[:MOST_FACT] or "nothing"
    if isinstance(value, list):
        return ", ".join(map(fact_words, value))[:MOST_FACT] or "none"
    if isinstance(value, str):
        return value[:MOST_FACT] or "none"
    return dumps(value).decode("utf-8", "replace")
