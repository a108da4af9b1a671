"""``--profile``, ``--correct`` and ``--no-correct``: the profile of a target, and the corrections it calls for."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.cli import _output

if TYPE_CHECKING:
    from workbench.probes.profiles import CapabilityProfile, Correction, ProfileChoice
    from workbench.protocols import DecodedExchange
    from workbench.send import Target

AUTO, NONE = "auto", "none"


def lines(choice: ProfileChoice) -> Iterator[str]:
    """The profile and its corrections, for people."""
    if choice.profile:
        yield f"profile: {choice.title}"
        if choice.due:
            yield f"  stale: {choice.stale}; workbench probe --refresh measures them again"
    for each in choice.decided:
        what = each.does if each.is_on else "switched off"
        yield f"  correction {each.name}: {_output.cut(what)} ({_output.cut(each.why)})"


def fill_in_names(words: str | None) -> str:
    """Put the names of the corrections into a description, in place of ``{corrections}``."""
    from workbench.probes.profiles import KINDS

    return (words or "").format(corrections=", ".join(KINDS))


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    known = f"{AUTO}: the profile measured for this target and model; {NONE}: no profile"
    parser.add_argument(
        "--profile",
        metavar="NAME",
        default=AUTO,
        help=f"capability profile that decides which corrections are applied ({known})",
    )
    for name, words in (
        ("correct", "apply this correction even if not measured"),
        ("no-correct", "disable this correction"),
    ):
        value = "[=VALUE]" if name == "correct" else ""
        parser.add_argument(
            f"--{name}", metavar=f"NAME{value}", action="append", default=[], help=f"correction: {words}"
        )


def check(args: argparse.Namespace) -> None:
    """Raise UsageError for unknown names and values."""
    from workbench.probes.profiles import apply_switches

    apply_switches((), args.correct, args.no_correct)


def choose(args: argparse.Namespace, target: Target, decoded: DecodedExchange, now: float) -> ProfileChoice:
    """Choose the profile and corrections for a request and a target. Raises UsageError."""
    from workbench.probes.profiles import choosing

    return choosing.choose(_profile(args, target, decoded), now, args.correct, args.no_correct)


def _profile(args: argparse.Namespace, target: Target, decoded: DecodedExchange) -> CapabilityProfile | None:
    from workbench.probes.profiles import ProfileStore, profile_of_request

    if args.profile == NONE:
        return None
    store = ProfileStore.of_user()
    if args.profile != AUTO:
        return store.find(args.profile)
    return profile_of_request(store.latest(), target, decoded, args.model, args.spoken)


def protocol_for(args: argparse.Namespace, target: Target, corrections: Sequence[Correction]) -> str:
    """Protocol to write a request in: from ``--as``, else from a correction; empty to leave it open."""
    from workbench.probes.profiles import protocol_of

    return args.spoken or protocol_of(corrections, target.protocols)
