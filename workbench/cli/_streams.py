"""Standard streams: closed ones replaced, output flushed or discarded. Every start imports this: it imports little."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def open_streams() -> None:
    """Replace streams that were closed by the caller (``>&-``) by ones that read as empty and discard output."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (lives as long as the process)


def flush() -> None:
    """Flush stdout. Raises OSError if that fails; a closed pipe is no failure."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        mute()
    except OSError:
        mute()  # or the interpreter would complain once more on its way out
        raise


def mute() -> None:
    """Discard all further output."""
    global _muted
    _muted = True
    with open(os.devnull, "w") as nowhere, suppress(OSError, ValueError):
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def is_muted() -> bool:
    """True once the output is discarded: a command may stop printing."""
    return _muted


_muted = False
