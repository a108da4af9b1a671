"""Bisecting: find the first turn after which a conversation cannot be continued.

Prefixes of the history are judged as requests. A pending call at the end of a prefix is no fault: it can still be
answered. The last valid prefix is found by halving.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from workbench.contracts import Finding
from workbench.ir import Message
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST
from workbench.trials.minimize.failure import BodyJudge, Failure, JudgedBody, body_digest, target_failure
from workbench.trials.minimize.search import Steps
from workbench.wire import patch

MOST_LATER = 32
"""Later prefixes that are also judged, in case the conversation recovers."""


@dataclass(frozen=True, slots=True)
class BisectResult:
    """Position at which a conversation broke.

    Attributes:
        messages: number in the whole history.
        good: number in the longest prefix that can be continued; 0 if none can.
        broken: number in the next longer prefix, which cannot; None if all can be continued.
        exchange: index of the first exchange that sent the break.
        finding: that breaks the longer prefix, by the contract; None if only the target refuses it.
        failure: of the longer prefix.
        words: the provider's error text; empty if unknown.
        calls, checks: number of requests to the target and of judgements by the contract.
        is_verified: both sides of the border were judged, by the target if there is one.
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
    """Bisects one history. ``run`` yields like ``MinimizeSearch.run``.

    Args:
        bench: the request, and its contract.
        budget: most requests to a target; 0 to use the contract only.
    """

    def __init__(self, bench: BodyJudge, budget: int = 0) -> None:
        self.body_judge, self.budget, self.calls = bench, budget, 0
        self._outcomes: dict[bytes, tuple[Failure | None, str]] = {}
        self._bodies: dict[int, JudgedBody] = {}
        self._lengths: dict[int, int] = {}
        rows = bench.inspector.rows
        mine = rows[bench.index].conversation
        self._rows = [row.index for row in rows[: bench.index + 1] if row.conversation == mine is not None]
        self._is_spent = False

    def run(self) -> Steps[BisectResult]:
        """Find the border."""
        whole = self.body_judge.judge(self.body_judge.text)
        messages = whole.decoded_exchange.messages(REQUEST)
        if (yield from self._holds(whole, len(messages))):
            return self._result(len(messages), len(messages), None, None)
        ends = _ends(messages)
        low = yield from self._border(whole, ends, -1)
        while not self.budget and (later := (yield from self._good_after(whole, ends, low + 2))) is not None:
            low = yield from self._border(whole, ends, later)
        broken = self._judge(whole, ends[low + 1])
        return self._result(len(messages), ends[low] if low >= 0 else 0, ends[low + 1], broken)

    def _border(self, whole: JudgedBody, ends: list[int], low: int) -> Steps[int]:
        """Index of the last end that can be continued, given one (-1 if none) and that the last end cannot."""
        high = len(ends) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if (yield from self._holds(whole, ends[middle])):
                low = middle
            else:
                high = middle
        return low

    def _good_after(self, whole: JudgedBody, ends: list[int], first: int) -> Steps[int | None]:
        """A later end that can be continued, because the fault disappeared in between; None if there is none."""
        later = range(first, len(ends) - 1)
        for n in later[:: 1 + len(later) // MOST_LATER]:
            if (yield from self._holds(whole, ends[n])):
                return n
        return None

    def _judge(self, whole: JudgedBody, end: int) -> JudgedBody:
        """Judge a prefix in the place of the exchange that sent it, so that nothing later is known."""
        if end not in self._bodies:
            at = (
                bisect_left(self._rows, end, key=self._length)
                if end < len(whole.decoded_exchange.messages(REQUEST))
                else None
            )
            place = self.body_judge.index if at is None or at == len(self._rows) else self._rows[at]
            self._bodies[end] = self.body_judge.judge(_prefix(whole, end), place)
        return self._bodies[end]

    def _length(self, index: int) -> int:
        """Number of messages of another request of the conversation."""
        if index not in self._lengths:
            self._lengths[index] = len(self.body_judge.inspector.detail(index).decoded.messages(REQUEST))
        return self._lengths[index]

    def _holds(self, whole: JudgedBody, end: int) -> Steps[bool]:
        """The conversation can be continued from this prefix."""
        body = self._judge(whole, end)
        if not self.budget:
            yield None
            return body.failure is None
        key = body_digest(body.text)
        if key not in self._outcomes and self.calls >= self.budget:
            self._is_spent = True
            return False
        if key not in self._outcomes:
            self.calls += 1
            verdict = yield body.text
            assert verdict is not None  # the driver answers every yielded body
            error = verdict.response.error if verdict.response else None
            failure = target_failure(verdict.status, verdict.response, body.failure)
            self._outcomes[key] = failure, error.message if error else ""
        return self._outcomes[key][0] is None

    def _result(self, total: int, good: int, end: int | None, broken: JudgedBody | None) -> BisectResult:
        failure, words = (broken.failure, "") if broken else (None, "")
        if broken and body_digest(broken.text) in self._outcomes:
            failure, words = self._outcomes[body_digest(broken.text)]
        finding = broken.finding if broken else None
        return BisectResult(
            total,
            good,
            end,
            self._exchange(finding),
            finding,
            failure,
            words or (finding.refusal if finding else ""),
            self.calls,
            self.body_judge.checks,
            not self._is_spent,
        )

    def _exchange(self, finding: Finding | None) -> int:
        """Index of the first exchange of the conversation whose request has the same fault."""
        rows, index = self.body_judge.inspector.rows, self.body_judge.index
        if finding is None:
            return index
        fault = (finding.rule, finding.pointer, REQUEST)
        sent = (n for n in self._rows if any((f.rule, f.pointer, f.side) == fault for f in rows[n].findings))
        return next(sent, index)


def _ends(messages: Sequence[Message]) -> list[int]:
    """Lengths of the prefixes that a client would have sent: those before an answer of the model."""
    of_model = [message.role in ("assistant", "model") for message in messages]
    return [n for n in range(1, len(of_model)) if of_model[n] and not of_model[n - 1]] + [len(of_model)]


def _prefix(whole: JudgedBody, end: int) -> bytes:
    messages = whole.decoded_exchange.messages(REQUEST)
    pointers = dict.fromkeys(message.pointer for message in messages[end:] if message.pointer)
    return patch.apply(whole.text, [patch.Remove(pointer) for pointer in pointers])
