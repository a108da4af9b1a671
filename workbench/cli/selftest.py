"""Plant known faults in healthy sessions, and count how many are reported at the right place.

The healthy sessions are generated: a client that follows the protocol, and the simulator of each contract, with and
without streaming. Each kind of fault is planted wherever it applies, one at a time. The healthy sessions themselves,
and each of their requests in other spellings, are the negative control. Nothing is sent.

JSON output is one object:
  {"planted", "named", "control": {"exchanges", "alarms": [{"session", "exchange", "rule", "pointer", "message"}]},
   "faults": [{"fault", "planted", "named", "elsewhere"}],
   "misses": [{"fault", "session", "exchange", "places", "found": [{"rule", "pointer"}]}]}
"exchange" counts from zero. "elsewhere": reported by the right rule at another place.

Exit status: 1 if a fault is missed or there is a false alarm.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from workbench.cli import _output

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.probes.selftest import Miss, SelftestReport

NAME = "selftest"
HELP = "plant known faults and count how many are found at the right place"

MOST_LINES = 20
"""Misses, and false alarms, that are printed."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("contracts", metavar="CONTRACT", nargs="*", help="only these contracts (default: all)")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Run the self-test and print the counts."""
    from workbench.probes import selftest
    from workbench.probes.selftest import sessions

    report = selftest.run(sessions(args.contracts), progress=_say)
    _say("")
    if args.format == "json":
        _output.emit_json(_as_json(report))
    else:
        _print(report)
    return 0 if report.is_clean else 1


def _say(name: str) -> None:
    """Show the current session on stderr, if that is a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{name}")
        sys.stderr.flush()


def _print(report: SelftestReport) -> None:
    width = max(len(name) for name in report.tallies)
    for name, tally in report.tallies.items():
        sign = "✓" if tally.named == tally.planted else "✗"
        where = f", {tally.elsewhere} found at the wrong place" if tally.elsewhere else ""
        score = f"{tally.named:,} of {tally.planted:,}{where}" if tally.planted else "not planted"
        _output.emit(f"{sign if tally.planted else '·'} {name:<{width}}  {score}")
    _output.emit()
    share = f" ({100 * report.named_count / report.planted_count:.1f} %)" if report.planted_count else ""
    _output.emit(f"found at the right place: {report.named_count:,} of {report.planted_count:,} planted faults{share}")
    _output.emit(f"false alarms: {len(report.alarms):,} in {report.healthy:,} healthy requests and responses")
    for miss in report.misses[:MOST_LINES]:
        _output.emit(f"  missed: {_miss_line(miss)}")
    for session, exchange, finding in report.alarms[:MOST_LINES]:
        _output.emit(f"  false alarm: {session}, exchange {exchange + 1}: {finding.rule} {finding.pointer}")
    more = max(0, len(report.misses) - MOST_LINES) + max(0, len(report.alarms) - MOST_LINES)
    if more:
        _output.emit(f"  and {more:,} more: --format json lists them all")


def _miss_line(miss: Miss) -> str:
    found = ", ".join(f"{rule} {pointer}" for rule, pointer in miss.found) or "nothing"
    places = " or ".join(miss.places) or "the response"
    return _output.cut(f"{miss.fault} at {places} ({miss.session}, exchange {miss.exchange + 1}); found: {found}")


def _as_json(report: SelftestReport) -> JsonValue:
    return {
        "planted": report.planted_count,
        "named": report.named_count,
        "control": {
            "exchanges": report.healthy,
            "alarms": [
                {"session": s, "exchange": n, "rule": f.rule, "pointer": f.pointer, "message": f.message}
                for s, n, f in report.alarms
            ],
        },
        "faults": [
            {"fault": name, "planted": t.planted, "named": t.named, "elsewhere": t.elsewhere}
            for name, t in report.tallies.items()
        ],
        "misses": [
            {
                "fault": m.fault,
                "session": m.session,
                "exchange": m.exchange,
                "places": list(m.places),
                "found": [{"rule": rule, "pointer": pointer} for rule, pointer in m.found],
            }
            for m in report.misses
        ],
    }
