"""How often tool use went wrong in sessions, and what they cost.

PATH is a session in any readable format, or a folder: then every session below it is counted. Nothing is sent.

  calls      calls whose arguments parse, and fit the schema of a declared tool
  closure    requests with a call that has no result in its place, of those that replay calls
  reasoning  requests whose replayed reasoning is missing or not what came, of those that replay an answer
  serial     requests that switch parallel calls off, of those that declare tools
  repaired   broken calls after which the model made a usable one; blocked: those that were answered with an error

Tokens are those that answers count; where one counts nothing they are estimated from the bytes, and marked with ~.
Prices are list prices of the date shown; a file prices.yaml beside keys.yaml replaces them. --turns shows what each
request was spent on: system prompt, the provider's overhead for tools, their definitions, replayed history, what is
new, and what a cache breakpoint at the end of tools or system would have saved.

JSON output is one object:
  {"prices": DATE, "by", "groups": [{"name", COUNT: N…}], "total": {COUNT: N…}, "sessions": [{"path", "trouble",
   "tokens", "dollars", "unpriced", "savings": [{"place", "tokens", "dollars", "why_not"}], "turns": [{"exchange",
   "conversation", "model", "system", "overhead", "tools", "history", "new", "prompt", "cache_read", "cache_write",
   "output", "reasoning", "counted", "dollars"}]}]}

Exit status: 2 when a named file cannot be read; what can be is counted all the same.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _output

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.library.metrics import Gathered
    from workbench.rules.costs import Costs, Saving, Turn
    from workbench.rules.counts import Counts

NAME = "metrics"
HELP = "how often tool use went wrong, and what it cost"

BY = ("provider", "model", "client", "day")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("paths", metavar="PATH", nargs="+", help="sessions, or folders of them")
    parser.add_argument("--by", choices=BY, default="provider", help="group by (default: provider)")
    parser.add_argument("--turns", action="store_true", help="what each request was spent on")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Count what the paths hold."""
    from workbench.cli import _progress
    from workbench.library.metrics import files, gather
    from workbench.rules.counts import Counts, grouped
    from workbench.rules.prices import prices

    listed = prices()
    found: list[Gathered] = []
    meant = list(files(map(Path, args.paths)))
    with _progress.counting("counting", len(meant)) as advance:
        for one in gather(meant, listed):
            found.append(one)
            advance(note=one.path.name)
    status = 0
    for one in found:
        if one.trouble:
            status = _output.complain(one.trouble, 2)
    every = [pair for one in found for pair in one.counts]
    groups = grouped(every, args.by)
    total = sum((counts for _, counts in every), Counts())
    if args.format == "json":
        _output.emit_json(_as_json(args.by, listed.date, groups, total, found))
    else:
        _print(args, listed.date, groups, total, found)
    return status


# As text.


def _print(
    args: argparse.Namespace, date: str, groups: dict[str, Counts], total: Counts, found: list[Gathered]
) -> None:
    read = [one for one in found if not one.trouble]
    _output.emit(f"{_output.number(len(read), 'session')}, {_output.number(total.exchanges, 'exchange')} with a model")
    _output.emit()
    if total.exchanges:
        _table(args.by, groups, total)
        _output.emit()
        _output.emit(f"list prices of {date}; ~ estimated from bytes")
    if args.turns:
        for one in read:
            _turns(one)


RATES = ("parsed", "fitting", "closure", "reasoning", "serial", "repaired", "blocked")
COLUMNS = ("exchanges", "refused", "calls", *RATES, "prompt", "output", "cost")


def _table(by: str, groups: dict[str, Counts], total: Counts) -> None:
    rows = [(name or "(not known)", counts) for name, counts in groups.items()]
    rows += [("all", total)] if len(rows) > 1 else []
    cells: list[tuple[str, ...]] = [(by, *COLUMNS)]
    cells += [(_output.cut(name, 40), *_cells(counts)) for name, counts in rows]
    first = max(len(row[0]) for row in cells)
    widths = [max(len(row[n]) for row in cells) for n in range(1, len(cells[0]))]
    for name, *rest in cells:
        shown = "  ".join(cell.rjust(width) for cell, width in zip(rest, widths, strict=True))
        _output.emit(f"{name:<{first}}  {shown}")


