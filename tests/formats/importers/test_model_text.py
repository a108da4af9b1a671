from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import model_text


def test_text_is_the_body_of_an_answer_without_protocol(data: Path) -> None:
    raw = (data / "model-text.txt").read_bytes()
    exchange = model_text.read(raw, "x").exchange(0)
    assert exchange.request is None
    assert exchange.note == "model text"
    assert exchange.response and exchange.response.body.raw == raw
    assert exchange.response.headers.get("content-type") == "text/plain; charset=utf-8"


def test_what_is_not_utf8_is_refused_with_line_and_byte() -> None:
    with pytest.raises(UnreadableInput, match="line 3, byte 7"):
        model_text.read(b"a\nbc\nd \xff", "x")


def test_binary_is_not_claimed() -> None:
    assert model_text.sniff(b"abc\0") == 0.0
    assert 0.0 < model_text.sniff("\x1b[31mred [/b] \u202e".encode()) < 0.1
