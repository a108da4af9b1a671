from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from workbench.errors import UnreadableInput
from workbench.importers import _files
from workbench.importers._files import HEAD, open_source


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
