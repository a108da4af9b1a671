from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui import samples
from workbench.errors import UsageError
from workbench.library import session_import


def test_a_session_is_written_and_told(tmp_path: Path) -> None:
    steps: list[int] = []
    done = session_import.save(samples.example(samples.LOST_RESULT), tmp_path / "out.wb", steps.append)
    assert steps == [0, 1, 2]
    assert done.summary().startswith(f"{tmp_path / 'out.wb'}: 3 exchanges, ")
    assert done.path.is_file()


def test_breaking_off_leaves_no_file(tmp_path: Path) -> None:
    def step(done: int) -> None:
        if done:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        session_import.save(samples.example(samples.LOST_RESULT), tmp_path / "out.wb", step)
    assert not list(tmp_path.iterdir()) or [p.name for p in tmp_path.iterdir()] == ["home"]


def test_places_that_are_refused(tmp_path: Path) -> None:
    taken = tmp_path / "taken.wb"
    taken.touch()
    link = tmp_path / "link.wb"
    link.symlink_to(taken)
    for place in (tmp_path, link, Path("-")):
        with pytest.raises(UsageError, match="not a regular file"):
            session_import.check_output(place, None, may_replace=True)
    with pytest.raises(UsageError, match="exists"):
        session_import.check_output(taken, None, may_replace=False)
    session_import.check_output(taken, None, may_replace=True)
    session_import.check_output(tmp_path / "new.wb", None, may_replace=False)


def test_the_source_is_never_replaced(tmp_path: Path) -> None:
    source = tmp_path / "source.wb"
    source.write_bytes(b"all there is")
    alias, copy, link = (tmp_path / name for name in ("alias.wb", "copy.wb", "link.wb"))
    alias.symlink_to(source)
    link.hardlink_to(source)
    copy.write_bytes(b"all there is")
    for place in (source, tmp_path / ".." / tmp_path.name / "source.wb", alias, link):
        with pytest.raises(UsageError, match="never overwritten"):
            session_import.check_output(place, source, may_replace=True)
    with pytest.raises(UsageError, match="never overwritten"):
        session_import.check_output(source, alias, may_replace=True)
    session_import.check_output(copy, source, may_replace=True)
    session_import.check_output(copy, tmp_path / "gone", may_replace=True)


def test_a_name_is_offered_that_nothing_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for expected in ("h.wb", "h-imported.wb", "h-imported-2.wb", "h-imported-3.wb"):
        assert session_import.free_name(tmp_path / "h.wb") == Path(expected)
        Path(expected).symlink_to("nowhere")
