"""What is to be probed, from what people say: a target, a protocol, a model; and how a simulator's model behaves."""

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
"""Of each probe in one run."""


def probe_protocols(target: Target) -> tuple[str, ...]:
    """The protocols in which a target can be probed, its own first."""
    return tuple(name for name in target.protocols if name in protocols.protocols())


def subject_of(target: Target, protocol: str = "", model: str = "") -> Subject:
    """The model behind a target: of a simulator its first, where none is named.

    Raises:
        UsageError: the target does not speak the protocol, or nobody says which model is meant.
    """
    known = probe_protocols(target)
    wanted = protocol or (known[0] if known else protocols.MOST_COMMON)
    protocols.get(wanted)
    if known and wanted not in known:
        raise UsageError(f"{target.name} does not speak {wanted}", hint=f"it speaks {', '.join(known)}")
    return Subject(target, wanted, model or target.model or _first_model(target), "")


def _first_model(target: Target) -> str:
    if not target.is_simulator:
        raise UsageError(f"which model of {target.name}?", hint="say --model NAME")
    from workbench.simulator import Simulator

    return Simulator(target.contract).names()[0]


def scripted_model(dials: Iterable[str] = ()) -> ScriptedModel:
    """What answers in a simulator; one that mends its calls unless a dial says otherwise.

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
