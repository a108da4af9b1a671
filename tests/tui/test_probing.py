"""A run that is stopped between two samples, and what is found of it later."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from workbench import probes
from workbench.config import resources
from workbench.errors import UsageError, WorkbenchError
from workbench.probes import Probe, SampleStep, scripted_model, subject_of
from workbench.send.sending import Sender
from workbench.send.target_names import resolve
from workbench.tui.probing import ColumnRun, LabColumn, known_probes, look_up, read_evidence

FORMAT, SCHEMA = probes.select(("format", "schema"))


class Enough(Exception):
    """The person stopped it."""


def stopped(column: LabColumn, chosen: tuple[Probe, ...], samples: int, after: int) -> ColumnRun:
    """A run that ends after so many samples."""

    def tell(run: ColumnRun, step: SampleStep) -> None:
        if run.done == after:
            raise Enough

    run = ColumnRun(column, chosen, samples, tell)

    async def go() -> None:
        async with Sender(model=run.model) as sender:
            await run.work(sender)

    with pytest.raises(Enough):
        asyncio.run(go())
    return run


def test_samples_that_were_taken_count_and_are_found_again() -> None:
    column = LabColumn(subject_of(resolve("sim:openai")))
    run = stopped(column, (FORMAT, SCHEMA), samples=3, after=5)
    assert (run.running, run.sample) == (SCHEMA, 2)
    run.round_off()
    assert [(r.probe, r.n, len(r.evidence)) for r in run.measurement.results] == [("format", 3, 3), ("schema", 2, 2)]
    kept = run.keep()
    assert kept and not kept.before and Path(kept.profile.evidence).is_file()
    again = look_up(column.subject)
    found = again.result("schema")
    assert found and again.last == kept.profile and again.profile is None
    path = again.evidence(found)
    assert path and len(read_evidence(path, found.evidence, "schema")) == 2
    path.unlink()
    with pytest.raises((WorkbenchError, OSError)):
        read_evidence(path, found.evidence, "schema")


def test_nothing_measured_is_nothing_kept() -> None:
    run = ColumnRun(LabColumn(subject_of(resolve("sim:openai"))), (FORMAT,), 1, lambda run, step: None)
    run.round_off()
    assert run.keep() is None


def test_own_probes_come_last_and_a_faulty_one_is_named() -> None:
    folder = resources.own_folder("probes")
    folder.mkdir(parents=True)
    (folder / "broken.yaml").write_text("nonsense")
    known, faults = known_probes()
    assert [probe.name for probe in known[:7]] == list(probes.CORE)
    assert len(faults) == 1 and faults[0].startswith("broken: ")


@pytest.mark.parametrize("dials", ["parallel", "colour=red", "calls=nonsense"])
def test_a_dial_that_is_none_is_refused(dials: str) -> None:
    with pytest.raises(UsageError):
        scripted_model(dials.split())
