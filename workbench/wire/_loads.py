"""Parses and writes JSON text: the one place that uses a JSON library."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in typeshed
from typing import Any, Final

from workbench.errors import LocalProtocolError, WireError
from workbench.ir import JsonValue
from workbench.limits import MAX_JSON_DEPTH
from workbench.wire.json_scan import decode, encode

_REFUSED: Final = "no API accepts a body with this JSON"


def _import_decode(text: bytes | str) -> Any:
    """Placeholder for the fast parser until there is much to parse: importing it takes as long as parsing 1 MB."""
    global _fast, _parsed
    _parsed += len(text)
    if _parsed < _LITTLE and "msgspec" not in sys.modules:
        return _careful(text)
    from msgspec.json import decode as fast

    _fast = fast
    return fast(text)


def raw_members(text: bytes) -> Mapping[str, Any] | None:
    """Name → the bytes of its value, as a buffer; None if the text is no object, or has a repeated key or a fault."""
    if not _is_little(text):
        from msgspec import MsgspecError, Raw
        from msgspec.json import decode as fast

        try:
            return fast(text, type=dict[str, Raw])
        except (MsgspecError, ValueError, RecursionError):
            return None
    found = dict[str, bytes]()
    try:
        for key, (start, end) in _scan(text.decode(), "{", "}"):
            if key in found:
                return None
            found[key] = text[start:end]
    except (ValueError, RecursionError):
        return None
    return found


def raw_elements(text: bytes) -> Sequence[Any] | None:
    """The bytes of each element of a list, as buffers; None if it is none, or has a fault."""
    if not _is_little(text):
        from msgspec import MsgspecError, Raw
        from msgspec.json import decode as fast

        try:
            return fast(text, type=list[Raw])
        except (MsgspecError, ValueError, RecursionError):
            return None
    try:
        return [text[start:end] for _, (start, end) in _scan(text.decode(), "[", "]")]
    except (ValueError, RecursionError):
        return None


def _is_little(text: bytes) -> bool:
    """True if the standard library scans it in less time than it takes to import the fast parser."""
    global _parsed
    if len(text) > _LITTLE or "msgspec" in sys.modules or not text.isascii():
        return False
    _parsed += len(text)
    return _parsed < _LITTLE


def _scan(text: str, opening: str, closing: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Key and place of each value in an object or a list. Raises ValueError for what is no JSON."""
    at = _skip(text, 0)
    if text[at : at + 1] != opening:
        raise ValueError("no object or list")
    at = _skip(text, at + 1)
    is_next = text[at : at + 1] != closing
    while is_next:
        key = ""
        if opening == "{":
            if text[at : at + 1] != '"':
                raise ValueError("a key is missing")
            key, at = scanstring(text, at + 1, True)
            at = _skip(text, at)
            if text[at : at + 1] != ":":
                raise ValueError("a colon is missing")
            at = _skip(text, at + 1)
        try:
            _, end = _scanner(text, at)
        except StopIteration as error:  # out of a generator it would come as a RuntimeError
            raise ValueError("a value is missing") from error
        yield key, (at, end)
        at = _skip(text, end)
        is_next = text[at : at + 1] == ","
        at = _skip(text, at + 1) if is_next else at
    if text[at : at + 1] != closing or _skip(text, at + 1) < len(text):
        raise ValueError("not closed, or followed by more text")


def _skip(text: str, at: int) -> int:
    """Offset of the next character that is no whitespace."""
    while text[at : at + 1] in (" ", "\n", "\r", "\t"):
        at += 1
    return at


def _no_constant(name: str) -> Any:
    raise ValueError(name)


_scanner = json.JSONDecoder(parse_constant=_no_constant).scan_once  # type: ignore[attr-defined]  # not in typeshed

_SAMPLE: Final = 64 * 1024
"""Length of the beginning of a text in which a request with many messages has enough brackets."""

_LITTLE: Final = 256 * 1024
"""Bytes up to which the standard library parses."""

_parsed = 0
_fast: Callable[[bytes | str], Any] = _import_decode


def loads(text: bytes | str, *, levels: int = 0) -> JsonValue:
    r"""Parse a JSON text with the same result as the standard library.

    Of duplicate keys the last counts. Lone surrogates (``\ud83d``) are kept, NaN and Infinity are parsed, integers are
    exact. Bytes that are not UTF-8 become U+DC80 … U+DCFF as with ``surrogateescape``.

    Args:
        text: the JSON text.
        levels: containers around it if it is part of a larger text; they count as depth.

    Raises:
        WireError: not JSON, or deeper than ``limits.MAX_JSON_DEPTH``; with byte, line, reason and hint.
    """
    try:
        value = _fast(text)
    except Exception:  # whatever it refuses, the standard library decides
        value = _careful(text)
    depth = MAX_JSON_DEPTH - levels
    if len(text) > 2 * depth and _has_openers(text, depth) and _is_deep(value, depth):
        raise _too_deep()
    return value


