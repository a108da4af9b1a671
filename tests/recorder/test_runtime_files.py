"""The socket of a recorder is found from its session file, whatever the environment of the shell that looks."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.recorder import runtime_files


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "a.wb"


@pytest.fixture
def listening(session: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A socket that was made in a shell with another TMPDIR and XDG_RUNTIME_DIR."""
    with tempfile.TemporaryDirectory(dir="/tmp") as elsewhere, monkeypatch.context() as there:
        there.setenv("XDG_RUNTIME_DIR", elsewhere)
        path = runtime_files.socket_path(session, os.getpid())
        there.undo()
        monkeypatch.setenv("XDG_STATE_HOME", str(session.parent / "state"))
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            yield path


def pointer_to(session: Path) -> Path:
    (pointer,) = (session.parent / "state" / "workbench" / "sockets").iterdir()
    return pointer


def test_it_is_found_from_another_shell(session: Path, listening: Path) -> None:
    assert runtime_files.sockets_of(session) == (listening,)
    assert pointer_to(session).stat().st_mode & 0o077 == 0
    assert runtime_files.sockets_of(session.with_name("other.wb")) == ()


def test_a_pointer_leads_only_to_a_folder_of_this_user_alone(session: Path, listening: Path, tmp_path: Path) -> None:
    pointer = pointer_to(session)
    public = tmp_path / "public"
    public.mkdir(mode=0o777)
    public.chmod(0o777)
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(public)  # a path of a socket is short
        try:
            server.bind(listening.name)
        finally:
            os.chdir(here)
    for text in (str(public / listening.name), "/etc/passwd", "relative", str(listening.parent), "\0"):
        pointer.write_text(text)
        assert runtime_files.sockets_of(session) == ()


def test_a_folder_of_pointers_that_others_may_write_is_not_read(session: Path, listening: Path) -> None:
    pointer_to(session).parent.chmod(0o777)
    assert runtime_files.sockets_of(session) == ()


def test_pointers_of_the_dead_are_removed(session: Path, listening: Path) -> None:
    pointer = pointer_to(session)
    dead = pointer.with_name(pointer.name.replace(f"-{os.getpid()}.", "-999999999."))
    dead.write_text("x")
    runtime_files.remove_stale_sockets(session)
    assert pointer.exists()
    assert not dead.exists()
