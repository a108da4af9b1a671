"""Verdict line for sessions without a break: how many exchanges were checked, and under which contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.rules import InspectedExchange


def verdict(rows: Sequence[InspectedExchange], damage: Sequence[str] = ()) -> str:
    """One sentence that claims no more than was checked."""
    judged = [r for r in rows if r.is_judged and not r.is_undecided]
    if not judged:
        why = list(dict.fromkeys(p for r in rows for p in r.problems)) or ["no exchanges with a model", *damage]
        return f"nothing to check: {why[0]}" + (" (and more)" if len(why) > 1 else "")
    contracts = list(dict.fromkeys(f"{r.provider} ({r.provider_from})" for r in judged if r.provider))
    named = ", ".join(contracts[:3]) + (" and others" if len(contracts) > 3 else "")
    where = "" if len(judged) == len(rows) else f" in {len(judged):,} of {len(rows):,} exchanges"
    under = f" under contract {named}" if named else " between the agent and its tool servers"
    return "; ".join((f"no breaks found{where}{under}", *gaps(rows, damage)))


def gaps(rows: Sequence[InspectedExchange], damage: Sequence[str] = ()) -> list[str]:
    """Exchanges and places that were not checked, a few words each."""
    undecided = sum(r.is_undecided for r in rows)
    foreign = sum(not r.is_judged and not r.is_undecided for r in rows)
    return [
        *([f"{undecided:,} not checked"] if undecided else ()),
        *([f"{foreign:,} without a request to a model"] if foreign else ()),
        *([f"{len(damage):,} damaged {'place' if len(damage) == 1 else 'places'}"] if damage else ()),
    ]
