"""Recorders that lead to each other, and chains of them that do not."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.recorder.relaying import serving
from workbench.recorder import process, runtime_files
from workbench.recorder.relay.loop_guard import is_loop, write_note

A, B, C = 1_001, 1_002, 1_003
PROVIDER = "https://api.example"
ELSE = "1"
"""Of a process that is there and is not this one."""


def at(port: int, path: str = "") -> str:
    return f"http://127.0.0.1:{port}{path}"


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@pytest.mark.parametrize(
    ("others", "is_ring"),
    [
        ({}, False),
        ({B: {"up": PROVIDER}}, False),
        ({B: {"up": at(A)}}, True),
        ({B: {"up": f"http://localhost:{A}/v1"}}, True),
        ({B: {"up": at(C)}, C: {"x": PROVIDER, "y": at(A)}}, False),  # the path decides, and it ends there
        ({B: {"up": at(C, "/x")}, C: {"x": PROVIDER, "y": at(A)}}, False),
        ({B: {"up": at(C, "/y/v1")}, C: {"x": PROVIDER, "y": at(A)}}, True),
        ({B: {"up": at(C)}, C: {"up": at(B)}}, False),  # theirs, and theirs to refuse
        ({B: {"up": "not a URL"}}, False),
    ],
)
def test_notes_are_followed(others: dict[int, dict[str, str]], is_ring: bool) -> None:
    taken_back = [write_note(A, {"up": at(B)})]
    taken_back += [write_note(port, upstreams, ELSE) for port, upstreams in others.items()]
    assert is_loop(B, "up") is is_ring
    for take_back in taken_back:
        take_back()
    assert not is_loop(B, "up")
    assert not list(runtime_files.folders()[0].glob("leads-*"))


def test_a_chain_through_one_recorder_twice_is_no_ring() -> None:
    write_note(A, {"in": at(B), "out": PROVIDER})
    write_note(B, {"up": at(A, "/out")}, ELSE)
    assert not is_loop(B, "in")


def test_notes_of_the_dead_and_torn_ones_count_for_nothing_and_go() -> None:
    write_note(A, {"up": at(B)})
    write_note(B, {"up": at(A)}, mark="999999999 1")
    assert not is_loop(B, "up")
    folder = runtime_files.folders()[0]
    (folder / f"leads-{C}.json").write_text("{")
    write_note(A, {"up": PROVIDER})
    assert [path.name for path in folder.glob("leads-*")] == [f"leads-{A}.json"]


def test_without_a_place_for_notes_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_files, "LONGEST", 0)
    write_note(A, {"up": at(A)})()
    assert not is_loop(A, "up")


async def test_two_recorders_in_a_ring_are_told(tmp_path: Path) -> None:
    async with serving() as placeholder:
        port = placeholder.port
    first = process.start({"up": at(port)}, tmp_path / "a.wb")
    second = process.start({"up": first.urls["up"]}, tmp_path / "b.wb", port=port)
    try:
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{first.urls['up']}/v1/messages", json.dumps({}).encode())
        assert caught.value.code == 508
        assert "is a recorder that forwards to this one" in caught.value.read().decode()
    finally:
        second.stop()
        first.stop()
    assert first.summary["aborted"] == 1
    assert second.summary["exchanges"] == 0
