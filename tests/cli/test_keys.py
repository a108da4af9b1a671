from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench.tui import keys


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "workbench").mkdir()
    return tmp_path / "workbench" / "keys.yaml"


def test_every_key_is_listed_as_it_is_bound(run: Run, file: Path) -> None:
    file.write_text('session.next-break: ["]", f8]\nwire.headers: none\n')
    done = run("keys")
    assert (done.status, done.err) == (0, "")
    assert all(id in done.out for id in keys.table())
    assert "* session.next-break           ] f8 " in done.out
    assert "* wire.headers                 none " in done.out


def test_problems_are_on_stderr_and_in_the_status(run: Run, file: Path) -> None:
    file.write_text("session.nxt-break: f8\nsession.zoom: f5\n")
    done = run("keys")
    assert done.status == 2
    assert done.err.endswith("keys.yaml: session.nxt-break: no such id; did you mean session.next-break?\n")
    assert "* session.zoom                 f5 " in done.out


def test_json(run: Run, file: Path) -> None:
    file.write_text("session.zoom: n\n")
    done = run("keys", "--format", "json")
    value = json.loads(done.out)
    assert done.status == 2
    assert value["file"] == str(file)
    assert len(value["keys"]) == len(keys.table())
    assert value["problems"] == ["session.zoom: n is already used by session.next-match on the same screen"]
    assert {"id": "session.zoom", "where": "session", "keys": ["z"], "default": ["z"]}.items() <= next(
        k for k in value["keys"] if k["id"] == "session.zoom"
    ).items()
