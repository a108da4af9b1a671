"""The calls of one streamed response, put together from their deltas.

The rule, from recordings of a dozen servers: a delta belongs to the call of its ``index``; without one, to the call of
its id; without that, to the last call. A known id or name is never replaced by ``""`` or by a later one. If index, id
and name disagree, open calls decide: while the arguments of a call are unfinished, a delta at its index continues it
under any id or piece of a name (relays change ids in mid-call), and so does one with its id at another index. Every
such guess is noted. Arguments are appended when they are text; an object is kept as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from workbench.errors import WireError
from workbench.ir import UNUSUAL, JsonValue, Part, ToolCallIR
from workbench.protocols.common.pieces import Node, Pieces
from workbench.protocols.common.reading import Notes
from workbench.protocols.shapes.chat.message import read_call
from workbench.wire import loads, type_words

Delta: TypeAlias = Mapping[str, JsonValue]
Note: TypeAlias = Callable[[str, str, str, int], None]
"""(slug, message, pointer in the message, event): writes down an anomaly."""


_KNOWN = frozenset({"index", "id", "type", "function", "custom"})
_KNOWN_INSIDE = frozenset({"name", "arguments", "input"})


class StreamedCall:
    """One call as it grows. ``key`` (``function``, ``custom``) is the key of its object on the wire."""

    __slots__ = (
        "at",
        "events",
        "extra",
        "has_empty_id",
        "has_empty_name",
        "id",
        "inner",
        "is_over",
        "key",
        "kind",
        "name",
        "name_length",
        "object",
        "text",
        "tried",
        "whole",
    )
    is_tagged = False

    def __init__(self, at: str, key: str) -> None:
        self.at = at
        self.key = key
        self.kind: JsonValue = None
        self.id, self.name, self.text = Pieces(), Pieces(), Pieces()
        self.name_length = 0
        self.has_empty_id = self.has_empty_name = False
        self.object: JsonValue = None
        self.whole = Pieces()  # the place of the object
        self.extra: dict[str, JsonValue] = {}
        self.inner: dict[str, JsonValue] = {}
        self.events: list[int] = []
        self.is_over = False
        self.tried = 0  # how many pieces there were when it was last looked whether they are all

    def leave(self) -> None:
        """Note that another part follows: the call is over if its arguments are complete.

        If they are not, the next check is made when they are twice as long, so that the checks stay linear.
        """
        count = len(self.text.texts)
        if not self.is_over and count >= 2 * self.tried:
            self.tried = count
            self.is_over = self.object is not None or _is_json(self.text.text)

    def is_finished(self) -> bool:
        """True if the arguments are complete; False also if the check was skipped."""
        if not self.is_between_arguments():
            self.leave()
        return self.is_over

    def opening(self) -> Part | None:
        """The call without its arguments, once these arrive: some servers send the name in pieces."""
        texts = self.text.texts
        if self.key != "function" or not self.name or not texts or not texts[-1]:
            return None
        return ToolCallIR(self.id.text or None, self.name.text, None, "openai")

    def since(self, count: int) -> list[str]:
        """Pieces of its arguments."""
        return self.text.texts[count:] if self.arguments is self.text else []

    def parts(self) -> tuple[Part, ...]:
        """The call so far."""
        return (read_call(self.value(), "", Notes()),)

    @property
    def argument_key(self) -> str:
        return "input" if self.key == "custom" else "arguments"

    def is_named(self, name: str) -> bool:
        """True if this is the name so far; a name of thousands of pieces is not joined for the comparison."""
        return len(name) == self.name_length and name == self.name.text

    @property
    def arguments(self) -> Pieces:
        """The arguments as sent: text, or else an object."""
        return self.whole if self.object is not None and not any(self.text.texts) else self.text

    def is_between_arguments(self) -> bool:
        """True if a part of the argument text has arrived, so that the next pieces belong to it."""
        last = next((text for text in reversed(self.text.texts[-4:]) if text.strip()), "")
        return bool(last) and not last.rstrip().endswith("}")

    def value(self) -> Mapping[str, JsonValue]:
        """The call as in a response without streaming."""
        inner = dict(self.inner)
        if self.name:
            inner["name"] = self.name.text
        if self.arguments:
            inner[self.argument_key] = self.text.text if self.arguments is self.text else self.object
        call: dict[str, JsonValue] = {**self.extra, self.key: inner}
        if self.id or self.has_empty_id:
            call["id"] = self.id.text
        if self.kind is not None:
            call["type"] = self.kind
        return call

    def node(self) -> Node:
        """Sources of its strings."""
        places = {"/id": self.id, f"/{self.key}/name": self.name, f"/{self.key}/{self.argument_key}": self.arguments}
        return {suffix: pieces for suffix, pieces in places.items() if pieces}


class Calls:
    """Sorts deltas of calls to the calls they belong to. ``note`` receives their anomalies."""

    def __init__(self, note: Note) -> None:
        self.calls: list[StreamedCall] = []
        self._by_index: dict[int, StreamedCall] = {}
        self._by_id: dict[str, StreamedCall] = {}
        self._unnumbered: tuple[StreamedCall, int] | None = None  # the first call without an index, and where it began
        self._current: StreamedCall | None = None
        self._is_guessed = False  # a missing or unusable index was noted
        self._is_odd = False  # an index that does not count the calls was noted
        self._note = note

    def leave(self) -> None:
        """Note that something other than calls follows."""
        if self._current:
            self._current.leave()
            self._current = None

    def feed(self, deltas: list[JsonValue], event: int, base: str) -> None:
        """Take one list of deltas at pointer ``base`` in the data of a block."""
        if len(deltas) > 1:
            self._note_twins(deltas, event)
        for n, delta in enumerate(deltas):
            if type(delta) is not dict:
                self._note("content.shape", f"a delta of a call is {type_words(delta)}, not an object", "", event)
                continue
            function = delta.get("function")
            if type(function) is not dict:
                function = delta.get("custom")
                function = function if type(function) is dict else {}
            index = delta.get("index")
            call = self._by_index.get(index) if type(index) is int else None
            if call is None or delta.get("id") or function.get("name"):
                call = self._find(delta, function, event)
            if call is not self._current:
                self.leave()
                self._current = call
            self.grow(call, delta, function, event, f"{base}/{n}")

    def _note_twins(self, deltas: list[JsonValue], event: int) -> None:
        """A call with its beginning and a later piece in one list: clients that keep the first list as it is lose one.

        Later pieces of a call may share a list (gpt-oss on Bedrock sends them so); clients add each up.
        Source: openai-python#3201 (the first chunk becomes the snapshot).
        """
        first_indices = set[int]()
        for delta in deltas:
            index = delta.get("index") if isinstance(delta, dict) else None
            if type(index) is not int:
                continue
            if index in first_indices:
                self._note("stream.index", f"two deltas of one chunk have the index {index}", "", event)
                return
            if _begins(delta):
                first_indices.add(index)

    def _find(self, delta: Delta, function: Delta, event: int) -> StreamedCall:
        """The call a delta belongs to, a new one if need be."""
        index, call_id, name = delta.get("index"), delta.get("id"), function.get("name")
        if type(index) is int:
            call = self._by_index.get(index)
            if call is not None and _is_another(call, call_id, name, function):
                call = self._open(delta)
                self._note(
                    "stream.index",
                    f"a second tool call starts at index {index}, which is already in use",
                    call.at,
                    event,
                )
            if call is None and isinstance(call_id, str) and _is_continued(self._by_id.get(call_id), name):
                call = self._by_id[call_id]
                self._note(
                    "stream.index",
                    f"a delta of call {call_id!r:.80} has a different index, {index}",
                    call.at,
                    event,
                )
            if call is None and not call_id and not name and self.calls:
                call = self._open(delta)
                self._note(
                    "stream.index", f"a delta for the call at index {index}, which was not started", call.at, event
                )
            self._by_index[index] = call = call or self._open_numbered(delta, index, event)
            return call
        if index is not None:
            self._is_guessed = True
            self._note("stream.index", f"the index of a call is {index!r:.40}, not an integer", "", event)
        if isinstance(call_id, str) and call_id in self._by_id:
            return self._by_id[call_id]
        if call_id or name or not self.calls:
            return self._open_unnumbered(delta, event)
        call = self.calls[-1]
        self._is_guessed = True
        self._note("stream.index", "a delta continues a tool call but has neither index nor id", call.at, event)
        return call

    def _open_unnumbered(self, delta: Delta, event: int) -> StreamedCall:
        """A call without an index: complete calls in one list are told apart by their order, later ones by a guess."""
        call = self._open(delta)
        first, began = self._unnumbered = self._unnumbered or (call, event)
        if began != event:
            self._is_guessed = True
            for place in (began, event):
                self._note("stream.index", "calls start in several chunks and have no index", first.at, place)
        return call

    @property
    def lack_of_index(self) -> tuple[StreamedCall, int] | None:
        """The first call without an index, and the event in which it begins, if nothing had to be guessed."""
        return None if self._is_guessed else self._unnumbered

    def _open_numbered(self, delta: Delta, index: int, event: int) -> StreamedCall:
        """A call that starts at a free index; the indices count the calls from zero, but nothing depends on that."""
        call = self._open(delta)
        if index < 0:
            self._note("stream.index", f"the index of a call is {index}", call.at, event)
        elif index != len(self.calls) - 1 and not self._is_odd:
            self._is_odd = True
            message = (
                f"the first call has index {index}" if len(self.calls) == 1 else f"an index is missing before {index}"
            )
            self._note(f"stream.index{UNUSUAL}", message, call.at, event)
        return call

    def _open(self, delta: Delta) -> StreamedCall:
        call = StreamedCall(
            f"/tool_calls/{len(self.calls)}",
            "custom" if delta.get("custom") and isinstance(delta["custom"], dict) else "function",
        )
        self.calls.append(call)
        return call

    def _name(self, call: StreamedCall, delta: Delta, function: Delta, event: int, base: str) -> None:
        """Take id, type and name of a call, if they are its first."""
        call_id, name = delta.get("id"), function.get("name")
        if isinstance(call_id, str):
            self._identify(call, call_id, event, base)
        elif call_id is not None:
            call.extra["id"] = call_id
        if call.kind is None:
            call.kind = delta.get("type")
        if isinstance(name, str) and name:
            if call.name:
                is_same = call.is_named(name)
                how = "repeated" if is_same else "split over several deltas"
                self._note("stream.name", f"the tool name of a call is {how}", f"{call.at}/{call.key}/name", event)
                if is_same:
                    return
            elif call.key == "function" and any(call.text.texts):
                message = "the tool name of a call comes after the first part of its arguments"
                self._note("stream.name", message, f"{call.at}/{call.key}/name", event)
            call.name.add(name, event, f"{base}/{call.key}/name")
            call.name_length += len(name)
        elif name is not None and name != "":
            call.inner["name"] = name
        elif name == "" and call.name and not call.has_empty_name:
            call.has_empty_name = True
            message = "later pieces of a call have an empty name, which some clients take for its name"
            self._note(f"stream.name{UNUSUAL}", message, f"{call.at}/{call.key}/name", event)

    def _identify(self, call: StreamedCall, call_id: str, event: int, base: str) -> None:
        if not call_id:
            call.has_empty_id = True
        elif not call.id:
            call.id.add(call_id, event, f"{base}/id")
            if self._by_id.setdefault(call_id, call) is not call:
                self._note(
                    "stream.id", f"the id {call_id!r:.80} is already used by another call", f"{call.at}/id", event
                )
        elif call_id != call.id.text:
            message = f"the id of a call changes from {call.id.text!r:.80} to {call_id!r:.80}"
            self._note("stream.id", message, f"{call.at}/id", event)

    def grow(self, call: StreamedCall, delta: Delta, function: Delta, event: int, base: str) -> None:
        """Add the piece of a call in a delta at pointer ``base``."""
        if "id" in delta or "name" in function or "type" in delta:
            self._name(call, delta, function, event, base)
        arguments = function.get(call.argument_key)
        if type(arguments) is str:
            call.text.add(arguments, event, f"{base}/{call.key}/{call.argument_key}")
        elif arguments is not None and call.object is None:
            call.object = arguments
            call.whole.add("", event, f"{base}/{call.key}/{call.argument_key}")
        if arguments and call.object is not None and call.text:
            message = f"the arguments of a call are text in some deltas and {type_words(call.object)} in another"
            self._note("content.shape", message, f"{call.at}/{call.key}/{call.argument_key}", event)
        call.events.append(event)
        if not delta.keys() <= _KNOWN:
            call.extra.update((k, v) for k, v in delta.items() if k not in _KNOWN and v is not None)
        if len(function) > 1:
            call.inner.update((k, v) for k, v in function.items() if k not in _KNOWN_INSIDE and v is not None)


def _begins(delta: Delta) -> bool:
    """Has an id or a name."""
    function = delta.get("function")
    return bool(delta.get("id") or (isinstance(function, dict) and function.get("name")))


def _is_json(text: str) -> bool:
    try:
        loads(text)
    except WireError:
        return False
    return True


def _is_another(call: StreamedCall, call_id: JsonValue, name: JsonValue, function: Delta) -> bool:
    """A delta at the index of ``call`` begins another call."""
    has_new_id = bool(call_id and call.id and call_id != call.id.text)
    if not isinstance(name, str) or not name:
        return has_new_id and _begins_object(function) and call.is_finished()
    is_renamed = bool(call.name) and not call.is_named(name)
    if has_new_id:
        return is_renamed or not call.is_between_arguments()
    return is_renamed and any(call.text.texts) and not call.is_between_arguments()


def _begins_object(function: Delta) -> bool:
    arguments = function.get("arguments")
    return isinstance(arguments, str) and arguments.lstrip().startswith("{")


def _is_continued(call: StreamedCall | None, name: JsonValue) -> bool:
    """A delta with the id of ``call``, at an index that is free, continues it: its arguments are not finished."""
    if call is None or call.object is not None:
        return False
    return call.is_between_arguments() or not (name or any(call.text.texts))
