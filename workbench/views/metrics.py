"""Rates, prices and savings of tool use in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from workbench.rules import Counts, Saving


class Rate(NamedTuple):
    """A share of counts.

    Attributes:
        part: name of the count.
        whole: names of the counts whose sum it is a share of.
        style: of its bar.
        text: one-line explanation.
    """

    name: str
    part: str
    whole: tuple[str, ...]
    style: str
    text: str


RATES = (
    Rate("parsed", "parsed", ("calls",), "ok", "tool calls with arguments that are valid JSON"),
    Rate("fitting", "fitting", ("calls",), "ok", "tool calls that also match the schema of a declared tool"),
    Rate("closure errors", "unclosed", ("histories",), "error", "requests with a tool call without its result"),
    Rate("reasoning errors", "reasoning_errors", ("replays",), "error", "requests with missing or altered reasoning"),
    Rate("calls in text", "text_calls", ("exchanges",), "error", "responses with a tool call written as text"),
    Rate("serial", "serial", ("with_tools",), "info", "requests that disable parallel tool calls"),
    Rate("repaired", "repaired", ("broken",), "ok", "broken tool calls that the model then made correctly"),
    Rate("blocked", "blocked", ("blocked", "executed"), "ok", "unusable tool calls that got an error as result"),
    Rate("refused", "refused", ("exchanges",), "error", "requests refused with a status of 400 to 499"),
)


def share_of(rate: Rate, counts: Counts) -> tuple[int, int]:
    """Part and whole of a rate."""
    return getattr(counts, rate.part), sum(getattr(counts, name) for name in rate.whole)


def money(dollars: float) -> str:
    """``$0.0123``."""
    if 0 < dollars < 0.00005:
        return "<$0.0001"
    return f"${dollars:,.4f}" if dollars < 100 else f"${dollars:,.2f}"


def saving_words(saving: Saving) -> str:
    """Tokens and money that a cache breakpoint would have saved, or why it would not."""
    place = f"a cache breakpoint at the end of {saving.place}"
    if saving.why_not:
        return f"{place}: {saving.why_not}"
    dollars = f", {money(saving.dollars)}" if saving.dollars is not None else ""
    return f"{place} would have saved {saving.tokens:,} uncached tokens{dollars}"
