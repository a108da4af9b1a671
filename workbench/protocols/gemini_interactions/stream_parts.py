"""One step of a streamed answer: what its beginning, its deltas and the last event say of it."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.ir import Carrier, JsonValue, Message, Part, Reasoning, Text, ToolCallIR
from workbench.lazy_dataclass import replace
from workbench.protocols.common.pieces import Pieces, whole_proofs
from workbench.protocols.common.reading import Notes
from workbench.protocols.gemini_interactions.step import CONTENT, FORMAT, FUNCTION_CALL, read_output
from workbench.protocols.shapes.chat.message import parse_arguments
from workbench.protocols.shapes.items.stream_parts import StreamedItem, WholeValue

ARGUMENTS, SIGNATURE = "/arguments", "/signature"


class StreamedStep(StreamedItem):
    """A step as it grows."""

    def __init__(self, index: int | None, kind: str | None) -> None:
        super().__init__(index, kind)
        self.counts: dict[str, int] = {}  # entries of a list of the step
        self.texts: dict[str, str | None] = {}  # list → pointer of the text that grows at its end
        self.annotations: dict[str, int] = {}  # by entry
        self.text_pointers: set[str] = set()  # texts that arrive as parts

    def begin(self, value: JsonValue, event: int, origin: str) -> None:
        """Take the step as it begins, at the pointer ``origin`` of an event; strings in it continue growing."""
        self.say(WholeValue("", value, event, origin, is_last=False))
        members = value if isinstance(value, dict) else {}
        for key in ("content", "summary"):
            entries = members.get(key)
            if isinstance(entries, list) and entries:
                self.counts[f"/{key}"] = len(entries)
                at = f"/{key}/{len(entries) - 1}/text"
                last = entries[-1].get("text") if isinstance(entries[-1], dict) else None
                self.texts[f"/{key}"] = at if isinstance(last, str) else None
                self._seed(at, last, event, origin)
        for at in (SIGNATURE, "/text"):
            self._seed(at, members.get(at[1:]), event, origin)

    def _seed(self, at: str, value: JsonValue, event: int, origin: str) -> None:
        if isinstance(value, str) and value:
            self.grow(at).add(value, event, f"{origin}{at}")

    def entry(self, key: str) -> str:
        """The pointer of a further entry of a list."""
        number = self.counts.get(key, 0)
        self.counts[key] = number + 1
        self.texts[key] = None
        return f"{key}/{number}"

    def text(self, key: str) -> str:
        """The pointer of the text that grows at the end of a list; a new one where there is none."""
        if self.kind in CONTENT and key == "/content":
            return "/text"
        at = self.texts.get(key)
        if at is None:
            place = self.entry(key)
            self.kinds[place] = "text"
            at = self.texts[key] = f"{place}/text"
        return at

    def annotate(self, value: JsonValue, event: int, pointer: str) -> None:
        """An annotation of the last text."""
        entry = self.text("/content").rpartition("/")[0]
        number = self.annotations.get(entry, 0)
        self.annotations[entry] = number + 1
        self.say(WholeValue(f"{entry}/annotations/{number}", value, event, pointer, is_last=False))

    def value(self) -> JsonValue:
        """The step as in a whole answer, but for arguments that came in pieces: they are text."""
        step = super().value()
        track = self.tracks.get(ARGUMENTS)
        if track is None or not isinstance(step, dict):
            return step
        if track.text:
            return {**step, "arguments": track.text}
        return {**step, "arguments": self.name("arguments")}

    def signature(self) -> str:
        """The proof that it has so far; "" for none."""
        value = self.value()
        found = value.get("signature") if isinstance(value, dict) else None
        return found if isinstance(found, str) else ""

    def calls(self) -> tuple[Part, ...]:
        """The call that it is."""
        return tuple(part for part in self.message("")[0].parts if isinstance(part, ToolCallIR))

    def _read(self, value: JsonValue, pointer: str, notes: Notes) -> Message:
        track = self.tracks.get(ARGUMENTS)
        if track is None or not track.text or not isinstance(value, dict):
            return read_output(value, pointer, notes)
        parsed, error = parse_arguments(track.text)
        message = read_output({**value, "arguments": {} if error else parsed}, pointer, notes)
        return replace(message, parts=tuple(_call_from_text(part, track.text, error) for part in message.parts))

    def _proven(self, part: Part) -> Part:
        track = self.tracks.get(SIGNATURE)
        if not isinstance(part, Reasoning) or part.signature is None or track is None:
            return part
        return replace(part, copies=whole_proofs(track))

    def _says(self, at: str, value: JsonValue, text: str) -> bool:
        if at == ARGUMENTS and not isinstance(value, str):
            return bool((parse_arguments(text)[0] if text else {}) == value)
        return super()._says(at, value, text)


def _call_from_text(part: Part, raw: str, error: str | None) -> Part:
    """A call whose arguments came as text."""
    if not isinstance(part, ToolCallIR):
        return part
    fields = {**part.source.fields, "raw": ARGUMENTS}
    value = None if error else part.input
    return replace(part, input=value, raw=raw, error=error, source=replace(part.source, fields=fields))


class StreamedStepString:
    """A text, a summary, or the arguments of a call, as it arrives (``adapters.Growing``)."""

    is_tagged = False

    def __init__(self, step: StreamedStep, at: str) -> None:
        self._step = step
        self._at = at

    @property
    def is_over(self) -> bool:
        key = self._at.rpartition("/")[0].rpartition("/")[0]
        return self._step.is_done or self._step.texts.get(key, self._at) != self._at

    def opening(self) -> Part | None:
        if self._step.kind != FUNCTION_CALL:
            return self._text("")
        call_id, name = self._step.name("id"), self._step.name("name")
        is_named = isinstance(call_id, str) and isinstance(name, str)
        return ToolCallIR(call_id, name, None, FORMAT) if is_named else None

    def since(self, count: int) -> list[str]:
        track: Pieces | None = self._step.tracks.get(self._at)
        return track.texts[count:] if track else []

    def parts(self) -> tuple[Part, ...]:
        if self._step.kind == FUNCTION_CALL:
            return self._step.calls()
        return (self._text(self._step.latest(self._at)),)

    def _text(self, text: str) -> Part:
        return Reasoning(Carrier.THOUGHT_SIGNATURE, text) if self._at.startswith("/summary") else Text(text)


def proofs(step: StreamedStep) -> Iterator[Reasoning]:
    """The signature of a step, as a part."""
    signature = step.signature()
    if signature:
        yield Reasoning(Carrier.THOUGHT_SIGNATURE, None, signature)
