r"""Stand-ins for secrets: each character is replaced by another of its class, at the cost of one digest.

The digest of the secret is expanded with SHAKE and laid over the text by big-integer operations: a secret of megabytes
takes milliseconds. The last letters and digits of a stand-in are a check of those before them, so that a stand-in is
recognised everywhere and is not replaced again. Escapes are kept: ``\n`` stays a line end, and ``\u0041`` a letter.
"""

from __future__ import annotations

import hashlib
import re
import string
from itertools import chain, islice, zip_longest
from typing import Final

from workbench import regex

CLASSES: Final = (string.ascii_lowercase, string.ascii_uppercase, string.digits)

_LEAST, _CHECK = 8, 5
"""Letters and digits that a stand-in with a check needs, and the number of check characters."""

_ESCAPE: Final = regex.compile(
    r"\\+(?:u[0-9a-fA-F]{4}|.)|%[0-9a-fA-F]{2}|&(?:quot|apos|amp|#x?[0-9a-fA-F]{2,3});", re.DOTALL
)
_CODE: Final = regex.compile(r"(?:\\+u00|%)([0-7][0-9a-fA-F])")


def _members(chars: str) -> bytes:
    """Map each byte to one of these characters."""
    return bytes(ord(chars[n % len(chars)]) for n in range(256))


def _mask(chars: str) -> bytes:
    """Map these characters to all-one bits, all others to zero."""
    return bytes(0xFF if chr(n) in chars else 0 for n in range(256))


_TABLES: Final = tuple((_members(chars), _mask(chars)) for chars in CLASSES)
_OTHERS: Final = bytes(0 if chr(n) in "".join(CLASSES) else 0xFF for n in range(256))
_ALNUM: Final = frozenset("".join(CLASSES).encode())


def disguise(secret: str, salt: bytes) -> str:
    """Replace each character by one of its class, always the same for the same secret.

    Characters other than ASCII letters and digits are kept; non-ASCII characters become "x". A stand-in is kept.
    """
    if not any(mark in secret for mark in "\\%&"):
        return _disguise(secret, secret, salt)
    literals, escapes = _ESCAPE.split(secret), _ESCAPE.findall(secret)
    meant = list(map(_unescape, escapes))
    made = iter(_disguise("".join(chain.from_iterable(zip_longest(literals, meant, fillvalue=""))), secret, salt))
    pieces = list[str]()
    for literal, escape, char in zip_longest(literals, escapes, meant, fillvalue=""):
        pieces.append("".join(islice(made, len(literal))))
        pieces.append(escape[:-2] + f"{ord(next(made)):02x}" if char else escape)
    return "".join(pieces)


def _unescape(escape: str) -> str:
    """Letter or digit that an escape encodes; empty for other escapes."""
    found = _CODE.fullmatch(escape)
    char = chr(int(found[1], 16)) if found else ""
    return char if char.isalnum() else ""


def _disguise(text: str, secret: str, salt: bytes) -> str:
    raw = (text if text.isascii() else "".join(c if c.isascii() else "x" for c in text)).encode()
    if _is_checked(raw):
        return raw.decode()
    key = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
    return _with_check(_replace_characters(raw, hashlib.shake_256(salt + key).digest(len(raw)))).decode()


def _replace_characters(text: bytes, noise: bytes) -> bytes:
    """Letters and digits of the noise, in the character classes of the text."""
    made = _number(text) & _number(text.translate(_OTHERS))
    for members, mask in _TABLES:
        made |= _number(noise.translate(members)) & _number(text.translate(mask))
    return made.to_bytes(len(text), "big")


def _number(text: bytes) -> int:
    return int.from_bytes(text, "big")


def _with_check(made: bytes) -> bytes:
    """The text with check characters at its end; unchanged if it is too short."""
    start = _check_start(made)
    if start is None:
        return made
    noise = hashlib.shake_256(b"stand-in" + made[:start]).digest(len(made) - start)
    return made[:start] + _replace_characters(made[start:], noise)


def _is_checked(text: bytes) -> bool:
    return _check_start(text) is not None and _with_check(text) == text


def _check_start(text: bytes) -> int | None:
    """Offset of the last letters and digits; None if there are too few."""
    places = list(islice((n for n in range(len(text) - 1, -1, -1) if text[n] in _ALNUM), _LEAST))
    return places[_CHECK - 1] if len(places) == _LEAST else None
