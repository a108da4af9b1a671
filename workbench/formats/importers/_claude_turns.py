"""Turns Claude Code units into exchanges of the Messages API.

A transcript is not the wire. The request of a turn is the history up to it; the response is joined from its lines. Data
that the file lacks (system prompt, tools, parameters, headers, streaming) is left out, not invented. An interrupted
call stays without result, and the last exchange is the request that would be sent next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from workbench import regex
from workbench.errors import WireError
from workbench.formats.importers._claude_entries import ClaudeEntry
from workbench.formats.importers._claude_tree import Unit, newest, units_of
from workbench.formats.importers._lines import ImportDamage
from workbench.formats.importers._messages_transcript import MessagesTurn
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
        damage.add(f"line {entry.position}: the result of {', '.join(entry.results)[:80]} is in no request")
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
    note = "the transcript ends here: the next request, not sent"
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
