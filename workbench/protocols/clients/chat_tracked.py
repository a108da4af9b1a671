"""The AI SDK, which joins calls by id, index and name together, and checks whether arguments are complete."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.protocols.clients._chat import (
    REASONINGS,
    ChatPolicy,
    Delta,
    HeldChoice,
    calls_of,
    function_of,
    new_call,
    string_at,
)
from workbench.protocols.clients.buffers import MADE_UP, DataBlock, PartBuffer, Stop


@dataclass(frozen=True, slots=True)
class _CallDelta:
    """Members of a delta that name its call; blank strings count as absent."""

    id: str
    index: int | None
    name: str
    is_start: bool  # it names a call and begins an object


class _Waiting:
    """Deltas of an index whose name has not come."""

    def __init__(self) -> None:
        self.id = ""
        self.pieces: list[tuple[int, str]] = []


class _Arguments:
    """Tells by brackets and strings alone if arguments are a complete object or list."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._in_string = self._is_escaped = self._is_other = False
        self.is_whole = False

    def add(self, text: str) -> None:
        """Take the next piece."""
        for char in text:
            if self.is_whole or self._is_other:
                return
            if self._in_string:
                self._in_string = self._is_escaped or char != '"'
                self._is_escaped = char == "\\" and not self._is_escaped
            elif char in "{[":
                self._open.append("}" if char == "{" else "]")
            elif not self._open:
                self._is_other = not char.isspace()
            elif char == '"':
                self._in_string = True
            elif char in "}]":
                self._is_other = self._open.pop() != char
                self.is_whole = not self._open and not self._is_other


class _Unclear(Exception):
    """The delta could belong to several calls: it is skipped."""


