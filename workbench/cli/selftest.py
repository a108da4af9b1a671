"""Plant known faults in healthy sessions, and count how many are named at the right place.

The healthy sessions are made on the spot: a client that keeps to the protocol, and the simulator of each contract,
with and without streaming. Each kind of fault is planted wherever it applies, one at a time. The healthy sessions
themselves, and each of their requests written in another way, are the negative control. Nothing leaves the process.

JSON output is one object:
  {"planted", "named", "control": {"exchanges", "alarms": [{"session", "exchange", "rule", "pointer", "message"}]},
   "faults": [{"fault", "planted", "named", "elsewhere"}],
   "misses": [{"fault", "session", "exchange", "places", "found": [{"rule", "pointer"}]}]}
"exchange" counts from zero there. "elsewhere": named by the right rule at another place.

Exit status: 1 when a fault is missed or something healthy is accused.
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
HELP = "how many planted faults are named at the right place"

SHOWN = 20
"""Misses, and false alarms, that are listed for people."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("contracts", metavar="CONTRACT", nargs="*", help="only with these providers (default: all)")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Run it and print what came of it."""
    from workbench.probes import selftest
    from workbench.probes.selftest.healthy import sessions

    report = selftest.run(sessions(args.contracts), progress=_say)
    _say("")
    if args.format == "json":
        _output.emit_json(_as_json(report))
    else:
        _print(report)
    return 0 if report.is_clean else 1


def _say(name: str) -> None:
    """What is being done, on a terminal alone."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{name}")
        sys.stderr.flush()


def _print(report: SelftestReport) -> None:
    width = max(len(name) for name in report.tallies)
    for name, tally in report.tallies.items():
        sign = "✓" if tally.named == tally.planted else "✗"
        where = f", {tally.elsewhere} at another place" if tally.elsewhere else ""
        told = f"{tally.named:,} of {tally.planted:,}{where}" if tally.planted else "not planted"
        _output.emit(f"{sign if tally.planted else '·'} {name:<{width}}  {told}")
    _output.emit()
    share = f" ({100 * report.named / report.planted:.1f} %)" if report.planted else ""
    _output.emit(f"named at the right place: {report.named:,} of {report.planted:,} planted faults{share}")
    _output.emit(f"false alarms: {len(report.alarms):,} in {report.healthy:,} healthy requests and answers")
    for miss in report.misses[:SHOWN]:
        _output.emit(f"  missed: {_missed(miss)}")
    for session, exchange, finding in report.alarms[:SHOWN]:
        _output.emit(f"  false alarm: {session}, exchange {exchange + 1}: {finding.rule} {finding.pointer}")
    left = max(0, len(report.misses) - SHOWN) + max(0, len(report.alarms) - SHOWN)
    if left:
        _output.emit(f"  and {left:,} more: --format json lists them all")


def _missed(miss: Miss) -> str:
    found = ", ".join(f"{rule} {pointer}" for rule, pointer in miss.found) or "nothing"
    places = " or ".join(miss.places) or "the answer"
    return _output.cut(f"{miss.fault} at {places} ({miss.session}, exchange {miss.exchange + 1}); said: {found}")


def _as_json(report: SelftestReport) -> JsonValue:
    return {
        "planted": report.planted,
        "named": report.named,
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
