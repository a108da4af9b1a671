"""Consent before a request goes to a real endpoint."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.send import Target

YES = ("y", "yes")


def agree(targets: Sequence[Target], count: int, *, is_agreed: bool) -> None:
    """Ask once whether requests may go to the real endpoints among targets; simulators need no consent.

    Args:
        count: most requests for each target.
        is_agreed: ``--yes`` was given.

    Raises:
        UsageError: there is no terminal to ask at, or the answer was no.
    """
    real = [target for target in targets if not target.is_simulator]
    if not real or is_agreed:
        return
    requests = f"at most {_output.number(count, 'request')}"
    for target in real:
        key = f", key from ${target.key_variable}" if target.key_variable else ", no key"
        _output.complain(f"{target.name}: {requests} to {target.url}{key}", 0)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("this sends to a real endpoint", hint="add --yes to allow it")
    print("send? [y/N] ", end="", file=sys.stderr, flush=True)  # noqa: T201
    if sys.stdin.readline().strip().lower() not in YES:
        raise UsageError("nothing was sent", hint="answer y, or add --yes")
