"""Bisecting: the first turn from which a chain can no longer be continued.

The prefixes of a history are judged as requests. A call that is still open at the end of one is no fault: it can be
answered. The last prefix that can be continued is found by halving, then looked at once more at its border.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.contracts import Finding
from workbench.ir import Message
from workbench.protocols.decode import REQUEST
from workbench.trials.minimize.bench import Judged, MinimizeRun, digest
from workbench.trials.minimize.failure import Failure, answered
from workbench.trials.minimize.search import Steps
from workbench.wire import patch

MOST_LATER = 32
"""Later prefixes that are judged too, in case the chain can be continued from one of them."""


@dataclass(frozen=True, slots=True)
class Bisected:
    """Where a chain broke.

    Attributes:
        messages: of the whole history.
        good: messages of the longest prefix that can be continued; 0 where none can.
        broken: messages of the next longer one, which cannot; None where all can be continued.
        exchange: index of the exchange that was the first to send the break.
        finding: what breaks the longer prefix, by the contract; None where only the target says so.
        failure: how it fails.
        words: what the provider says, "" where that is not known.
        calls, checks: how often target and contract were asked.
        is_verified: both sides of the border were judged by whoever decides.
    """

    messages: int
    good: int
    broken: int | None
    exchange: int
    finding: Finding | None
    failure: Failure | None
    words: str
    calls: int
    checks: int
    is_verified: bool


class Bisection:
    """Halves one history. ``run`` yields as ``Search.run`` does.

    Args:
        bench: the request, and its contract.
        budget: how often a target may be asked; 0 to go by the contract.
    """

    def __init__(self, bench: MinimizeRun, budget: int = 0) -> None:
        self.bench, self.budget, self.calls = bench, budget, 0
        self._told: dict[bytes, tuple[Failure | None, str]] = {}
        self._judged: dict[int, Judged] = {}
        self._lengths: dict[int, int] = {}
        rows = bench.inspector.rows
        mine = rows[bench.index].conversation
        self._rows = [row.index for row in rows[: bench.index + 1] if row.conversation == mine is not None]
        self._is_spent = False

    def run(self) -> Steps[Bisected]:
        """Find the border."""
        whole = self.bench.judge(self.bench.text)
        messages = whole.decoded.messages(REQUEST)
        if (yield from self._holds(whole, len(messages))):
            return self._made(len(messages), len(messages), None, None)
        ends = _ends(messages)
        low = yield from self._border(whole, ends, -1)
        while not self.budget and (later := (yield from self._good_after(whole, ends, low + 2))) is not None:
            low = yield from self._border(whole, ends, later)
        broken = self._judge(whole, ends[low + 1])
        return self._made(len(messages), ends[low] if low >= 0 else 0, ends[low + 1], broken)

    def _border(self, whole: Judged, ends: list[int], low: int) -> Steps[int]:
        """Number of the last end that can be continued, given one (-1 for none) and that the last one cannot."""
        high = len(ends) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if (yield from self._holds(whole, ends[middle])):
                low = middle
            else:
                high = middle
        return low

    def _good_after(self, whole: Judged, ends: list[int], first: int) -> Steps[int | None]:
        """A later end that can be continued all the same; the fault went away in between."""
        later = range(first, len(ends) - 1)
        for n in later[:: 1 + len(later) // MOST_LATER]:
            if (yield from self._holds(whole, ends[n])):
                return n
        return None

    def _judge(self, whole: Judged, end: int) -> Judged:
        """A prefix by the contract, in the place of the exchange that sent it: nothing later was known then."""
        if end not in self._judged:
            at = bisect_left(self._rows, end, key=self._length) if end < len(whole.decoded.messages(REQUEST)) else None
            place = self.bench.index if at is None or at == len(self._rows) else self._rows[at]
            self._judged[end] = self.bench.judge(_prefix(whole, end), place)
        return self._judged[end]

    def _length(self, index: int) -> int:
        """Messages of another request of the conversation."""
        if index not in self._lengths:
            self._lengths[index] = len(self.bench.inspector.detail(index).decoded.messages(REQUEST))
        return self._lengths[index]

    def _holds(self, whole: Judged, end: int) -> Steps[bool]:
        """The chain can be continued from this prefix."""
        judged = self._judge(whole, end)
        if not self.budget:
            yield None
            return judged.failure is None
        key = digest(judged.text)
        if key not in self._told and self.calls >= self.budget:
            self._is_spent = True
            return False
        if key not in self._told:
            self.calls += 1
            asked = yield judged.text
            assert asked is not None  # whoever runs this answers
            error = asked.response.error if asked.response else None
            failure = answered(asked.status, asked.response, judged.failure)
            self._told[key] = failure, error.message if error else ""
        return self._told[key][0] is None

    def _made(self, total: int, good: int, end: int | None, broken: Judged | None) -> Bisected:
        failure, words = (broken.failure, "") if broken else (None, "")
        if broken and digest(broken.text) in self._told:
            failure, words = self._told[digest(broken.text)]
        finding = broken.finding if broken else None
        return Bisected(
            total,
            good,
            end,
            self._exchange(finding),
            finding,
            failure,
            words or (finding.refusal if finding else ""),
            self.calls,
            self.bench.checks,
            not self._is_spent,
        )

    def _exchange(self, finding: Finding | None) -> int:
        """The first exchange of the conversation whose request has the same fault."""
        rows, index = self.bench.inspector.rows, self.bench.index
        if finding is None:
            return index
        fault = (finding.rule, finding.pointer, REQUEST)
        sent = (n for n in self._rows if any((f.rule, f.pointer, f.side) == fault for f in rows[n].findings))
        return next(sent, index)


def _ends(messages: Sequence[Message]) -> list[int]:
    """Lengths of the prefixes that a client would have sent: an answer of the model comes next."""
    said = [message.role in ("assistant", "model") for message in messages]
    return [n for n in range(1, len(said)) if said[n] and not said[n - 1]] + [len(said)]


def _prefix(whole: Judged, end: int) -> bytes:
    messages = whole.decoded.messages(REQUEST)
    gone = dict.fromkeys(message.pointer for message in messages[end:] if message.pointer)
    return patch.apply(whole.text, [patch.Remove(pointer) for pointer in gone])
