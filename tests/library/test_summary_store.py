"""A session is summarised once, and again where anything that decides its summary has changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.library.samples import entries, put
from tests.tui import samples
from workbench.config import resources
from workbench.library import session_summary
from workbench.library.program_digest import _sources, program_digest
from workbench.library.session_summary import SessionSummary, describe_file
from workbench.wire.session import store


@pytest.fixture
def reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the sessions that were read, with an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    seen = []
    describe = session_summary.describe

    def watched(session: object, *rest: object) -> SessionSummary | None:
        seen.append(getattr(session, "name", ""))
        return describe(session, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(session_summary, "describe", watched)
    return seen


def recording(path: Path) -> Path:
    example = samples.example(samples.LOST_RESULT)
    store.save((example.exchange(n) for n in range(3)), path)
    return path


def test_a_session_is_read_once(tmp_path: Path, reads: list[str]) -> None:
    paths = [recording(tmp_path / "a.wb"), put(tmp_path / "b.jsonl", entries())]
    first = [describe_file(path) for path in paths]
    assert len(reads) == 2
    assert [describe_file(path) for path in paths] == first
    assert len(reads) == 2
    (kept,) = resources.cache_folder().glob("summaries*")
    assert kept.stat().st_mode & 0o777 == 0o600


def touch(path: Path) -> None:
    os.utime(path, ns=(1, 1))


def grow(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def replace_by_a_copy(path: Path) -> None:
    status = path.stat()
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
    copy.replace(path)


def delete_the_cache(path: Path) -> None:
    for kept in resources.cache_folder().iterdir():
        kept.unlink()


def write_for_all(path: Path) -> None:
    for kept in resources.cache_folder().iterdir():
        kept.chmod(0o666)


def spoil(path: Path) -> None:
    (resources.cache_folder() / session_summary.NAME).write_bytes(b'["list", 1, 2, 3]')


CHANGES: list[Callable[[Path], None]] = [touch, grow, replace_by_a_copy, delete_the_cache, write_for_all, spoil]


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_is_read_again(change: Callable[[Path], None], tmp_path: Path, reads: list[str]) -> None:
    path = put(tmp_path / "a.jsonl", entries())
    first = describe_file(path)
    change(path)
    assert describe_file(path) == first
    assert len(reads) == 2


def test_another_program_reads_again(tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = recording(tmp_path / "a.wb")
    describe_file(path)
    monkeypatch.setattr(session_summary, "program_digest", lambda: "a later version")
    session_summary._read_stored.cache_clear()
    describe_file(path)
    assert len(reads) == 2
    session_summary._read_stored.cache_clear()


def test_a_change_of_contracts_is_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    before = program_digest()
    own = tmp_path / "workbench" / "profiles" / "mine.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("version: 1")
    assert program_digest() != before
    own.with_name(".#mine.yaml").symlink_to("user@host.1:2")  # the lock of an editor
    assert len([*_sources(str(own.parent))]) == 1


def test_a_recording_that_is_still_written_is_read_each_time(tmp_path: Path, reads: list[str]) -> None:
    path = recording(tmp_path / "a.wb")
    path.with_name("a.wb-wal").write_bytes(b"not yet in the file")
    assert session_summary.identity(path) is None
    assert session_summary.identity(tmp_path / "gone") is None


def test_only_the_last_ones_are_kept(tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_summary, "MOST", 2)
    paths = [put(tmp_path / name, entries()) for name in ("a.jsonl", "b.jsonl", "c.jsonl")]
    for path in paths:
        describe_file(path)
    assert [session_summary.stored_summary(path, session_summary.identity(path)) is not None for path in paths] == [
        False,
        True,
        True,
    ]


def test_the_smallest_is_summarised_first(tmp_path: Path) -> None:
    small, large = tmp_path / "z", tmp_path / "a"
    small.write_bytes(b"1")
    large.write_bytes(b"1" * 100)
    assert sorted([large, small, tmp_path / "gone\0"], key=session_summary.file_size)[1:] == [small, large]
