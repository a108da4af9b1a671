"""``python -m workbench.recorder.translation``: one recording with a translation in it (see ``.process``).

Its task is that of ``workbench.recorder`` with {"rules": {"spoken", "model", "profile", "on": […], "off": […]}}, and so
are its answers; the last one has {"changes": {KIND: COUNT}} beside the rest. With "" for "spoken" nothing is
translated: clients and upstreams, simulators among them, use the same protocol, and each exchange is recorded once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from workbench import protocols
from workbench.ir import JsonValue
from workbench.probes.profiles import CapabilityProfile, ProfileStore, apply_switches
from workbench.recorder.child import serve
from workbench.recorder.recording import record, report_trouble
from workbench.recorder.relay.server import Relay
from workbench.recorder.translation.path import TranslationPath, resolve_upstreams, serve_simulators
from workbench.recorder.translation.requests import TranslationRules


def main(task: Mapping[str, JsonValue]) -> int:
    """Record until the parent process asks to stop."""
    protocol: str = task["rules"]["spoken"]
    with ExitStack() as stack:
        if not protocol:
            return _passing(task, serve_simulators(task["upstreams"], stack))
        rules = _rules(task["rules"])
        upstreams = resolve_upstreams(task["upstreams"], rules.spoken, stack)
        return record(
            task,
            {name: upstream.url for name, upstream in upstreams.items()},
            lambda capture, gate: TranslationPath(
                upstreams,
                rules,
                capture,
                hop=task["hop"],
                port=task["port"],
                gate=gate,
                passes_websockets=task["passes_websockets"],
                on_refusal=report_trouble,
            ),
            lambda path: {"changes": dict(path.records.counts)},
        )


def _passing(task: Mapping[str, JsonValue], upstreams: Mapping[str, str]) -> int:
    """Record what clients and upstreams say to one another."""
    return record(
        task,
        upstreams,
        lambda capture, gate: Relay(
            upstreams,
            capture,
            port=task["port"],
            gate=gate,
            passes_websockets=task["passes_websockets"],
            on_refusal=report_trouble,
        ),
    )


def _rules(stated: Mapping[str, JsonValue]) -> TranslationRules:
    """Raises UsageError for a protocol, profile or correction that there is not."""
    protocols.get(stated["spoken"])
    apply_switches((), stated["on"], stated["off"])
    profiles: Sequence[CapabilityProfile] = ()
    profile = None
    if stated["profile"] == "auto":
        profiles = tuple(ProfileStore.of_user().latest())
    elif stated["profile"] != "none":
        profile = ProfileStore.of_user().find(stated["profile"])
    return TranslationRules(
        stated["spoken"], stated["model"], profiles, profile, stated["on"], stated["off"], dict(os.environ), time.time()
    )


if __name__ == "__main__":
    raise SystemExit(serve(main))
