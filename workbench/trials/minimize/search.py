"""Search for the smallest request that fails in the same way: delta debugging over the units of ``units``.

The contract judges first, which costs nothing; then the target is asked whether the request, and its reduced form, fail
in the same way. If the reduction went too far, the smallest form on which both agree is found by halving, and from
there on the target decides. The last pass tries to remove every element alone: nothing more can be removed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import chain
from typing import TypeAlias, TypeVar

from workbench.errors import WorkbenchError
from workbench.lazy_dataclass import dataclass
from workbench.trials.minimize import units
from workbench.trials.minimize.driving import TargetVerdict
from workbench.trials.minimize.failure import UNREADABLE, BodyJudge, Failure, JudgedBody, body_digest, target_failure
from workbench.trials.minimize.units import Lister, Unit
from workbench.wire import patch

T = TypeVar("T")
Steps: TypeAlias = Generator[bytes | None, TargetVerdict | None, T]
"""Yields a body for the target and receives its verdict; or yields None after a local check."""

MODEL = "/model"
"""Every target needs the model to route: it stays unless a target is asked whether it can be removed."""

MOST_NEIGHBOURS = 64
"""Most groups of messages around the fault that are kept before all of them are searched."""


@dataclass(frozen=True, slots=True)
class MinimizeResult:
    """A request after minimising.

    Attributes:
        original, text: bodies before and after.
        failure: at the target, or by the contract if there is no target; None if it does not fail.
        finding: message of the finding on the reduced request; empty if there is none.
        pointer: of that finding.
        calls, checks: number of requests to the target and of judgements by the contract.
        is_minimal: nothing more can be removed; False if the search was stopped or the budget spent.
        note: remark for the user, one sentence.
    """

    original: bytes
    text: bytes
    failure: Failure | None
    finding: str
    pointer: str
    calls: int
    checks: int
    is_minimal: bool
    note: str = ""

    @property
    def removed_share(self) -> float:
        """Share of the bytes that were removed, 0 to 1."""
        return 1 - len(self.text) / len(self.original) if self.original else 0.0


class MinimizeSearch:
    """One search. ``run`` yields bodies for the target; ``result`` may be called at any time.

    Args:
        bench: the request and its contract.
        budget: most requests to the target; 0 to use the contract only.
        is_exact: the target judges by the same contract, so that its verdict needs no confirmation.
    """

    def __init__(self, bench: BodyJudge, budget: int = 0, *, is_exact: bool = True) -> None:
        self.body_judge, self.budget, self.is_exact = bench, budget, is_exact
        self.calls = 0
        self.stage = "reading the request"
        self.current: JudgedBody | None = None
        self.local: Failure | None = None
        self.remote: Failure | None = None
        self._asks = False  # the target decides, not the contract
        self._trusts = True  # bodies that the contract judges differently are not sent
        self._verdicts: dict[bytes, TargetVerdict] = {}
        self._history: list[bytes] = []
        self._is_spent = False
        self._is_done = self._is_accepted = False
        self._note = ""

    @property
    def text(self) -> bytes:
        """The smallest body so far."""
        return self.current.text if self.current else self.body_judge.text

    def result(self) -> MinimizeResult:
        """The result so far."""
        finding = self.current.finding if self.current else None
        return MinimizeResult(
            self.body_judge.text,
            self.text,
            None if self._is_accepted else self.remote or self.local,
            finding.message if finding else "",
            finding.pointer if finding else "",
            self.calls,
            self.body_judge.checks,
            self._is_done and not self._is_spent,
            self._note or ("nothing was sent to the target" if self.budget and not self._verdicts else ""),
        )

    def run(self) -> Steps[MinimizeResult]:
        """Search to the end."""
        self.current = self.body_judge.judge(self.body_judge.text)
        self.local = self.current.failure
        yield None
        if self.local is not None:
            yield from self._shrink()
        if self.budget:
            yield from self._ask_target()
        elif self.local is None:
            self._note = "the contract finds no error in the request"
        if self._is_spent:
            self._note = f"budget used up after {self.calls} requests"
        self._is_done = True
        self.stage = "done"
        return self.result()

    # Verdicts of the target.

    def _ask_target(self) -> Steps[None]:
        """Ask about the request as it is, then about the reduced one; or search again with the target alone."""
        self.stage = "sending the request to the target"
        self.remote = yield from self._answer(self.body_judge.text)
        if self.remote is not None and _agrees(self.local, self.remote):
            yield from self._confirm()
            return
        self.current = self.body_judge.judge(self.body_judge.text)
        self._history.clear()
        if self.remote is None:
            self._note, self._is_accepted = "the target accepts the request", True
            return
        self._asks, self._trusts = True, False
        self._note = "the contract does not predict this failure; only the target's responses show the failure"
        yield from self._shrink()

    def _answer(self, text: bytes) -> Steps[Failure | None]:
        key = body_digest(text)
        if key not in self._verdicts:
            self.calls += 1
            reply = yield text
            assert reply is not None  # the driver answers every yielded body
            self._verdicts[key] = reply
        verdict = self._verdicts[key]
        return target_failure(verdict.status, verdict.response, self.body_judge.failure(text))

    def _fails_there(self, text: bytes) -> Steps[bool]:
        """The target fails it in the same way; False once the budget is spent."""
        if body_digest(text) not in self._verdicts and self.calls >= self.budget:
            self._is_spent = True
            return False
        failure = yield from self._answer(text)
        assert self.remote
        if failure is None or self._trusts:
            return failure == self.remote
        return (failure.verdict, failure.answer) == (self.remote.verdict, self.remote.answer)

    def _confirm(self) -> Steps[None]:
        """Send the smallest request that the contract found to the target."""
        self.stage = "sending the reduced request to the target"
        if not (yield from self._fails_there(self.text)):
            yield from self._backtrack()
            self._asks = True
            yield from self._shrink()
        if not self.is_exact:
            self._asks, self._trusts = True, False
            yield from self._finish()

    def _backtrack(self) -> Steps[None]:
        """Go back to the smallest form that the target fails too, by halving."""
        low, high = 0, len(self._history) - 1  # the first one fails, the last does not
        while high - low > 1:
            middle = (low + high) // 2
            if (yield from self._fails_there(self._history[middle])):
                low = middle
            else:
                high = middle
        self.current = self.body_judge.judge(self._history[low])

    # Removals.

    def _holds(self, text: bytes) -> Steps[bool]:
        """True if it still fails in the same way."""
        if self._asks:
            if self._trusts and self.body_judge.failure(text) != self.local:
                yield None
                return False
            return (yield from self._fails_there(text))
        yield None
        return self.body_judge.failure(text) == self.local

    def _try_changes(self, changes: Iterable[patch.Change]) -> Steps[bool]:
        """Apply changes, and keep them if it still fails in the same way."""
        assert self.current
        distinct = list(dict.fromkeys(changes))
        if not self._asks and patch.Remove(MODEL) in distinct:
            return False
        try:
            text = patch.apply(self.current.text, distinct)
        except WorkbenchError:
            return False
        return (yield from self._try_body(text))

    def _try_body(self, text: bytes) -> Steps[bool]:
        if len(text) >= len(self.text) or not (yield from self._holds(text)):
            return False
        self._history += [self.text] if not self._history else []
        self._history.append(text)
        self.current = self.body_judge.judge(text)
        return True

    def _shrink(self) -> Steps[None]:
        """Remove what can be removed: large units first, then all kinds until nothing more can go."""
        assert self.current
        if self.current.decoded_exchange.request is None and self.current.value is None:
            yield from self._cut_bytes()
            return
        self.stage = "removing messages"
        yield from self._remove_far_messages()
        yield from self._remove_units(units.user_turns)
        yield from self._remove_units(units.rounds)
        self.stage = "removing tools and parameters"
        yield from self._remove_other_tools()
        yield from self._remove_units(units.tools)
        yield from self._remove_units(units.nodes(1))
        yield from self._remove_units(units.pairs)
        yield from self._finish()

    def _finish(self) -> Steps[None]:
        """Every kind of unit, until nothing more can be removed."""
        went = True
        while went and not self._is_spent:
            went = False
            self.stage = "removing the rest one by one"
            for lister in (units.rounds, units.pairs, units.tools, units.properties):
                went |= yield from self._remove_units(lister)
            went |= yield from self._remove_neighbours()
            depth = 1
            while self.current and depth <= units.depth_of(self.current):
                went |= yield from self._remove_units(units.nodes(depth))
                depth += 1
            went |= yield from self._remove_units(units.arguments, most=1)
            self.stage = "shortening text"
            went |= yield from self._remove_units(units.empty_texts)
            went |= yield from self._remove_units(units.first_characters)
            went |= yield from self._shorten_texts()

    def _remove_units(self, lister: Lister, most: int = 0) -> Steps[bool]:
        """Remove as many units as possible: all, then halves, down to one by one. True if any was removed.

        Args:
            most: units tried at once; 0 for all.
        """
        assert self.current
        listed, went = lister(self.current), False
        size = min(most or len(listed), len(listed))
        while size:
            end = len(listed)
            while end > 0:
                start = max(0, end - size)
                if (yield from self._try_changes(chain.from_iterable(listed[start:end]))):
                    went, listed = True, lister(self.current)
                    end = min(start if most != 1 else end, len(listed))
                else:
                    end = start
            size = min(size, len(listed) + 1) // 2
        return went

    def _remove_neighbours(self) -> Steps[bool]:
        """Remove two adjacent groups of messages together: needed where roles have to alternate."""
        assert self.current
        went, at = False, 0
        while at + 1 < len(listed := units.rounds(self.current)):
            if (yield from self._try_changes((*listed[at], *listed[at + 1]))):
                went = True
            else:
                at += 1
        return went

    def _remove_far_messages(self) -> Steps[None]:
        """Keep the messages of the finding and as few others as possible, widening step by step."""
        assert self.current
        members, anchored = units.groups(self.current), _finding_messages(self.current)
        listed = units.rounds(self.current)
        if len(members) < 4 or len(listed) != len(members):
            return
        here = {n for n, group in enumerate(members) if anchored & set(group)}
        last = len(members) - 1
        subsets = [here, here | {0}, here | {last}, here | {0, last}]
        width = 1
        while here and width <= min(MOST_NEIGHBOURS, last):
            subsets.append({0, last} | {n for n in range(last + 1) if min(abs(n - h) for h in here) <= width})
            width *= 2
        for group in dict.fromkeys(frozenset(k) for k in subsets if k):
            outside = [unit for n, unit in enumerate(listed) if n not in group]
            if outside and (yield from self._try_changes(chain.from_iterable(outside))):
                return

    def _remove_other_tools(self) -> Steps[None]:
        """Keep only the tool of the finding."""
        assert self.current
        finding, listed = self.current.finding, units.tools(self.current)
        at = finding.pointer if finding else ""
        others = [unit for unit in listed if not _holds_pointer(unit, at)]
        if 0 < len(others) < len(listed):
            yield from self._try_changes(chain.from_iterable(others))

    def _shorten_texts(self) -> Steps[bool]:
        """Cut every remaining text to its shortest beginning that still fails."""
        assert self.current
        went, seen = False, set[str]()
        while waiting := [(p, t) for p, t in units.texts(self.current) if len(t) > 1 and p not in seen]:
            pointer, text = waiting[0]
            seen.add(pointer)
            low, high = 1, len(text)  # the first is too short, the last holds
            while high - low > 1:
                middle = (low + high) // 2
                if (yield from self._try_changes([patch.Replace(pointer, text[:middle])])):
                    went, high = True, middle
                else:
                    low = middle
        return went

    def _cut_bytes(self) -> Steps[None]:
        """For a body that is not JSON: remove stretches of bytes, halves first."""
        self.stage = "removing bytes"
        size = len(self.text) // 2
        while size:
            end = len(self.text)
            while end > 0:
                start = max(0, end - size)
                yield from self._try_body(self.text[:start] + self.text[end:])
                end = start
            size //= 2


def _agrees(local: Failure | None, remote: Failure) -> bool:
    """The contract predicts the target's response."""
    if local is None or local.verdict != remote.verdict:
        return False
    if local.verdict == UNREADABLE or not remote.status:
        return True
    return local.status == remote.status and local.words in ("", remote.words)


def _finding_messages(view: JudgedBody) -> set[int]:
    """Indices of the messages that the finding refers to."""
    finding = view.finding
    if finding is None:
        return set()
    pointers = [f"{p}/" for p in (finding.pointer, *finding.related) if p]
    messages = view.decoded_exchange.messages("request")
    return {n for n, m in enumerate(messages) if m.pointer and any(p.startswith(f"{m.pointer}/") for p in pointers)}


def _holds_pointer(unit: Unit, pointer: str) -> bool:
    return any(isinstance(c, patch.Remove) and f"{pointer}/".startswith(f"{c.pointer}/") for c in unit)
