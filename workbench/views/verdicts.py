"""Signs and styles of verdicts; the word of the verdict is shown next to its sign."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

Signs: TypeAlias = Mapping[str, tuple[str, str]]

REQUEST_SIGNS: Signs = MappingProxyType(
    {
        "accepts": ("✓", "ok"),
        "refuses": ("✗", "error"),
        "suspicious": ("!", "warning"),
        "unknown": ("?", "muted"),
    }
)
"""Verdict of a contract on a request → sign and style."""

SCHEMA_SIGNS: Signs = MappingProxyType({"accepted": ("✓", "ok"), "changed": ("○", "info"), "refused": ("✗", "error")})
"""Verdict on the schema of a tool → sign and style."""

PROBE_SIGNS: Signs = MappingProxyType(
    {
        "pass": ("✓", "ok"),
        "partial": ("!", "warning"),
        "fail": ("✗", "error"),
        "inconclusive": ("?", "muted"),
    }
)
"""Outcome of a probe → sign and style."""
