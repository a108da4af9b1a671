"""Messages of a WebSocket, read from a copy of its bytes; ``websockets`` writes what is read here."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode

from workbench.wire.websocket import (
    Deflate,
    MessageDeflater,
    MessageReader,
    SocketMessage,
    accept_deflate,
    close_of,
    deflate_of,
)

TEXTS = st.text(max_size=200).map(str.encode)
PIECES = st.lists(TEXTS, min_size=1, max_size=4)
CONTROLS = st.sampled_from([None, Opcode.PING, Opcode.PONG])
SAID = st.lists(st.tuples(st.sampled_from([Opcode.TEXT, Opcode.BINARY]), PIECES, CONTROLS, st.booleans()), max_size=6)


def write(said: list[Any], *, mask: bool, keeps: bool | None) -> tuple[bytes, list[tuple[str, bytes]]]:
    """The wire bytes of messages as ``websockets`` writes them, and what they say."""
    packing = [] if keeps is None else [PerMessageDeflate(not keeps, not keeps, 15, 15)]
    wire, read = b"", []
    for opcode, pieces, control, is_packed in said:
        for n, piece in enumerate(pieces):
            kind, is_last = Opcode.CONT if n else opcode, n == len(pieces) - 1
            used = packing if is_packed else []
            wire += Frame(kind, piece, is_last).serialize(mask=mask, extensions=used)
            if control and not is_last:
                wire += Frame(control, b"are you there").serialize(mask=mask)
                read.append((control.name.lower(), b"are you there"))
        read.append((opcode.name.lower(), b"".join(pieces)))
    return wire, read


@given(said=SAID, mask=st.booleans(), keeps=st.sampled_from([None, True, False]), step=st.integers(1, 40))
def test_what_a_library_writes_is_read(said: list[Any], mask: bool, keeps: bool | None, step: int) -> None:
    wire, expected = write(said, mask=mask, keeps=keeps)
    reader = MessageReader(None if keeps is None else Deflate(keeps))
    messages = [m for at in range(0, len(wire), step) for m in reader.feed(wire[at : at + step])]
    assert [(m.opcode, m.data) for m in messages] == expected
    assert (reader.damage, reader.waiting_bytes) == ([], 0)
    assert messages == MessageReader(None if keeps is None else Deflate(keeps)).feed(wire)
    assert not messages or messages[-1].end == len(wire)


@given(said=SAID, keeps=st.sampled_from([None, True, False]), at=st.integers(0, 400), more=st.integers(0, 3))
def test_another_reader_continues_at_any_byte(said: list[Any], keeps: bool | None, at: int, more: int) -> None:
    deflate = None if keeps is None else Deflate(keeps)
    wire, expected = write(said * (1 + 30 * more), mask=True, keeps=keeps)  # longer than a window, too
    first = MessageReader(deflate)
    messages = first.feed(wire[: len(wire) * at // 400])
    messages += MessageReader(deflate, first.state()).feed(wire[len(wire) * at // 400 :])
    assert [(m.opcode, m.data) for m in messages] == expected


@pytest.mark.parametrize(
    ("offer", "answer"),
    [
        ("", ""),
        ("x-webkit-deflate-frame", ""),
        ("permessage-deflate", "permessage-deflate"),
        ("permessage-deflate; client_max_window_bits", "permessage-deflate"),
        (
            "permessage-deflate; client_no_context_takeover; server_no_context_takeover",
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
        ),
        (
            "permessage-deflate; server_max_window_bits=10, permessage-deflate; Server_No_Context_Takeover",
            "permessage-deflate; server_no_context_takeover",
        ),
    ],
)
def test_an_offer_of_compression_is_accepted_as_the_client_asks(offer: str, answer: str) -> None:
    assert accept_deflate(offer) == answer


@pytest.mark.parametrize("keeps", [True, False])
def test_what_a_server_compresses_is_read(keeps: bool) -> None:
    made, texts = MessageDeflater(Deflate(keeps)), [b"a word and a word " * 20] * 3
    wire = [made.frame("text", text) for text in texts]
    assert [m.data for m in MessageReader(Deflate(keeps)).feed(b"".join(wire))] == texts
    assert (len(wire[1]) < len(wire[0])) is keeps


@pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536])
def test_lengths_of_all_forms(size: int) -> None:
    wire = Frame(Opcode.BINARY, b"x" * size).serialize(mask=True)
    assert MessageReader().feed(wire) == [SocketMessage("binary", b"x" * size, 0, len(wire))]


@pytest.mark.parametrize(
    ("wire", "what", "read"),
    [
        (b"\x83\x01a", "byte 0: opcode 3 is not defined", []),
        (b"\x80\x01a", "byte 0: a continuation frame without a message", [("binary", b"a")]),
        (b"\x01\x01a\x81\x01b", "byte 3: a new message before the last one is complete", [("text", b"b")]),
        (b"\xc1\x01a", "byte 0: a compressed message, but no compression was negotiated", [("binary", b"a")]),
        (b"\x91\x01a", "byte 0: a reserved bit is set", [("text", b"a")]),
        (b"\x09\x01a", "byte 0: a ping frame is fragmented or longer than 125 bytes", [("ping", b"a")]),
    ],
)
def test_what_is_not_legal_is_named_and_the_rest_is_read(wire: bytes, what: str, read: list[tuple[str, bytes]]) -> None:
    reader = MessageReader()
    messages = reader.feed(wire + b"\x81\x02ok")
    assert [(m.opcode, m.data) for m in messages] == [*read, ("text", b"ok")]
    assert reader.damage == [what]


def test_after_a_torn_window_compressed_messages_are_kept_as_they_came() -> None:
    packing = [PerMessageDeflate(False, False, 15, 15)]
    torn, later = b"\xc1\x03abc", Frame(Opcode.TEXT, b"hello").serialize(mask=False, extensions=packing)
    reader = MessageReader(Deflate())
    first, second, plain = reader.feed(torn + later + b"\x81\x02ok")
    assert (first.opcode, first.data, second.opcode, plain.data) == ("binary", b"abc", "binary", b"ok")
    assert len(reader.damage) == 1 and "cannot be inflated" in reader.damage[0]


def test_what_was_agreed_on() -> None:
    agreed = "permessage-deflate; server_no_context_takeover; client_max_window_bits=12"
    assert (deflate_of(agreed, "client"), deflate_of(agreed, "server")) == (Deflate(True), Deflate(False))
    assert deflate_of("", "client") is None
    assert close_of(b"\x03\xe9bye") == (1001, "bye") and close_of(b"") == (1005, "")


def test_a_message_in_progress_is_counted() -> None:
    reader = MessageReader()
    assert reader.feed(b"\x01\x03abc\x80\x05de") == []
    assert reader.waiting_bytes == 3 + 4
