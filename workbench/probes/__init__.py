"""Probes: scripts that measure what a model behind an endpoint can do, with tools that run nothing.

In: a subject (target and model) and the responses to a probe's requests. Out: measurements with their samples;
``FACTS`` lists what probes learn. It may import the core and the rooms up to ``send``.

One file per probe; each defines one object named ``probe``. Files that begin with an underscore are shared code. A
third party adds a probe by an entry point in ``workbench.probes``, a user by a file in their configuration folder.
Scripts do no I/O: ``ProbeRun`` gives the next request, and its caller sends that, or another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import plugins
from workbench.errors import UnknownName, UsageError
from workbench.fronts import lazy
from workbench.probes._drive import AnsweredCall, PlayedConversation, drive, follow
from workbench.probes._measure import Measurement, ProbeRun, SampleStep, as_evidence, measure, send
from workbench.probes._script import (
    MOST_SAMPLES,
    Ask,
    Outcome,
    Probe,
    Sample,
    Script,
    Subject,
    failed,
    partly,
    passed,
    probe_protocols,
    scripted_model,
    subject_of,
    unclear,
)
from workbench.probes._verdict import FACTS, Interval, ProbeResult, verdict
from workbench.probes._yaml_probe import is_path, load_own, own_probes

if TYPE_CHECKING:
    from workbench.probes import selftest
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "CORE",
    "FACTS",
    "MOST_SAMPLES",
    "AnsweredCall",
    "Ask",
    "Interval",
    "Measurement",
    "Outcome",
    "PlayedConversation",
    "Probe",
    "ProbeResult",
    "ProbeRun",
    "Sample",
    "SampleStep",
    "Script",
    "Subject",
    "all_probes",
    "as_evidence",
    "drive",
    "failed",
    "follow",
    "measure",
    "own_probes",
    "partly",
    "passed",
    "probe_protocols",
    "scripted_model",
    "select",
    "selftest",
    "send",
    "subject_of",
    "unclear",
    "verdict",
]


CORE = ("format", "schema", "closure", "parallel", "repair", "reasoning", "streaming")
"""The seven that make a profile, in the order in which they run: later ones use facts of earlier ones."""


def all_probes() -> tuple[Probe, ...]:
    """Every probe, those that make a profile first; without the user's own."""
    ordered = sorted(_names(), key=lambda n: (CORE.index(n) if n in CORE else len(CORE), n))
    return tuple(_load(name) for name in ordered)


def select(names: Iterable[str] = ()) -> tuple[Probe, ...]:
    """The probes of these names, in order; the core seven if none is named, all for "all".

    Names of the user's own probes, and paths of such files, are accepted too: they come last, in the given order.

    Raises:
        UsageError: there is no such probe, or its file cannot be read.
        ProfileError, UnreadableInput: a user's file is not a probe.
    """
    unique = tuple(dict.fromkeys(names))
    known, own_files = all_probes(), own_probes()
    shipped = {probe.name for probe in known}
    mine: list[Probe] = []
    for name in unique:
        if name in shipped or name == "all":
            continue
        if is_path(name):
            mine.append(load_own(Path(name)))
        elif name in own_files:
            mine.append(load_own(own_files[name]))
        else:
            raise UnknownName("probe", name, (*(probe.name for probe in known), *own_files))
    for probe in mine:
        if probe.name in shipped:
            raise UsageError(
                f"your probe {probe.name!r} has the same name as a built-in probe", hint="rename your probe"
            )
    return (*(p for p in known if p.name in unique or "all" in unique or (not unique and p.is_core)), *mine)


def _names() -> Mapping[str, str]:
    """Name → module, of built-in and third-party probes."""
    return {name.replace("_", "-"): name for name in plugins.names(__name__)}


def _load(name: str) -> Probe:
    found: Probe = plugins.load(__name__, _names()[name]).probe
    return found
