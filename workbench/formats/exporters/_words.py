"""Writes any bytes as words of a POSIX shell that can only be data.

A word is in single quotes if a terminal shows its text unchanged; otherwise ``printf`` writes it from octal escapes, so
that nothing in it acts on the terminal it is pasted into. Secrets are variables outside the quotes; if one is not set,
the shell reports it and runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from workbench import regex

_PLAIN: Final = regex.compile(r"[A-Za-z0-9_./:@,+-]+", re.ASCII)
_NAME: Final = regex.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII)
_TRAP: Final = regex.compile(r"\\(?:'|\Z)")
"""A backslash before one of our quotes: some shells (fish) let it escape that quote even in single quotes."""

_ESCAPED: Final = regex.compile(rb"[^ !#-&(-\[\]-~]|%")


class SecretVariable(NamedTuple):
    """A shell variable in place of a secret."""

    name: str


Piece = bytes | SecretVariable


def is_pasteable(pieces: Sequence[Piece]) -> bool:
    """True if every character of the text is visible and literal between single quotes."""
    return all(isinstance(piece, SecretVariable) or _is_pasteable(piece) for piece in pieces)


def _is_pasteable(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return text.replace("\n", "").isprintable() and not _TRAP.search(text)


def shell_word(pieces: Sequence[Piece]) -> str:
    """Join pasteable pieces into one quoted word."""
    return "".join(map(_shell_piece, pieces)) or "''"


def _shell_piece(piece: Piece) -> str:
    if isinstance(piece, SecretVariable):
        return _variable(piece)
    text = piece.decode()
    return text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "'\"'\"'") + "'" if text else ""


def printf_command(pieces: Sequence[Piece]) -> str:
    r"""A command that prints the pieces exactly, including NUL bytes."""
    form = b"".join(b"%s" if isinstance(p, SecretVariable) else _ESCAPED.sub(_escape, p) for p in pieces)
    variables = [_variable(p) for p in pieces if isinstance(p, SecretVariable)]
    text = "\\055" + form[1:].decode() if form.startswith(b"-") else form.decode()  # no option of printf
    return " ".join(("printf", f"'{text}'", *variables))


def _escape(found: re.Match[bytes]) -> bytes:
    return b"%%" if found[0] == b"%" else b"\\%03o" % found[0][0]


def word(pieces: Sequence[Piece]) -> str:
    """Join pieces into one word, which must not contain NUL or end with a line end."""
    return shell_word(pieces) if is_pasteable(pieces) else f'"$({printf_command(pieces)})"'


def _variable(variable: SecretVariable) -> str:
    assert _NAME.fullmatch(variable.name)
    return f'"${{{variable.name}:?set it first}}"'
