"""Count the faults of tool use in sessions, and their cost.

PATH is a session in any readable format, or a folder with sessions at any depth. Nothing is sent.

  parsed     tool calls with arguments that are valid JSON; fitting: that also match the schema of a declared tool
  closure    requests with a tool call without its result, of those that replay tool calls
  reasoning  requests with missing or altered reasoning, of those that replay a response
  serial     requests that disable parallel tool calls, of those that declare tools
  repaired   broken tool calls that the model then made correctly; blocked: unusable calls that got an error as result

Token counts are those of the responses; if a response has none they are estimated from the bytes and marked with ~.
Prices are list prices of the date shown; a file prices.yaml next to keys.yaml replaces them. --turns splits the tokens
of each request: system prompt, the provider's overhead for tools, tool definitions, replayed history, new content; and
shows what a cache breakpoint at the end of tools or system would have saved.

JSON output is one object:
  {"prices": DATE, "by", "groups": [{"name", COUNT: N…}], "total": {COUNT: N…}, "sessions": [{"path", "trouble",
   "tokens", "dollars", "unpriced", "savings": [{"place", "tokens", "dollars", "why_not"}], "turns": [{"exchange",
   "conversation", "model", "system", "overhead", "tools", "history", "new", "prompt", "cache_read", "cache_write",
   "output", "reasoning", "counted", "dollars"}]}]}

Exit status: 2 if a named file cannot be read; the others are counted.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.views import RATES, money, saving_words, share_of

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.library import SessionMetrics
    from workbench.rules import Costs, Counts, TurnCost

NAME = "metrics"
HELP = "count the faults and the cost of tool use in sessions"

BY = ("provider", "model", "client", "day")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("paths", metavar="PATH", nargs="+", help="session files, or folders with session files")
    parser.add_argument("--by", choices=BY, default="provider", help="group by (default: provider)")
    parser.add_argument("--turns", action="store_true", help="show what the tokens of each request are used for")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Read the sessions, count, and print."""
    from workbench.cli import _progress
    from workbench.library import files, gather
    from workbench.rules import Counts, group_counts, load_prices

    prices = load_prices()
    found: list[SessionMetrics] = []
    paths = list(files(map(Path, args.paths)))
    with _progress.counting("counting", len(paths)) as advance:
        for one in gather(paths, prices):
            found.append(one)
            advance(note=one.path.name)
    status = 0
    for one in found:
        if one.trouble:
            status = _output.complain(one.trouble, 2)
    every = [pair for one in found for pair in one.counts]
    groups = group_counts(every, args.by)
    total = sum((counts for _, counts in every), Counts())
    if args.format == "json":
        _output.emit_json(_as_json(args.by, prices.date, groups, total, found))
    else:
        _print(args, prices.date, groups, total, found)
    return status


# As text.


def _print(
    args: argparse.Namespace,
    date: str,
    groups: dict[str, Counts],
    total: Counts,
    session_metricses: list[SessionMetrics],
) -> None:
    read = [one for one in session_metricses if not one.trouble]
    _output.emit(f"{_output.number(len(read), 'session')}, {_output.number(total.exchanges, 'exchange')} with a model")
    _output.emit()
    if total.exchanges:
        _table(args.by, groups, total)
        _output.emit()
        _output.emit(f"list prices of {date}; ~ estimated from bytes")
    if args.turns:
        for one in read:
            _turns(one)


COLUMNS = ("exchanges", "calls", *(rate.name for rate in RATES), "prompt", "output", "cost")


def _table(by: str, groups: dict[str, Counts], total: Counts) -> None:
    rows = [(name or "(unknown)", counts) for name, counts in groups.items()]
    rows += [("all", total)] if len(rows) > 1 else []
    cells: list[tuple[str, ...]] = [(by, *COLUMNS)]
    cells += [(_output.cut(name, 40), *_cells(counts)) for name, counts in rows]
    first = max(len(row[0]) for row in cells)
    widths = [max(len(row[n]) for row in cells) for n in range(1, len(cells[0]))]
    for name, *rest in cells:
        aligned = "  ".join(cell.rjust(width) for cell, width in zip(rest, widths, strict=True))
        _output.emit(f"{name:<{first}}  {aligned}")


def _cells(counts: Counts) -> tuple[str, ...]:
    """The columns of one group, as strings."""
    sign = "~" if counts.estimated else ""
    return (
        f"{counts.exchanges:,}",
        f"{counts.calls:,}",
        *(_share(*share_of(rate, counts)) for rate in RATES),
        f"{sign}{counts.prompt:,}",
        f"{sign}{counts.output:,}",
        money(counts.dollars) if counts.dollars else "-",
    )


def _share(part: int, whole: int) -> str:
    return f"{part:,}/{whole:,}" if whole else "-"


def _turns(one: SessionMetrics) -> None:
    _output.emit()
    _output.emit(f"{one.path}: {_cost_words(one.costs)}")
    head = ("exchange", "system", "overhead", "tools", "history", "new", "prompt", "cached", "output", "cost")
    cells = [head, *(_turn_cells(turn) for turn in one.costs.turns)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(head))]
    for row in cells:
        _output.emit("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    for saving in one.costs.savings():
        _output.emit(f"  {saving_words(saving)}")


def _turn_cells(turn: TurnCost) -> tuple[str, ...]:
    parts = (turn.system, turn.overhead, turn.tools, turn.history, turn.new)
    sign = "" if turn.is_counted else "~"
    price = money(turn.dollars) if turn.dollars is not None else "-"
    counted = (f"{sign}{turn.prompt:,}", f"{turn.cache_read:,}", f"{sign}{turn.output:,}")
    return (str(turn.index + 1), *(f"{part:,}" for part in parts), *counted, price)


def _cost_words(costs: Costs) -> str:
    words = f"{costs.total:,} tokens"
    words += f", {money(costs.dollars)}" if costs.dollars is not None else ""
    return words + (
        f"; no price for {', '.join(_output.cut(m, 40) for m in costs.unpriced_models)}"
        if costs.unpriced_models
        else ""
    )


# As JSON.


def _as_json(
    by: str, date: str, groups: dict[str, Counts], total: Counts, session_metricses: list[SessionMetrics]
) -> JsonValue:
    return {
        "prices": date,
        "by": by,
        "groups": [{"name": name, **asdict(counts)} for name, counts in groups.items()],
        "total": asdict(total),
        "sessions": [_session_json(one) for one in session_metricses],
    }


def _session_json(one: SessionMetrics) -> JsonValue:
    return {
        "path": str(one.path),
        "trouble": one.trouble or None,
        "tokens": one.costs.total,
        "dollars": one.costs.dollars,
        "unpriced": list(one.costs.unpriced_models),
        "savings": [asdict(saving) for saving in one.costs.savings()],
        "turns": [_turn_json(turn) for turn in one.costs.turns],
    }


def _turn_json(turn: TurnCost) -> JsonValue:
    names = ("conversation", "model", "system", "overhead", "tools", "history", "new", "prompt", "cache_read")
    values = {name: getattr(turn, name) for name in (*names, "cache_write", "output", "reasoning", "dollars")}
    return {"exchange": turn.index, **values, "counted": turn.is_counted}
