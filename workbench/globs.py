"""Globs over names: hosts, models, headers."""

from __future__ import annotations

import fnmatch


def matches_glob(text: str, glob: str) -> bool:
    """``fnmatch.fnmatchcase``, without a regular expression where ``*`` is the only wildcard.

    Contracts have hundreds of globs, most of which one command asks once: to compile each takes 40 µs.
    """
    if "?" in glob or "[" in glob:
        return fnmatch.fnmatchcase(text, glob)
    first, *pieces = glob.split("*")
    if not pieces:
        return text == glob
    last = pieces.pop()
    at, end = len(first), len(text) - len(last)
    if at > end or not (text.startswith(first) and text.endswith(last)):
        return False
    for piece in pieces:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
