"""Probes: scripts that find out what a model behind an endpoint can really do, with tools that run nothing.

One file per probe; each holds one object named ``probe``. Files that begin with an underscore are shared code. A third
party adds a probe by an entry point in ``workbench.probes``. Scripts do no I/O: ``Run`` says which request is next, and
whoever drives it sends that, or another one.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench import plugins
from workbench.errors import UsageError
from workbench.probes._aim import MOST_SAMPLES, scripted, spoken, subject_of
from workbench.probes._measure import Measurement, Step, as_evidence, measure, send
from workbench.probes._run import Run
from workbench.probes._script import Ask, Outcome, Probe, Sample, Script
from workbench.probes._subject import Subject
from workbench.probes._verdict import Interval, Result, verdict

__all__ = [
    "CORE",
    "MOST_SAMPLES",
    "Ask",
    "Interval",
    "Measurement",
    "Outcome",
    "Probe",
    "Result",
    "Run",
    "Sample",
    "Script",
    "Step",
    "Subject",
    "as_evidence",
    "chosen",
    "every",
    "measure",
    "scripted",
    "send",
    "spoken",
    "subject_of",
    "verdict",
]

CORE = ("format", "schema", "closure", "parallel", "repair", "reasoning", "streaming")
"""The seven that make a profile, in the order in which they are run: later ones use what earlier ones learned."""


def every() -> tuple[Probe, ...]:
    """Every probe, those that make a profile first."""
    names = (n.replace("_", "-") for n in plugins.names(__name__))
    ordered = sorted(names, key=lambda n: (CORE.index(n) if n in CORE else len(CORE), n))
    return tuple(_load(name) for name in ordered)


def chosen(names: Iterable[str] = ()) -> tuple[Probe, ...]:
    """The probes of these names, in order; the seven where none is named, all for "all". Raises UsageError."""
    asked = tuple(names)
    known = every()
    for name in asked:
        if name != "all" and all(probe.name != name for probe in known):
            raise UsageError(f"no probe named {name!r}", hint=f"known: {', '.join(probe.name for probe in known)}")
    return tuple(p for p in known if p.name in asked or "all" in asked or (not asked and p.is_core))


def _load(name: str) -> Probe:
    found: Probe = plugins.load(__name__, name.replace("-", "_")).probe
    return found
