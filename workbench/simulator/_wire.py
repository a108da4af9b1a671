"""Encodes an answer as the pieces that are sent, with the faults of the dials."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from workbench import regex
from workbench.errors import WireError
from workbench.ir import ApiError, JsonValue, ModelResponse, ToolCallIR
from workbench.lazy_dataclass import dataclass
from workbench.protocols import Adapter
from workbench.simulator._dials import Dials
from workbench.simulator._errors import TEXTS, type_of
from workbench.wire import Framing, dumps, loads, read_stream

JSON = "application/json"
_DATA = regex.compile(rb"^(data: ?)(.*)$", re.MULTILINE)
_INDEX_KEYS = ("index", "output_index")


@dataclass(frozen=True, slots=True)
class EncodedReply:
    """A response body as bytes. ``is_cut``: the connection breaks after the last piece."""

    content_type: str
    pieces: tuple[bytes, ...]
    is_cut: bool = False


def encode_reply(response: ModelResponse, adapter: Adapter, dials: Dials, *, is_array: bool = False) -> EncodedReply:
    """Encode the answer, whole or as a stream.

    Args:
        is_array: the stream is one JSON array, as Gemini sends it without ``alt=sse``.
    """
    if not response.is_stream or dials.stream == "json-body":
        return EncodedReply(JSON, _chunks((dumps(adapter.write_response(response)),), dials))
    failed = ApiError(TEXTS[529], type_of(adapter.name, 529) or None)
    meant = replace(response, error=failed) if dials.stream == "error" else response
    body = _with_raw_arguments(adapter.write_stream(meant), response)
    kind = adapter.serving.stream_type
    stream = read_stream(body, kind)
    starts = [event.start for event in stream.events[1:]]
    pieces = [body[start:end] for start, end in zip([0, *starts], [*starts, len(body)], strict=True)]
    if is_array and stream.framing is Framing.SSE:
        kind, pieces = f"{JSON}; charset=UTF-8", list(_as_array(pieces))
    is_lines = stream.framing in (Framing.SSE, Framing.NDJSON)
    pieces = _apply_stream_fault(pieces, dials.stream, is_sse=stream.framing is Framing.SSE) if is_lines else pieces
    is_cut = dials.stream == "cut"
    if is_cut:
        whole = b"".join(pieces)
        pieces = [whole[: max(1, len(whole) * 3 // 5)]] if dials.chunk else _first_bytes(pieces, len(whole) * 3 // 5)
    elif dials.stream == "no-terminator":
        pieces = pieces[:-1] if len(pieces) > 1 else []
    return EncodedReply(kind, _chunks(pieces, dials), is_cut)


def _first_bytes(pieces: Sequence[bytes], count: int) -> list[bytes]:
    kept = []
    for piece in pieces:
        kept.append(piece[:count])
        count -= len(piece)
        if count <= 0:
            break
    return kept


def _with_raw_arguments(body: bytes, response: ModelResponse) -> bytes:
    """Insert argument text that is not JSON into a stream unchanged.

    Streams carry arguments as text in every protocol; adapters with arguments as values wrote it as a JSON string.
    """
    for message in response.messages:
        for part in message.parts:
            if isinstance(part, ToolCallIR) and part.raw is None and part.error:
                body = body.replace(dumps(dumps(part.input).decode()), dumps(part.input))
    return body


def _as_array(pieces: Sequence[bytes]) -> Iterator[bytes]:
    for number, piece in enumerate(pieces):
        found = _DATA.search(piece)
        yield (b"," if number else b"[") + (found[2].rstrip(b"\r") if found else b"null") + b"\n"
    yield b"]"


def _apply_stream_fault(pieces: list[bytes], fault: str, *, is_sse: bool) -> list[bytes]:
    """The events with a fault of ``STREAM_FAULTS``."""
    match fault:
        case "reused-index":
            return [_edit_event(piece, lambda value: _with_index(value, 0)) for piece in pieces]
        case "missing-index":
            return [_edit_event(piece, lambda value: _with_index(value, None)) for piece in pieces]
        case "empty-choices":
            found = next((p for p in pieces if b'"choices"' in p or b'"candidates"' in p), None)
            return pieces if found is None else [_edit_event(found, _without_choices), *pieces]
        case "comments" if is_sse:
            return [b": keep-alive\n\n" + piece for piece in pieces]
    return pieces


def _edit_event(piece: bytes, change: Callable[[JsonValue], JsonValue]) -> bytes:
    """An event with changed data; unchanged if it is not JSON."""

    def data(found: re.Match[bytes]) -> bytes:
        try:
            return found[1] + dumps(change(loads(found[2])))
        except WireError:
            return found[0]

    return _DATA.sub(data, piece) if b"data:" in piece[:200] else data_line(piece, change)


def data_line(piece: bytes, change: Callable[[JsonValue], JsonValue]) -> bytes:
    """The same for a line that is only JSON."""
    try:
        return dumps(change(loads(piece))) + b"\n"
    except WireError:
        return piece


def _with_index(value: JsonValue, index: int | None) -> JsonValue:
    """The value with another index on every call and block, without one for None; choices keep theirs."""
    if isinstance(value, list):
        return [_with_index(inner, index) for inner in value]
    if not isinstance(value, dict):
        return value
    is_choice = "delta" in value and "finish_reason" in value
    made = {}
    for key, inner in value.items():
        if key not in _INDEX_KEYS or is_choice:
            made[key] = _with_index(inner, index)
        elif index is not None:
            made[key] = index
    return made


def _without_choices(value: JsonValue) -> JsonValue:
    return {k: [] if k in ("choices", "candidates") else v for k, v in value.items()}


def _chunks(pieces: Sequence[bytes], dials: Dials) -> tuple[bytes, ...]:
    if dials.stream == "split-utf8":
        return tuple(part for piece in pieces for part in _split_characters(piece))
    if not dials.chunk:
        return tuple(pieces)
    whole = b"".join(pieces)
    return tuple(whole[n : n + dials.chunk] for n in range(0, len(whole), dials.chunk))


def _split_characters(piece: bytes) -> Iterator[bytes]:
    """The piece, cut after every byte of a multi-byte character but the last."""
    start = 0
    for at in range(1, len(piece)):
        if 0x80 <= piece[at] < 0xC0:
            yield piece[start:at]
            start = at
    yield piece[start:]
