"""Token counts as written in answers, made disjoint."""

from __future__ import annotations

from workbench.ir import JsonValue, Usage


def count(value: JsonValue) -> int | None:
    """A whole number; None for anything else."""
    return value if type(value) is int else None


def count_at(holder: JsonValue, key: str) -> int | None:
    """The same of a key, where there is an object that has it."""
    return count(holder.get(key)) if isinstance(holder, dict) else None


def nested_usage(
    raw: dict[str, JsonValue],
    asked: int | None,
    made: int | None,
    *,
    cached: int | None,
    written: int | None,
    reasoning: int | None,
    total: int | None,
) -> Usage:
    """Counts of a provider that counts cached tokens into the input and reasoning into the output.

    Servers that count reasoning beside the output say so by their total.
    """
    is_beside = total == (asked or 0) + (made or 0) + (reasoning or 0)
    return Usage(
        input=None if asked is None else max(asked - (cached or 0) - (written or 0), 0),
        output=None if made is None else made + ((reasoning or 0) if is_beside else 0),
        cache_read=cached,
        cache_write=written,
        reasoning=reasoning,
        raw=raw,
    )