def _cells(counts: Counts) -> tuple[str, ...]:
    """The columns of one group, as strings."""
    sign = "~" if counts.estimated else ""
    return (
        f"{counts.exchanges:,}",
        f"{counts.refused:,}",
        f"{counts.calls:,}",
        _share(counts.parsed, counts.calls),
        _share(counts.fitting, counts.calls),
        _share(counts.unclosed, counts.histories),
        _share(counts.reasoning_errors, counts.replays),
        _share(counts.serial, counts.with_tools),
        _share(counts.repaired, counts.broken),
        _share(counts.blocked, counts.blocked + counts.executed),
        f"{sign}{counts.prompt:,}",
        f"{sign}{counts.output:,}",
        f"${counts.dollars:,.4f}" if counts.dollars else "-",
    )


def _share(part: int, whole: int) -> str:
    return f"{part:,}/{whole:,}" if whole else "-"


def _turns(one: Gathered) -> None:
    _output.emit()
    _output.emit(f"{one.path}: {_spent(one.costs)}")
    head = ("exchange", "system", "overhead", "tools", "history", "new", "prompt", "cached", "output", "cost")
    cells = [head, *(_turn_cells(turn) for turn in one.costs.turns)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(head))]
    for row in cells:
        _output.emit("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    for saving in one.costs.savings():
        _output.emit(f"  {_saving_words(saving)}")


def _turn_cells(turn: Turn) -> tuple[str, ...]:
    parts = (turn.system, turn.overhead, turn.tools, turn.history, turn.new)
    sign = "" if turn.is_counted else "~"
    price = f"${turn.dollars:.4f}" if turn.dollars is not None else "-"
    counted = (f"{sign}{turn.prompt:,}", f"{turn.cache_read:,}", f"{sign}{turn.output:,}")
    return (str(turn.index + 1), *(f"{part:,}" for part in parts), *counted, price)


def _spent(costs: Costs) -> str:
    words = f"{costs.total:,} tokens"
    words += f", ${costs.dollars:,.4f}" if costs.dollars is not None else ""
    return words + (f"; no price for {', '.join(_output.cut(m, 40) for m in costs.unpriced)}" if costs.unpriced else "")


def _saving_words(saving: Saving) -> str:
    place = f"a cache breakpoint at the end of {saving.place}"
    if saving.why_not:
        return f"{place}: {saving.why_not}"
    money = f", ${saving.dollars:,.4f}" if saving.dollars is not None else ""
    return f"{place} would have saved {saving.tokens:,} tokens from being read anew{money}"


# As JSON.


def _as_json(by: str, date: str, groups: dict[str, Counts], total: Counts, found: list[Gathered]) -> JsonValue:
    return {
        "prices": date,
        "by": by,
        "groups": [{"name": name, **asdict(counts)} for name, counts in groups.items()],
        "total": asdict(total),
        "sessions": [_session_json(one) for one in found],
    }


def _session_json(one: Gathered) -> JsonValue:
    return {
        "path": str(one.path),
        "trouble": one.trouble or None,
        "tokens": one.costs.total,
        "dollars": one.costs.dollars,
        "unpriced": list(one.costs.unpriced),
        "savings": [asdict(saving) for saving in one.costs.savings()],
        "turns": [_turn_json(turn) for turn in one.costs.turns],
    }


def _turn_json(turn: Turn) -> JsonValue:
    names = ("conversation", "model", "system", "overhead", "tools", "history", "new", "prompt", "cache_read")
    held = {name: getattr(turn, name) for name in (*names, "cache_write", "output", "reasoning", "dollars")}
    return {"exchange": turn.index, **held, "counted": turn.is_counted}
