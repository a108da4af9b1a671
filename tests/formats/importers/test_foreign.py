from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import open_input, recognise

HEADS = [
    (b'{"type":"thread.started","thread_id":"x"}\n', "a Codex CLI event stream"),
    (b'{"info": {"exit_status": "Submitted"}, "messages": []}', "a mini-swe-agent trajectory"),
    (b"PK\x03\x04\x14\0\0\0photos/1.png", "a zip archive"),
    (b"%PDF-1.7\n", "a PDF document"),
]


@pytest.mark.parametrize(("head", "title"), HEADS, ids=[h[1] for h in HEADS])
def test_other_formats_are_refused_by_name(tmp_path: Path, head: bytes, title: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(head)
    with pytest.raises(UnreadableInput, match=title) as caught:
        open_input(str(path))
    assert caught.value.hint


def test_our_fixtures_are_none_of_them(data: Path) -> None:
    assert [p.name for p in data.iterdir() if recognise(p.read_bytes()[:65536])] == []


def test_a_body_that_only_talks_about_them_opens(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(
        b'{"model":"m","messages":[{"role":"user","content":"{\\"type\\":\\"session\\",\\"id\\":1} %PDF-"}],'
        b'"metadata":{"projectHash":"x","schema_version":"ATIF-v1"}}'
    )
    assert len(open_input(str(path))) == 1
