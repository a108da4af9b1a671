"""The smallest edit that turns a refused request into an accepted one.

Candidates are the repairs, which were checked under the contract, and the differences from earlier requests: of the
same conversation, or the one that this request was edited from. The differences are reduced to a minimal set that still
fixes the request, then completed with those of the same element and those that would have sufficed too. So an element
becomes what it was, instead of a mixture; the smaller edit is offered as well.

The changes that make of one JSON value another one: elements of lists are aligned before they are compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import SequenceMatcher
from typing import Any

from workbench.contracts import Edit, Repair
from workbench.edits import repair_edits
from workbench.edits.repairs import RepairCost, checked_repairs
from workbench.errors import WorkbenchError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import REQUEST, DecodedExchange
from workbench.provenance import escape
from workbench.rules import judge
from workbench.trials.minimize.failure import BodyJudge, Failure, body_digest, of_judgement, target_failure
from workbench.trials.minimize.search import Steps
from workbench.wire import Change, Insert, Remove, Replace, dumps, loads, patch, value_at

MOST_EARLIER = 3
"""Most earlier requests that are compared."""

HISTORIES = ("/messages/", "/input/", "/contents/")
"""Lists that grow at their end, in any protocol."""

MOST_SINGLE = 32
"""Most differences that are tried one by one, before groups are removed."""

MOST_ASKED = 5
"""Most edits that the target is asked about."""


@dataclass(frozen=True, slots=True)
class MinimalFix:
    """An edit after which the request no longer fails.

    Attributes:
        repair: its title and changes; ``verified`` by the contract.
        text: the body after it.
        size: bytes removed and added.
        earlier: index of the exchange whose request contained it; None for a repair.
        cost: for the conversation.
        accepted: verdict of the target; None if it was not asked.
        is_part: restores only a part of an element's former content.
    """

    repair: Repair
    text: bytes
    size: int
    earlier: int | None = None
    cost: RepairCost = RepairCost.NONE
    accepted: bool | None = None
    is_part: bool = False


class FixSearch:
    """Searches fixes for the request of a judge. ``run`` yields like ``MinimizeSearch.run``.

    Args:
        failure: of the request at the target; None to use the contract only.
        budget: most requests to the target.
    """

    def __init__(self, bench: BodyJudge, failure: Failure | None = None, budget: int = 0) -> None:
        self.body_judge, self.failure, self.budget = bench, failure, budget
        self.calls = 0
        self.found: list[MinimalFix] = []
        self._local = bench.failure(bench.text)
        self._failures: dict[bytes, Failure | None] = {}

    def run(self) -> Steps[tuple[MinimalFix, ...]]:
        """The fixes, the best first: no cost, former content, smallest."""
        yield from self._from_history()
        self._from_repairs()
        ranked = sorted(self.found, key=_rank)
        known, self.found = set[bytes](), []
        for mended in ranked:
            if mended.text in known:
                continue
            known.add(mended.text)
            asks = self.failure and len(self.found) < MOST_ASKED and self._may_ask(mended.text)
            accepted = (yield from self._passes_there(mended.text)) if asks else None
            self.found.append(replace(mended, accepted=accepted))
        self.found.sort(key=lambda m: m.accepted is False)
        return tuple(self.found)

    def _from_repairs(self) -> None:
        finding = self.body_judge.judge(self.body_judge.text).finding
        if finding is None:
            return
        bench = self.body_judge
        for found in checked_repairs(
            bench.inspector, bench.index, finding, request=bench.request, provider=bench.contract
        ):
            text = found.trial.decoded.request_text
            self.found.append(MinimalFix(found.repair, text, _size(found.repair), None, found.proposal.cost))

    def _from_history(self) -> Steps[None]:
        for earlier in _earlier(self.body_judge):
            changes = list(_changes(self.body_judge, earlier))
            if not changes or not (yield from self._passes(changes)):
                continue
            smallest = yield from self._minimal(changes)
            whole = yield from self._complete(changes, smallest)
            loss = RepairCost.NONE if _continues(changes, earlier) else RepairCost.DROPPED
            self.found.append(self._fix_of(whole, earlier.index, loss))
            if whole != smallest:
                self.found.append(replace(self._fix_of(smallest, earlier.index, loss), is_part=True))
            return

    def _fix_of(self, changes: list[patch.Change], index: int, loss: RepairCost) -> MinimalFix:
        text = patch.apply(self.body_judge.text, changes)
        is_accepted = self.body_judge.failure(text) is None
        repair = Repair(
            _title(changes, index),
            is_accepted,
            repair_edits(self.body_judge.request, self.body_judge.text, tuple(changes)),
        )
        if any(map(_is_rewritten, repair.edits)):
            loss = RepairCost.DROPPED
        return MinimalFix(repair, text, _size(repair), index, loss)

    def _complete(self, changes: list[patch.Change], minimal: list[patch.Change]) -> Steps[list[patch.Change]]:
        """The minimal changes plus those of the same elements, if the request passes with all of them."""
        body = loads(self.body_judge.text)
        element = {id(c): _element(c, changes, body) for c in changes}
        elements, kinds = {element[id(c)] for c in minimal}, {_kind(c) for c in minimal}
        result, single_tries = list[patch.Change](), 0
        for change in changes:
            belongs = element[id(change)] in elements
            if not belongs and len(minimal) == 1 and _kind(change) in kinds and single_tries < MOST_SINGLE:
                single_tries += 1
                belongs = yield from self._passes([change])
            if belongs:
                result.append(change)
        return result if result != minimal and (yield from self._passes(result)) else minimal

    def _minimal(self, changes: list[patch.Change]) -> Steps[list[patch.Change]]:
        """Changes without which it would still fail: a single sufficient one, else by halves, then one by one."""
        for change in changes[:MOST_SINGLE]:
            if (yield from self._passes([change])):
                return [change]
        size = len(changes) // 2
        while size:
            end = len(changes)
            while end > 0:
                start = max(0, end - size)
                less = changes[:start] + changes[end:]
                if less and (yield from self._passes(less)):
                    changes = less
                end = start
            size = size // 2
        return changes

    def _passes(self, changes: list[patch.Change]) -> Steps[bool]:
        """The request passes with these changes: by the contract, and by the target if only that sees the failure."""
        try:
            text = patch.apply(self.body_judge.text, changes)
        except WorkbenchError:
            return False
        yield None
        failure = self.body_judge.failure(text)
        if failure is not None and (failure == self._local or failure.verdict != "suspicious"):
            return False
        if self._local is None and self.failure:
            return self._may_ask(text) and (yield from self._passes_there(text))
        return True

    def _may_ask(self, text: bytes) -> bool:
        return body_digest(text) in self._failures or self.calls < self.budget

    def _passes_there(self, text: bytes) -> Steps[bool]:
        key = body_digest(text)
        if key not in self._failures:
            self.calls += 1
            verdict = yield text
            assert verdict is not None  # the driver answers every yielded body
            self._failures[key] = target_failure(verdict.status, verdict.response, self.body_judge.failure(text))
        failure = self._failures[key]
        return failure is None or (failure.verdict == "suspicious" and failure != self.failure)


def _earlier(bench: BodyJudge) -> list[DecodedExchange]:
    """Accepted requests that this one continues: the one it was edited from, then the nearest."""
    inspector, rows = bench.inspector, bench.inspector.rows
    here, recorded = rows[bench.index], inspector.detail(bench.index).decoded
    parent = recorded.exchange.parent
    before = [row for row in rows[: bench.index] if row.protocol == bench.protocol]
    candidates = [row.index for row in before if parent and row.summary.id == parent]
    candidates += [bench.index] if recorded.request_text != bench.text and recorded.protocol == bench.protocol else []
    candidates += [row.index for row in reversed(before) if row.conversation == here.conversation]
    candidates += [row.index for row in reversed(before)]
    found = list[DecodedExchange]()
    for index in list(dict.fromkeys(candidates))[: 2 * MOST_EARLIER]:
        detail = inspector.detail(index)
        in_request = [f for f in detail.row.findings if f.side == REQUEST]
        failure = of_judgement(judge(in_request, detail.contract))
        is_refused = (detail.row.summary.status or 0) >= 400
        if failure is None or (failure.verdict == "suspicious" and not is_refused):
            found.append(detail.decoded)
    return found[:MOST_EARLIER]


def _changes(bench: BodyJudge, earlier: DecodedExchange) -> Iterator[patch.Change]:
    """Changes that restore an earlier request's content; additions beyond it stay."""
    try:
        now, then = loads(bench.text), loads(earlier.request_text)
    except WorkbenchError:
        return
    if isinstance(now, dict) and isinstance(then, dict):
        yield from aligned_changes("", now, then, histories=[name.strip("/") for name in HISTORIES])


