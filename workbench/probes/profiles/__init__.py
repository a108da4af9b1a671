"""Capability profiles: what one model behind one endpoint was measured to do, with evidence, and what has changed."""

from __future__ import annotations

from workbench.probes.profiles.drift import Drift, drift
from workbench.probes.profiles.profile import NAMES, CapabilityProfile, Key, differences, key_of, of_measurement
from workbench.probes.profiles.store import Store

__all__ = ["NAMES", "CapabilityProfile", "Drift", "Key", "Store", "differences", "drift", "key_of", "of_measurement"]
