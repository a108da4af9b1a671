"""Importer for pi sessions (``~/.pi/agent/sessions/…/*.jsonl``), versions 1 to 3."""

from __future__ import annotations

from collections.abc import Iterator

from workbench import protocols
from workbench.formats.importers._files import ImportDamage, first_objects, objects
from workbench.formats.importers._http import epoch
from workbench.formats.importers._pi_tree import STOPS, PiAnswer, PiEntry, link_entries
from workbench.formats.importers._transcript import TranscriptSession, TranscriptTurn, answer_of, reconstructed_exchange
from workbench.formats.importers._values import mapping, rest, text
from workbench.ir import JsonValue
from workbench.wire import State

NAME = "pi"
TITLE = "pi session"
LACKS = ("system", "tools", "parameters", "headers", "streaming")


def sniff(head: bytes) -> float:
    """The first line is the session's own."""
    first = first_objects(head, 1)
    marks = ("id", "version", "timestamp")
    return 0.95 if first and first[0].get("type") == "session" and any(m in first[0] for m in marks) else 0.0


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange per response, abandoned branches included, and one for the next request.

    Raises:
        UnreadableInput: there is no message.
    """
    damage = ImportDamage()
    entries = link_entries(objects(data, damage), damage)
    turns = list(_turns(entries))
    for entry in entries:
        if entry.is_unknown:
            damage.unknown("an entry", entry.value.get("type"))
    if not turns:
        raise damage.refuse("the session has no messages")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def _turns(entries: list[PiEntry]) -> Iterator[TranscriptTurn]:
    last: dict[int, PiAnswer] = {}
    beside: dict[str, JsonValue] = {}
    for entry in entries:
        before = last.get(id(entry.parent)) if entry.parent else None
        answer = entry.answer or before
        if answer:
            last[id(entry)] = answer
        if entry.answer:
            yield _answered_turn(entry, entry.answer, beside)
            beside = {}
            continue
        unsent = _unsent_fields(entry)
        if unsent:
            beside[f"line {entry.number}"] = unsent
        if entry.is_sent and not entry.children:
            yield _open_end(entry, answer, beside)
            beside = {}


_SENT = (
    "role",
    "content",
    "timestamp",
    "toolCallId",
    "toolName",
    "isError",
    "command",
    "output",
    "exitCode",
    "summary",
)


def _unsent_fields(entry: PiEntry) -> JsonValue:
    """Fields of a line that no request contains."""
    message = mapping(entry.value.get("message"))
    if not entry.is_sent:
        return entry.value
    inner = rest(message, *_SENT, "summary")
    outer = rest(entry.value, "type", "id", "parentId", "timestamp", "message", "content", "summary")
    return {**outer, **({"message": inner} if inner else {})}


def _answered_turn(entry: PiEntry, answer: PiAnswer, beside: dict[str, JsonValue]) -> TranscriptTurn:
    notes = {"aborted": "aborted: not part of the next request", "error": "failed"}
    note = notes.get(answer.stop, "") + (f" ({answer.error[:200]})" if answer.error else "")
    failed = answer.stop == "error" and not answer.parts
    meta: dict[str, JsonValue] = {"answer": answer.beside, **({"beside": beside} if beside else {})}
    like = reconstructed_exchange(
        text(entry.value.get("id")) or f"line {entry.number}",
        lacks=LACKS,
        note=note,
        started_at=epoch(entry.value.get("timestamp")),
        client="pi",
        branch=entry.branch,
        state=State.ABORTED if answer.is_broken and not failed else State.COMPLETE,
        meta=meta,
    )
    if answer.stop == "aborted" and not answer.parts:  # nothing had arrived
        return TranscriptTurn(like, answer.protocol, entry.before, answer.model or None)
    response = answer_of(
        answer.protocol,
        answer.parts,
        model=answer.model or None,
        error=(answer.error or "the client reported an error") if failed else "",
        stop=STOPS.get(answer.stop),
        usage=None if answer.is_broken else answer.usage,
    )
    return TranscriptTurn(
        like, answer.protocol, entry.before, answer.model or None, answer=response, status=0 if failed else 200
    )


def _open_end(entry: PiEntry, answer: PiAnswer | None, beside: dict[str, JsonValue]) -> TranscriptTurn:
    like = reconstructed_exchange(
        f"after {text(entry.value.get('id')) or f'line {entry.number}'}",
        lacks=LACKS,
        note="the transcript ends here; this next request was not sent",
        started_at=epoch(entry.value.get("timestamp")),
        client="pi",
        branch=entry.branch,
        state=State.INCOMPLETE,
        meta={"beside": beside} if beside else {},
    )
    return TranscriptTurn(
        like,
        answer.protocol if answer else protocols.MOST_COMMON,
        entry.after,
        answer.model or None if answer else None,
    )
