"""What each block of a stream did to the message, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from workbench.accumulation.ours import value_at
from workbench.errors import WireError
from workbench.ir import (
    Anomaly,
    JsonValue,
    Media,
    Message,
    ModelResponse,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolResultIR,
)
from workbench.wire.jsontext import loads
from workbench.wire.sse import SseEvent, meant

_TYPE_KEYS = ("type", "object")
_COUNTED = ("input_tokens", "output_tokens", "prompt_tokens", "completion_tokens")


class What(StrEnum):
    """The kind of thing an event did."""

    BEGAN = "began"
    ADDED = "added"
    CLOSED = "closed"
    FINISHED = "finish"
    USAGE = "usage"
    ENDED = "ended"
    PING = "ping"
    COMMENT = "comment"
    ERROR = "error"
    NOTHING = "nothing"


class Deed(NamedTuple):
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
        """In words: ``adds 5 characters to text``."""
        match self.what:
            case What.BEGAN:
                return f"begins {self.noun}"
            case What.ADDED:
                of = "" if self.field in ("text", "input") else f"{self.field} of "
                arguments = "arguments of " if self.field == "input" else of
                plural = "" if self.characters == 1 else "s"
                return f"adds {self.characters:,} character{plural} to {arguments}{self.noun}"
            case What.CLOSED:
                return f"closes {self.noun}"
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
        return self.text or "nothing of it is kept"


class Effects:
    """What the blocks of one stream did. Made once; ``of`` looks at one block."""

    def __init__(self, response: ModelResponse | None, events: Sequence[SseEvent]) -> None:
        self._events = events
        self._response = response
        self._parts: dict[int, list[tuple[Message, Part]]] = {}
        for message in response.messages if response else ():
            for part in message.parts:
                for number in part.source.events:
                    self._parts.setdefault(number, []).append((message, part))
        self.anomalies: Mapping[int, list[Anomaly]] = {}
        found: dict[int, list[Anomaly]] = {}
        for anomaly in response.anomalies if response else ():
            for number in anomaly.events:
                found.setdefault(number, []).append(anomaly)
        self.anomalies = found

    def type_of(self, event: SseEvent) -> str:
        """What the block says it is: its event field, else the type in its data; "" for neither."""
        if event.name:
            return event.name
        if event.data is None:
            return "(comment)" if event.comments else "(no data)"
        value = self._value(event)
        if not isinstance(value, dict):
            return meant(event.data)[:24].decode("utf-8", "replace") if value is None else "(no object)"
        kind = next((str(value[key]) for key in _TYPE_KEYS if isinstance(value.get(key), str)), "")
        return kind.removeprefix("chat.completion.")

    def of(self, number: int) -> tuple[Deed, ...]:
        """What a block did, the most important first; never empty."""
        event = self._events[number]
        if event.data is None:
            return (Deed(What.COMMENT if event.comments else What.NOTHING, text="a block without data"),)
        value = self._value(event)
        done = [*self._to_parts(number, value)]
        if not isinstance(value, dict):
            is_end = meant(event.data) == b"[DONE]"
            return tuple(done) or (Deed(What.ENDED) if is_end else Deed(What.NOTHING, text="cannot be read"),)
        done += self._beside(number, value)
        return tuple(done) or (Deed(What.NOTHING),)

    def _value(self, event: SseEvent) -> JsonValue:
        try:
            return loads(meant(event.data or b""))
        except WireError:
            return None

    def _to_parts(self, number: int, value: JsonValue) -> list[Deed]:
        done: list[Deed] = []
        for message, part in self._parts.get(number, ()):
            pointer, noun = message.absolute(part), noun_of(part)
            if part.source.events and part.source.events[0] == number:
                done.append(Deed(What.BEGAN, pointer, noun))
            added = [
                Deed(What.ADDED, pointer, noun, field, len(text), text)
                for field, text in self._pieces(part, number, value)
                if text
            ]
            done += added
            is_last = len(part.source.events) > 1 and part.source.events[-1] == number
            if is_last and not added and isinstance(value, dict) and str(value.get("type", "")).endswith("_stop"):
                done.append(Deed(What.CLOSED, pointer, noun))
            elif not added and part.source.events[0] != number:
                done.append(Deed(What.NOTHING, pointer, noun, text=f"adds nothing to {noun}"))
        return done

    def _pieces(self, part: Part, number: int, value: JsonValue) -> list[tuple[str, str]]:
        seen: set[str] = set()
        found: list[tuple[str, str]] = []
        for field, segments in part.source.segments.items():
            if field in ("raw", "id", "name"):
                continue
            for segment in segments if len(segments) < 2 else _of_event(segments, number):
                text = value_at(value, segment.pointer) if segment.event == number else None
                if isinstance(text, str) and segment.pointer not in seen:
                    seen.add(segment.pointer)
                    found.append((field, text))
        return found

    def _beside(self, number: int, value: dict[str, JsonValue]) -> list[Deed]:
        done: list[Deed] = []
        kind = value.get("type")
        if self._response and number in self._response.finish_events:
            reason = value_at(value, "/choices/0/finish_reason") or value_at(value, "/delta/stop_reason")
            done.append(Deed(What.FINISHED, text=str(reason)))
        usage = value.get("usage") or value_at(value, "/message/usage")
        if isinstance(usage, dict):
            counts = [f"{v:,} {k[:-7]}" for k, v in usage.items() if k in _COUNTED and type(v) is int]
            done.append(Deed(What.USAGE, text=", ".join(counts) or "changes"))
        if kind == "error" or value.get("error"):
            message = value_at(value, "/error/message")
            done.append(Deed(What.ERROR, text=str(message or "")))
        if kind == "ping":
            done.append(Deed(What.PING))
        elif kind == "message_start":
            done.insert(0, Deed(What.BEGAN, noun="the message"))
        elif kind == "message_stop":
            done.append(Deed(What.ENDED))
        elif not done and isinstance(value_at(value, "/choices/0/delta/role"), str):
            done.append(Deed(What.BEGAN, noun="the message"))
        return done


def _of_event(segments: Sequence[JsonValue], number: int) -> list[JsonValue]:
    from bisect import bisect_left

    at = bisect_left(segments, number, key=lambda s: s.event)
    found = []
    while at < len(segments) and segments[at].event == number:
        found.append(segments[at])
        at += 1
    return found


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
