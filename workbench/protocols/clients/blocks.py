"""Clients of the Messages API, joining a stream of typed blocks.

Each policy says which source it was written after. What they share: blocks are in a list, deltas go to the block at
their index, the name of an event decides whether it is read at all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.protocols.clients.buffers import CALL, NAIVE, REASONING, TEXT, DataBlock, PartBuffer, Stop
from workbench.protocols.clients.partial import read_partial

_KINDS = {"text": TEXT, "thinking": REASONING, "redacted_thinking": REASONING, "tool_use": CALL}
_DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
    "input_json_delta": ("tool_use", "partial_json"),
}
"""Type of a delta → type of the block that takes it, and its key."""


def part_of_block(block: JsonValue, event: int) -> PartBuffer:
    """A part from the start of its block."""
    value = block if isinstance(block, dict) else {}
    kind = str(value.get("type"))
    part_buffer = PartBuffer(_KINDS.get(kind, "other"), kind)
    for key, field in (("text", "text"), ("thinking", "text"), ("signature", "signature"), ("data", "data")):
        if isinstance(value.get(key), str):
            part_buffer.put(field, value[key], event)
    if part_buffer.kind == CALL:
        for field in ("id", "name"):
            if isinstance(value.get(field), str):
                part_buffer.put(field, value[field], event)
        part_buffer.value = (value.get("input", {}),)
    return part_buffer


class _IndexedBlocks:
    """A list of blocks; deltas by position in it."""

    name = package = ""

    def __init__(self) -> None:
        self.blocks: list[PartBuffer] = []
        self.is_started = self.is_stopped = False
        self.has_list = True

    def feed(self, chunk: DataBlock) -> bool:
        if chunk.name is None or chunk.name == "ping":
            return False
        if chunk.name == "error":
            raise Stop("APIError", "an error event arrived")
        if not chunk.is_json:
            raise Stop("JSONDecodeError", "the data of an event is not JSON")
        value = chunk.value if isinstance(chunk.value, dict) else {}
        kind = value.get("type")
        if not self.is_started and kind != "message_start":
            return False
        self.take(str(kind), value, chunk.event)
        return False

    def take(self, kind: str, value: dict[str, JsonValue], event: int) -> None:
        """One event of a message that has begun."""
        if kind == "message_start":
            self.start(value, event)
        elif kind == "content_block_start":
            if not self.has_list:
                raise Stop("TypeError", "message_start has no 'content' list to add blocks to")
            self.blocks.append(part_of_block(value.get("content_block"), event))
        elif kind == "content_block_delta":
            delta = value.get("delta")
            self.delta(value.get("index"), delta if isinstance(delta, dict) else {}, event)
        elif kind == "content_block_stop":
            self.stop(value.get("index"))
        elif kind == "message_stop":
            self.is_stopped = True

    def start(self, value: dict[str, JsonValue], event: int) -> None:
        """The message begins."""
        self.is_started = True
        message = value.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        self.has_list = isinstance(content, list)
        self.blocks += [part_of_block(block, event) for block in (content if isinstance(content, list) else ())]

    def delta(self, index: JsonValue, delta: dict[str, JsonValue], event: int) -> None:
        """A delta for the block at an index."""
        raise NotImplementedError

    def stop(self, index: JsonValue) -> None:
        """A block ends."""

    def finish(self) -> None:
        raise NotImplementedError

    def messages(self) -> Sequence[Sequence[PartBuffer]]:
        return (self.blocks,) if self.is_started else ()

    def notes(self) -> tuple[str, ...]:
        return ()


def _key_of(delta: dict[str, JsonValue]) -> str:
    return _DELTAS.get(str(delta.get("type")), ("", ""))[1]


def grow(block: PartBuffer, delta: dict[str, JsonValue], event: int) -> None:
    """Let a block take a delta of its own type; of another type it is passed over. A signature replaces the last."""
    wanted, key = _DELTAS.get(str(delta.get("type")), ("", ""))
    own = "tool_use" if block.name == "server_tool_use" else block.name
    if own != wanted:
        return
    piece = delta.get(key)
    if not isinstance(piece, str):
        raise Stop("TypeError", f"a {delta.get('type')} whose value is not a string")
    if key == "signature":
        block.put("signature", piece, event)
    else:
        block.add("arguments" if wanted == "tool_use" else "text", piece, event)


class AnthropicPython(_IndexedBlocks):
    """``anthropic`` 2.11.0 (Python), ``lib/streaming/_messages.py``: ``accumulate_event``; ``_streaming.py``.

    Starts append, deltas go to ``content[index]``, which raises IndexError. What comes before ``message_start`` is
    passed over, and so is a second ``message_start``. Arguments are read by ``jiter`` in partial mode after each
    delta: cut ones are kept as far as they go, malformed ones raise ValueError. A stream may end anywhere.
    """

    name, package = "anthropic-python", "anthropic 2.11.0 (Python)"

    def feed(self, chunk: DataBlock) -> bool:
        try:
            return super().feed(chunk)
        except Stop:
            read_arguments(self.blocks, is_lenient=True)  # it would have raised earlier
            raise

    def start(self, value: dict[str, JsonValue], event: int) -> None:
        if not self.is_started:
            super().start(value, event)

    def delta(self, index: JsonValue, delta: dict[str, JsonValue], event: int) -> None:
        grow(self._block(index), delta, event)

    def stop(self, index: JsonValue) -> None:
        self._block(index)

    def _block(self, index: JsonValue) -> PartBuffer:
        if type(index) is not int:
            raise Stop("TypeError", "an event without its block index")
        if not -len(self.blocks) <= index < len(self.blocks):
            raise Stop("IndexError", f"there is no block {index}")
        return self.blocks[index]

    def finish(self) -> None:
        if not self.is_started:
            raise Stop("AssertionError", "message_start is missing")
        read_arguments(self.blocks, is_lenient=True)


class AnthropicTypeScript(_IndexedBlocks):
    """``@anthropic-ai/sdk`` 1.11.0, ``lib/MessageStream.js``: ``#accumulateMessage``, ``#addStreamEvent``.

    Starts append, deltas go to ``content.at(index)``; without such a block they are passed over. A second
    ``message_start`` raises. Arguments are closed and parsed when they are first read. Without ``message_stop`` there
    is no final message.
    """

    name, package = "anthropic-typescript", "@anthropic-ai/sdk 1.11.0"

    def start(self, value: dict[str, JsonValue], event: int) -> None:
        if self.is_started:
            raise Stop("AnthropicError", "message_start is repeated")
        super().start(value, event)

    def delta(self, index: JsonValue, delta: dict[str, JsonValue], event: int) -> None:
        if not self.blocks:
            raise Stop("AnthropicError", "a delta before any block")
        if type(index) is int and 0 <= index < len(self.blocks):  # with a negative one it reads here, writes elsewhere
            grow(self.blocks[index], delta, event)

    def finish(self) -> None:
        if not self.is_started:
            raise Stop("AnthropicError", "the stream ended without any chunks")
        if not self.is_stopped:
            raise Stop("AnthropicError", "the stream ended without a final message")
        read_arguments(self.blocks, is_lenient=False)


def read_arguments(blocks: Sequence[PartBuffer], *, is_lenient: bool) -> None:
    """Parse the argument text of every call. Raises Stop where the client does."""
    for block in blocks:
        text = block.text("arguments")
        if block.kind != CALL or not text:
            continue
        try:
            block.value = (read_partial(text, is_lenient=is_lenient),)
        except WireError as error:
            block.value = None
            event = _first_bad([p.text for p in block.strings["arguments"]], is_lenient=is_lenient)
            at = block.strings["arguments"][event].event
            kind = "ValueError" if is_lenient else "AnthropicError"
            raise Stop(kind, f"the arguments do not parse: {error.what}", at) from None


def _first_bad(pieces: Sequence[str], *, is_lenient: bool) -> int:
    """The first piece after which the text is no beginning of JSON any more: once wrong, it stays wrong."""

    def is_bad(count: int) -> bool:
        try:
            read_partial("".join(pieces[: count + 1]), is_lenient=is_lenient)
        except WireError:
            return True
        return False

    first = next((n for n, piece in enumerate(pieces) if piece.strip()), 0)
    return bisect_left(range(len(pieces)), True, lo=first, key=is_bad)


class VercelAnthropic:
    """``@ai-sdk/anthropic`` 3.0.138, ``anthropic-messages-language-model.ts``: ``doStream``.

    Blocks are under their index: a start at a taken index replaces what was there. A call is handed on when its
    block stops, and is lost otherwise. A second ``message_start`` with another id is an error. Names of events are not
    looked at.
    """

    name, package = "vercel-anthropic", "@ai-sdk/anthropic 3.0.138"

    def __init__(self) -> None:
        self.parts: list[PartBuffer] = []
        self.open: dict[str, PartBuffer] = {}  # by index, as text: any value may stand there
        self.message: tuple[JsonValue] | None = None
        self.is_started = False

    def feed(self, chunk: DataBlock) -> bool:
        if not chunk.is_json or not isinstance(chunk.value, dict):
            raise Stop("error", "the data of an event is not JSON")
        value = chunk.value
        match value.get("type"):
            case "message_start":
                self._start(value)
            case "content_block_start":
                self._begin(value, chunk.event)
            case "content_block_delta":
                self._delta(value, chunk.event)
            case "content_block_stop":
                self._stop(value)
            case "message_stop":
                self.message = None
            case "error":
                raise Stop("APICallError", "an error event arrived")
        return False

    def _start(self, value: dict[str, JsonValue]) -> None:
        message = value.get("message")
        found = message.get("id") if isinstance(message, dict) else None
        if self.message is not None and self.message[0] != found:
            raise Stop("InvalidResponseDataError", "message_start of a second message before the first has ended")
        self.message = (found,)
        self.is_started = True

    def _begin(self, value: dict[str, JsonValue], event: int) -> None:
        part = part_of_block(value.get("content_block"), event)
        if part.kind in (TEXT, REASONING):
            part.strings.pop("text", None)  # what the start holds is not looked at
            self.parts.append(part)
        self.open[str(value.get("index"))] = part

    def _delta(self, value: dict[str, JsonValue], event: int) -> None:
        part, delta = self.open.get(str(value.get("index"))), value.get("delta")
        if not isinstance(delta, dict):
            raise Stop("TypeValidationError", "an event without its delta")
        is_speech = delta.get("type") in ("text_delta", "thinking_delta")
        if part is None and is_speech:
            raise Stop("Error", f"part {value.get('index')} not found: a delta for a block that is not open")
        if part is not None:
            grow(part, delta, event)

    def _stop(self, value: dict[str, JsonValue]) -> None:
        part = self.open.pop(str(value.get("index")), None)
        if part is not None and part.kind == CALL:
            if part.text("arguments"):
                part.value = None
                part.settle()
            self.parts.append(part)

    def finish(self) -> None:
        return

    def messages(self) -> Sequence[Sequence[PartBuffer]]:
        return (self.parts,) if self.is_started or self.parts else ()

    def notes(self) -> tuple[str, ...]:
        is_lost = any(part.kind == CALL for part in self.open.values())
        return ("a call whose block has no stop event is lost",) if is_lost else ()


class JoinedBlocks:
    """A client with one loop: each delta is added to the block that was opened last; indices are ignored."""

    name, package = NAIVE, "a simple hand-written loop that joins all deltas by position"

    def __init__(self) -> None:
        self.blocks: list[PartBuffer] = []

    def feed(self, chunk: DataBlock) -> bool:
        value = chunk.value if isinstance(chunk.value, dict) else {}
        delta = value.get("delta")
        if value.get("type") == "content_block_start":
            self.blocks.append(part_of_block(value.get("content_block"), chunk.event))
        elif isinstance(delta, dict) and self.blocks and isinstance(delta.get(_key_of(delta)), str):
            grow(self.blocks[-1], delta, chunk.event)
        return False

    def finish(self) -> None:
        for block in self.blocks:
            if block.kind == CALL and block.text("arguments"):
                block.value = None
                block.settle()

    def messages(self) -> Sequence[Sequence[PartBuffer]]:
        return (self.blocks,)

    def notes(self) -> tuple[str, ...]:
        return ()


POLICIES = (AnthropicPython, AnthropicTypeScript, VercelAnthropic, JoinedBlocks)
