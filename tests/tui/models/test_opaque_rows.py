"""Signatures, encrypted content and base64 are one row: their beginning, what is marked in them, and their length."""

from __future__ import annotations

import base64
import json
import random

import pytest

from tests.thinning import Thin
from workbench.tui.models.rows import SHOWN, LaidOut
from workbench.tui.models.rowtable import IN_STRING, StyledSpans
from workbench.views.lines import plain

BLOB = base64.b64encode(random.Random(1).randbytes(900)).decode()
BODY = json.dumps(
    {"thinking": "hm", "signature": BLOB, "text": "x" * 400, "image": f"data:image/png;base64,{BLOB}", "end": 1}
).encode()
WIDTHS = (20, 40, 100, 3000)


def rows_of(body: bytes, width: int, *, is_whole: bool = False) -> LaidOut:
    rows = LaidOut(body, width, is_json=body.startswith(b"{"), is_whole=is_whole)
    assert rows.extend(100_000)
    return rows


def lines(rows: LaidOut, *spans: tuple[int, int]) -> list[str]:
    return [plain(rows.line(row, (StyledSpans("ok match", spans),))) for row in range(len(rows))]


@pytest.mark.parametrize("body", [BODY, b"data: " + BODY + b"\n\n"], ids=["json", "event"])
def test_a_blob_is_its_beginning_and_its_length(body: bytes) -> None:
    shown = "\n".join(lines(rows_of(body, 100)))
    assert f'"{BLOB[:SHOWN]}… 1,200 characters"' in shown and "… 1,222 characters" in shown
    assert shown.replace("text", "").count("x") == 400, "what is no data stays readable"
    assert BLOB[100:200] not in shown


@pytest.mark.sampled(3)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("is_whole", [False, True])
def test_every_byte_is_in_one_row_and_every_column_is_a_byte_of_its_row(width: int, is_whole: bool, thin: Thin) -> None:
    rows = rows_of(BODY, width, is_whole=is_whole)
    ends = [rows.bounds(row)[1] for row in range(len(rows))]
    assert [rows.bounds(row)[0] for row in range(len(rows))] == [0, *ends[:-1]] and ends[-1] == len(BODY)
    for row in range(len(rows)):
        start, end = rows.bounds(row)
        found = [rows.byte_at(row, column) for column in thin(range(width + 40), 3)]
        assert found == sorted(found) and all(start <= byte < end for byte in found)


def test_in_full_nothing_is_left_out() -> None:
    rows = rows_of(BODY, 100, is_whole=True)
    assert not rows.folds and BLOB in "".join(line.strip() for line in lines(rows))


def test_a_change_in_a_blob_shows_where() -> None:
    start = BODY.index(BLOB.encode())
    shown = "\n".join(lines(rows_of(BODY, 100), (start + 300, start + 304)))
    assert f"{BLOB[:SHOWN]}…from character 301: {BLOB[300:304]}… 1,200 characters" in shown


def test_after_a_blob_the_rest_of_the_line_is_laid_out() -> None:
    escaped = json.dumps({"arguments": json.dumps({"data": BLOB, "path": "word " * 60})}).encode()
    rows = rows_of(escaped, 60)
    shown = lines(rows)
    assert any("1,200 characters" in line for line in shown) and "".join(shown).count("word") == 60
    assert all(len(line) <= 60 for line in shown)
    assert all(rows.flags[row] & IN_STRING for row in range(1, len(rows)) if "word" in shown[row])


def test_bytes_that_arrive_later_are_folded_again() -> None:
    first = b'data: {"signature":"' + BLOB[:400].encode()
    rows = LaidOut(first, 80, is_json=False)
    assert rows.extend(1000)
    rows.grow(first + BLOB[400:].encode() + b'"}\n\n')
    assert rows.extend(1000)
    assert len(rows.folds) == 1 and "1,200 characters" in "\n".join(lines(rows))
