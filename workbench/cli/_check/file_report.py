"""Results of ``check`` for one file, and their JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from workbench.cli._check.channel_lines import channels_json, channels_of
from workbench.contracts import Contradiction, FaultOrigin, Finding, Repair, Severity
from workbench.lazy_dataclass import dataclass
from workbench.rules import FAILED

if TYPE_CHECKING:
    from workbench.edits.repairs import ExchangeFix
    from workbench.rules import ContradictedFact, InspectedExchange, Inspection


@dataclass(frozen=True, slots=True)
class FileReport:
    """The inspection of one file.

    Attributes:
        inspection: with one finding for each cause.
        fixed: repairs of each exchange, with ``--fix``; None without.
        contradicted: facts of the contract that accepted requests contradict.
    """

    path: str
    inspection: Inspection
    fixed: tuple[ExchangeFix, ...] | None = None
    contradicted: tuple[ContradictedFact, ...] = ()

    @property
    def protocol(self) -> str | None:
        """The most frequent protocol; None if no exchange is with a model."""
        return _commonest([r.protocol for r in self.inspection.rows])

    @property
    def provider(self) -> str | None:
        """The most frequent contract; None if no exchange is with a model."""
        return _commonest([r.provider for r in self.inspection.rows])

    def count(self, severity: Severity) -> int:
        """Number of findings of this severity."""
        return sum(f.severity is severity for f in self.inspection.findings)

    def status(self, fail_on: str) -> int:
        """Exit status: 0 clean, 1 findings, 3 if something could not be checked."""
        worst = Severity(fail_on).rank
        if any(f.severity.rank <= worst for f in self.inspection.findings):
            return 1
        if any(f.rule == FAILED for f in self.inspection.findings):
            return 3
        judged = any(r.is_judged for r in self.inspection.rows)
        return 0 if judged and not self.inspection.damage and not self.undecided_rows else 3

    @property
    def undecided_rows(self) -> list[InspectedExchange]:
        """Exchanges that could not be checked completely: incomplete, or not decoded."""
        return [r for r in self.inspection.rows if r.is_undecided]

    def as_json(self) -> dict[str, object]:
        """One entry of ``files``."""
        rows = self.inspection.rows
        parents, channels = channels_of(rows), channels_json(rows)
        return {
            "path": self.path,
            "protocol": self.protocol,
            "provider": self.provider,
            "exchanges": [exchange_json(r, parents.get(r.index)) for r in rows],
            **({"channels": channels} if channels else {}),
            "findings": [finding_json(f) for f in self.inspection.findings],
            "contradictions": [_contradicted_json(c) for c in self.contradicted],
            **({"damage": list(self.inspection.damage)} if self.inspection.damage else {}),
            **({} if self.fixed is None else {"fixed": [_done_json(d) for d in self.fixed]}),
        }


def _contradicted_json(contradicted_fact: ContradictedFact) -> dict[str, object]:
    return {
        "contract": contradicted_fact.contract,
        "rule": contradicted_fact.rule,
        "fact": contradicted_fact.fact,
        "source": contradicted_fact.source,
        "date": contradicted_fact.date,
        "by": contradicted_fact.by,
        "count": len(contradicted_fact.exchanges),
        "exchanges": list(contradicted_fact.exchanges),
    }


def _done_json(exchange_fix: ExchangeFix) -> dict[str, object]:
    fixed = exchange_fix.fixed
    return {
        "exchange": exchange_fix.index,
        "before": fixed.before.value,
        "after": fixed.after.value,
        "repairs": [repair_json(r) for r in fixed.repairs],
        "remaining": [finding_json(f) for f in fixed.remaining],
    }


def exchange_json(row: InspectedExchange, channel: int | None = None) -> dict[str, object]:
    """One entry of ``exchanges``. ``channel``: index of the connection that it is part of."""
    return {
        "index": row.index,
        "protocol": row.protocol,
        "provider": row.provider,
        "model": row.model,
        "status": row.summary.status,
        "conversation": row.conversation,
        "hop": row.summary.hop or None,
        **({} if channel is None else {"channel": channel, "frames": row.frames}),
        **({"problems": list(row.problems)} if row.problems else {}),
    }


def finding_json(finding: Finding) -> dict[str, object]:
    """One entry of ``findings``."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "exchange": finding.exchange,
        "last": finding.exchange if finding.last is None else finding.last,
        "side": finding.side,
        "pointer": finding.pointer,
        "events": list(finding.events),
        "bytes": list(finding.span) if finding.span else None,
        "message": finding.message,
        "evidence": finding.evidence,
        "source": finding.source,
        "basis": finding.basis.value,
        "kind": finding.kind or None,
        "contradicts": _contradiction_json(finding.contradicts) if finding.contradicts else None,
        "origin": _origin_json(finding.origin) if finding.origin else None,
        "repairs": [repair_json(r) for r in finding.repairs],
        **({"places": [place_json(p) for p in finding.places]} if finding.places else {}),
    }


def place_json(finding: Finding) -> dict[str, object]:
    """One entry of ``places``."""
    return {
        "exchange": finding.exchange,
        "last": finding.exchange if finding.last is None else finding.last,
        "pointer": finding.pointer,
        "events": list(finding.events),
        "bytes": list(finding.span) if finding.span else None,
        "evidence": finding.evidence,
        "origin": _origin_json(finding.origin) if finding.origin else None,
    }


def _contradiction_json(against: Contradiction) -> dict[str, object]:
    return {
        "contract": against.contract,
        "rule": against.rule,
        "fact": against.fact,
        "source": against.source,
        "date": against.date,
        "exchange": against.exchange,
        "by": against.by,
    }


def _origin_json(origin: FaultOrigin) -> dict[str, object]:
    return {
        "exchange": origin.exchange,
        "hop": origin.hop or None,
        "side": origin.side,
        "pointer": origin.pointer,
        "message": origin.words,
    }


def repair_json(repair: Repair) -> dict[str, object]:
    """One entry of ``repairs``. Edits go from the end to the start, so that none moves the place of a later one."""
    edits = [
        {"op": e.op, "pointer": e.pointer, "bytes": list(e.span) if e.span else None, "old": e.old, "new": e.new}
        for e in reversed(repair.edits)
    ]
    return {"title": repair.title, "verified": repair.verified, "edits": edits}


def _commonest(values: list[str | None]) -> str | None:
    known = Counter(v for v in values if v)
    return max(known, key=lambda value: known[value], default=None)
