"""The findings of an exchange: those made for it, and those it carries from the requests that it continues."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple, overload

from workbench.contracts import BESIDE, Finding
from workbench.lazy_dataclass import replace


def in_wire(finding: Finding) -> tuple[object, ...]:
    """Key of the order of an exchange. What no check found but a review of all findings comes last."""
    return finding.severity.rank, finding.order is None, finding.order[:5] if finding.order else ()


class FindingLog:
    """Findings about the messages of a history, in the order of these. It grows.

    Attributes:
        findings: as they are in the last exchange that found them itself.
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._messages: list[int] = []
        self._likes: defaultdict[Hashable, list[int]] = defaultdict(list)

    def add(self, findings: Iterable[tuple[int, Finding]]) -> None:
        """Append findings about messages behind all those before."""
        for message, finding in findings:
            self._likes[likeness(finding)].append(len(self.findings))
            self.findings.append(finding)
            self._messages.append(message)

    def before(self, message: int) -> int:
        """Number of findings about messages before one."""
        return bisect_left(self._messages, message)

    def first(self, count: int) -> FindingLog:
        """Another log that begins with the first findings of this one."""
        other = FindingLog()
        other.add(zip(self._messages[:count], self.findings, strict=False))
        return other

    def count_with_same_cause(self, finding: Finding, count: int) -> int:
        """How many of the first findings have the cause of a finding."""
        return bisect_left(self._likes.get(likeness(finding), ()), count)


def likeness(finding: Finding) -> Hashable:
    """Equal for findings of one cause that weigh the same."""
    return finding.cause, finding.rule, finding.counts_as or finding.severity


class Growth(NamedTuple):
    """Bytes that a list of messages has more than before, and where it ended then."""

    end: int
    bytes: int

    def move(self, span: tuple[int, int]) -> tuple[int, int]:
        """The place of what was there."""
        start, end = (at + self.bytes if at >= self.end else at for at in span)
        return start, end


class CarriedFindings(Sequence[Finding]):
    """The findings of an exchange: those made for it, and the first ones of a log.

    Attributes:
        own: found in this exchange itself.
        log: of the history that its request continues.
        size: number of findings of the log that hold.
        growth: how much longer the list of messages is than in the request whose fields the log is about.
    """

    __slots__ = ("exchange", "growth", "log", "own", "size")

    def __init__(
        self, exchange: int, own: Sequence[Finding], log: FindingLog, size: int, growth: Growth | None = None
    ) -> None:
        self.exchange, self.growth = exchange, growth
        self.own = tuple(own)
        self.log, self.size = log, size

    def of_log(self) -> Iterator[Finding]:
        """Those of the log, as findings of this exchange."""
        return (self.here(_in_exchange(finding, self.exchange)) for finding in islice(self.log.findings, self.size))

    def here(self, finding: Finding) -> Finding:
        """A finding of the log with its place in this exchange."""
        order, growth = finding.order, self.growth
        if growth is None or finding.span is None or order is None or order.message != BESIDE:
            return finding
        span = growth.move(finding.span)
        return replace(finding, span=span, order=order._replace(span=span))

    def with_own(self, own: Iterable[Finding]) -> CarriedFindings:
        """The same with other findings made for this exchange."""
        return CarriedFindings(self.exchange, tuple(own), self.log, self.size, self.growth)

    def _all(self) -> list[Finding]:
        return sorted((*self.of_log(), *self.own), key=in_wire)

    def __len__(self) -> int:
        return self.size + len(self.own)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self._all()[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash((self.exchange, len(self)))

    def __repr__(self) -> str:
        return repr(tuple(self))


def _in_exchange(finding: Finding, exchange: int) -> Finding:
    """The same fault in a later exchange, which is accepted as the earlier one was."""
    against = finding.contradicts
    if against is not None and against.exchange == finding.exchange:
        return replace(finding, exchange=exchange, contradicts=replace(against, exchange=exchange))
    return replace(finding, exchange=exchange)


def own_findings(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Those of the findings of an exchange that were made for it."""
    return findings.own if isinstance(findings, CarriedFindings) else findings


def without(findings: Sequence[Finding], rule: str) -> Sequence[Finding]:
    """The findings of an exchange without those of a rule that were made for it; the very same if there are none."""
    own = own_findings(findings)
    remaining = tuple(finding for finding in own if finding.rule != rule)
    return findings if len(remaining) == len(own) else with_own(findings, remaining)


def with_own(findings: Sequence[Finding], own: tuple[Finding, ...]) -> Sequence[Finding]:
    """The findings of an exchange with others made for it."""
    return findings.with_own(own) if isinstance(findings, CarriedFindings) else own


def with_more(findings: Sequence[Finding], more: Iterable[Finding]) -> Sequence[Finding]:
    """The findings of an exchange, and others made for it."""
    return with_own(findings, (*own_findings(findings), *more))


class FindingsOfRows(Sequence[Finding]):
    """The findings of all exchanges of a session, in order of these."""

    def __init__(self, rows: Iterable[Sequence[Finding]]) -> None:
        self.rows = tuple(rows)

    def __len__(self) -> int:
        return sum(map(len, self.rows))

    def __iter__(self) -> Iterator[Finding]:
        return chain.from_iterable(self.rows)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return tuple(self)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))