class VercelCompatible(ChatPolicy):
    """``@ai-sdk/openai-compatible`` 2.0.87, ``@ai-sdk/provider-utils`` 4.0.64: ``StreamingToolCallTracker``.

    Deltas of an index wait until its name comes; then id, index and name together decide which call continues. A name
    with the beginning of an object at an index whose arguments are whole begins another call. Later ids are noted and
    not taken over; a call without an id gets one, and so does one whose id is taken. A call that gets no name raises
    at the end. Chunks that its schema refuses are errors that it reads over. The first choice alone.
    """

    name, package = "vercel-openai-compatible", "@ai-sdk/openai-compatible 2.0.87"

    def __init__(self) -> None:
        super().__init__()
        self.waiting: dict[int, _Waiting] = {}
        self.forwarded: set[int] = set()
        self.ids: dict[int, set[str]] = {}  # by call
        self.indices: dict[int, set[int]] = {}
        self.used: set[str] = set()
        self.states: dict[int, _Arguments] = {}

    def feed(self, chunk: DataBlock) -> bool:
        if chunk.data == b"[DONE]":
            return False
        if not chunk.is_json or not _is_valid(chunk.value):
            self.remarks["a chunk that does not match the client's schema is reported as an error and skipped"] = None
            return False
        self.take(chunk.value, chunk.event)
        return False

    def take(self, value: Delta, event: int) -> None:
        first = value["choices"]
        if first:
            self.choice(first[0] | {"index": 0}, event)

    def choice(self, choice: Delta, event: int) -> None:
        state, delta = self.held_choice(choice), choice.get("delta")
        if choice.get("finish_reason"):
            state.finish_reason = str(choice["finish_reason"])
        if not delta:
            return
        state.take_text(delta, event)
        name = next((n for n in REASONINGS if delta.get(n) is not None), REASONINGS[0])
        if string_at(delta, name):
            state.reasoning[name].add("text", delta[name], event)
        for call in calls_of(delta):
            self.call(state, call, event)

    def call(self, choice: HeldChoice, call: Delta, event: int) -> None:
        index = call.get("index")
        pieces = [(event, string_at(function_of(call), "arguments"))]
        name = (function_of(call) or {}).get("name")
        if index is None or index in self.forwarded:
            self._track(choice, string_at(call, "id"), index, name, pieces)
            return
        waiting = self.waiting.setdefault(index, _Waiting())
        waiting.id = waiting.id or string_at(call, "id")
        waiting.pieces += pieces
        if name is not None:
            del self.waiting[index]
            self.forwarded.add(index)
            self._track(choice, waiting.id, index, name, waiting.pieces)

    def _track(
        self, choice: HeldChoice, call_id: str, index: int | None, name: str | None, pieces: Sequence[tuple[int, str]]
    ) -> None:
        begins = "".join(text for _, text in pieces).lstrip()[:1] in ("{", "[")
        tool_name = ((name or "").strip() and name) or ""
        call_delta = _CallDelta(call_id if call_id.strip() else "", index, tool_name, bool(tool_name) and begins)
        try:
            part = self._resolve(choice.calls, call_delta)
        except _Unclear:
            self.remarks["a delta that could belong to several calls is skipped"] = None
            return
        if part is None:
            if name is not None and not tool_name:
                return
            if not tool_name:
                raise Stop("InvalidResponseDataError", "Expected 'function.name' to be a string.")
            part = self._begin(choice, call_delta, pieces[-1][0])
        if call_delta.id:
            self.ids[id(part)].add(call_delta.id)
        for event, text in pieces:
            part.add("arguments", text, event)
            self.states[id(part)].add(text)
        if index is not None:
            self.indices[id(part)].add(index)

    def _begin(self, choice: HeldChoice, delta: _CallDelta, event: int) -> PartBuffer:
        part = new_call(choice)
        self.ids[id(part)], self.indices[id(part)], self.states[id(part)] = set(), set(), _Arguments()
        part.name = "" if delta.index is None else str(delta.index)
        part.put("name", delta.name, event)
        is_free = delta.id and delta.id not in self.used
        part.put("id", delta.id if is_free else MADE_UP, event if is_free else -1)
        self.used.add(delta.id)
        return part

    def _resolve(self, calls: Sequence[PartBuffer], delta: _CallDelta) -> PartBuffer | None:
        """The call a delta continues with, None for a new one. Raises _Unclear."""
        at_index = [c for c in calls if delta.index in self.indices[id(c)]] if delta.index is not None else []
        of_name = [c for c in at_index if not delta.name or c.text("name") == delta.name]
        if not delta.id:
            if at_index:
                return self._one_of(of_name, is_start=delta.is_start)
            return None if delta.name else self._one_of(calls, is_start=False)
        of_id = [c for c in calls if delta.id in self.ids[id(c)]]
        if not of_id:
            return None if not of_name or delta.is_start else self._one_of(of_name, is_start=False)
        if delta.index is None:
            named = [c for c in of_id if not delta.name or c.text("name") == delta.name]
            return self._one_of(named, is_start=delta.is_start and bool(delta.name))
        found = self._one_of([c for c in of_name if c in of_id], is_start=delta.is_start)
        if found is not None or delta.name:
            return found
        if at_index:
            raise _Unclear
        return self._one_of(of_id, is_start=False)

    def _one_of(self, calls: Sequence[PartBuffer], *, is_start: bool) -> PartBuffer | None:
        """The only call of several, None where there is none. Raises _Unclear. A start continues with no whole call."""
        found = [c for c in calls if not (is_start and self.states[id(c)].is_whole)]
        if len(found) > 1:
            raise _Unclear
        return found[0] if found else None

    def finish(self) -> None:
        for index, waiting in self.waiting.items():
            self._track(self.held_choice({}), waiting.id, index, None, waiting.pieces)
        for state in self.choices.values():
            if all(part.name for part in state.calls):
                state.calls.sort(key=lambda part: int(part.name))
            if state.finish_reason is None:
                self.remarks["reports an error at the end of the stream: no finish reason"] = None


def _is_valid(value: JsonValue) -> bool:
    """Check a chunk as ``chunkBaseSchema`` does, as far as the message depends on it."""
    if not isinstance(value, dict) or not isinstance(value.get("choices"), list):
        return False
    return all(isinstance(c, dict) and _is_valid_delta(c.get("delta")) for c in value["choices"])


def _is_valid_delta(delta: JsonValue) -> bool:
    if delta is None:
        return True
    if not isinstance(delta, dict) or delta.get("role") not in (None, "assistant", ""):
        return False
    if not all(isinstance(delta.get(name), str | None) for name in REASONINGS):
        return False
    calls = delta.get("tool_calls")
    return calls is None or (isinstance(calls, list) and all(_is_valid_call(call) for call in calls))


def _is_valid_call(call: JsonValue) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return False
    index = call.get("index")
    strings = (call.get("id"), function.get("name"), function.get("arguments"))
    return (index is None or type(index) in (int, float)) and all(isinstance(s, str | None) for s in strings)
