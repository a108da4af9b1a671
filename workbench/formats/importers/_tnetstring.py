"""Reads typed netstrings, ``<length>:<payload><type>``, from untrusted bytes.

Types: ``,`` bytes, ``;`` text, ``#`` integer, ``^`` float, ``!`` boolean, ``~`` null, ``]`` list, ``}`` dictionary
(https://tnetstrings.info, and ``;`` as mitmproxy adds it).
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.errors import WireError
from workbench.ir import JsonValue

MAX_DEPTH = 60
"""Limit of nested containers. A flow has seven."""

_MAX_DIGITS = 12
_MAX_NUMBER = 40


def read(data: bytes, at: int, end: int, depth: int = 0) -> tuple[JsonValue, int]:
    """(value, end offset) of the value at ``at``. Bytes stay bytes, keys are text.

    Raises:
        WireError: there is no value, or it ends after ``end``; the message has the byte offset.
    """
    colon = data.find(b":", at, min(at + _MAX_DIGITS + 1, end))
    if colon <= at or not data[at:colon].isdigit():
        raise WireError(f"no length at byte {at:,}")
    start = colon + 1
    stop = start + int(data[at:colon])
    if stop >= end:
        raise WireError(f"the value at byte {at:,} ends after the end of the data")
    kind = data[stop : stop + 1]
    if kind in (b"]", b"}"):
        if depth >= MAX_DEPTH:
            raise WireError(f"more than {MAX_DEPTH} nested containers at byte {at:,}")
        return _container(data, start, stop, kind, depth), stop + 1
    reader = _SCALARS.get(kind)
    if reader is None:
        raise WireError(f"a value of unknown type {kind!r} at byte {stop:,}")
    try:
        return reader(data[start:stop]), stop + 1
    except (ValueError, OverflowError):
        raise WireError(f"not a value of type {kind.decode()!r} at byte {at:,}") from None


def _container(data: bytes, at: int, end: int, kind: bytes, depth: int) -> JsonValue:
    held: list[JsonValue] = []
    while at < end:
        value, at = read(data, at, end, depth + 1)
        held.append(value)
    if kind == b"]":
        return held
    if len(held) % 2:
        raise WireError(f"a key without a value before byte {end:,}")
    return {_key(name): value for name, value in zip(held[::2], held[1::2], strict=True)}


def _key(name: JsonValue) -> str:
    if isinstance(name, bytes):
        return name.decode("utf-8", "surrogateescape")
    return name if isinstance(name, str) else repr(name)


def _number(raw: bytes) -> int:
    return int(_short(raw))


def _float(raw: bytes) -> float:
    return float(_short(raw))


def _short(raw: bytes) -> bytes:
    if len(raw) > _MAX_NUMBER:
        raise ValueError
    return raw


def _boolean(raw: bytes) -> bool:
    if raw not in (b"true", b"false"):
        raise ValueError
    return raw == b"true"


def _null(raw: bytes) -> None:
    if raw:
        raise ValueError


_SCALARS: dict[bytes, Callable[[bytes], JsonValue]] = {
    b",": bytes,
    b";": lambda raw: raw.decode("utf-8", "surrogateescape"),
    b"#": _number,
    b"^": _float,
    b"!": _boolean,
    b"~": _null,
}
