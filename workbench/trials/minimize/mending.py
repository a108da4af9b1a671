"""The smallest edit that turns refused into accepted.

Edits come from the repairs, which were tried under the contract, and from the history: what an earlier request of the
conversation, or the one that this was made of, has and this one does not. Of many differences only those stay without
which it would still fail, and then those that belong to them: what else is other in the same element, and what would
have been enough as well. So an element becomes what it was, and is no mixture of both; the smaller edit is offered too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from workbench.contracts import Edit, Repair
from workbench.edits.proposal import edits, value_at
from workbench.edits.repairs import Loss, tried
from workbench.errors import WorkbenchError
from workbench.ir import JsonValue
from workbench.leaves import escape
from workbench.protocols.decode import REQUEST, DecodedExchange
from workbench.rules import judge
from workbench.trials.minimize.bench import MinimizeRun, digest
from workbench.trials.minimize.changes import between
from workbench.trials.minimize.failure import Failure, answered, of_judgement
from workbench.trials.minimize.search import Steps
from workbench.wire import patch
from workbench.wire.jsontext import loads

MOST_EARLIER = 3
"""Earlier requests that are held against this one."""

HISTORIES = ("/messages/", "/input/", "/contents/")
"""Lists that grow at their end, in any protocol."""

MOST_ALONE = 32
"""Differences that are tried one by one, before many are taken away together."""

MOST_ASKED = 5
"""Edits about which the target is asked."""


@dataclass(frozen=True, slots=True)
class Mended:
    """An edit after which the request does not fail any more.

    Attributes:
        repair: its title and changes; ``verified`` by the contract.
        text: the body with it.
        size: bytes that go and come.
        earlier: index of the exchange whose request had it so; None for a repair.
        loss: what it costs the conversation.
        accepted: what the target says; None where it was not asked.
        is_part: of what an element had before, only some is put back.
    """

    repair: Repair
    text: bytes
    size: int
    earlier: int | None = None
    loss: Loss = Loss.NONE
    accepted: bool | None = None
    is_part: bool = False


class Mending:
    """Looks for edits of the request of a bench. ``run`` yields as ``Search.run`` does.

    Args:
        failure: how the target fails it; None to go by the contract.
        budget: how often the target may be asked.
    """

    def __init__(self, bench: MinimizeRun, failure: Failure | None = None, budget: int = 0) -> None:
        self.bench, self.failure, self.budget = bench, failure, budget
        self.calls = 0
        self.found: list[Mended] = []
        self._local = bench.failure(bench.text)
        self._told: dict[bytes, Failure | None] = {}

    def run(self) -> Steps[tuple[Mended, ...]]:
        """The edits, the best first: what costs nothing, what was so before, the smallest."""
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
        finding = self.bench.judge(self.bench.text).finding
        if finding is None:
            return
        bench = self.bench
        for found in tried(bench.inspector, bench.index, finding, request=bench.request, provider=bench.contract):
            text = found.trial.decoded.request_text
            self.found.append(Mended(found.repair, text, _size(found.repair), None, found.proposal.loss))

    def _from_history(self) -> Steps[None]:
        for earlier in _earlier(self.bench):
            changes = list(_changes(self.bench, earlier))
            if not changes or not (yield from self._passes(changes)):
                continue
            kept = yield from self._thinned(changes)
            whole = yield from self._whole(changes, kept)
            loss = Loss.NONE if _goes_on(changes, earlier) else Loss.DROPPED
            self.found.append(self._put_back(whole, earlier.index, loss))
            if whole != kept:
                self.found.append(replace(self._put_back(kept, earlier.index, loss), is_part=True))
            return

    def _put_back(self, changes: list[patch.Change], index: int, loss: Loss) -> Mended:
        made = patch.apply(self.bench.text, changes)
        is_accepted = self.bench.failure(made) is None
        repair = Repair(_title(changes, index), is_accepted, edits(self.bench.request, self.bench.text, tuple(changes)))
        if any(map(_is_rewritten, repair.edits)):
            loss = Loss.DROPPED
        return Mended(repair, made, _size(repair), index, loss)

    def _whole(self, changes: list[patch.Change], kept: list[patch.Change]) -> Steps[list[patch.Change]]:
        """Those that are kept with those that belong to them, where it passes with all of them too."""
        body = loads(self.bench.text)
        element = {id(c): _element(c, changes, body) for c in changes}
        elements, kinds = {element[id(c)] for c in kept}, {_kind(c) for c in kept}
        wanted, tried = list[patch.Change](), 0
        for change in changes:
            belongs = element[id(change)] in elements
            if not belongs and len(kept) == 1 and _kind(change) in kinds and tried < MOST_ALONE:
                tried += 1
                belongs = yield from self._passes([change])
            if belongs:
                wanted.append(change)
        return wanted if wanted != kept and (yield from self._passes(wanted)) else kept

    def _thinned(self, changes: list[patch.Change]) -> Steps[list[patch.Change]]:
        """Those without which it would still fail: one that is enough by itself, else halves first, then one by one."""
        for change in changes[:MOST_ALONE]:
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
        """With them it is accepted: by the contract, and by the target where only that knows the failure."""
        try:
            text = patch.apply(self.bench.text, changes)
        except WorkbenchError:
            return False
        yield None
        failure = self.bench.failure(text)
        if failure is not None and (failure == self._local or failure.verdict != "suspicious"):
            return False
        if self._local is None and self.failure:
            return self._may_ask(text) and (yield from self._passes_there(text))
        return True

    def _may_ask(self, text: bytes) -> bool:
        return digest(text) in self._told or self.calls < self.budget

    def _passes_there(self, text: bytes) -> Steps[bool]:
        key = digest(text)
        if key not in self._told:
            self.calls += 1
            asked = yield text
            assert asked is not None  # whoever runs this answers
            self._told[key] = answered(asked.status, asked.response, self.bench.failure(text))
        told = self._told[key]
        return told is None or (told.verdict == "suspicious" and told != self.failure)


def _earlier(bench: MinimizeRun) -> list[DecodedExchange]:
    """Requests that were accepted and that this one goes on from: the one it was made of, then the nearest."""
    inspector, rows = bench.inspector, bench.inspector.rows
    here, recorded = rows[bench.index], inspector.detail(bench.index).decoded
    parent = recorded.exchange.parent
    before = [row for row in rows[: bench.index] if row.protocol == bench.protocol]
    wanted = [row.index for row in before if parent and row.summary.id == parent]
    wanted += [bench.index] if recorded.request_text != bench.text and recorded.protocol == bench.protocol else []
    wanted += [row.index for row in reversed(before) if row.conversation == here.conversation]
    wanted += [row.index for row in reversed(before)]
    found = list[DecodedExchange]()
    for index in list(dict.fromkeys(wanted))[: 2 * MOST_EARLIER]:
        detail = inspector.detail(index)
        asked = [f for f in detail.row.findings if f.side == REQUEST]
        failure = of_judgement(judge(asked, detail.contract))
        is_refused = (detail.row.summary.status or 0) >= 400
        if failure is None or (failure.verdict == "suspicious" and not is_refused):
            found.append(detail.decoded)
    return found[:MOST_EARLIER]


def _changes(bench: MinimizeRun, earlier: DecodedExchange) -> Iterator[patch.Change]:
    """What makes this request say what an earlier one said; what it says beyond that stays."""
    try:
        now, then = loads(bench.text), loads(earlier.request_text)
    except WorkbenchError:
        return
    if isinstance(now, dict) and isinstance(then, dict):
        yield from between("", now, then, histories=[name.strip("/") for name in HISTORIES])


def _goes_on(changes: list[patch.Change], earlier: DecodedExchange) -> bool:
    """Most of the earlier messages are said again as they were: the history was not rewritten on purpose."""
    places = {tuple(c.pointer.split("/")[1:3]) for c in changes if c.pointer.startswith(HISTORIES)}
    return len(places) <= max(1, len(earlier.messages(REQUEST)) // 2)


def _is_rewritten(edit: Edit) -> bool:
    """A whole message that said something says something else: no part of it was touched alone."""
    is_other = bool(edit.old) and type(edit.old) is not type(edit.new)
    return edit.op == "replace" and edit.pointer.count("/") == 3 and is_other


def _rank(mended: Mended) -> tuple[bool, Loss, bool, bool, int]:
    """The best first: it is whole, it loses little, it was so before in all of an element, it is small."""
    was_so = mended.earlier is not None and mended.loss is Loss.NONE
    return not mended.repair.verified, mended.loss, not was_so, mended.is_part, mended.size


def _element(change: patch.Change, changes: list[patch.Change], body: JsonValue) -> str:
    """What is one thing and is changed as one: an element of a list, or an object of which nothing stays as it is."""
    steps = change.pointer.split("/")
    index = next((n for n, step in enumerate(steps[:-1]) if step.isdecimal()), None)
    if index is not None:
        return "/".join(steps[: index + 1])
    above = "/".join(steps[:-1])
    held = value_at(body, above) if above else None
    changed = {c.pointer.removeprefix(f"{above}/").split("/")[0] for c in changes if c.pointer.startswith(f"{above}/")}
    return above if isinstance(held, dict) and {escape(key) for key in held} <= changed else change.pointer


def _kind(change: patch.Change) -> tuple[type, str]:
    """What is done, and to which member, whatever element it is in; an element of a list is of no kind with another."""
    steps = ["*" if step.isdecimal() else step for step in change.pointer.split("/")]
    return type(change), change.pointer if steps[-1] in ("*", "-") else "/".join(steps)


def _title(changes: list[patch.Change], index: int) -> str:
    """What is done, in the imperative."""
    removed = [c.pointer for c in changes if isinstance(c, patch.Remove)]
    if len(removed) == len(changes):
        return f"take out what request {index + 1} did not have: {_named(removed)}"
    return f"put back what request {index + 1} had: {_named([c.pointer for c in changes])}"


def _named(pointers: list[str]) -> str:
    more = len(pointers) - 1
    return f"{pointers[0]}{f' and {more} more' if more else ''}"


def _size(repair: Repair) -> int:
    """Bytes that go and characters that come."""
    gone = sum(e.span[1] - e.span[0] if e.span else 0 for e in repair.edits)
    return gone + sum(_length(e.new) for e in repair.edits if e.op != "remove")


def _length(value: Any) -> int:
    return len(repr(value))
