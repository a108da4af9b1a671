from __future__ import annotations

import gzip
import io
import os
import socket
import threading
from pathlib import Path

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import _files
from workbench.formats.importers._files import HEAD, open_source


def test_only_the_head_is_read_until_somebody_asks(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a" * (HEAD + 10))
    source = open_source(str(path), None)
    assert (len(source.head), source.content, source.path) == (HEAD, None, path)
    path.write_bytes(b"b" * 5)
    assert source.data() == b"bbbbb"


def test_a_packed_file_has_no_path_to_be_read_in_place(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(b"hello"))
    source = open_source(str(path), None)
    assert (source.head, source.data(), source.path) == (b"hello", b"hello", None)


def test_the_byte_order_mark_is_no_part_of_the_head_and_stays_in_the_data() -> None:
    source = open_source("-", io.BytesIO(b"\xef\xbb\xbf{}"))
    assert (source.head, source.data()) == (b"{}", b"\xef\xbb\xbf{}")


def test_blanks_that_fill_the_head_are_not_emptiness() -> None:
    assert open_source("-", io.BytesIO(b" " * HEAD + b"x")).head


def test_what_is_too_large_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_files, "MAX_INPUT_FILE", 100)
    monkeypatch.setattr(_files, "PIECE", 10)
    stream = io.BytesIO(b"x" * 1_000)
    with pytest.raises(UnreadableInput, match="larger than 100 bytes"):
        open_source("-", stream)
    assert stream.tell() <= 120


def test_no_standard_input_is_empty_input() -> None:
    with pytest.raises(UnreadableInput, match="empty"):
        open_source("-", None)


def test_a_device_and_a_socket_are_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for device in ("/dev/zero", "/dev/null"):
        with pytest.raises(UnreadableInput, match="this is a device, not a file"):
            open_source(device, None)
    monkeypatch.chdir(tmp_path)  # a socket's name may not be long
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        with pytest.raises(UnreadableInput, match="this is a socket"):
            open_source("socket", None)


def test_a_pipe_that_nobody_writes_into_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_files, "WRITER_SECONDS", 0.01)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableInput, match="no data from this pipe"):
        open_source(str(tmp_path / "pipe"), None)


@pytest.mark.parametrize("content", [b"hello", gzip.compress(b"hello")])
def test_a_substituted_process_is_read_to_its_end(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer is there and takes its time: it is waited for."""
    monkeypatch.setattr(_files, "WRITER_SECONDS", 0.01)
    reading, writing = os.pipe()
    writer = threading.Timer(0.05, lambda: (os.write(writing, content), os.close(writing)))
    writer.start()
    try:
        assert open_source(f"/dev/fd/{reading}", None).data() == b"hello"
    finally:
        writer.join()
        os.close(reading)


def test_a_pipe_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_files, "MAX_INPUT_FILE", 100)
    monkeypatch.setattr(_files, "HEAD", 60)
    reading, writing = os.pipe()
    os.write(writing, b"x" * 101)
    os.close(writing)
    try:
        with pytest.raises(UnreadableInput, match="larger than 100 bytes"):
            open_source(f"/dev/fd/{reading}", None)
    finally:
        os.close(reading)
