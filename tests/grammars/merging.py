"""Joining the types of several releases and sources, and the difference of two grammars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.grammars.python_types import ANY, _union
from workbench.ir import JsonValue

Types = dict[str, JsonValue]


def join(types: Types, more: Types, *, names_required: bool = True) -> Types:
    """Types that accept what either accepts: all keys and variants, and those required that both require.

    Args:
        names_required: the second source says which keys are required.
    """
    joined = dict(types)
    for name, each in more.items():
        known = joined.get(name)
        joined[name] = (
            _join(known, each, names_required) if isinstance(known, dict) and isinstance(each, dict) else known or each
        )
    return joined


def _join(one: dict[str, Any], other: dict[str, Any], names_required: bool) -> dict[str, Any]:
    keys = dict(one["keys"])
    for key, kind in other["keys"].items():
        keys[key] = join_kinds(keys[key], kind) if key in keys else kind
    both = set(one.get("need", ())) & set(other.get("need", ())) if names_required else one.get("need", ())
    need = sorted(both)
    limits = _join_limits(one, other)
    return (
        {"keys": dict(sorted(keys.items()))} | ({"limits": limits} if limits else {}) | ({"need": need} if need else {})
    )


def _join_limits(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Limits that both state; and those of keys that the other does not have, or has without any limit."""
    first, second = one.get("limits", {}), other.get("limits", {})
    return {key: first.get(key, second.get(key)) for key in sorted({*first, *second}) if _are_alike(key, first, second)}


def _are_alike(key: str, first: dict[str, Any], second: dict[str, Any]) -> bool:
    return key not in first or key not in second or first[key] == second[key]


def join_kinds(one: Any, other: Any) -> Any:
    """A type that accepts what either accepts."""
    if one == other:
        return one
    if isinstance(one, list) and isinstance(other, list) and one[0] == other[0] and one[0] in ("[]", "{}"):
        return [one[0], join_kinds(one[1], other[1])]
    return ANY if ANY in (one, other) else _union([one, other])


def reachable(types: Types, roots: Iterable[str]) -> Types:
    """The types that roots refer to."""
    found: Types = {}
    todo = list(roots)
    while todo:
        name = todo.pop()
        if name not in found:
            found[name] = types[name]
            todo += _names(types[name])
    return found


def _names(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        if value.startswith("#"):
            yield value[1:]
    elif isinstance(value, list):
        if value[:1] != ["="]:
            for each in value[1:]:
                yield from _names(each)
    elif isinstance(value, Mapping):
        for kind in value["keys"].values():
            yield from _names(kind)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """What changed, a line each."""
    for name in sorted({*old, *new}):
        if name not in new:
            yield f"- {name}"
        elif name not in old:
            yield f"+ {name}"
        elif old[name] != new[name]:
            yield from _changes(name, old[name], new[name])


def _changes(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted({*old["keys"], *new["keys"]}):
        if old["keys"].get(key) != new["keys"].get(key):
            sign = "+" if key not in old["keys"] else "-" if key not in new["keys"] else "~"
            yield f"{sign} {name}.{key}"
        elif old.get("limits", {}).get(key) != new.get("limits", {}).get(key):
            yield f"~ {name}.{key}: limits {new.get('limits', {}).get(key) or 'none'}"
    if old.get("need") != new.get("need"):
        yield f"~ {name}: required {', '.join(new.get('need', ())) or 'nothing'}"
