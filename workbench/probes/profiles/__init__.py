"""Capability profiles: what one model behind one endpoint was measured to do, and what has changed.

In: measurements, and a request or a loop to correct. Out: profiles with their evidence, kept on disk, drift between
two of them, and corrections, each with its reason and a switch. It may import what ``probes`` may.
"""

from __future__ import annotations

from workbench.probes.profiles.drift import Drift, drift
from workbench.probes.profiles.profile import NAMES, CapabilityProfile, ProfileKey, differences, key_of, of_measurement
from workbench.probes.profiles.store import ProfileStore

__all__ = [
    "NAMES",
    "CapabilityProfile",
    "Drift",
    "ProfileKey",
    "ProfileStore",
    "differences",
    "drift",
    "key_of",
    "of_measurement",
]
