"""Saves measurements: the exchanges as a session, the profile in the history of its key."""

from __future__ import annotations

import time
from pathlib import Path

from workbench.lazy_dataclass import dataclass
from workbench.probes import Measurement
from workbench.probes.profiles.drift import Drift, drift
from workbench.probes.profiles.profile import CapabilityProfile, key_of, of_measurement
from workbench.probes.profiles.store import ProfileStore


@dataclass(frozen=True, slots=True)
class SavedProfile:
    """Result of saving a measurement.

    Attributes:
        before: the previous profile of the same key; None if this is the first.
        drift: probes whose results changed.
        trouble: reason why the profile could not be written; empty if it was.
    """

    profile: CapabilityProfile
    before: CapabilityProfile | None
    drift: tuple[Drift, ...] = ()
    trouble: str = ""


def save_evidence(measurement: Measurement, path: Path | None = None, *, at: float) -> str:
    """Write the exchanges of a measurement as a session; returns its path, empty if there are none.

    Args:
        path: of the file; None for a new file in the profiles folder.
        at: seconds since the epoch.

    Raises:
        OSError: it cannot be written.
    """
    from workbench.wire.session import store

    exchanges = measurement.exchanges
    if not exchanges:
        return ""
    made = path or _folder() / f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(at))}-{exchanges[0].id}.wb"
    made.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    store.save(exchanges, made, about={"made": f"probe results of {measurement.subject.target.name}"})
    return str(made)


def save_profile(measurement: Measurement, *, at: float, evidence: str = "", template: str = "") -> SavedProfile:
    """Create the profile of a measurement and add it to the history of its key.

    Args:
        at: seconds since the epoch.
        evidence: path of the session with its exchanges.
        template: hash of the chat template that the server reports.
    """
    store = ProfileStore.of_user()
    key = key_of(measurement.subject.target, measurement.subject.contract.label, measurement, template)
    before = next(iter(store.history(key)[-1:]), None)
    profile = of_measurement(key, measurement, at=at, evidence=evidence, before=before)
    try:
        store.save(profile)
    except OSError as error:
        return SavedProfile(profile, before, (), str(error))
    return SavedProfile(profile, before, drift(store.history(key)))


def _folder() -> Path:
    from workbench.config import resources

    return resources.state_folder("profiles") / "evidence"
