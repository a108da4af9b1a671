from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import SessionFormatError
from workbench.formats.importers import workbench_session
from workbench.wire.exchange import Exchange
from workbench.wire.session import store


@pytest.mark.parametrize("name", ["a.sqlite", "a.jsonl"])
def test_both_forms_are_claimed_and_read_from_bytes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    store.save([Exchange("one", note="x")], path)
    data = path.read_bytes()
    assert workbench_session.sniff(data[:65_536]) == 1.0
    for session in (workbench_session.read(data, "given"), workbench_session.open_path(path)):
        assert [s.id for s in session.summaries()] == ["one"]
        assert session.name in ("given", name)
        session.close()


def test_an_error_does_not_name_a_file_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(SessionFormatError) as caught:
        workbench_session.read(b"SQLite format 3\x00" + b"\0" * 100, "given")
    assert "tmp" not in str(caught.value)


def test_nothing_else_is_claimed() -> None:
    assert workbench_session.sniff(b'{"workbench": "profile"}') == 0.0
