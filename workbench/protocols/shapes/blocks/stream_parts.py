"""One content block of a stream: the pieces of its strings, and the part they add up to."""

from __future__ import annotations

from collections.abc import Mapping

from workbench import regex
from workbench.errors import WireError
from workbench.ir import Carrier, JsonValue, Part, Reasoning, Segment, Source, Text, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import replace
from workbench.protocols.common.pieces import DAMAGE, Pieces, whole_proofs
from workbench.protocols.common.reading import Notes
from workbench.protocols.shapes.blocks.content import read_block
from workbench.wire import loads

DELTAS: Mapping[str, tuple[str, str, str]] = {
    "text_delta": ("text", "text", "text"),
    "thinking_delta": ("thinking", "thinking", "thinking"),
    "signature_delta": ("signature", "thinking", "signature"),
    "input_json_delta": ("partial_json", "tool_use", "input"),
}
"""Type of a delta → its key, the type of block it belongs to, and the key of the block that it makes grow."""

_MAIN: Mapping[JsonValue, str] = {kind: delta for delta, (_, kind, name) in DELTAS.items() if name != "signature"}
"""Type of a block → the deltas of its string."""

CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_KNOWN = ("text", "thinking", "redacted_thinking", "tool_use")
_SPLIT_PAIR = regex.compile("[\ud800-\udbff][\udc00-\udfff]")
_DAMAGED = regex.compile("[\ufffd\ud800-\udfff]")
"""Traces of a split character; bytes that are not UTF-8 at all are read as lone surrogates."""


class Track:
    """A string of a block that grows: ``key`` is where a delta holds its next piece, ``name`` its key in the block."""

    __slots__ = ("key", "name", "pieces", "pointer")

    def __init__(self, key: str, name: str) -> None:
        self.key = key
        self.name = name
        self.pointer = f"/delta/{key}"
        self.pieces = Pieces()

    def text(self) -> str:
        """The joined text. A surrogate pair split between two pieces becomes one character."""
        text = "".join(self.pieces.texts)
        if not text.isascii() and _SPLIT_PAIR.search(text):
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return text


