from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests.library.samples import entries, put
from tests.tui import samples
from tests.tui.driving import until
from tests.tui.screens.test_home import at_home
from tests.tui.test_hostile import assert_clean
from workbench.config import resources
from workbench.library import session_import
from workbench.tui.screens.choose import ImportScreen, OpenScreen
from workbench.tui.screens.form import SuggestionPane


@pytest.fixture
def source(own_home: Path) -> Path:
    data = (resources.folder("sessions") / f"{samples.LOST_RESULT}.jsonl").read_bytes()
    return put(own_home / "in/source.jsonl", data)


async def test_a_path_is_completed_and_walked(source: Path, own_home: Path) -> None:
    put(own_home / "in/sink.jsonl")
    async with at_home() as home:
        await home.press("o", *"~/i", "tab")
        await home.until("source.jsonl")
        await home.press("down", "down", "enter")
        await home.session()
        assert "source.jsonl" in home.text


@pytest.mark.parametrize("row", [0, 1])
async def test_a_suggestion_is_taken_by_a_click(source: Path, own_home: Path, row: int) -> None:
    put(own_home / "in/a.jsonl", source.read_bytes())
    async with at_home() as home:
        await home.press("o", *"~/in/")
        await home.until("source.jsonl")
        await home.pilot.click(SuggestionPane, offset=(5, row))
        await home.session()
        assert ("a.jsonl", "source.jsonl")[row] in home.text


WRONG = {"": "type a path", "~/in": "this is a folder", "~/gone": "no such file", "x" * 40 + "/y": "no such"}


async def test_what_is_wrong_with_a_path_is_said_in_the_dialog(source: Path) -> None:
    async with at_home((80, 24)) as home:
        for typed, said in WRONG.items():
            await home.press("o", "ctrl+u", *typed, "enter")
            await home.until(said)
            assert isinstance(home.app.screen, OpenScreen)
            await home.press("escape")
            assert not isinstance(home.app.screen, OpenScreen)


@pytest.mark.parametrize("size", [(60, 15), (120, 40)])
async def test_hostile_names_are_offered_visibly_and_open_all_the_same(own_home: Path, size: tuple[int, int]) -> None:
    put(own_home / "in" / os.fsdecode(b"\x1b[2J\xff \n.jsonl"), entries())
    put(own_home / "in/\u202efolder/x.jsonl", entries())
    async with at_home(size) as home:
        await home.press("o", *"~/in/")
        await until(home.pilot, lambda: home.app.screen.query_one(SuggestionPane).count() == 2)
        await home.press("down", "enter")
        await home.until("this name has characters")
        assert_clean(home)  # type: ignore[arg-type]
        await home.press("down", "down", "enter")
        await home.session()
        assert_clean(home)  # type: ignore[arg-type]


async def test_a_file_is_imported_and_opened(source: Path, own_home: Path) -> None:
    async with at_home() as home:
        await home.press("i", *"~/in/so", "tab")
        await home.until("~/in/source.jsonl")
        await home.press("enter", "ctrl+u", *"~/out.wb", "enter")
        await home.until("enter open")
        assert (own_home / "out.wb").is_file()
        await home.press("enter")
        await home.session()
        assert "out.wb" in home.text
        await home.back()
        await until(home.pilot, lambda: "out.wb" in home.names)


async def test_nothing_is_replaced_without_asking(source: Path, own_home: Path) -> None:
    out = put(own_home / "out.wb", b"mine")
    async with at_home() as home:
        await home.press("i", *"~/in/source.jsonl", "enter", "ctrl+u", *"~/out.wb", "enter")
        await home.until("replace it")
        assert out.read_bytes() == b"mine"
        await home.press("enter")
        await home.until("enter open")
        assert out.read_bytes() != b"mine"
        await home.press("escape")


async def test_redactions_and_damage_are_told(own_home: Path) -> None:
    key = "sk-ant-api03-" + "A1b2" * 12
    put(own_home / "a.jsonl", entries(text=f"my key is {key}") + b'{"type": "user", torn\n')
    async with at_home() as home:
        await home.press("i", *"~/a.jsonl", "enter", "ctrl+u", *"~/a.wb", "enter")
        await home.until("damaged: ")
        assert "1 secret replaced" in home.text
        await home.press("escape")


@pytest.mark.parametrize(
    ("typed", "out", "said"),
    [
        ("", "", "type the path"),
        ("~/gone", "", "no such file"),
        ("~/bad", "~/x.wb", "binary"),
        ("~/bad", "~/", "regular"),
    ],
)
async def test_what_cannot_be_imported_says_why(own_home: Path, typed: str, out: str, said: str) -> None:
    put(own_home / "bad", b"\0\1")
    async with at_home() as home:
        await home.press("i", *typed, "enter", *(("ctrl+u", *out, "enter") if out else ()))
        await home.until(said)
        assert isinstance(home.app.screen, ImportScreen)


async def test_an_import_can_be_broken_off(source: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(session: object, out: Path, step: object) -> None:
        turn = threading.Event()
        while not turn.wait(0.01):  # what has the processor all to itself is no import
            step(1)  # type: ignore[operator]

    monkeypatch.setattr(session_import, "save", endless)
    async with at_home() as home:
        await home.press("i", *"~/in/source.jsonl", "enter", "ctrl+u", *"~/out.wb", "enter")
        await home.until("esc cancel")
        await home.press("escape")
        await home.until("nothing was written")
        assert not (own_home / "out.wb").exists()
        await home.press("escape")
        assert not isinstance(home.app.screen, ImportScreen)


async def test_a_recording_is_never_imported_onto_itself(
    source: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = own_home / "h.wb"
    session_import.save(samples.example(samples.LOST_RESULT), recording)
    before = recording.read_bytes()
    monkeypatch.chdir(own_home)
    async with at_home() as home:
        await home.press("i", *"h.wb", "enter")
        await home.until("h-imported.wb")
        await home.press("ctrl+u", *"h.wb", "enter", "enter")
        await home.until("never")
        assert recording.read_bytes() == before
        await home.press("escape")
