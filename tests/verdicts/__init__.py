"""Verdicts on many sessions, kept as data: another way to inspect has to find the same.

``approved`` holds a table for each source of sessions (``sources``). A session has a line for its rows and one for each
finding that it has (``lines``); a finding that several exchanges repeat at one place has one line, with their numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple, is_dataclass
from hashlib import sha256
from itertools import groupby

from workbench.rules import Inspector
from workbench.wire.session import Session

MOST_DETAILS = 20
"""Exchanges of one session whose chain is looked at."""


def lines(name: str, session: Session, provider: str | None = None) -> Iterator[str]:
    """What inspection says of a session, in lines that do not depend on the run."""
    inspector = Inspector(session, provider=provider)
    rows = inspector.run().rows
    conversations = " ".join("-" if row.conversation is None else str(row.conversation) for row in rows)
    judges = ", ".join(word for word, _ in groupby(row.provider or "-" for row in rows))
    yield f"{name}: conversations {conversations}; judged by {judges}; chain {_chain(inspector)}"
    where: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for row in rows:
        for finding in row.findings:
            place = finding.pointer or ("events " + ranges(finding.events) if finding.events else "-")
            where[finding.rule, finding.severity, finding.side, place].append(row.index)
    for (rule, severity, side, place), indices in sorted(where.items()):
        yield f"{name}: {ranges(indices)} {severity} {rule} {side} {place}"


def _chain(inspector: Inspector) -> str:
    """A digest of the closure and of the reasoning ledger of every exchange, or of some all over a long session."""
    digest = sha256()
    rows = [row for row in inspector.rows if row.protocol is not None]
    for row in rows[:: 1 + len(rows) // MOST_DETAILS]:
        detail = inspector.detail(row.index)
        for line in detail.closure.lines:
            digest.update(_values(line.id, line.name, line.call, line.results, line.state, line.flaws))
        for entry in detail.ledger.entries:
            digest.update(_values(entry.turn, entry.message, entry.received_in, entry.owed, entry.sent))
            digest.update(_values(entry.carrier, entry.sent_part, entry.differs))
    return digest.hexdigest()[:12]


def _values(*fields: object) -> bytes:
    """The values alone: names of classes and the sentences that people read may change."""
    return repr([_value(field) for field in fields]).encode()


def _value(field: object) -> object:
    if is_dataclass(field) and not isinstance(field, type):
        return astuple(field)
    if isinstance(field, (tuple, frozenset)):
        values = [_value(one) for one in field]
        return values if isinstance(field, tuple) else sorted(values, key=repr)
    return str(field) if isinstance(field, str) else field


def ranges(numbers: Iterable[int]) -> str:
    """``0-3,5 (×2),7`` of sorted numbers."""
    counts: dict[int, int] = {}
    for number in numbers:
        counts[number] = counts.get(number, 0) + 1
    runs: list[list[int]] = []
    for number in sorted(counts):
        if runs and number == runs[-1][-1] + 1 and counts[number] == counts[runs[-1][-1]]:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(_run(run, counts[run[0]]) for run in runs)


def _run(run: list[int], count: int) -> str:
    numbers = str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}"
    return numbers if count == 1 else f"{numbers}(×{count})"
