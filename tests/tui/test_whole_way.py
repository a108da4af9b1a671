"""From a file with a break to a test that keeps it mended, with keys alone: one breakage of three families each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from textual.pilot import Pilot

from tests.tui.driving import screen_text, until
from workbench.config import resources
from workbench.formats.exporters import ExportProof, ExportRun, as_pytest
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.edit.screen import EditScreen
from workbench.tui.screens.exporting import ExportPathScreen, ExportScreen
from workbench.tui.screens.form import FormScreen
from workbench.tui.screens.home import HomeScreen
from workbench.tui.screens.repairs import RepairsScreen
from workbench.tui.screens.send import SendScreen
from workbench.tui.screens.send_answer.screen import AnswerScreen
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.screens.target_choice import TargetScreen

REAL = "gemini-signature-lost"
"""Its test is run in truth; of the others it is taken as done, for that costs the most by far."""

WAYS = [
    ("gateway-field-dropped", "reasoning.missing", "sim:kimi:platform", "restore the reasoning from exchange 2"),
    (REAL, "reasoning.missing", "sim:gemini", "restore the reasoning from exchange 1"),
    ("responses-call-interrupted", "closure.missing-result", "sim:openai", "add an error result"),
]

S = TypeVar("S")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is opened and what is written lies in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Person:
    """Somebody who has keys and eyes, and nothing else."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot

    @property
    def screen(self) -> Any:
        return self.pilot.app.screen

    async def sees(self, *words: str) -> None:
        """Until words stand on the screen, however its lines are broken."""
        await until(self.pilot, lambda: all(word in " ".join(screen_text(self.pilot.app).split()) for word in words))

    async def comes_to(self, kind: type[S], holds: Callable[[S], object] = lambda screen: True) -> None:
        """Until a screen is there, and something holds of it."""
        await until(self.pilot, lambda: isinstance(self.screen, kind) and holds(self.screen))

    async def presses(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()


@asynccontextmanager
async def at_home() -> AsyncIterator[Person]:
    app = WorkbenchApp()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        person = Person(pilot)
        await person.comes_to(HomeScreen)
        yield person


def pretend(folders: list[Path]) -> list[ExportProof]:
    return [ExportProof((ExportRun("broken", 2, 2), ExportRun("fixed", 4))) for _ in folders]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "rule", "target", "repair"), WAYS, ids=[way[0] for way in WAYS])
async def test_from_a_break_to_a_test_that_keeps_it_mended(
    name: str, rule: str, target: str, repair: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = here / "s.jsonl"
    file.write_bytes((resources.folder("sessions") / f"{name}.jsonl").read_bytes())
    before = file.read_bytes()
    if name != REAL:
        monkeypatch.setattr(as_pytest, "prove", pretend)
    async with at_home() as person:
        await person.presses("o")
        await person.comes_to(FormScreen)
        await person.presses(*"s.jsonl", "enter")
        await mend(person, rule, repair)
        await send(person, target)
        await export(person)
    assert file.read_bytes() == before
    assert {"broken.jsonl", "transcript.jsonl"} < {path.name for path in (here / "kept").iterdir()}


async def mend(person: Person, rule: str, repair: str) -> None:
    """The session opens at the break; its first repair is applied, and the contract accepts what it makes."""
    await person.comes_to(
        SessionScreen, lambda s: s.state.is_done and s.findings.current and not s.repair_lookup.is_looking
    )
    await person.sees(rule)
    await person.presses("f")
    await person.comes_to(RepairsScreen)
    await person.sees(repair)
    await person.presses("a")
    await person.comes_to(EditScreen, lambda s: s.study.is_settled and not s.study.waiting)
    await person.sees("✓ accepts")


async def send(person: Person, target: str) -> None:
    """The simulator of its contract is the first choice; its answer stands beside the refusal."""
    await person.presses("s")
    await person.comes_to(TargetScreen)
    await person.sees(target)
    await person.presses("enter")
    await person.comes_to(SendScreen, lambda s: s.shown)
    await person.presses("enter")
    await person.comes_to(AnswerScreen, lambda s: s.is_over and s.recorded)
    await person.sees("✓ accepted (200)", "the original was refused (400)", "Original · 400", f"New · {target}")


async def export(person: Person) -> None:
    """The test is the first form; written, it is run red and green."""
    await person.presses("x")
    await person.comes_to(ExportScreen, lambda s: s.exported)
    await person.sees("as recorded before the edit")
    await person.presses("enter")
    await person.comes_to(ExportPathScreen)
    await person.presses("ctrl+u", *"kept", "enter")
    await person.sees("written: kept", "✗ red on the broken request", "✓ green on the fixed request")
    await person.sees("passes on the fixed one")
