"""Streams of Bedrock's InvokeModel: events of blocks, or texts, each in a message named ``chunk``."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.ir import JsonValue, ModelResponse
from workbench.lazy_dataclass import replace
from workbench.protocols import StreamingPart
from workbench.protocols.bedrock_invoke import completion_text
from workbench.protocols.bedrock_invoke.completion_text import CompletionStreamDecoder
from workbench.protocols.bedrock_invoke.declaration import PROTOCOL
from workbench.protocols.common.error_body import read_exception, write_exception
from workbench.protocols.shapes.blocks.stream import BlockStreamDecoder
from workbench.protocols.shapes.blocks.write import BlockWriter
from workbench.wire import SseEvent, aws_message, dumps, sealed_payload


class ChunkWriter(BlockWriter):
    """The same events, each in a message named ``chunk``; an error is a message of its own."""

    content_type = "application/vnd.amazon.eventstream"

    def end(self, response: ModelResponse) -> bytes:
        return write_exception(response.error) if response.error else super().end(response)

    def _event(self, event: dict[str, JsonValue]) -> bytes:
        return aws_message("chunk", sealed_payload(dumps(event)))


class ChunkDecoder:
    """Builds the answer of one stream, whichever of the two forms its events have."""

    def __init__(self) -> None:
        self._blocks = _UnnamedBlocks()
        self._text: CompletionStreamDecoder | None = None

    def feed(self, event: SseEvent) -> None:
        """Take one event; one that is named as an exception ends the stream."""
        if self._text is None and self._blocks.is_fresh and completion_text.is_text(event.data or b""):
            self._text = CompletionStreamDecoder(PROTOCOL)
        (self._text or self._blocks).feed(event)

    def result(self) -> ModelResponse:
        """The response so far."""
        return self._text.result() if self._text else replace(self._blocks.result(), protocol=PROTOCOL)

    @property
    def growing(self) -> Sequence[StreamingPart]:
        """Parts as they arrive."""
        return (self._text or self._blocks).growing

    def about(self) -> ModelResponse:
        """The response without its content: id, model, token counts."""
        return (self._text or self._blocks).about()


class _UnnamedBlocks(BlockStreamDecoder):
    """Events that are all named ``chunk``, and exceptions."""

    is_named = False

    @property
    def is_fresh(self) -> bool:
        """True before the first event."""
        return self._last is None

    def feed(self, event: SseEvent) -> None:
        if event.name is None or event.name == "chunk":
            super().feed(event)
            return
        self._last = event.number
        self._fail(event.number, read_exception(event))
