"""The lists of one streamed response, put together from their deltas: content parts, ``reasoning_details``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir import Carrier, JsonValue, Part, Reasoning, Text
from workbench.protocols.common.pieces import Node, Pieces
from workbench.protocols.common.reading import Notes
from workbench.protocols.shapes.chat.message import read_message
from workbench.protocols.shapes.chat.streamed_calls import Note
from workbench.wire import type_words

_DETAILS = "reasoning_details"
_JOINED = ("text", "summary")
_WHOLE = ("signature", "data")
_READABLE = ("/text", "/thinking/0/text", "/thinking", "/summary")


class StreamedListEntry:
    """One entry of a streamed list: its strings by pointer suffix, and its other members."""

    __slots__ = ("is_over", "key", "rest", "strings")

    def __init__(self, rest: JsonValue, key: str = "content") -> None:
        self.rest = rest
        self.key = key  # of the list in the message
        self.strings: dict[str, Pieces] = {}
        self.is_over = False

    @property
    def is_tagged(self) -> bool:
        """True if the text may contain reasoning in tags."""
        return self.key == "content"

    def opening(self) -> Part | None:
        """The part without its string."""
        kind = self.rest.get("type") if isinstance(self.rest, dict) else None
        if kind is None or not _main(self.strings):
            return None
        if self.key != "content":
            return Reasoning(Carrier.REASONING_DETAILS, "")
        return Text("") if kind == "text" else Reasoning(Carrier.THINKING_CHUNK, "") if kind == "thinking" else None

    def since(self, count: int) -> list[str]:
        """Pieces of its string."""
        pieces = _main(self.strings)
        return pieces.texts[count:] if pieces else []

    def parts(self) -> tuple[Part, ...]:
        """The parts so far."""
        return read_message({self.key: [self.value()]}, "", Notes(), is_answer=True).parts

    def add(self, suffix: str, text: str, event: int, pointer: str) -> None:
        """Add a piece of one of its strings."""
        self.strings.setdefault(suffix, Pieces()).add(text, event, pointer)

    def value(self) -> JsonValue:
        """The entry as in a response without streaming."""
        if not self.strings:
            return self.rest
        value = dict(self.rest)
        for suffix, pieces in self.strings.items():
            if suffix == "/thinking/0/text":
                value["thinking"] = [{"type": "text", "text": pieces.text}]
            else:
                value[suffix[1:]] = pieces.text
        return value

    def node(self) -> Node:
        """Sources of its strings."""
        return self.strings


def _main(strings: Mapping[str, Pieces]) -> Pieces | None:
    """The string that can be read."""
    return next((strings[suffix] for suffix in _READABLE if suffix in strings), None)


class Contents:
    """Content parts: pieces of neighbouring parts of one type are one part."""

    def __init__(self, text: Pieces) -> None:
        self.items: list[StreamedListEntry] = []
        if text:
            self._last("text").strings["/text"] = text

    def feed(self, value: JsonValue, event: int, pointer: str) -> None:
        """Take a content at a pointer in the data of a block."""
        if isinstance(value, str):
            self._last("text").add("/text", value, event, pointer)
        for n, block in enumerate(value) if isinstance(value, list) else ():
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "text" and isinstance(block.get("text"), str):
                self._last("text").add("/text", block["text"], event, f"{pointer}/{n}/text")
            elif kind == "thinking" and isinstance(block.get("thinking"), list | str):
                self._think(block, event, f"{pointer}/{n}/thinking")
            else:
                self.items.append(StreamedListEntry(block))

    def _think(self, block: dict[str, JsonValue], event: int, pointer: str) -> None:
        item, thinking = self._last("thinking"), block["thinking"]
        item.rest.update((k, v) for k, v in block.items() if k != "thinking")
        if isinstance(thinking, str):
            item.add("/thinking/0/text", thinking, event, pointer)
            return
        for n, chunk in enumerate(thinking):
            text = chunk.get("text") if isinstance(chunk, dict) else None
            if isinstance(text, str):
                item.add("/thinking/0/text", text, event, f"{pointer}/{n}/text")

    def _last(self, kind: str) -> StreamedListEntry:
        """The last part if it is of a type, else a new one."""
        last = self.items[-1] if self.items else None
        if last is None or not isinstance(last.rest, dict) or last.rest.get("type") != kind:
            self.items.append(StreamedListEntry({"type": kind}))
        return self.items[-1]


class Details:
    """``reasoning_details``: fragments with one index and type are one entry; signature and data come whole.

    Facts: https://openrouter.ai/docs (reasoning tokens), recordings of Anthropic and Gemini models behind OpenRouter.
    """

    def __init__(self, note: Note) -> None:
        self.items: list[StreamedListEntry] = []
        self._open: dict[tuple[int | None, str], StreamedListEntry] = {}
        self._note = note

    def feed(self, value: JsonValue, event: int, pointer: str) -> None:
        """Take a list at a pointer in the data of a block."""
        if not isinstance(value, list):
            message = f"'reasoning_details' is {type_words(value)}, not a list"
            self._note("content.shape", message, "/reasoning_details", event)
            return
        for n, entry in enumerate(value):
            if not isinstance(entry, dict):
                self.items.append(StreamedListEntry(entry, _DETAILS))
                continue
            item = self._item(entry)
            strings = dict(self._strings(entry))
            for name, text in strings.items():
                item.add(f"/{name}", text, event, f"{pointer}/{n}/{name}")
            item.rest.update((k, v) for k, v in entry.items() if k not in strings and v is not None)

    def _item(self, entry: dict[str, JsonValue]) -> StreamedListEntry:
        """The entry a fragment belongs to, a new one if need be."""
        index = entry.get("index")
        key = (index if type(index) is int else None, str(entry.get("type")))
        item = self._open.get(key)
        if item is None or any(entry.get(name) and f"/{name}" in item.strings for name in _WHOLE):
            item = self._open[key] = StreamedListEntry({}, _DETAILS)
            self.items.append(item)
        return item

    def _strings(self, entry: dict[str, JsonValue]) -> Iterator[tuple[str, str]]:
        for name in (*_JOINED, *_WHOLE):
            value = entry.get(name)
            if isinstance(value, str) and (value or name in _JOINED):
                yield name, value
