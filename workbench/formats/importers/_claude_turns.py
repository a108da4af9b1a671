"""Turns Claude Code units into exchanges of the Messages API.

A transcript is not the wire. The request of a turn is the history up to it; the response is joined from its lines. Data
that the file lacks (system prompt, tools, parameters, headers, streaming) is left out, not invented. An interrupted
call stays without result, and the last exchange is the request that would be sent next.

Rebuilds the conversations of a Claude Code session: groups entries into model turns and finds their histories.
The file is a tree of lines, one content block each. Tool results are children of the line of their call, so parallel
calls fork the tree. ``Unit`` removes these forks: the blocks of one model turn and the results of its calls are one
node. The tree of units forks only where a person went back and asked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from workbench import regex
from workbench.errors import WireError
from workbench.formats.importers._claude_entries import SYNTHETIC, ClaudeEntry
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._messages_transcript import HistoryEntry, MessagesHistory, MessagesTurn, extend
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.limits import SNIPPET
from workbench.wire import Exchange, Origin, State, dumps, loads

URL = "/v1/messages"
NOTE = "reconstructed from a transcript without system prompt, tools, parameters, headers or streaming"
LACKS = ("system", "tools", "parameters", "headers", "streaming")
"""``Exchange.meta["lacks"]``: what a rule must not report as missing in these exchanges."""

_API_ERROR = regex.compile(r"API Error:? (?:\()?(\d{3})\b[^{]{0,200}(\{.*\})?", re.DOTALL)


def turns_of(entries: Sequence[ClaudeEntry], damage: ImportDamage) -> list[MessagesTurn]:
    """Exchanges in the order in which their responses were written. Results in no exchange are reported as damage."""
    units = units_of(entries)
    leaves = (u for u in newest(units).values() if u.first.error is None)
    found = chain(
        (_answered_turn(u) for u in units if u.is_model_turn),
        (_refused_turn(u) for u in units if u.first.error is not None),
        (_open_end(u) for u in leaves if u.after and u.after.entry.role == "user"),
    )
    turns = sorted(found, key=lambda t: t.position)
    for entry in _unsent(entries, turns):
        damage.add(f"line {entry.position}: the tool result of {', '.join(entry.results)[:80]} is not in any request")
    client = next((f"claude-code {e.version}" for e in entries if e.version), "claude-code")
    return _unique([replace(t, like=replace(t.like, client=client)) for t in turns])


def _unsent(entries: Sequence[ClaudeEntry], turns: Sequence[MessagesTurn]) -> Iterator[ClaudeEntry]:
    """Entries with results that no request contains, and no other result for the same calls."""
    seen: set[int] = set()
    sent: set[int] = set()
    for turn in turns:
        node = turn.history
        while node and id(node) not in seen:
            seen.add(id(node))
            sent.add(id(node.entry))
            node = node.before
    answered = {result for entry in entries if id(entry.content) in sent for result in entry.results}
    return (e for e in entries if e.results and id(e.content) not in sent and not answered.issuperset(e.results))


def _answered_turn(unit: Unit) -> MessagesTurn:
    envelope = dict(unit.entries[-1].envelope or {})
    reasons = [e.envelope.get("stop_reason") for e in unit.entries if e.envelope]
    envelope["stop_reason"] = next((r for r in reversed(reasons) if r is not None), None)
    content = b",".join(block for e in unit.entries for block in e.content.blocks)
    members = [dumps(str(k)) + b":" + dumps(v) for k, v in envelope.items()]
    return MessagesTurn(
        position=unit.first.position,
        like=_like(unit, unit.first.turn),
        history=unit.before,
        model=unit.model,
        response=b"{" + b",".join((*members, b'"content":[' + content + b"]")) + b"}",
    )


def _refused_turn(unit: Unit) -> MessagesTurn:
    """A turn that the provider refused: the client keeps the error as a message."""
    text = unit.first.error or ""
    found = _API_ERROR.search(text)
    body = (found[2] or "").encode("utf-8", "replace") if found else b""
    return MessagesTurn(
        position=unit.first.position,
        like=_like(unit, unit.first.uuid, f"the client reported: {text[:SNIPPET]}", is_answered=found is not None),
        history=unit.before,
        model=unit.model,
        response=body if _is_json(body) else b"" if found else None,
        status=int(found[1]) if found else 0,
    )


def _open_end(unit: Unit) -> MessagesTurn:
    position = max(entry.position for entry in (*unit.entries, *unit.answers))
    note = "the transcript ends here; this next request was not sent"
    like = _like(unit, f"after {unit.entries[-1].uuid}", note, is_answered=False)
    return MessagesTurn(position, like, unit.after, model=unit.model)


def _like(unit: Unit, id: str, note: str = "", *, is_answered: bool = True) -> Exchange:
    agent = {"agent": unit.conversation} if unit.conversation else {}
    return Exchange(
        id,
        state=State.COMPLETE if is_answered else State.INCOMPLETE,
        origin=Origin.RECONSTRUCTED,
        started_at=unit.first.time,
        branch=unit.branch,
        note=f"{NOTE}; {note}" if note else NOTE,
        meta={"lacks": list(LACKS), **agent},
    )


def _is_json(body: bytes) -> bool:
    try:
        return isinstance(loads(body), dict) if body else False
    except WireError:
        return False


def _unique(turns: list[MessagesTurn]) -> list[MessagesTurn]:
    seen: dict[str, int] = {}
    for n, turn in enumerate(turns):
        count = seen[turn.like.id] = seen.get(turn.like.id, 0) + 1
        if count > 1:
            turns[n] = replace(turn, like=replace(turn.like, id=f"{turn.like.id} ({count})"))
    return turns


@dataclass(slots=True, eq=False)
class Unit:
    """A node of the conversation: a model turn with the results of its calls, or one other entry.

    Attributes:
        parent: the previous node; None at a root.
        resumes: after a compaction, the node before it; the conversation continues with a new history.
        before: the history up to this node. after: the history including it.
        model: model name of this node, or of the last one that has it.
        conversation: one name for each sub-agent; empty for the main conversation.
        branch: name of an abandoned branch; empty on the branch that was continued.
    """

    kind: str
    entries: list[ClaudeEntry]
    answers: list[ClaudeEntry] = field(default_factory=list)
    parent: Unit | None = None
    resumes: Unit | None = None
    before: MessagesHistory | None = None
    after: MessagesHistory | None = None
    model: str | None = None
    conversation: str = ""
    is_live: bool = False
    branch: str = ""

    @property
    def first(self) -> ClaudeEntry:
        return self.entries[0]

    @property
    def is_model_turn(self) -> bool:
        """True if the provider wrote it, not the client itself."""
        return self.kind == "assistant" and (self.first.envelope or {}).get("model") != SYNTHETIC

    def says(self) -> Iterator[HistoryEntry]:
        """Content that the node adds to the history.

        A turn that stopped after its reasoning adds nothing: the client drops it, because no API accepts it back.
        """
        if self.kind == "assistant":
            blocks = tuple(block for entry in self.entries for block in entry.content.blocks)
            if self.first.error is None and not all(entry.is_reasoning for entry in self.entries):
                yield HistoryEntry("assistant", blocks=blocks)
            yield from (answer.content for answer in self.live_answers())
        elif self.kind == "user":
            yield self.first.content

    def live_answers(self) -> list[ClaudeEntry]:
        """Tool results without those of abandoned branches; of two results for one call the later one."""
        if len({r for a in self.answers for r in a.results}) == sum(len(a.results) for a in self.answers):
            return self.answers
        latest = {result: answer for answer in self.answers for result in answer.results}
        parents = {entry.uuid: entry.parent for entry in (*self.entries, *self.answers)}
        live: set[str | None] = set()
        for answer in latest.values():
            at: str | None = answer.uuid
            while at in parents and at not in live:
                live.add(at)
                at = parents[at]
        return [answer for answer in self.answers if answer.uuid in live]


def units_of(entries: Sequence[ClaudeEntry]) -> list[Unit]:
    """Units in file order, linked, each with its history, conversation and branch."""
    units, unit_of = _group(entries)
    _link(units, unit_of, entries)
    for unit in _parents_first(units):
        _place(unit)
    _mark_live(units)
    _name_branches(units)
    return units


def _group(entries: Sequence[ClaudeEntry]) -> tuple[list[Unit], dict[str, Unit]]:
    units: list[Unit] = []
    turns: dict[tuple[str, str], Unit] = {}
    callers: dict[tuple[str, str], Unit] = {}
    unit_of: dict[str, Unit] = {}
    for entry in entries:
        unit = turns.get((entry.chain, entry.turn)) if entry.turn else None
        caller = next((callers[(entry.chain, r)] for r in entry.results if (entry.chain, r) in callers), None)
        if unit:
            unit.entries.append(entry)
        elif caller:
            caller.answers.append(entry)
        else:
            unit = Unit(entry.kind, [entry])
            units.append(unit)
        if entry.turn and unit:
            turns[(entry.chain, entry.turn)] = unit
            callers.update({(entry.chain, call): unit for call in entry.calls})
        unit_of[entry.uuid] = unit or caller or units[-1]
    return units, unit_of


def _link(units: Sequence[Unit], unit_of: dict[str, Unit], entries: Sequence[ClaudeEntry]) -> None:
    """Find each unit's parent. A missing line is placed before the first line that names it as its parent."""
    stood_before: dict[str, Unit | None] = {}
    last: dict[str, Unit] = {}
    for entry in entries:
        for named in (entry.parent, entry.resumes):
            if named is not None:
                stood_before.setdefault(named, last.get(entry.chain))
        last[entry.chain] = unit_of[entry.uuid]
    for unit in units:
        parent, resumes = unit.first.parent, unit.first.resumes
        if parent is not None:
            unit.parent = _other(unit, unit_of.get(parent, stood_before[parent]))
        if resumes is not None:
            unit.resumes = _other(unit, unit_of.get(resumes, stood_before[resumes]))


