"""Limits of a field of a Python class, as pydantic's ``Field`` and the descriptions of generated SDKs state them."""

from __future__ import annotations

import ast
import re

from workbench.ir import JsonValue

_NUMBERS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_LENGTHS = {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"}
_COUNTS = {"min_length": "minItems", "max_length": "maxItems"}
_RANGE = re.compile(r"Required range: `(?:(-?[\d.]+) <= )?x(?: <= (-?[\d.]+))?`")
"""How SDKs state the minimum and the maximum of the description that they are generated from."""


def is_list(kind: JsonValue) -> bool:
    """A type may be a list."""
    arms = kind[1:] if isinstance(kind, list) and kind[:1] == ["|"] else [kind]
    return any(isinstance(arm, list) and arm[0] == "[]" for arm in arms)


def field_limits(call: ast.expr | None, *, is_list: bool) -> dict[str, JsonValue]:
    """Limits in ``Field(ge=0, max_length=5)``; those that are no constants are left out."""
    is_field = isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) == "Field"
    if not is_field or not isinstance(call, ast.Call):
        return {}
    words = _NUMBERS | (_COUNTS if is_list else _LENGTHS)
    found: dict[str, JsonValue] = {}
    for keyword in call.keywords:
        if keyword.arg in words:
            try:
                found[words[keyword.arg]] = ast.literal_eval(keyword.value)
            except ValueError:
                continue
    return found


def described_range(after: ast.stmt | None) -> dict[str, JsonValue]:
    """The range that the description behind a field states."""
    text = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else None
    said = _RANGE.search(text) if isinstance(text, str) else None
    if not said:
        return {}
    return {
        word: float(limit) if "." in limit else int(limit)
        for word, limit in zip(("minimum", "maximum"), said.groups(), strict=True)
        if limit
    }
