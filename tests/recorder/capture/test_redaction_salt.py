"""The salt of a session: one for its recorders, another for every other session, none in any file of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.recorder.capture.keeper_process import SIZE, salt_of
from workbench.wire.redaction import Redactor

KEY = "sk-ant-api03-" + "Ab3d" * 20


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_recorders_of_one_session_write_the_same_stand_ins_and_those_of_another_do_not(home: Path) -> None:
    one, same, other = (Redactor(salt_of(identity)).stand_in(KEY) for identity in ("a", "a", "b"))
    assert one == same != other
    (kept,) = (home / "workbench").iterdir()
    assert (kept.stat().st_size, kept.stat().st_mode & 0o777) == (SIZE, 0o600)


def test_of_another_user_they_differ(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = salt_of("a")
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "other"))
    assert salt_of("a") != here


@pytest.mark.parametrize("what", ["file", "torn"])
def test_where_nothing_can_be_kept_the_recorder_has_a_salt_of_its_own(what: str, home: Path) -> None:
    if what == "file":
        (home / "workbench").write_text("in the way", encoding="utf-8")
    else:
        (home / "workbench").mkdir()
        (home / "workbench" / "stand-ins.salt").write_bytes(b"short")
    assert len(salt_of("a")) == SIZE
    assert salt_of("a") != salt_of("a")
