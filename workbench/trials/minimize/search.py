"""The search for the smallest request that fails in the same way: delta debugging over the units of ``units``.

The contract judges first, which costs nothing; then the target is asked whether it fails the request, and what is left
of it, in the same way. Where what is left goes too far, the smallest form that both agree on is found by halving, and
from there on the target decides. The last pass tries to take away every element alone: none of what is left can go.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias, TypeVar

from workbench.errors import WorkbenchError
from workbench.trials.minimize import units
from workbench.trials.minimize.bench import Judged, MinimizeRun, digest
from workbench.trials.minimize.driving import Asked
from workbench.trials.minimize.failure import UNREADABLE, Failure, answered
from workbench.trials.minimize.units import Lister, Unit
from workbench.wire import patch

T = TypeVar("T")
Steps: TypeAlias = Generator[bytes | None, Asked | None, T]
"""Yields a body for the target, and is sent what it made of it; or None: a local check was made."""

MODEL = "/model"
"""What every target needs to know where to go: it stays unless a target is asked whether it may go."""

MOST_NEIGHBOURS = 64
"""Groups of messages around the fault that are kept, before all of them are searched."""


@dataclass(frozen=True, slots=True)
class Result:
    """What is left of a request.

    Attributes:
        original, text: bodies before and after.
        failure: how the target, or without one the contract, says that it fails; None where it does not.
        finding: the rule's words on what is left, "" where none tells.
        pointer: where in what is left.
        calls, checks: how often the target and the contract were asked.
        is_minimal: nothing that is left can go; False where the search was stopped or the budget was spent.
        note: what is to be said about it, one sentence.
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
    def gone(self) -> float:
        """The part of the bytes that is gone, 0 to 1."""
        return 1 - len(self.text) / len(self.original) if self.original else 0.0