def _other(unit: Unit, found: Unit | None) -> Unit | None:
    return found if found is not unit and found and found.first.chain == unit.first.chain else None


def _parents_first(units: Sequence[Unit]) -> Iterator[Unit]:
    """Every unit after its parent; a cycle of parents is cut where it closes."""
    visited: set[int] = set()
    for unit in units:
        path: dict[int, Unit] = {}
        at: Unit | None = unit
        while at and id(at) not in visited:
            path[id(at)] = at
            if at.parent and id(at.parent) in path:
                at.parent = None
            at = at.parent
        for node in reversed(path.values()):
            visited.add(id(node))
            yield node


def _place(unit: Unit) -> None:
    parent, chain = unit.parent, unit.first.chain
    unit.conversation = parent.conversation if parent else f"{chain} {unit.first.uuid}" if chain == "?" else chain
    model = (unit.first.envelope or {}).get("model") if unit.is_model_turn else None
    unit.model = model if isinstance(model, str) else _model_before(unit)
    unit.before = None if unit.kind == "boundary" or not parent else parent.after
    unit.after = unit.before
    for entry in unit.says():
        unit.after = extend(unit.after, entry)


def _model_before(unit: Unit) -> str | None:
    before = unit.parent or unit.resumes
    return before.model if before else None


def newest(units: Iterable[Unit]) -> dict[str, Unit]:
    """Conversation → last unit of its live branch: the newest one with content."""
    found: dict[str, Unit] = {}
    for unit in units:
        best = found.get(unit.conversation)
        if unit.kind in ("user", "assistant") and (best is None or _age(unit) >= _age(best)):
            found[unit.conversation] = unit
    return found


def _age(unit: Unit) -> tuple[float, int]:
    return unit.first.time or 0.0, unit.first.position


def _mark_live(units: Sequence[Unit]) -> None:
    for leaf in newest(units).values():
        at: Unit | None = leaf
        while at and not at.is_live:
            at.is_live = True
            at = at.parent or at.resumes


def _name_branches(units: Sequence[Unit]) -> None:
    count = 0
    for unit in _parents_first(units):
        if unit.is_live:
            continue
        unit.branch = unit.parent.branch if unit.parent else ""
        if not unit.branch and unit.kind in ("user", "assistant"):
            count += 1
            unit.branch = f"abandoned {count}"
