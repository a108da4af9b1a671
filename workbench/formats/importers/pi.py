"""pi sessions (``~/.pi/agent/sessions/…/*.jsonl``), versions 1 to 3, as exchanges in the protocol of each answer."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.importers._http import epoch
from workbench.formats.importers._lines import Damage, first_objects, objects
from workbench.formats.importers._pi_messages import STOPS, Answer
from workbench.formats.importers._pi_tree import Entry, linked
from workbench.formats.importers._transcript import TranscriptSession, Turn, answer_of, rebuilt
from workbench.formats.importers._values import mapping, rest, text
from workbench.ir import JsonValue
from workbench.wire.exchange import State

NAME = "pi"
TITLE = "pi session"
LACKS = ("system", "tools", "parameters", "headers", "streaming")


def sniff(head: bytes) -> float:
    """The first line is the session's own."""
    first = first_objects(head, 1)
    marks = ("id", "version", "timestamp")
    return 0.95 if first and first[0].get("type") == "session" and any(m in first[0] for m in marks) else 0.0


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange for each answer, abandoned branches included, and one for what would be sent next.

    Raises:
        UnreadableInput: nobody says anything in it.
    """
    damage = Damage()
    entries = linked(objects(data, damage), damage)
    turns = list(_turns(entries))
    for entry in entries:
        if entry.is_unknown:
            damage.unknown("an entry", entry.value.get("type"))
    if not turns:
        raise damage.refuse("no message in it")
    return TranscriptSession(name, turns, damage=damage.told(), title=TITLE)


def _turns(entries: list[Entry]) -> Iterator[Turn]:
    last: dict[int, Answer] = {}
    beside: dict[str, JsonValue] = {}
    for entry in entries:
        before = last.get(id(entry.parent)) if entry.parent else None
        answer = entry.answer or before
        if answer:
            last[id(entry)] = answer
        if entry.answer:
            yield _answered(entry, entry.answer, beside)
            beside = {}
            continue
        held = _beside(entry)
        if held:
            beside[f"line {entry.number}"] = held
        if entry.is_told and not entry.children:
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


def _beside(entry: Entry) -> JsonValue:
    """What a line holds that no request says."""
    message = mapping(entry.value.get("message"))
    if not entry.is_told:
        return entry.value
    inner = rest(message, *_SENT, "summary")
    outer = rest(entry.value, "type", "id", "parentId", "timestamp", "message", "content", "summary")
    return {**outer, **({"message": inner} if inner else {})}


def _answered(entry: Entry, answer: Answer, beside: dict[str, JsonValue]) -> Turn:
    notes = {"aborted": "aborted: the next request does not have it", "error": "failed"}
    note = notes.get(answer.stop, "") + (f" ({answer.error[:200]})" if answer.error else "")
    failed = answer.stop == "error" and not answer.parts
    meta: dict[str, JsonValue] = {"answer": answer.beside, **({"beside": beside} if beside else {})}
    like = rebuilt(
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
        return Turn(like, answer.protocol, entry.before, answer.model or None)
    said = answer_of(
        answer.protocol,
        answer.parts,
        model=answer.model or None,
        error=(answer.error or "the client reported an error") if failed else "",
        stop=STOPS.get(answer.stop),
        usage=None if answer.is_broken else answer.usage,
    )
    return Turn(like, answer.protocol, entry.before, answer.model or None, answer=said, status=0 if failed else 200)


def _open_end(entry: Entry, answer: Answer | None, beside: dict[str, JsonValue]) -> Turn:
    like = rebuilt(
        f"after {text(entry.value.get('id')) or f'line {entry.number}'}",
        lacks=LACKS,
        note="the transcript ends here: what the next request would say",
        started_at=epoch(entry.value.get("timestamp")),
        client="pi",
        branch=entry.branch,
        state=State.INCOMPLETE,
        meta={"beside": beside} if beside else {},
    )
    return Turn(
        like, answer.protocol if answer else "openai-chat", entry.after, answer.model or None if answer else None
    )
