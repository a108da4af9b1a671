"""One choice of a streamed answer: deltas are collected into the message that a whole answer would hold.

That message is then read as any other, so that both ways give the same IR; the pieces say where its strings came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from workbench.ir import Anomaly, Carrier, JsonValue, Message, Reasoning, Text
from workbench.protocols.common.growing import GrowingText
from workbench.protocols.common.pieces import Node, Pieces, locate
from workbench.protocols.common.reading import Notes, kind_of
from workbench.protocols.families.chat.calls import is_zero
from workbench.protocols.families.chat.message import read_message
from workbench.protocols.families.chat.streamed_calls import Calls, Note, StreamedCall
from workbench.protocols.families.chat.streamed_lists import Contents, Details, StreamedEntry

_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
_THOUGHTS = ("reasoning_content", "reasoning")
_BEGUN: Mapping[str, Text | Reasoning] = {
    "content": Text(""),
    "reasoning_content": Reasoning(Carrier.REASONING_CONTENT, ""),
    "reasoning": Reasoning(Carrier.REASONING, ""),
}


class StreamedChoice:
    """A choice as it grows.

    Args:
        pointer: its place in a whole answer.
        note: takes what is wrong with it; pointers are relative to the message.
    """

    def __init__(self, pointer: str, note: Note) -> None:
        self.pointer = f"{pointer}/message"
        self.reason_pointer = f"{pointer}/finish_reason"
        self.beside: dict[str, JsonValue] = {}
        self.finish_reason: str | None = None
        self.finish_events: list[int] = []
        self.calls = Calls(note)
        self.growing: list[GrowingText | StreamedEntry | StreamedCall] = []
        self._at = ""  # the key of the string or list that grows
        self._role: str | None = None
        self._extra: dict[str, JsonValue] = {}
        self._legacy = StreamedCall("/function_call", "function_call")
        self._texts = {name: Pieces() for name in _TEXTS}
        self._contents: Contents | None = None
        self._details = Details(note)
        self._note = note
        self._base = ""
        self._pointers: dict[str, str] = {}

    def feed(self, delta: Mapping[str, JsonValue], event: int, base: str) -> None:
        """Take a delta at pointer ``base`` in the data of a block."""
        if base != self._base:
            self._base, self._pointers = base, {name: f"{base}/{name}" for name in (*_TEXTS, "tool_calls")}
        for name, value in delta.items():
            if (not value and type(value) is not dict) or name == "role":
                continue
            pieces = self._texts.get(name)
            if pieces is not None and type(value) is str:
                if name != self._at:
                    self._turn(name)
                pieces.texts.append(value)
                pieces.events.append(event)
                pieces.pointers.append(self._pointers[name])
            elif name == "tool_calls" and type(value) is list:
                if name != self._at:
                    self._turn(name)
                begun = len(self.calls.calls)
                self.calls.feed(value, event, self._pointers[name])
                self.growing += self.calls.calls[begun:]
            else:
                self._feed_other(name, value, event)
        if self._role is None and isinstance(delta.get("role"), str):
            self._role = delta["role"]

    def _feed_other(self, name: str, value: JsonValue, event: int) -> None:
        if name == "content" and isinstance(value, list | str):
            if self._contents is None:  # from now on, text is one part of several
                self._contents = Contents(self._texts.pop("content"))
            self._feed_list(self._contents, name, value, event)
        elif name == "reasoning_details":
            self._feed_list(self._details, name, value, event)
        elif name in ("function_call", "audio") and is_zero(value):
            self._extra.setdefault(name, value)
        elif name == "function_call" and isinstance(value, dict):
            self.calls.grow(self._legacy, {}, value, event, self._base)
        elif name in _TEXTS or name == "tool_calls":
            self._note("content.shape", f"{name!r} in a delta is {kind_of(value)}", f"/{name}", event)
        else:
            self._extra[name] = value

    def _feed_list(self, held: Contents | Details, name: str, value: JsonValue, event: int) -> None:
        """Take what a list gets. Entries that repeat reasoning which came as a string are no parts that arrive."""
        begun = len(held.items)
        held.feed(value, event, f"{self._base}/{name}")
        if name == "content" or not any(self._texts.get(key) for key in _THOUGHTS):
            if name != self._at:
                self._turn(name)
            for item in held.items[begun:]:
                self._end()
                self.growing.append(item)

    def _turn(self, name: str) -> None:
        """From now on another string or list grows."""
        self._end()
        self.calls.leave()
        self._at = name
        if name in _BEGUN and name in self._texts:
            self.growing.append(GrowingText(_BEGUN[name], self._texts[name], is_tagged=name == "content"))

    def _end(self) -> None:
        last = self.growing[-1] if self.growing else None
        if isinstance(last, GrowingText):
            last.end()
        elif isinstance(last, StreamedEntry):
            last.is_over = True

    def result(self) -> tuple[Message, list[Anomaly]]:
        """The message so far, and what is wrong with it."""
        nodes, notes = dict(self._nodes()), Notes()
        message = read_message(self._value(), self.pointer, notes, is_answer=True)
        parts = tuple(locate(part, *nodes.get(part.source.pointer, _NOWHERE)) for part in message.parts)
        anomalies = [replace(a, events=self._events(a.pointer, nodes)) for a in notes.anomalies]
        return replace(message, parts=parts), [*anomalies, *self._damage(nodes)]

    def _value(self) -> JsonValue:
        """The message as in a whole answer."""
        value = {**self._extra, **{name: pieces.text for name, pieces in self._texts.items() if pieces}}
        lists: dict[str, Sequence[StreamedEntry | StreamedCall]] = {
            "content": self._contents.items if self._contents else [],
            "reasoning_details": self._details.items,
            "tool_calls": self.calls.calls,
        }
        value.update((name, [item.value() for item in items]) for name, items in lists.items() if items)
        if self._legacy.events:
            value["function_call"] = self._legacy.value()["function_call"]
        if self._role is not None:
            value["role"] = self._role
        return value

    def _nodes(self) -> Iterator[tuple[str, tuple[Node, tuple[int, ...]]]]:
        """(pointer in the message, strings and events) of everything that has a place."""
        for name, pieces in self._texts.items():
            yield f"/{name}", ({"": pieces}, _unique(pieces.events))
        for name, items in (("content", self._contents), ("reasoning_details", self._details)):
            for n, item in enumerate(items.items if items else ()):
                node = item.node()
                yield f"/{name}/{n}", (node, _unique(e for pieces in node.values() for e in pieces.events))
        for call in self.calls.calls:
            yield call.at, (call.node(), _unique(call.events))
        legacy = {"/name": self._legacy.name, "/arguments": self._legacy.text}
        yield "/function_call", ({k: v for k, v in legacy.items() if v}, _unique(self._legacy.events))

    def _events(self, pointer: str, nodes: Mapping[str, tuple[Node, tuple[int, ...]]]) -> tuple[int, ...]:
        """The blocks that carried the node a pointer leads into."""
        at = pointer[len(self.pointer) :]
        while at and at not in nodes:
            at = at.rpartition("/")[0]
        return nodes[at][1] if at else ()

    def _damage(self, nodes: Mapping[str, tuple[Node, tuple[int, ...]]]) -> Iterator[Anomaly]:
        for at, (node, _) in nodes.items():
            for suffix, pieces in node.items():
                events = pieces.damaged_events()
                if events:
                    message = "characters were damaged on the way: U+FFFD or half of a surrogate pair"
                    yield Anomaly("stream.encoding", message, f"{self.pointer}{at}{suffix}", events)


def _unique(events: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(events))


_NOWHERE: tuple[Node, tuple[int, ...]] = ({}, ())
