"""Writes bytes as readable Python literals, with environment variables in place of secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from workbench import regex
from workbench.formats.exporters._request_to_send import RequestToSend
from workbench.formats.exporters._words import Piece, SecretVariable

WIDTH: Final = 100
"""Columns of a line of a literal."""

_CUT: Final = regex.compile(r'.*?(?:\n|(?<=[\]}"0-9a-z]), ?(?=[{"])|\Z)', re.DOTALL)
"""Positions where JSON text may be split, so that a line has one member or list element."""


def variables(request: RequestToSend) -> list[str]:
    """Names of the environment variables that a request needs, in order of use."""
    used = [*request.url, *(piece for _, value in request.headers for piece in value), *request.body]
    return list(dict.fromkeys(piece.name for piece in used if isinstance(piece, SecretVariable)))


def text(pieces: Sequence[Piece]) -> str:
    """Pieces of a URL or header value as an expression of type ``str``."""
    return (
        " + ".join(
            f'os.environ["{p.name}"]' if isinstance(p, SecretVariable) else _string(p.decode("latin-1")) for p in pieces
        )
        or '""'
    )


def header(name: str, pieces: Sequence[Piece]) -> str:
    """A header as a pair; as bytes if httpx would encode its characters differently."""
    if all(isinstance(p, SecretVariable) or p.isascii() for p in pieces):
        return f"({_string(name)}, {text(pieces)})"
    value = " + ".join(f'os.environ["{p.name}"].encode()' if isinstance(p, SecretVariable) else repr(p) for p in pieces)
    return f"({name.encode()!r}, {value})"


def body(name: str, pieces: Sequence[Piece]) -> str:
    """The assignment of a body, of type ``bytes``."""
    if not any(pieces):
        return f'{name} = b""'
    if len(pieces) == 1 and isinstance(pieces[0], bytes):
        lines, end = _lines(pieces[0])
        if len(lines) == 1:
            return f"{name} = {lines[0]}{end}"
        return f"{name} = (\n{_indent(lines)}\n){end}"
    held = [piece for piece in pieces if piece]
    parts = [line for number, piece in enumerate(held) for line in _part(piece, is_first=not number)]
    return f"{name} = (\n{_indent(parts)}\n)"


def _part(piece: Piece, *, is_first: bool) -> Iterator[str]:
    plus = "" if is_first else "+ "
    if isinstance(piece, SecretVariable):
        yield f'{plus}os.environ["{piece.name}"].encode()'
        return
    lines, end = _lines(piece)
    if len(lines) == 1:
        yield f"{plus}{lines[0]}{end}"
        return
    yield f"{plus}({lines[0]}"
    yield from (f"   {line}" for line in lines[1:-1])
    yield f"   {lines[-1]}){end}"


def _lines(data: bytes) -> tuple[list[str], str]:
    """Literals on consecutive lines that make up the data, and the suffix that makes bytes of them."""
    try:
        written = data.decode()
    except UnicodeDecodeError:
        return [repr(bytes(part)) for part in _slices(data)], ""
    pieces = [part for line in _merge(_CUT.findall(written)) for part in _wrap(line)]
    if written.isascii():
        return [f"b{_string(piece)}" for piece in pieces], ""
    return [_string(piece) for piece in pieces], ".encode()"


def _slices(data: bytes) -> Iterable[bytes]:
    return (data[n : n + WIDTH // 2] for n in range(0, len(data), WIDTH // 2))


def _merge(pieces: Sequence[str]) -> Iterator[str]:
    """Join short pieces on a line, but not across lines of the text."""
    line = ""
    for piece in pieces:
        if line and (line.endswith("\n") or len(line) + len(piece) > WIDTH):
            yield line
            line = ""
        line += piece
    if line:
        yield line


def _wrap(line: str) -> Iterator[str]:
    return (line[n : n + WIDTH] for n in range(0, len(line), WIDTH))


def _string(value: str) -> str:
    """A literal, in double quotes unless that needs more escapes; invisible characters are escaped."""
    made = repr(value)
    if made[0] == "'" and '"' not in value:
        return f'"{made[1:-1]}"' if "'" not in value else made
    return made


def _indent(lines: Iterable[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)
