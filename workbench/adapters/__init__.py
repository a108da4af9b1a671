"""Adapters: one file per protocol, pure functions between wire bytes and the IR.

An adapter module holds one object named ``adapter``. Files that begin with an underscore are shared code, named for a
shape and not for a company.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from workbench import plugins
from workbench.errors import UsageError
from workbench.ir import JsonValue, ModelRequest, ModelResponse
from workbench.known import KnownMessages
from workbench.wire.sse import SseEvent


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a protocol can carry; callers ask this, never ``isinstance``."""

    reasoning: frozenset[str] = frozenset()  # values of ir.Carrier
    error_flag: bool = False
    media_in_results: bool = False
    mid_system: bool = False
    redacted_reasoning: bool = False
    parallel_switch: bool = False
    arguments: str = "string"  # or "object": the container of arguments on this wire


class StreamDecoder(Protocol):
    """Builds an answer from stream events; the same for every chunking of the bytes.

    ``copy.deepcopy`` of it goes on from where it stands without touching the original.
    """

    def feed(self, event: SseEvent) -> None:
        """Take one block. Never raises on hostile input: it records anomalies."""
        ...

    def result(self) -> ModelResponse:
        """What has arrived so far. May be called at any time."""
        ...


class Adapter(Protocol):
    """One protocol."""

    name: str
    """``"openai-chat"``: the name people type."""

    capabilities: Capabilities

    def claims_url(self, url: str) -> bool:
        """The path is this protocol's."""
        ...

    def claims_request(self, value: JsonValue) -> float:
        """0 … 1: how much a parsed request body looks like this protocol."""
        ...

    def claims_response(self, value: JsonValue) -> float:
        """0 … 1: the same for a parsed response body (not an error)."""
        ...

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        """0 … 1: the same for the name and parsed data of one stream event."""
        ...

    def decode_request(self, body: bytes, known: KnownMessages | None = None) -> ModelRequest:
        """Decode a content-decoded request body.

        Args:
            body: what was sent.
            known: messages that were decoded before, and takes those that were not; the result is the same without.

        Raises:
            WireError: not JSON.
            ProtocolMismatch: JSON, but no request of this protocol at all.
        """
        ...

    def decode_response(self, body: bytes, *, status: int = 200) -> ModelResponse:
        """Decode a whole response body, error bodies included. Raises as ``decode_request``."""
        ...

    def stream_decoder(self) -> StreamDecoder:
        """A fresh decoder for one stream."""
        ...

    def encode_request(self, request: ModelRequest, original: bytes) -> bytes:
        """The original body with the leaves that differ replaced, and not a byte more.

        Raises:
            LocalProtocolError: the request differs in structure from the original.
        """
        ...

    def encode_response(self, response: ModelResponse, original: bytes) -> bytes:
        """The same for a response body or a stream."""
        ...


@cache
def get(name: str) -> Adapter:
    """The adapter of a protocol ("openai-chat"). Raises UsageError."""
    module = name.replace("-", "_")
    if module not in plugins.names(__name__):
        raise UsageError(f"no protocol named {name!r}", hint=f"known: {', '.join(protocols())}")
    adapter: Adapter = plugins.load(__name__, module).adapter
    return adapter


def protocols() -> tuple[str, ...]:
    """Names of every protocol, without importing an adapter."""
    return tuple(n.replace("_", "-") for n in plugins.names(__name__))


def every() -> Iterator[Adapter]:
    """Every adapter."""
    return (get(n) for n in protocols())


def elsewhere() -> tuple[str, ...]:
    """Names of the protocols that are recognised, although no adapter decodes them."""
    from workbench.adapters import _elsewhere

    return tuple(sorted({name for name, _ in _elsewhere.URLS} - set(protocols())))