def _careful(text: bytes | str) -> JsonValue:
    whole = text if isinstance(text, str) else decode(text)
    skipped = 1 if whole.startswith("\ufeff") else 0
    try:
        return json.loads(whole[skipped:])
    except json.JSONDecodeError as error:
        raise _unreadable(whole, error.pos + skipped, error.msg) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise WireError("JSON with an integer of thousands of digits", hint=_REFUSED) from None


def _too_deep() -> WireError:
    return WireError(f"JSON nested deeper than {MAX_JSON_DEPTH} levels", hint=_REFUSED)


def _has_openers(text: bytes | str, most: int) -> bool:
    """True if it has more opening brackets, an upper bound of the depth: a cheap test before the expensive one."""
    if len(text) > 2 * _SAMPLE and _has_openers(text[:_SAMPLE], most):
        return True
    openers = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    return openers > most


def _is_deep(value: JsonValue, depth: int) -> bool:
    """True if deeper than the limit; counted here, since not every parser has a limit."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(depth):
        level = [child for child in _children(level) if type(child) is dict or type(child) is list]
        if not level:
            return False
    return True


def _children(level: list[Any]) -> list[Any]:
    return [child for node in level for child in (node.values() if type(node) is dict else node)]


def _unreadable(text: str, at: int, problem: str) -> WireError:
    before = encode(text[:at])
    line = before.count(b"\n") + 1
    reason = problem[0].lower() + problem[1:].rstrip(": ")
    if problem.startswith("Expecting") and at < len(text):
        reason += f", found {text[at]!r}"
    return WireError(f"not JSON: {reason}", where=f"byte {len(before)}, line {line}", hint=_hint(text, at, problem))


def _hint(text: str, at: int, problem: str) -> str:
    start = text.lstrip("\ufeff \t\r\n")[:6]
    if not start:
        return "the text is empty"
    if start.startswith("<"):
        return "the text looks like HTML or XML and may come from a proxy or a login page"
    if start.startswith(("data:", "event:", ":")):
        return "the text looks like an event stream"
    if problem.startswith("Extra data"):
        return "the first value ends here, but more text follows"
    if at >= len(text.rstrip()) or problem.startswith("Unterminated"):
        return "the text ends early; the text is probably truncated"
    if problem.startswith("Invalid control"):
        return "line breaks and control characters in strings must be escaped"
    return "the error is often just before this position"


def dumps(value: JsonValue) -> bytes:
    r"""Compact JSON in UTF-8; only lone surrogates are written as ``\uXXXX``.

    Raises:
        LocalProtocolError: the value is not a JSON value, or nested too deeply to write.
    """
    return _write(value, ascii_only=False)


def dumps_parsed(value: JsonValue) -> bytes:
    """Return and raise what ``dumps`` does, in a fifth of the time, for a large value that was made of parsed JSON."""
    if not _is_plain(value):
        return dumps(value)
    try:
        return _encoder()(value)
    except Exception:  # a lone surrogate, or too deep
        return dumps(value)


@cache
def _encoder() -> Callable[[Any], bytes]:
    from msgspec.json import encode

    return encode


def _is_plain(value: JsonValue) -> bool:
    """True if it has neither floats, whose exponents and infinities parsers write differently, nor foreign types."""
    if type(value) is dict and _SCALARS.issuperset(map(type, value.values())):
        return True  # as the arguments of most calls
    level = [value]
    for _ in range(MAX_JSON_DEPTH):
        if not level:
            return True
        if not _PLAIN.issuperset(map(type, level)):
            return False
        level = _children([node for node in level if type(node) is dict or type(node) is list])
    return False


def dumps_ascii(value: JsonValue) -> bytes:
    r"""Compact JSON with everything outside ASCII written as ``\uXXXX``. Raises as ``dumps``."""
    return _write(value, ascii_only=True)


def _write(value: JsonValue, *, ascii_only: bool) -> bytes:
    try:
        text = (_ASCII if ascii_only else _UNICODE).encode(value)
    except RecursionError:
        raise LocalProtocolError("a value nested too deeply to be written as JSON", hint=_REFUSED) from None
    except (TypeError, ValueError) as error:
        raise LocalProtocolError(f"not a JSON value: {error}", hint="use dicts, lists, strings and numbers") from None
    return text.encode("utf-8", "backslashreplace")


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


_SCALARS: Final = frozenset((str, int, bool, type(None)))
_PLAIN: Final = _SCALARS | {dict, list}
_UNICODE: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)
_ASCII: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=_plain)
"""Created once: many values are only a line long."""
