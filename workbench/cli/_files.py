"""Opening the FILE arguments of a command and inspecting them."""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli._progress import counting
from workbench.errors import UsageError, WorkbenchError

if TYPE_CHECKING:
    from workbench.protocols import KnownParts
    from workbench.rules import Inspector
    from workbench.wire.session import Session

MODEL_TEXT = "text"
"""Value of ``--protocol`` for text that a model wrote: a claim about the file, not the name of an adapter."""

MANY = 500
"""Exchanges from which on inspecting them takes a second or more."""

FILE_HELP = (
    "a session, or a recording in any known format; a single request, response or event stream; text that contains one "
    "(a curl command, a log, Markdown …); a model's text; or - for standard input"
)


def add_provider(parser: argparse.ArgumentParser) -> None:
    """``--provider`` and ``--protocol``."""
    parser.add_argument("--provider", metavar="NAME[:VARIANT]", help="contract to check against (default: detected)")
    parser.add_argument(
        "--protocol",
        metavar="NAME",
        help="protocol of FILE (default: detected), or the word text if FILE is a model's plain text",
    )


def add_judged_for(parser: argparse.ArgumentParser) -> None:
    """``--target T``: check by the contract of a target."""
    parser.add_argument(
        "--target", dest="judged_for", metavar="T", help="check against the contract of this target; nothing is sent"
    )


def _contract_of(target: str, provider: str | None) -> str:
    from workbench import protocols
    from workbench.send import resolve

    if provider:
        raise UsageError("--target and --provider both name a contract", hint="give one of them")
    contract = resolve(target, protocols.MOST_COMMON).contract
    if not contract:
        raise UsageError(f"no contract is known for target {target}", hint="name one with --provider")
    return contract


def add_exchange(parser: argparse.ArgumentParser) -> None:
    """``--exchange N``, counted from one."""
    parser.add_argument("--exchange", type=int, metavar="N", help="number of the exchange, from 1")


def open_file(path: str, args: argparse.Namespace | None = None) -> Session:
    """Open a file or standard input as a session; with ``--protocol text`` as a model's plain text.

    Raises UnreadableInput, SessionFormatError, OSError.
    """
    from workbench.wire.session import open_recording

    if path != "-" and (recording := open_recording(Path(path))):
        return recording
    from workbench.formats.importers import open_input  # takes ten times as long to import

    protocol = getattr(args, "protocol", None)
    return open_input(path, stdin=sys.stdin.buffer if path == "-" else None, protocol=protocol)


def is_text(session: Session) -> bool:
    """True if the file was read as plain text because no format fits."""
    from workbench.formats.importers import model_text

    return getattr(session, "format", "") == model_text.TITLE


def validate(args: argparse.Namespace) -> None:
    """Refuse unknown names before any file is read. Raises UsageError, ProfileError.

    ``--target`` sets ``args.provider`` to the contract of that target.
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
            raise UsageError(f"protocol {args.protocol} is recognised, but this version does not decode it")
        protocols.get(args.protocol)


def inspector(
    session: Session, args: argparse.Namespace, *, is_lazy: bool = False, parts: KnownParts | None = None
) -> Inspector:
    """Make an inspector for the contract and protocol of the options.

    On a terminal a long session is inspected here behind a progress bar, as far as ``--exchange`` needs it.

    Args:
        is_lazy: the caller prints while it inspects, so no bar is shown.
        parts: messages and fields that other files share.
    """
    from workbench.protocols import KnownMessages
    from workbench.rules import Inspector

    result = Inspector(session, provider=args.provider, protocol=args.protocol, known=KnownMessages(parts))
    number = getattr(args, "exchange", None)
    needed = len(session) if number is None else min(number, len(session))
    if needed >= MANY and sys.stderr.isatty() and not is_lazy:
        with counting("inspecting", needed) as advance:
            for _ in islice(result.steps(), needed):
                advance()
    return result


def exchange_index(session: Session, number: int | None, *, default: int = 0) -> int:
    """Index of ``--exchange N``. Raises UsageError if the session has no such exchange."""
    if not len(session):
        raise UsageError(f"{session.name} contains no exchanges")
    if number is None:
        return default
    if not 1 <= number <= len(session):
        raise UsageError(f"no exchange {number} in {session.name}", hint=f"choose 1 to {len(session)}")
    return number - 1


def add_force(parser: argparse.ArgumentParser) -> None:
    """``--force``, for commands with an output file."""
    parser.add_argument("--force", action="store_true", help="overwrite an existing output file")


def refuse_to_replace(out: Path, source: str, *, is_forced: bool) -> None:
    """Raise UsageError if OUT is the input file, a link, or an existing file without ``--force``."""
    from workbench.formats import output_files

    output_files.refuse_source(out, Path(source) if source != "-" else None)
    output_files.refuse_link(out)
    output_files.refuse_existing(out, is_forced=is_forced or not out.is_file())


def failure_status(error: Exception) -> int:
    """Exit status of a file that could not be read: 2 for unreadable input, 4 for I/O."""
    if isinstance(error, WorkbenchError | FileNotFoundError | IsADirectoryError | NotADirectoryError):
        return 2
    return 4
