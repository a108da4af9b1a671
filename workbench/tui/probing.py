"""Probe runs of the lab: a target with its measurements, and a run against it, in a thread of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import UsageError, WorkbenchError
from workbench.lazy_dataclass import dataclass, field
from workbench.probes import Measurement, Probe, ProbeResult, Sample, SampleStep, Subject, measure, verdict

if TYPE_CHECKING:
    from workbench.probes.profiles import CapabilityProfile, SavedProfile
    from workbench.send import Sender
    from workbench.simulator import ScriptedModel
    from workbench.wire import Exchange
    from workbench.wire.session import MemorySession


@dataclass(slots=True)
class LabColumn:
    """A model behind a target, and its profiles.

    Attributes:
        dials: settings of a simulated model, as typed.
        history: earlier profiles, oldest first.
        kept: profile saved by the last run on this screen; None before a run.
        fresh: results of runs on this screen, by probe.
        shown_by: exchanges of those results, by probe.
        is_agreed: True once the user has agreed to send requests to it step by step.
    """

    subject: Subject
    dials: str = ""
    history: Sequence[CapabilityProfile] = ()
    kept: SavedProfile | None = None
    fresh: dict[str, ProbeResult] = field(default_factory=dict)
    shown_by: dict[str, tuple[Exchange, ...]] = field(default_factory=dict)
    is_agreed: bool = False

    @property
    def profile(self) -> CapabilityProfile | None:
        """The newest profile measured on this screen; None before a run."""
        return self.kept.profile if self.kept else None

    @property
    def last(self) -> CapabilityProfile | None:
        """The profile before it, of any chat template."""
        earlier = next(iter(self.history[-1:]), None)
        return (self.kept.before or earlier) if self.kept else earlier

    def result(self, probe: str) -> ProbeResult | None:
        """Result of a probe, from this screen or an earlier run; None if it was never run."""
        known = self.profile or self.last
        earlier = (r for r in known.results if r.probe == probe) if known else iter(())
        return self.fresh.get(probe) or next(earlier, None)

    def evidence(self, result: ProbeResult) -> Path | None:
        """The saved session of the earlier run behind a result; None if none was saved."""
        profiles = (p for p in self.history if any(r.probe == result.probe and r.at == result.at for r in p.results))
        path = next((profile.evidence for profile in profiles), "")
        return Path(path) if path else None


def look_up(subject: Subject, dials: str = "") -> LabColumn:
    """A column with the earlier profiles of its target, of any chat template. Reads files."""
    from workbench.probes.profiles import ProfileStore, key_of

    store = ProfileStore.of_user()
    key = key_of(subject.target, subject.contract.label, Measurement(subject))
    same = [profile for profile in store.latest() if profile.key[:4] == key[:4]]
    newest = max(same, key=lambda profile: profile.verified_at, default=None)
    return LabColumn(subject, dials, store.history(newest.key) if newest else ())


def in_memory(name: str, exchanges: Sequence[Exchange]) -> MemorySession:
    """Exchanges as a session."""
    from workbench.wire.session import MemorySession

    return MemorySession(name, tuple(exchanges))


def read_evidence(path: Path, numbers: Sequence[int], name: str) -> MemorySession:
    """The exchanges of a session that belong to a result. Raises WorkbenchError, OSError."""
    from workbench.formats.importers import open_input

    session = open_input(str(path))
    try:
        found = tuple(session.exchange(n) for n in numbers if n < len(session))
    finally:
        session.close()
    if not found:
        raise UsageError(f"{path} no longer contains these exchanges")
    return in_memory(name, found)


def known_probes() -> tuple[tuple[Probe, ...], tuple[str, ...]]:
    """Every probe, the user's own last; and the reasons why some cannot be used. Reads files."""
    from workbench import probes

    mine, faults = list[Probe](), list[str]()
    for name in probes.own_probes():
        try:
            mine += probes.select((name,))
        except (WorkbenchError, OSError) as error:
            faults.append(f"{name}: {error}")
    return (*probes.all_probes(), *mine), tuple(faults)


class ColumnRun:
    """Probes against one target. ``work`` is for a dispatch, ``round_off`` and ``keep`` are for after it.

    Args:
        tell: called with every sample.

    Attributes:
        done: number of completed samples.
    """

    def __init__(
        self, column: LabColumn, probes: Sequence[Probe], samples: int, tell: Callable[[ColumnRun, SampleStep], object]
    ) -> None:
        self.column, self.probes, self.samples = column, probes, samples
        self.measurement = Measurement(column.subject)
        self.done = 0
        self._template = ""
        self._tell = tell
        self._samples: list[Sample] = []

    @property
    def model(self) -> ScriptedModel:
        """The scripted model of a simulator. Raises UsageError if a dial is unknown."""
        from workbench.probes import scripted_model

        return scripted_model(self.column.dials.split())

    @property
    def running(self) -> Probe | None:
        """The probe that is running."""
        at = len(self.measurement.results)
        return self.probes[at] if at < len(self.probes) else None

    @property
    def sample(self) -> int:
        """Number of its current sample, from zero."""
        return len(self._samples)

    async def work(self, sender: Sender) -> None:
        """Run all probes; first ask the server for its chat template, if it is a server that reports it."""
        from workbench.probes.profiles import template_hash

        subject = self.column.subject
        self._template = await template_hash(subject.target, subject.protocol, subject.model)
        async for step in measure(self.measurement, self.probes, sender, samples=self.samples):
            self.done += 1
            self._samples.append(step.sample)
            if step.result:
                self._samples = []
            self._tell(self, step)

    def round_off(self) -> None:
        """Add the result of a probe that was stopped between two samples, from the samples that are complete."""
        if self._samples and (probe := self.running):
            numbers = self.numbers(probe.name)
            self.measurement.results.append(verdict(probe.name, self._samples, numbers, time.time()))
            self._samples = []

    def numbers(self, probe: str) -> list[int]:
        """Indices of the exchanges of a probe."""
        return [n for n, each in enumerate(self.measurement.exchanges) if each.meta.get("probe") == probe]

    def keep(self) -> SavedProfile | None:
        """Save the measurement, as ``workbench probe`` does; returns None if nothing was measured."""
        from workbench.probes.profiles import save_evidence, save_profile

        if not self.measurement.results:
            return None
        at = time.time()
        try:
            path = save_evidence(self.measurement, at=at)
        except OSError:
            path = ""
        return save_profile(self.measurement, at=at, evidence=path, template=self._template)

    def shown_by(self, result: ProbeResult) -> tuple[Exchange, ...]:
        """The exchanges of a result."""
        return tuple(self.measurement.exchanges[n] for n in result.evidence)
