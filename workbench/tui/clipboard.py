"""Copying: to the terminal's clipboard by OSC 52, also over SSH, or to a file if the clipboard cannot take it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench import regex
from workbench.config import state_folder
from workbench.safetext import HIDDEN, from_bytes
from workbench.views import count

if TYPE_CHECKING:
    from textual.app import App

MOST: Final = 64 * 1024
"""Bytes copied to a clipboard, at most: terminals drop more than 74 to 100 kB, without an error."""

TMUX_HINT: Final = "if nothing was copied, run in tmux: set -s set-clipboard on"
"""With tmux's default, ``external``, copies by programs inside it are dropped."""

_SURROGATE: Final = regex.compile("[\ud800-\udfff]")
_SUFFIX: Final = regex.compile(r"[a-z]{1,8}")


class CopyItem(NamedTuple):
    """Data to copy.

    Attributes:
        word: name of the data, for messages.
        data: text, or exact bytes.
        suffix: suffix of the file, if a file is needed.
        notes: notes for the user, one line each.
    """

    word: str
    data: str | bytes
    suffix: str = "txt"
    notes: tuple[str, ...] = ()


def put(app: App[object], copied: CopyItem) -> str:
    """Copy to the clipboard or to a file, and return a message about it. Terminals do not confirm a copy.

    Raises:
        OSError: a file is needed and cannot be written.
    """
    text, octets, notes = _prepare(copied)
    if text is not None and len(octets) <= MOST:
        app.copy_to_clipboard(text)
        size = f"{count(len(text), 'character')}, {count(len(octets), 'byte')}"
        words = [f"sent {copied.word} to the terminal's clipboard (OSC 52): {size}"]
        words += [TMUX_HINT] if os.environ.get("TMUX") else []
    else:
        why = "too large for the clipboard" if text is not None else "not UTF-8 text"
        path = write(octets, copied.suffix)
        words = [f"{copied.word}, {count(len(octets), 'byte')}: {why}; written to {path}"]
    return " · ".join((*words, *notes))


def _prepare(copied: CopyItem) -> tuple[str | None, bytes, tuple[str, ...]]:
    """(text, or None if the data is not text; its bytes; notes)."""
    if isinstance(copied.data, bytes):
        text, replaced = from_bytes(copied.data), 0
        if _SURROGATE.search(text):
            return None, copied.data, copied.notes
    else:
        text, replaced = _SURROGATE.subn("\ufffd", copied.data)
    hidden = len(HIDDEN.findall(text.replace("\n", "")))
    notes: tuple[str, ...] = (f"contains {count(hidden, 'control or hidden character')}" if hidden else "",)
    notes += (f"{count(replaced, 'lone surrogate')} replaced" if replaced else "",)
    return text, text.encode(), (*(note for note in notes if note), *copied.notes)


def write(data: bytes, suffix: str) -> Path:
    """Write data to a file that only the user can read, named by its digest. Raises OSError."""
    assert _SUFFIX.fullmatch(suffix)
    folder = state_folder("copies")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{hashlib.sha256(data).hexdigest()[:16]}.{suffix}"
    new = path.with_suffix(f".{os.getpid()}")
    new.unlink(missing_ok=True)
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
    new.replace(path)
    return path
