"""Selects the subject of probes: target, protocol, model; and the model of a simulator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench import protocols
from workbench.errors import UsageError
from workbench.probes._subject import Subject
from workbench.send import Target

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.simulator import ScriptedModel

MOST_SAMPLES = 1000
"""Most samples of each probe in one run."""


def probe_protocols(target: Target) -> tuple[str, ...]:
    """Protocols in which a target can be probed, its own first."""
    return tuple(name for name in target.protocols if name in protocols.protocols())


def subject_of(target: Target, protocol: str = "", model: str = "") -> Subject:
    """The model behind a target; for a simulator its first, if none is named.

    Raises:
        UsageError: the target does not support the protocol, or the model is unknown.
    """
    known = probe_protocols(target)
    wanted = protocol or (known[0] if known else protocols.MOST_COMMON)
    protocols.get(wanted)
    if known and wanted not in known:
        raise UsageError(f"{target.name} does not support {wanted}", hint=f"it supports {', '.join(known)}")
    return Subject(target, wanted, model or target.model or _first_model(target), "")


def _first_model(target: Target) -> str:
    if not target.is_simulator:
        raise UsageError(f"which model of {target.name}?", hint="use --model NAME")
    from workbench.simulator import Simulator

    return Simulator(target.contract).names()[0]


def scripted_model(dials: Iterable[str] = ()) -> ScriptedModel:
    """Model of a simulator; it corrects its calls unless a dial says otherwise.

    Args:
        dials: ``"parallel=2"`` …: names and values as of ``workbench simulate``.

    Raises:
        UsageError: no such dial, or no such value.
    """
    from workbench.config import safeyaml
    from workbench.simulator import ScriptedModel as Model
    from workbench.simulator import dials_of

    given: dict[str, JsonValue] = {"mends": 1}
    for text in dials:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"the dial {text!r:.60} is not NAME=VALUE", hint="workbench simulate --help lists them")
        given[name] = value if name == "http" else safeyaml.load(value.encode(), name="the dial")
    return Model(dials_of(given))
