"""Files that a command is about to write: what they must not be, and the sentences that refuse them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from workbench.errors import UsageError


def is_same(out: Path, source: Path) -> bool:
    """True if both are one file, also through symbolic and hard links."""
    with suppress(OSError, ValueError):
        return out.samefile(source)
    return False


def refuse_link(out: Path) -> None:
    """Raise UsageError for a symbolic link: its target is not the path that was named."""
    if out.is_symlink() and (out.is_file() or out.is_dir() or not out.exists()):
        raise UsageError(
            f"{out} is a symbolic link", hint="Workbench does not write through symbolic links; give a regular file"
        )


def refuse_source(out: Path, source: Path | None) -> None:
    """Raise UsageError if a file is the one that is read; None is standard input."""
    if source and is_same(out, source):
        raise UsageError(f"{out} is the input file", hint="the input file is never overwritten: choose another name")


def refuse_existing(out: Path, *, is_forced: bool) -> None:
    """Raise UsageError for a path that exists, unless it may be replaced."""
    if out.exists() and not is_forced:
        raise UsageError(f"{out} already exists", hint="choose another name, or use --force")


def irregular(out: Path | str, hint: str) -> UsageError:
    """The refusal of a path that cannot be written like a file: a device, a pipe, standard output."""
    return UsageError(f"{out} is not a regular file", hint=hint)
