"""Progress of a request on stderr: text of the response as it arrives, and retries."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.safetext import visible

if TYPE_CHECKING:
    from workbench.send import Event, Outgoing
    from workbench.wire import SseEvent

STREAMS = ("text/event-stream", "application/x-ndjson")
"""Content types whose text can be shown as it comes."""

REPAINT_SECONDS = 0.1
"""Interval of updates: decoding the text again costs more the longer it is."""


class LiveAnswer:
    """Prints the progress of one request on stderr; ``on_event`` is a listener for ``Sender.send``.

    Args:
        is_shown: print the text of the response as it arrives; else only retries.
    """

    def __init__(self, outgoing: Outgoing, *, is_shown: bool) -> None:
        from workbench import protocols
        from workbench.wire import SseReader

        self._name = outgoing.target.name
        self._is_shown = is_shown and outgoing.protocol in protocols.protocols()
        self._decoder = protocols.get(outgoing.protocol).stream_decoder() if self._is_shown else None
        self._reader = SseReader()
        self._kind = ""
        self._held = b""
        self._shown = ""
        self._last = 0.0

    @property
    def has_shown(self) -> bool:
        """True once text of the response was printed."""
        return bool(self._shown)

    def on_event(self, event: Event) -> None:
        """Print what an event adds."""
        from workbench.send import BodyReceived, HeadReceived, RetryWait

        if isinstance(event, RetryWait):
            again = f"{self._name}: {event.why}; attempt {event.attempt} failed, retrying in {event.wait:.1f} s"
            _output.complain(again, 0)
        elif isinstance(event, HeadReceived):
            kind = (event.headers.get("content-type") or "").partition(";")[0].strip().lower()
            is_plain = not (event.headers.get("content-encoding") or "").replace("identity", "")
            self._kind = kind if is_plain else ""
            self._is_shown = self._is_shown and self._kind in STREAMS
        elif isinstance(event, BodyReceived) and self._is_shown and self._decoder:
            for block in self._blocks(event.data):
                self._decoder.feed(block)
            if time.monotonic() - self._last >= REPAINT_SECONDS:
                self._show()

    def end(self) -> None:
        """Print the rest."""
        if self._is_shown:
            self._show()
            if self._shown:
                self._write("\n")

    def _blocks(self, data: bytes) -> Iterable[SseEvent]:
        """Events of the stream that these bytes complete."""
        from workbench.wire import Framing, read_stream

        if self._kind == STREAMS[0]:
            return self._reader.feed(data)
        lines, end, self._held = (self._held + data).rpartition(b"\n")
        return read_stream(lines + end, framing=Framing.NDJSON).events if end else ()

    def _show(self) -> None:
        from workbench.ir import Text

        assert self._decoder
        messages = self._decoder.result().messages
        text = "\n".join(p.text for m in messages for p in m.parts if isinstance(p, Text))
        if text.startswith(self._shown):
            self._write(text[len(self._shown) :])
            self._shown = text
        self._last = time.monotonic()

    def _write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write("\n".join(visible(line) for line in text.split("\n")))
            sys.stderr.flush()
