"""Keeps what is made of declared tools: each answer of a session is read with the same ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Final, TypeVar

from workbench.ir import ToolDef

MOST_KEPT: Final = 8
"""Lists of tools: those of an agent, of its sub-agents, and of a few beside it."""

Made = TypeVar("Made")


def per_tools(make: Callable[[Sequence[ToolDef]], Made]) -> Callable[[Sequence[ToolDef]], Made]:
    """A function that makes its result once for the same tools, as long as few other lists come between."""
    kept: tuple[tuple[tuple[ToolDef, ...], Made], ...] = ()

    def look_up(tools: Sequence[ToolDef]) -> Made:
        nonlocal kept
        for held, made in kept:
            if len(held) == len(tools) and all(map(is_, held, tools)):
                return made
        made = make(tools)
        kept = ((tuple(tools), made), *kept[: MOST_KEPT - 1])
        return made

    return look_up