def _continues(changes: list[patch.Change], earlier: DecodedExchange) -> bool:
    """Most of the earlier messages are repeated unchanged, so the history was not rewritten on purpose."""
    places = {tuple(c.pointer.split("/")[1:3]) for c in changes if c.pointer.startswith(HISTORIES)}
    return len(places) <= max(1, len(earlier.messages(REQUEST)) // 2)


def _is_rewritten(edit: Edit) -> bool:
    """A whole message is replaced by another value, not one of its parts."""
    is_other = bool(edit.old) and type(edit.old) is not type(edit.new)
    return edit.op == "replace" and edit.pointer.count("/") == 3 and is_other


def _rank(mended: MinimalFix) -> tuple[bool, RepairCost, bool, bool, int]:
    """Sort key, best first: verified, low cost, restores former content completely, small."""
    was_so = mended.earlier is not None and mended.cost is RepairCost.NONE
    return not mended.repair.verified, mended.cost, not was_so, mended.is_part, mended.size


def _element(change: patch.Change, changes: list[patch.Change], body: JsonValue) -> str:
    """Pointer of the unit that changes as a whole: a list element, or an object of which every member changes."""
    steps = change.pointer.split("/")
    index = next((n for n, step in enumerate(steps[:-1]) if step.isdecimal()), None)
    if index is not None:
        return "/".join(steps[: index + 1])
    above = "/".join(steps[:-1])
    parent = value_at(body, above) if above else None
    changed = {c.pointer.removeprefix(f"{above}/").split("/")[0] for c in changes if c.pointer.startswith(f"{above}/")}
    return above if isinstance(parent, dict) and {escape(key) for key in parent} <= changed else change.pointer


def _kind(change: patch.Change) -> tuple[type, str]:
    """Type of a change and its member, whatever element it is in; an element of a list has a kind of its own."""
    steps = ["*" if step.isdecimal() else step for step in change.pointer.split("/")]
    return type(change), change.pointer if steps[-1] in ("*", "-") else "/".join(steps)


def _title(changes: list[patch.Change], index: int) -> str:
    """Description in the imperative."""
    removed = [c.pointer for c in changes if isinstance(c, patch.Remove)]
    if len(removed) == len(changes):
        return f"remove what request {index + 1} did not have: {_pointer_list(removed)}"
    return f"restore what request {index + 1} had: {_pointer_list([c.pointer for c in changes])}"


def _pointer_list(pointers: list[str]) -> str:
    more = len(pointers) - 1
    return f"{pointers[0]}{f' and {more} more' if more else ''}"


def _size(repair: Repair) -> int:
    """Bytes removed and characters added."""
    byte_count = sum(e.span[1] - e.span[0] if e.span else 0 for e in repair.edits)
    return byte_count + sum(_length(e.new) for e in repair.edits if e.op != "remove")


def _length(value: Any) -> int:
    return len(repr(value))


ALIKE = 0.5
"""Share of equal members from which on two objects at one place count as the same one, changed."""


def aligned_changes(at: str, now: JsonValue, then: JsonValue, histories: Collection[str] = ()) -> Iterator[Change]:
    """Changes that turn ``now`` into ``then``, as pointers into ``now``; list elements are aligned first.

    Args:
        at: pointer of both.
        histories: members of the outermost object that only grow at their end; additions there stay.
    """
    if isinstance(now, dict) and isinstance(then, dict):
        yield from (Remove(f"{at}/{escape(key)}") for key in now if key not in then)
        for key, value in then.items():
            pointer = f"{at}/{escape(key)}"
            if key not in now:
                yield Insert(pointer, value)
            elif isinstance(now[key], list) and isinstance(value, list):
                yield from _lists(pointer, now[key], value, grows=key in histories)
            else:
                yield from aligned_changes(pointer, now[key], value)
    elif isinstance(now, list) and isinstance(then, list):
        yield from _lists(at, now, then, grows=False)
    elif type(now) is not type(then) or now != then:
        yield Replace(at, then)


def _lists(at: str, now: list[JsonValue], then: list[JsonValue], *, grows: bool) -> Iterator[Change]:
    if then and not now and not grows:  # an emptied list is restored as a whole
        yield Replace(at, then)
        return
    keys = [dumps(value) for value in now], [dumps(value) for value in then]
    matcher = SequenceMatcher(None, *keys, autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            continue
        is_tail = grows and last == len(then)
        pairs = min(end - start, last - first)
        if tag == "replace" and end - start != last - first and not is_tail and not _are_alike(now, then, start, first):
            pairs = 0
        for n in range(pairs):
            yield from aligned_changes(f"{at}/{start + n}", now[start + n], then[first + n])
        if not is_tail:
            yield from (Remove(f"{at}/{n}") for n in range(start + pairs, end))
        place = f"{at}/{start + pairs}" if start + pairs < len(now) else f"{at}/-"
        yield from (Insert(place, value) for value in then[first + pairs : last])


def _are_alike(now: list[JsonValue], then: list[JsonValue], at: int, other: int) -> bool:
    """The first elements are the same object, changed."""
    one, two = now[at], then[other]
    if not isinstance(one, dict) or not isinstance(two, dict):
        return False
    same = sum(one.get(key) == two.get(key) for key in one.keys() & two.keys())
    return bool(same >= ALIKE * max(len(one), len(two)))
