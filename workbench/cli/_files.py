"""Opening the FILE arguments of a command and inspecting them."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli._progress import counting
from workbench.errors import UsageError, WorkbenchError

if TYPE_CHECKING:
    from workbench.rules.inspection import Inspector
    from workbench.wire.session import Session

MODEL_TEXT = "text"
"""Value of ``--protocol`` for text that a model wrote: a claim about the file, not the name of an adapter."""

MANY = 500
"""Exchanges from which on inspecting them takes a second or more."""

FILE_HELP = (
    "any format an importer knows, a bare request, response or event stream, what holds one (a curl command, HTTP, a "
    "log, Markdown …), or model text; - for standard input"
)


def add_provider(parser: argparse.ArgumentParser) -> None:
    """The options that say which contract and which protocol count."""
    parser.add_argument("--provider", metavar="NAME[:VARIANT]", help="the contract (default: guessed, and said)")
    parser.add_argument(
        "--protocol", metavar="NAME", help="the protocol (default: guessed, and said); text for what a model wrote"
    )


def add_judged_for(parser: argparse.ArgumentParser) -> None:
    """``--target T``: the contract of a target in place of the name of a contract."""
    parser.add_argument(
        "--target", dest="judged_for", metavar="T", help="judge by the contract of this target; nothing is sent there"
    )


def _contract_of(target: str, provider: str | None) -> str:
    from workbench import protocols
    from workbench.send.target import resolve

    if provider:
        raise UsageError("--target and --provider both name a contract", hint="name one of them")
    contract = resolve(target, protocols.MOST_COMMON).contract
    if not contract:
        raise UsageError(f"no contract is known for the target {target}", hint="name one with --provider")
    return contract


def add_exchange(parser: argparse.ArgumentParser) -> None:
    """``--exchange N``, counted from one."""
    parser.add_argument("--exchange", type=int, metavar="N", help="which exchange, counted from one")


def open_file(path: str, args: argparse.Namespace | None = None) -> Session:
    """The session in a file, or on standard input, as model text where ``--protocol text`` says so.

    Raises UnreadableInput, SessionFormatError, OSError.
    """
    from workbench.formats.importers import open_input

    protocol = getattr(args, "protocol", None)
    return open_input(path, stdin=sys.stdin.buffer if path == "-" else None, protocol=protocol)


def is_text(session: Session) -> bool:
    """Whether a file was read as text, for want of any format."""
    from workbench.formats.importers import model_text

    return getattr(session, "format", "") == model_text.TITLE


def validate(args: argparse.Namespace) -> None:
    """Complain once, before any file is read, about names that do not exist. Raises UsageError, ProfileError.

    With ``--target`` the provider becomes the one whose contract that target has.
    """
    if getattr(args, "judged_for", None):
        args.provider = _contract_of(args.judged_for, args.provider)
    if args.provider:
        from workbench import contracts

        contracts.demand(args.provider)
        contracts.get(args.provider)
    if args.protocol:
        from workbench import protocols

        if args.protocol == MODEL_TEXT:
            return
        if args.protocol in protocols.elsewhere():
            raise UsageError(f"{args.protocol} is recognised, but not decoded by this version")
        protocols.get(args.protocol)


def inspector(session: Session, args: argparse.Namespace, *, is_lazy: bool = False) -> Inspector:
    """An inspector with the contract and protocol asked for.

    On a terminal a long session is inspected at once behind a bar, as far as ``--exchange`` needs it.

    Args:
        is_lazy: what is inspected is shown as it comes, which needs no bar.
    """
    from workbench.rules.inspection import Inspector

    made = Inspector(session, provider=args.provider, protocol=args.protocol)
    number = getattr(args, "exchange", None)
    needed = len(session) if number is None else min(number, len(session))
    if needed >= MANY and sys.stderr.isatty() and not is_lazy:
        with counting("inspecting", needed) as advance:
            for _ in islice(made.steps(), needed):
                advance()
    return made


def chosen(session: Session, number: int | None, *, default: int = 0) -> int:
    """Index of ``--exchange N``. Raises UsageError when the session has no such exchange."""
    if not len(session):
        raise UsageError(f"{session.name} holds no exchange")
    if number is None:
        return default
    if not 1 <= number <= len(session):
        raise UsageError(f"no exchange {number} in {session.name}", hint=f"it has 1 to {len(session)}")
    return number - 1


def add_force(parser: argparse.ArgumentParser) -> None:
    """``--force``, beside ``-o OUT``."""
    parser.add_argument("--force", action="store_true", help="replace OUT when it exists")


def refuse_to_replace(out: Path, source: str, *, is_forced: bool) -> None:
    """Raises UsageError where OUT is what is read, a link, or a file that is there and nobody said may go."""
    from workbench.formats.exporting import refuse_link

    with suppress(OSError):
        if source != "-" and out.samefile(source):
            raise UsageError(f"{out} is the file that is read", hint="it stays as it is: choose another name")
    refuse_link(out)
    if out.is_file() and not is_forced:
        raise UsageError(f"{out} exists", hint="choose another name or say --force")


def failure_status(error: Exception) -> int:
    """Exit status of a file that could not be read: 2 for what is no readable input, 4 for I/O."""
    if isinstance(error, WorkbenchError | FileNotFoundError | IsADirectoryError | NotADirectoryError):
        return 2
    return 4
