"""Asking every contract about one history of 500 messages, and converting it for those of other protocols.

Peer: one inspection of the same request under its own contract. Beside it one JSON round trip of the same bytes, and
the calls of Python functions, which do not depend on how busy the machine is. All other figures are CPU time.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections import Counter
from collections.abc import Callable

from benchmarks.goals import reach
from benchmarks.inspect import agent
from workbench.cli import COLLECT_AFTER
from workbench.rules.inspection import Inspector
from workbench.send import matrix
from workbench.wire.exchange import Exchange
from workbench.wire.session import MemorySession

MESSAGES = 500
ROUNDS = 3


def history() -> Exchange:
    """The last request of a coding agent that never compacts: 500 messages, 250 calls, about 1.3 MB."""
    for exchange in agent(MESSAGES // 2 + 1, 10**6):
        last = exchange
    return Exchange(last.id, last.request)


def seconds(run: Callable[[], object]) -> float:
    """Best CPU seconds."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def count_calls(run: Callable[[], object]) -> int:
    """Calls of Python functions, those of a generator each time that it goes on."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def main() -> None:
    """Print the ratios. Garbage is collected as rarely as in a command."""
    gc.set_threshold(COLLECT_AFTER, 10, 10)
    asked = MemorySession("history", (history(),))
    body = asked.exchange(0).request.body.raw  # type: ignore[union-attr]

    def every() -> list[matrix.MatrixRow]:
        inspector = Inspector(asked)
        return list(matrix.rows(inspector, matrix.longest(inspector)))

    rows = every()
    whole, own = seconds(every), seconds(lambda: Inspector(asked).run())
    trip = seconds(lambda: json.dumps(json.loads(body)))
    reach("matrix, 500 messages, all contracts", whole * 1e3)
    spoken = {row.protocol for row in rows}
    print(f"matrix: {MESSAGES} messages, {len(body) / 1e6:.1f} MB, {len(rows)} contracts, {len(spoken)} protocols")
    print("  " + ", ".join(f"{count} {verdict}" for verdict, count in Counter(r.verdict.value for r in rows).items()))
    print(f"  {whole:.2f} s CPU, {1000 * whole / len(rows):.0f} ms a contract")
    print(f"  {whole / own:.1f}× one inspection ({own:.3f} s), {whole / trip:.0f}× one JSON round trip")
    print(f"  {count_calls(every):,} calls of functions")
