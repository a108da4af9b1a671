"""``--profile``, ``--correct`` and ``--no-correct``: which profile holds, and what is corrected because of it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.cli import _output

if TYPE_CHECKING:
    from workbench.capability import CapabilityProfile
    from workbench.capability.corrections import Correction
    from workbench.capability.refresh import Due
    from workbench.decode import Decoded
    from workbench.inspection import Inspector
    from workbench.ir import JsonValue
    from workbench.targets.target import Target
    from workbench.wire.exchange import Exchange

AUTO, NONE = "auto", "none"


@dataclass(frozen=True, slots=True)
class Choice:
    """What holds for one target.

    Attributes:
        profile: None where nothing was measured, or nothing is to be corrected by it.
        decided: the corrections, on and off.
        due: probes whose results do not hold any longer.
    """

    profile: CapabilityProfile | None
    decided: tuple[Correction, ...] = ()
    due: tuple[Due, ...] = ()

    def lines(self) -> Iterator[str]:
        """What is corrected, for people."""
        if self.profile:
            key = self.profile.key
            yield f"profile: {key.endpoint} · {key.protocol} · {key.model}"
            if self.due:
                names = ", ".join(due.probe.name for due in self.due)
                yield f"  stale: {names} ({self.due[0].why}); workbench probe --refresh measures them anew"
        for each in self.decided:
            what = each.does if each.is_on else "switched off"
            yield f"  correction {each.name}: {_output.cut(what)} ({_output.cut(each.why)})"

    def as_json(self) -> dict[str, JsonValue]:
        """``profile`` and ``corrections`` of a JSON output."""
        told = self.profile and {
            **self.profile.key._asdict(),
            "verified_at": self.profile.verified_at,
            "stale": [due.probe.name for due in self.due],
        }
        return {"profile": told, "corrections": [each.as_json() for each in self.decided]}


def described(words: str | None) -> str:
    """A description with the names of the corrections in the place of ``{corrections}``."""
    from workbench.capability.corrections import KINDS

    return (words or "").format(corrections=", ".join(KINDS))


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    known = f"{AUTO}: the measured one of exactly this target and model; {NONE}"
    parser.add_argument("--profile", metavar="NAME", default=AUTO, help=f"correct by this profile ({known})")
    for name, words in (("correct", "do this one, measured or not"), ("no-correct", "leave this one out")):
        value = "[=VALUE]" if name == "correct" else ""
        parser.add_argument(
            f"--{name}", metavar=f"NAME{value}", action="append", default=[], help=f"correction: {words}"
        )


def check(args: argparse.Namespace) -> None:
    """Raises UsageError for names and values that cannot be."""
    from workbench.capability.corrections import switched

    switched((), args.correct, args.no_correct)


def choose(args: argparse.Namespace, target: Target, decoded: Decoded, now: float) -> Choice:
    """What holds for a request and a target. Raises UsageError."""
    from workbench.capability.conservative import fall
    from workbench.capability.corrections import corrections, switched
    from workbench.capability.refresh import stale

    profile = _profile(args, target, decoded)
    decided = switched(corrections(profile, fall(profile)), args.correct, args.no_correct)
    return Choice(profile, decided, stale(profile, now) if profile else ())


def _profile(args: argparse.Namespace, target: Target, decoded: Decoded) -> CapabilityProfile | None:
    from workbench.capability import Store
    from workbench.capability.matching import of_target

    if args.profile == NONE:
        return None
    store = Store.of_user()
    if args.profile != AUTO:
        return store.named(args.profile)
    request = decoded.request
    model = args.model or target.model or (request.model if request else "")
    own, spoken = decoded.protocol or "", target.protocols
    wanted = args.spoken or (own if own in spoken or not spoken else spoken[0])
    return of_target(store.latest(), target, model or "", wanted)


def protocol_for(args: argparse.Namespace, target: Target, decided: Sequence[Correction]) -> str:
    """The protocol to write a request in: as people say, else as was measured, else ""."""
    from workbench.capability.corrected import protocol_of

    return args.spoken or protocol_of(decided, target.protocols)


def earlier(inspector: Inspector, index: int, decided: Sequence[Correction]) -> list[Exchange]:
    """What came before it in its conversation, where reasoning that it lost is to be put back."""
    from workbench.capability.corrections import REASONING, value_of

    lane = inspector.rows[index].conversation
    if lane is None or value_of(decided, REASONING) != "verbatim":
        return []
    return [inspector.session.exchange(row.index) for row in inspector.rows[:index] if row.conversation == lane]
