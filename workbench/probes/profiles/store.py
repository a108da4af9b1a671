"""Measured profiles on disk: a file for each key, a line for each measurement, append-only, next to its session."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from workbench.config import resources
from workbench.errors import ProfileError, UsageError, WireError
from workbench.lazy_dataclass import dataclass
from workbench.probes import Measurement
from workbench.probes.profiles.drift import Drift, drift
from workbench.probes.profiles.profile import (
    CapabilityProfile,
    ProfileKey,
    key_of,
    of_json,
    of_measurement,
)
from workbench.wire import dumps, loads


@dataclass(frozen=True, slots=True)
class ProfileStore:
    """Profiles in a folder. Reading skips unreadable lines; ``faults`` lists them."""

    folder: Path

    @staticmethod
    def of_user() -> ProfileStore:
        """The user's profiles."""
        return ProfileStore(resources.state_folder("profiles"))

    def save(self, profile: CapabilityProfile) -> Path:
        """Append a measurement to the history of its key. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(profile.key)
        with path.open("ab") as file:
            file.write(dumps(profile.as_json()) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        return path

    def history(self, key: ProfileKey) -> list[CapabilityProfile]:
        """Every measurement of a key, oldest first."""
        return [profile for profile in _read(self._path(key)) if profile.key == key]

    def latest(self) -> list[CapabilityProfile]:
        """The newest measurement of each key, sorted by endpoint and model."""
        found = [list(_read(path)) for path in self._files()]
        newest = [profiles[-1] for profiles in found if profiles]
        return sorted(newest, key=lambda profile: (profile.key.endpoint, profile.key.model, profile.key.protocol))

    def find(self, name: str) -> CapabilityProfile:
        """The newest profile that a name selects: part of endpoint, model or protocol, or an index of the list.

        ``NAME@2`` is the measurement before the newest, ``@3`` the one before that. Raises UsageError.
        """
        name, _, back = name.partition("@")
        every = self.latest()
        found = [p for n, p in enumerate(every, 1) if name == str(n)] or [p for p in every if _fits(p.key, name)]
        if len(found) != 1:
            hint = (
                "workbench profile list shows all profiles" if every else "create one with workbench probe --target T"
            )
            raise UsageError(f"{len(found) or 'no'} profiles match {name!r}", hint=hint)
        if not back:
            return found[0]
        history = self.history(found[0].key)
        if not back.isdecimal() or not 1 <= int(back) <= len(history):
            raise UsageError(f"no measurement {back!r} of {name!r}", hint=f"1 (newest) to {len(history)}")
        return history[-int(back)]

    @property
    def faults(self) -> list[str]:
        """Files with lines that are no profiles, one line each."""
        return [fault for path in self._files() for fault in _faults(path)]

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.jsonl"))

    def _path(self, key: ProfileKey) -> Path:
        digest = sha256("\0".join(key).encode("utf-8", "surrogatepass")).hexdigest()[:12]
        words = re.sub(r"[^a-z0-9.]+", "-", f"{key.endpoint}-{key.model}".lower().removeprefix("https://")).strip("-.")
        return self.folder / f"{words[:60]}-{digest}.jsonl"


def _fits(key: ProfileKey, name: str) -> bool:
    return any(name.lower() in part.lower() for part in (key.endpoint, key.model, " ".join(key)))


def _read(path: Path) -> Iterator[CapabilityProfile]:
    for line in _lines(path):
        try:
            yield of_json(loads(line))
        except (ProfileError, WireError):
            continue


def _faults(path: Path) -> Iterator[str]:
    for number, line in enumerate(_lines(path), 1):
        try:
            of_json(loads(line))
        except (ProfileError, WireError) as error:
            yield f"{path}, line {number}: {error}"


def _lines(path: Path) -> list[bytes]:
    try:
        return [line for line in path.read_bytes().splitlines() if line.strip()]
    except OSError:
        return []


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
    file = path or _folder() / f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(at))}-{exchanges[0].id}.wb"
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    store.save(exchanges, file, about={"made": f"probe results of {measurement.subject.target.name}"})
    return str(file)


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