class Search:
    """One search. ``run`` yields what the target has to judge; ``result`` may be asked at any time.

    Args:
        bench: the request and its contract.
        budget: how often the target may be asked; 0 to go by the contract alone.
        is_exact: the target judges by the same contract: what that says needs no second opinion.
    """

    def __init__(self, bench: MinimizeRun, budget: int = 0, *, is_exact: bool = True) -> None:
        self.bench, self.budget, self.is_exact = bench, budget, is_exact
        self.calls = 0
        self.stage = "reading the request"
        self.view: Judged | None = None
        self.local: Failure | None = None
        self.remote: Failure | None = None
        self._asks = False  # the target decides
        self._trusts = True  # what the contract sees differently is not asked about
        self._told: dict[bytes, Asked] = {}
        self._trail: list[bytes] = []
        self._is_spent = False
        self._is_done = self._is_accepted = False
        self._note = ""

    @property
    def text(self) -> bytes:
        """The smallest body so far."""
        return self.view.text if self.view else self.bench.text

    def result(self) -> Result:
        """What there is now."""
        finding = self.view.finding if self.view else None
        return Result(
            self.bench.text,
            self.text,
            None if self._is_accepted else self.remote or self.local,
            finding.message if finding else "",
            finding.pointer if finding else "",
            self.calls,
            self.bench.checks,
            self._is_done and not self._is_spent,
            self._note or ("the target was not asked" if self.budget and not self._told else ""),
        )

    def run(self) -> Steps[Result]:
        """Search to the end."""
        self.view = self.bench.judge(self.bench.text)
        self.local = self.view.failure
        yield None
        if self.local is not None:
            yield from self._shrink()
        if self.budget:
            yield from self._begin()
        elif self.local is None:
            self._note = "the contract finds nothing that breaks it"
        if self._is_spent:
            self._note = f"the budget was spent after {self.calls} calls"
        self._is_done = True
        self.stage = "done"
        return self.result()

    # What the target says.

    def _begin(self) -> Steps[None]:
        """Ask about the request as it is, then about what is left of it; or search once more, by asking alone."""
        self.stage = "asking the target"
        self.remote = yield from self._answer(self.bench.text)
        if self.remote is not None and _agrees(self.local, self.remote):
            yield from self._agree()
            return
        self.view = self.bench.judge(self.bench.text)
        self._trail.clear()
        if self.remote is None:
            self._note, self._is_accepted = "the target accepts it", True
            return
        self._asks, self._trusts = True, False
        self._note = "the contract does not predict this failure: only the target was asked"
        yield from self._shrink()

    def _answer(self, text: bytes) -> Steps[Failure | None]:
        key = digest(text)
        if key not in self._told:
            self.calls += 1
            asked = yield text
            assert asked is not None  # whoever runs this answers
            self._told[key] = asked
        told = self._told[key]
        return answered(told.status, told.response, self.bench.failure(text))

    def _fails_there(self, text: bytes) -> Steps[bool]:
        """The target fails it in the same way; no, once the budget is spent."""
        if digest(text) not in self._told and self.calls >= self.budget:
            self._is_spent = True
            return False
        failure = yield from self._answer(text)
        assert self.remote
        if failure is None or self._trusts:
            return failure == self.remote
        return (failure.verdict, failure.answer) == (self.remote.verdict, self.remote.answer)

    def _agree(self) -> Steps[None]:
        """Have the target judge what the contract found smallest."""
        self.stage = "asking the target about what is left"
        if not (yield from self._fails_there(self.text)):
            yield from self._go_back()
            self._asks = True
            yield from self._shrink()
        if not self.is_exact:
            self._asks, self._trusts = True, False
            yield from self._finish()

    def _go_back(self) -> Steps[None]:
        """To the smallest form that the target fails too, by halving."""
        low, high = 0, len(self._trail) - 1  # the first one fails, the last does not
        while high - low > 1:
            middle = (low + high) // 2
            if (yield from self._fails_there(self._trail[middle])):
                low = middle
            else:
                high = middle
        self.view = self.bench.judge(self._trail[low])

    # What goes.

    def _holds(self, text: bytes) -> Steps[bool]:
        """It still fails in the same way."""
        if self._asks:
            if self._trusts and self.bench.failure(text) != self.local:
                yield None
                return False
            return (yield from self._fails_there(text))
        yield None
        return self.bench.failure(text) == self.local

    def _take(self, changes: Iterable[patch.Change]) -> Steps[bool]:
        """Make changes, and keep them where it still fails in the same way."""
        assert self.view
        wanted = list(dict.fromkeys(changes))
        if not self._asks and patch.Remove(MODEL) in wanted:
            return False
        try:
            text = patch.apply(self.view.text, wanted)
        except WorkbenchError:
            return False
        return (yield from self._keep(text))

    def _keep(self, text: bytes) -> Steps[bool]:
        if len(text) >= len(self.text) or not (yield from self._holds(text)):
            return False
        self._trail += [self.text] if not self._trail else []
        self._trail.append(text)
        self.view = self.bench.judge(text)
        return True

    def _shrink(self) -> Steps[None]:
        """Take away what goes: the big things first, and all kinds again until nothing more does."""
        assert self.view
        if self.view.decoded.request is None and self.view.value is None:
            yield from self._cut_bytes()
            return
        self.stage = "taking away messages"
        yield from self._leap()
        yield from self._thin(units.turns)
        yield from self._thin(units.rounds)
        self.stage = "taking away tools and parameters"
        yield from self._leap_tools()
        yield from self._thin(units.tools)
        yield from self._thin(units.nodes(1))
        yield from self._thin(units.pairs)
        yield from self._finish()

    def _finish(self) -> Steps[None]:
        """Every kind, until none of what is left can go."""
        went = True
        while went and not self._is_spent:
            went = False
            self.stage = "taking away what is left, one by one"
            for lister in (units.rounds, units.pairs, units.tools, units.properties):
                went |= yield from self._thin(lister)
            went |= yield from self._neighbours()
            depth = 1
            while self.view and depth <= units.depth_of(self.view):
                went |= yield from self._thin(units.nodes(depth))
                depth += 1
            went |= yield from self._thin(units.arguments, most=1)
            self.stage = "shortening texts"
            went |= yield from self._thin(units.emptied)
            went |= yield from self._thin(units.cut_to_one)
            went |= yield from self._shorten()

    def _thin(self, lister: Lister, most: int = 0) -> Steps[bool]:
        """Take away as many units as go: all, then halves, down to one by one. True where something went.

        Args:
            most: units that are tried at once, 0 for all.
        """
        assert self.view
        listed, went = lister(self.view), False
        size = min(most or len(listed), len(listed))
        while size:
            end = len(listed)
            while end > 0:
                start = max(0, end - size)
                if (yield from self._take(chain.from_iterable(listed[start:end]))):
                    went, listed = True, lister(self.view)
                    end = min(start if most != 1 else end, len(listed))
                else:
                    end = start
            size = min(size, len(listed) + 1) // 2
        return went

    def _neighbours(self) -> Steps[bool]:
        """Two groups of messages that stand beside each other: roles that have to alternate go together."""
        assert self.view
        went, at = False, 0
        while at + 1 < len(listed := units.rounds(self.view)):
            if (yield from self._take((*listed[at], *listed[at + 1]))):
                went = True
            else:
                at += 1
        return went

    def _leap(self) -> Steps[None]:
        """Keep the fault and little else: first its own messages, then more and more around them."""
        assert self.view
        members, anchored = units.groups(self.view), _anchored(self.view)
        listed = units.rounds(self.view)
        if len(members) < 4 or len(listed) != len(members):
            return
        here = {n for n, group in enumerate(members) if anchored & set(group)}
        last = len(members) - 1
        kept = [here, here | {0}, here | {last}, here | {0, last}]
        width = 1
        while here and width <= min(MOST_NEIGHBOURS, last):
            kept.append({0, last} | {n for n in range(last + 1) if min(abs(n - h) for h in here) <= width})
            width *= 2
        for group in dict.fromkeys(frozenset(k) for k in kept if k):
            gone = [unit for n, unit in enumerate(listed) if n not in group]
            if gone and (yield from self._take(chain.from_iterable(gone))):
                return

    def _leap_tools(self) -> Steps[None]:
        """Keep the tool with the fault, and no other."""
        assert self.view
        finding, listed = self.view.finding, units.tools(self.view)
        at = finding.pointer if finding else ""
        others = [unit for unit in listed if not _holds_pointer(unit, at)]
        if 0 < len(others) < len(listed):
            yield from self._take(chain.from_iterable(others))

    def _shorten(self) -> Steps[bool]:
        """Cut every text that has to stay to its shortest beginning."""
        assert self.view
        went, seen = False, set[str]()
        while waiting := [(p, t) for p, t in units.texts(self.view) if len(t) > 1 and p not in seen]:
            pointer, text = waiting[0]
            seen.add(pointer)
            low, high = 1, len(text)  # the first is too short, the last holds
            while high - low > 1:
                middle = (low + high) // 2
                if (yield from self._take([patch.Replace(pointer, text[:middle])])):
                    went, high = True, middle
                else:
                    low = middle
        return went

    def _cut_bytes(self) -> Steps[None]:
        """A body that is no JSON: stretches of bytes go, halves first."""
        self.stage = "taking away bytes"
        size = len(self.text) // 2
        while size:
            end = len(self.text)
            while end > 0:
                start = max(0, end - size)
                yield from self._keep(self.text[:start] + self.text[end:])
                end = start
            size //= 2


def _agrees(local: Failure | None, remote: Failure) -> bool:
    """The contract predicts what the target says."""
    if local is None or local.verdict != remote.verdict:
        return False
    if local.verdict == UNREADABLE or not remote.status:
        return True
    return local.status == remote.status and local.words in ("", remote.words)


def _anchored(view: Judged) -> set[int]:
    """Messages that the finding names."""
    finding = view.finding
    if finding is None:
        return set()
    pointers = [f"{p}/" for p in (finding.pointer, *finding.related) if p]
    messages = view.decoded.messages("request")
    return {n for n, m in enumerate(messages) if m.pointer and any(p.startswith(f"{m.pointer}/") for p in pointers)}


def _holds_pointer(unit: Unit, pointer: str) -> bool:
    return any(isinstance(c, patch.Remove) and f"{pointer}/".startswith(f"{c.pointer}/") for c in unit)
