"""Google's list of models, which the simulator answers in both of its protocols."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.ir import JsonValue


def model(name: str) -> JsonValue:
    """One model of the list."""
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name,
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }


def models(names: Sequence[str], _: str) -> JsonValue:
    """The list."""
    return {"models": [model(name) for name in names]}
