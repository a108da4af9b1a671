"""Capability profiles: measured abilities of one model behind one endpoint, and their changes.

In: measurements, and a request or a loop to correct. Out: profiles with their evidence, stored on disk, drift between
them, and corrections, each with its reason and a switch. It may import what ``probes`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy
from workbench.probes.profiles.drift import Drift, drift
from workbench.probes.profiles.profile import (
    NAMES,
    CapabilityProfile,
    ProfileKey,
    differences,
    key_of,
    of_measurement,
)
from workbench.probes.profiles.store import ProfileStore

if TYPE_CHECKING:
    from workbench.probes.profiles import choosing
    from workbench.probes.profiles.choosing import (
        DueProbe,
        ProfileChoice,
        choose,
        earlier,
        light,
        profile_of_request,
        within,
    )
    from workbench.probes.profiles.conservative import fall
    from workbench.probes.profiles.corrections import (
        KINDS,
        PARSER,
        REASONING,
        STREAMING,
        Correction,
        apply_switches,
        correction_value,
    )
    from workbench.probes.profiles.corrector import correct_loop, correct_outgoing, correct_send, protocol_of
    from workbench.probes.profiles.gating import STAGES, GateStage, RatedTool, ToolGate, annotations_of, gate, tools_of
    from workbench.probes.profiles.profile import ProfileDifferences
    from workbench.probes.profiles.server_info import models, template_hash
    from workbench.probes.profiles.store import SavedProfile, save_evidence, save_profile
    from workbench.probes.profiles.tool_loop import LoopState, Measure, Pending, ToolLoop, begin
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "KINDS",
    "NAMES",
    "PARSER",
    "REASONING",
    "STAGES",
    "STREAMING",
    "CapabilityProfile",
    "Correction",
    "Drift",
    "DueProbe",
    "GateStage",
    "LoopState",
    "Measure",
    "Pending",
    "ProfileChoice",
    "ProfileDifferences",
    "ProfileKey",
    "ProfileStore",
    "RatedTool",
    "SavedProfile",
    "ToolGate",
    "ToolLoop",
    "annotations_of",
    "apply_switches",
    "begin",
    "choose",
    "choosing",
    "correct_loop",
    "correct_outgoing",
    "correct_send",
    "correction_value",
    "differences",
    "drift",
    "earlier",
    "fall",
    "gate",
    "key_of",
    "light",
    "models",
    "of_measurement",
    "profile_of_request",
    "protocol_of",
    "save_evidence",
    "save_profile",
    "template_hash",
    "tools_of",
    "within",
]
