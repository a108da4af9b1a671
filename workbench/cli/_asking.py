"""Asking before something leaves this machine's program."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.send.target import Target

YES = ("y", "yes")


def agree(targets: Sequence[Target], count: int, *, is_agreed: bool) -> None:
    """Ask once whether requests may go to the real endpoints among targets; simulators are not asked about.

    Args:
        count: requests for each of them at most.
        is_agreed: it was said on the command line.

    Raises:
        UsageError: nobody can be asked, or the answer was no.
    """
    real = [target for target in targets if not target.is_simulator]
    if not real or is_agreed:
        return
    said = f"{_output.number(count, 'request')} each"
    for target in real:
        key = f", key from ${target.key_variable}" if target.key_variable else ", no key"
        _output.complain(f"{target.name}: {said} to {target.url}{key}", 0)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("this sends to a real endpoint", hint="say --yes")
    print("send? [y/N] ", end="", file=sys.stderr, flush=True)  # noqa: T201
    if sys.stdin.readline().strip().lower() not in YES:
        raise UsageError("nothing was sent", hint="answer y, or say --yes")
