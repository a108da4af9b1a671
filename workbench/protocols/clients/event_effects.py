"""Effects of one event of a stream on the message: their words, and how to find them from the message alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from workbench.ir import JsonValue, Media, ModelResponse, Opaque, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.protocols.clients.steps import pairs, text_of

WHOLE_LEAST = 2
"""Characters of a text that an event is said to repeat: of shorter ones every event holds some."""
QUOTE_LENGTH = 60
"""Characters of the names of what changed."""


class What(StrEnum):
    """The kind of thing an event did."""

    BEGAN = "began"
    ADDED = "added"
    REPLACED = "replaced"
    CHANGED = "changed"
    REPEATED = "repeated"
    CLOSED = "closed"
    DROPPED = "dropped"
    FINISHED = "finish"
    USAGE = "usage"
    ENDED = "ended"
    PING = "ping"
    COMMENT = "comment"
    ERROR = "error"
    NOTHING = "nothing"


class Effect(NamedTuple):
    """One thing an event did.

    Attributes:
        what: its kind.
        part: pointer of the part in the accumulated message, "" for none.
        noun: the part in words (``text``, ``call list_dir``); untrusted text may be in it.
        field: of the part (``text``, ``input``, ``signature`` …).
        characters: how many it added.
        text: the characters it added, or what it said (a finish reason); untrusted.
    """

    what: What
    part: str = ""
    noun: str = ""
    field: str = ""
    characters: int = 0
    text: str = ""

    @property
    def words(self) -> str:
        """Describe the effect: ``adds 5 characters to text``."""
        match self.what:
            case What.BEGAN:
                return f"begins {self.noun}"
            case What.ADDED:
                return f"adds {self._count} to {self._of}{self.noun}"
            case What.REPLACED:
                return f"replaces {self._of}{self.noun} with {self._count}"
            case What.CHANGED:
                return f"changes {self._of}{self.noun}"
            case What.REPEATED:
                return f"repeats {self._of}{self.noun} completely"
            case What.CLOSED:
                return f"closes {self.noun}"
            case What.DROPPED:
                return f"drops {self.noun}"
            case What.FINISHED:
                return f"finish reason {self.text}"
            case What.USAGE:
                return f"usage {self.text}"
            case What.ENDED:
                return "ends the stream"
            case What.PING | What.COMMENT:
                return str(self.what)
            case What.ERROR:
                return f"error: {self.text}"
        return self.text or "the event is ignored"

    @property
    def _count(self) -> str:
        return f"{self.characters:,} character{'' if self.characters == 1 else 's'}"

    @property
    def _of(self) -> str:
        if self.field in ("", "text"):
            return ""
        return "arguments of " if self.field == "input" else f"{self.field} of "


def effects_between(before: ModelResponse, after: ModelResponse, value: JsonValue) -> Iterator[Effect]:
    """Effects of an event on the parts of a response, from the response before and after it and from its data."""
    if before.messages and (not after.messages or _begins_again(before, after)):
        yield Effect(What.DROPPED, noun="everything before this event: the response starts again")
    moved, quiet = list[Effect](), list[Effect]()
    for m, _, old, part in pairs(before, after):
        pointer, noun = after.messages[m].absolute(part), noun_of(part)
        start = [Effect(What.BEGAN, pointer, noun)] if old is None else []
        effects = [*start, *_growth(old, part, pointer, noun)] or [
            _without_growth(old or part, part, value, pointer, noun)
        ]
        (quiet if effects[0].what is What.NOTHING else moved).extend(effects)
    yield from moved or [*_of_messages(before, after)] or quiet[-1:]


def _of_messages(before: ModelResponse, after: ModelResponse) -> Iterator[Effect]:
    """Effects on messages other than those on their parts."""
    for m, message in enumerate(after.messages):
        if m < len(before.messages):
            keys = _differing(before.messages[m].extra, message.extra)
            if keys:
                yield Effect(What.CHANGED, message.pointer, "the message", keys)
        elif after.itemized and not message.parts:
            yield Effect(What.BEGAN, message.pointer, "a message")


def _without_growth(old: Part, part: Part, value: JsonValue, pointer: str, noun: str) -> Effect:
    """An event was about a part, and none of its strings grew."""
    field = repeated_field(value, part)
    if field:
        return Effect(What.REPEATED, pointer, noun, field)
    if old == part:
        return Effect(What.NOTHING, pointer, noun, text=f"adds nothing to {noun}")
    return Effect(What.CHANGED, pointer, noun, _differing(getattr(old, "extra", {}), getattr(part, "extra", {})))


def _differing(was: Mapping[str, JsonValue], now: Mapping[str, JsonValue]) -> str:
    """The first keys whose values differ, in words."""
    return ", ".join(key for key in {**was, **now} if was.get(key) != now.get(key))[:QUOTE_LENGTH]


def _begins_again(before: ModelResponse, after: ModelResponse) -> bool:
    old_count, now = (sum(len(m.parts) for m in answer.messages) for answer in (before, after))
    return old_count > 0 == now


def _growth(old: Part | None, part: Part, pointer: str, noun: str) -> Iterator[Effect]:
    """The strings of a part that are longer than they were, or others."""
    was, now = _strings(old) if old else {}, _strings(part)
    for field, text in now.items():
        old_text = was.get(field, "")
        if text == old_text:
            continue
        added = insertion(old_text, text)
        if added is not None:
            yield Effect(What.ADDED, pointer, noun, field, len(added), added)
        else:
            yield Effect(What.REPLACED, pointer, noun, field, len(text), text)


def _strings(part: Part) -> dict[str, str]:
    """The strings of a part that grow, field → text."""
    text = text_of(part)
    match part:
        case ToolCallIR(raw=raw, input=value):
            return {"input": "" if raw is None and value == {} else text}
        case Reasoning(signature=signature, data=data):
            return {"text": text, "signature": signature or "", "data": data if isinstance(data, str) else ""}
        case Text() | ToolResultIR():
            return {"text": text}
    return {}


def insertion(old: str, new: str) -> str | None:
    """The characters that are in the new text and not in the old, in one place; None where others went."""
    if new.startswith(old):
        return new[len(old) :]
    size = len(new) - len(old)
    if size <= 0:
        return None
    start = next(n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    return new[start : start + size] if new[start + size :] == old[start:] else None


def repeated_field(value: JsonValue, part: Part) -> str | None:
    """The field of a part that the data of an event holds whole; None for none."""
    part_text = text_of(part)
    if len(part_text) >= WHOLE_LEAST and any(text == part_text for text in strings(value)):
        return "input" if isinstance(part, ToolCallIR) else "text"
    return None


def strings(value: JsonValue) -> Iterator[str]:
    """Every string in a value."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, dict):
            waiting += found.values()
        elif isinstance(found, list):
            waiting += found


def noun_of(part: Part) -> str:
    """A part in words; untrusted text may be in it."""
    match part:
        case Text():
            return "text"
        case Reasoning():
            return "reasoning"
        case ToolCallIR(name=name):
            return f"call {name or '(no name)'}"
        case ToolResultIR():
            return "result"
        case Media(kind=kind):
            return kind
        case Opaque(type=kind):
            return kind or "unknown block"
