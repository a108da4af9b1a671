"""The goals of the program, and what was reached in this run: printed as a table after the parts that were asked for.

A part hands over each figure under the name of its row. A row whose peer is not there is said to be not measured.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class Goal(NamedTuple):
    """A row of the table.

    Attributes:
        part: the benchmark that measures it.
        bound: that the figure must not pass.
        unit: of both.
        is_least: the bound is the least, not the most.
        digits: behind the point.
    """

    part: str
    bound: float
    unit: str = ""
    is_least: bool = False
    digits: int = 2

    def is_met(self, figure: float) -> bool:
        """The figure is within the bound."""
        return figure >= self.bound if self.is_least else figure <= self.bound


GOALS = {
    "check, 5,000 exchanges, compacted": Goal("checking", 5.0, "s of CPU"),
    "check, 5,000 exchanges, memory": Goal("checking", 120, "MB", digits=0),
    "check, 1,000 exchanges of one conversation": Goal("checking", 1.5, "s of CPU"),
    "check, 4,000 exchanges ÷ 1,000": Goal("checking", 4.4, "× (4 is linear)", digits=1),
    "one fault that lasts 200 exchanges": Goal("checking", 1, "findings", digits=0),
    "app, 5,000 exchanges: first break after the list": Goal("large", 1.0, "s"),
    "app, 5,000 exchanges: all inspected": Goal("large", 8.0, "s"),
    "app, keys meanwhile": Goal("large", 30, "ms", digits=0),
    "open 5,000: rows": Goal("startup", 1.2, "× an empty Textual app"),
    "open 5,000: all panes": Goal("startup", 1.4, "× an empty Textual app"),
    "matrix, 500 messages, all contracts": Goal("matrix", 250, "ms of CPU", digits=0),
    "check of 1 kB": Goal("startup", 10, "× python -c pass", digits=1),
    "--help": Goal("startup", 3, "× python -c pass", digits=1),
    "2,000 small files, on two cores": Goal("startup", 1200, "files/s", is_least=True, digits=0),
    "2,000 small files, for each CPU second": Goal("startup", 600, "files", is_least=True, digits=0),
    "conversion, anthropic-messages → openai-chat": Goal("convert", 0.5, "JSON trips more than LiteLLM"),
    "conversion, openai-chat → anthropic-messages": Goal("convert", 0.5, "JSON trips more than LiteLLM"),
    "text calls in pieces, Qwen XML": Goal("textcalls", 12_000, "calls/s", is_least=True, digits=0),
    "text calls in pieces, Hermes": Goal("textcalls", 20_000, "calls/s", is_least=True, digits=0),
    "text calls whole, Qwen XML": Goal("textcalls", 1.0, "× sglang", is_least=True),
    "text calls whole, Hermes": Goal("textcalls", 1.0, "× sglang", is_least=True),
    "writing 330 kB, redacted": Goal("writing", 2.0, "ms of CPU"),
    "recorder, 1,000 streams": Goal("relay", 2.0, "s of CPU"),
    "recorder, 1,000 JSON requests": Goal("relay", 0.45, "s of CPU"),
    "recorder, JSON requests": Goal("relay", 12_000, "/s", is_least=True, digits=0),
    "recorder, added to a frame of a WebSocket": Goal("relay", 0.2, "ms"),
    "recorder, frames of WebSockets beside mitmdump's": Goal("relay", 10, "×", is_least=True, digits=1),
    "recorder, first byte sooner than mitmdump's": Goal("relay", 12, "×", is_least=True, digits=1),
    "200 requests at once, breakpoint armed: longest wait": Goal("relay", 50, "ms", digits=0),
    "Home with large recent sessions": Goal("startup", 0.3, "s of CPU"),
    "hostile arguments of 16 kB": Goal("arguments", 0.5, "s of CPU"),
}

_reached: dict[str, float] = {}


def reach(row: str, figure: float) -> None:
    """Note the figure of a row. Raises KeyError for a row that is not in the table."""
    assert GOALS[row]
    _reached[row] = figure


def print_table(parts: Collection[str]) -> None:
    """Print every row whose part was run, and how many goals are met."""
    rows = {name: goal for name, goal in GOALS.items() if goal.part in parts}
    if not rows:
        return
    print(f"\n{'goals':<54}{'now':>10}{'goal':>11}")
    for name, goal in rows.items():
        sign, bound = ("≥" if goal.is_least else "≤"), f"{goal.bound:,.{goal.digits}f}"
        figure = _reached.get(name)
        now = "–" if figure is None else f"{figure:,.{goal.digits}f}"
        told = "not measured" if figure is None else "met" if goal.is_met(figure) else "missed"
        print(f"  {name:<52}{now:>10}  {sign} {bound:>7} {goal.unit:<28} {told}")
    met = sum(goal.is_met(_reached[name]) for name, goal in rows.items() if name in _reached)
    measured = sum(name in _reached for name in rows)
    print(f"  {met} of {measured} goals met, {len(rows) - measured} not measured")
