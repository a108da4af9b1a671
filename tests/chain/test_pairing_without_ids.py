"""Calls and results of protocols without ids: the names tell, or the order does."""

from __future__ import annotations

import pytest

from workbench.chain._pairing import pairing_terms, read
from workbench.ir import Message, Text, ToolCallIR, ToolResultIR
from workbench.protocols.decode import REQUEST
from workbench.terms import ClosureTerms

PAIRS: list[tuple[str, str, str, dict[int, int]]] = [
    ("in order", "fg", "fg", {0: 0, 1: 1}),
    ("in another order", "fg", "gf", {0: 1, 1: 0}),
    ("twice the same tool", "ff", "ff", {0: 0, 1: 1}),
    ("without names", "fg", "--", {0: 0, 1: 1}),
    ("a name that nobody called", "fg", "fx", {0: 0, 1: 1}),
    ("one is missing", "fg", "g", {0: 1}),
]


@pytest.mark.parametrize(("called", "answered", "pairs"), [p[1:] for p in PAIRS], ids=[p[0] for p in PAIRS])
def test_pairs(called: str, answered: str, pairs: dict[int, int]) -> None:
    calls = Message("assistant", tuple(ToolCallIR(None, name, {}, "ollama") for name in called))
    results = [
        Message("tool", (ToolResultIR(None, (Text("r"),), name=None if name == "-" else name),)) for name in answered
    ]
    history = read([(REQUEST, [calls, *results])], pairing_terms(ClosureTerms(), itemized=False))
    found = {n: result.call.ref.part for n, result in enumerate(history.results) if result.call}
    assert found == pairs