class StreamedBlock:
    """A block from its start to its stop.

    Args:
        start: the block as it was opened; an object, unless the stream is wrong.
        event: number of the event that opened it.
        origin: pointer of the block in that event.
    """

    __slots__ = ("_start", "_value", "_wrong", "events", "is_over", "is_whole", "kind", "origin", "tracks")
    is_tagged = False

    def __init__(self, start: JsonValue, event: int, origin: str = "/content_block") -> None:
        kind = start.get("type") if isinstance(start, dict) else None
        self.kind = kind if isinstance(kind, str) else None
        self.origin = origin
        self.tracks: dict[str, Track] = {}  # by type of delta
        self.events = [event]  # all but those in the tracks
        self.is_over = False  # it has stopped
        self.is_whole = True  # nothing was added but strings that grew
        self._start = event
        self._wrong = None if isinstance(start, dict) else (start,)
        self._value = dict(start) if isinstance(start, dict) else {}

    def open_track(self, delta: str) -> Track | None:
        """The string that this type of delta makes grow; None where the block is of another type."""
        key, kind, name = DELTAS[delta]
        if not self._accepts(kind):
            return None
        track = self.tracks[delta] = Track(key, name)
        first = self._value.get(name)
        if isinstance(first, str) and first:
            track.pieces.add(first, self._start, f"{self.origin}/{name}")
        return track

    def take(self, delta: Mapping[str, JsonValue], event: int) -> bool:
        """Take a delta that carries no piece of a string; False where the block is of another type."""
        kind = delta.get("type")
        if kind == "citations_delta":
            if not self._accepts("text"):
                return False
            self._collect("citations", delta.get("citation"))
        elif kind == "compaction_delta":
            if not self._accepts("compaction"):
                return False
            self._value.update((k, v) for k, v in delta.items() if k != "type" and v is not None)
        else:
            self._collect("unknown_deltas", delta)
        self.events.append(event)
        self.is_whole = False
        return True

    @property
    def is_call_without_deltas(self) -> bool:
        """A call of the model whose whole input came with the start; not one by code that the provider runs."""
        caller = self._value.get("caller")
        is_direct = not isinstance(caller, dict) or caller.get("type") == "direct"
        return self.kind == "tool_use" and is_direct and bool(self._value.get("input")) and not self.tracks

    def _accepts(self, kind: str) -> bool:
        own = "tool_use" if self.kind in CALLS else self.kind
        return own == kind or own not in _KNOWN

    def _collect(self, key: str, item: JsonValue) -> None:
        entries = self._value.get(key)
        if not isinstance(entries, list):
            entries = self._value[key] = []
        entries.append(item)

    def all_events(self) -> tuple[int, ...]:
        """Every event that took part, in order."""
        return tuple(sorted(set(self.events).union(*[t.pieces.events for t in self.tracks.values()])))

    def opening(self) -> Part | None:
        """The part without its string; None for one whose start does not tell, and for all that comes whole."""
        if self.kind == "text":
            return Text("")
        if self.kind == "thinking":
            return Reasoning(Carrier.THINKING, "")
        call_id, name = self._value.get("id"), self._value.get("name")
        if self.kind == "tool_use" and isinstance(call_id, str) and isinstance(name, str):
            return ToolCallIR(call_id, name, None, "anthropic")
        return None

    def since(self, count: int) -> list[str]:
        """Pieces of its string."""
        track = self.tracks.get(_MAIN.get(self.kind, ""))
        return track.pieces.texts[count:] if track else []

    def parts(self) -> tuple[Part, ...]:
        """The part so far."""
        return (self.part("", Notes()),)

    def value(self) -> JsonValue:
        """The block as in a body, strings joined; arguments as the text they are."""
        if self._wrong and self.is_whole and not self.tracks:
            return self._wrong[0]
        value = {k: v.copy() if isinstance(v, list) else v for k, v in self._value.items()}
        for track in self.tracks.values():
            value[track.name] = track.text()
        return value

    def part(self, at: str, notes: Notes) -> Part:
        """The part it adds up to so far, ``at`` a pointer into the accumulated message."""
        events, mine, error = self.all_events(), Notes(), None
        call = self.tracks.get("input_json_delta") if self.kind in CALLS else None
        raw, value = call.text() if call else "", self.value()
        if raw:
            value["input"], error = _parse(raw)
        elif self.kind in CALLS:
            value["input"] = self._value.get("input", {})
        part = read_block(value, at, mine)
        if isinstance(part, Reasoning) and "signature_delta" in self.tracks:
            part = replace(part, copies=whole_proofs(self.tracks["signature_delta"].pieces))
        if raw and isinstance(part, ToolCallIR):
            part = replace(part, input=None if error else part.input, raw=raw, error=error)
        self._note_damage(at, mine)
        if mine.anomalies:
            notes.anomalies += [a if a.events else replace(a, events=events) for a in mine.anomalies]
        known_segments = {f"/{t.name}": t.pieces.segments() for t in self.tracks.values() if self._grew(t)}
        return self._locate(part, at, known_segments, events)

    def _note_damage(self, at: str, notes: Notes) -> None:
        for track in self.tracks.values():
            text = "".join(track.pieces.texts)
            if not text.isascii() and _DAMAGED.search(track.text()):
                notes.add("stream.encoding", DAMAGE, f"{at}/{track.name}", track.pieces.damaged_events())

    def _locate(
        self, part: Part, at: str, known_segments: Mapping[str, tuple[Segment, ...]], events: tuple[int, ...]
    ) -> Part:
        """The part, each of its fields with the pieces of the stream it came in."""
        segments = self._segments(part, part.source.pointer[len(at) :], known_segments)
        fields = {name: part.source.fields[name] for name in segments}
        if isinstance(part, ToolCallIR) and part.raw is not None:
            segments["raw"], fields["raw"] = segments["input"], fields["input"]
        source = Source(part.source.pointer, fields, segments, events)
        if isinstance(part, ToolResultIR):
            content = tuple(self._locate(inner, at, known_segments, events) for inner in part.content)
            return replace(part, content=content, source=source)
        return replace(part, source=source)

    def _segments(
        self, part: Part, below: str, known_segments: Mapping[str, tuple[Segment, ...]]
    ) -> dict[str, tuple[Segment, ...]]:
        """Field → pieces, of every field that is in the stream as it is."""
        found: dict[str, tuple[Segment, ...]] = {}
        for name, suffix in part.source.fields.items():
            key = below + suffix
            if key in known_segments:
                found[name] = known_segments[key]
            elif name != "extra" and (key or (self.is_whole and not self.tracks)) and self._was_sent(key):
                found[name] = (Segment(self._start, self.origin + key),)
        return found

    def _grew(self, track: Track) -> bool:
        """The pieces say more than the start: empty ones do not, where the start has the key."""
        return any(track.pieces.texts) or (bool(track.pieces) and track.name not in (*self._value, "input"))

    def _was_sent(self, key: str) -> bool:
        """The start of the block had this key (one added by us is not on the wire)."""
        return key.count("/") != 1 or key[1:] in self._value


def _parse(raw: str) -> tuple[JsonValue, str | None]:
    """The value of argument text, or an empty object and why it has none."""
    try:
        return loads(raw), None
    except WireError as error:
        return {}, str(error)
