"""Classifies the change of one text: trimmed, cut, normalised, damaged, or another text."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Literal

from workbench import regex
from workbench.diff.damage.kinds import DamageKind
from workbench.diff.meaning import canonical
from workbench.diff.wire import common, common_end
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.wire import loads, type_words

How = tuple[DamageKind, str]
"""A kind, and details in words; empty if there are none."""

SEPARATORS = ("", "\n", "\n\n", " ", "\r\n")
"""Separators of joined texts."""

_FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
_ELLIPSIS = regex.compile(r"\s*[\[(<]?\s*(?:…|\.\.\.|.{0,20}(?:truncat|omitted|cut off|snip).{0,30})", re.IGNORECASE)
_MOST_MARK = 80
"""Longest mark, in characters, that may replace a piece that was cut out."""

_SMALL = 2**53
"""Integers up to here are exact in a double, the only number type of many JSON libraries."""


def text_change(old: str, new: str) -> How:
    """Classify the change of a text."""
    for judge in (_json_change, _whitespace_change, _unicode_change, _cut_change):
        if found := judge(old, new):
            return found
    if html.unescape(new) == old:
        return DamageKind.VALUE_CHANGED, "HTML escapes were added"
    if html.unescape(old) == new:
        return DamageKind.VALUE_CHANGED, "HTML escapes were resolved"
    return DamageKind.VALUE_CHANGED, "upper and lower case" if old.casefold() == new.casefold() else ""


def scalar_change(old: JsonValue, new: JsonValue) -> How:
    """Classify the change of two values that are not both texts."""
    if isinstance(old, int | float) and isinstance(new, int | float) and not isinstance(old, bool):
        is_lost = abs(old) > _SMALL and not isinstance(new, bool) and float(old) == float(new)
        return DamageKind.VALUE_CHANGED, "digits of a number were lost" if is_lost else f"{old} became {new}"
    a, b = value_words(old), value_words(new)
    return DamageKind.VALUE_CHANGED, f"{a} became {b}" if a != b else ""


def value_words(value: JsonValue) -> str:
    """Type of a JSON value in words, which say if it is empty."""
    words = type_words(value)
    return f"an empty {words.split()[-1]}" if isinstance(value, str | list | dict) and not value else words


def is_joined(olds: list[str], new: str) -> bool:
    """True if one text is the others, one after the other."""
    return any(sep.join(olds) == new for sep in SEPARATORS)


def is_json(text: str) -> bool:
    """True if the text looks like an object or array."""
    return text.lstrip()[:1] in ("{", "[")


def same_json(old: str, new: str) -> bool:
    """True if both texts are the same object or array."""
    if not is_json(old) or not is_json(new):
        return False
    try:
        return canonical(loads(old)) == canonical(loads(new))
    except WireError:
        return False


def _json_change(old: str, new: str) -> How | None:
    if not is_json(old) or not is_json(new):
        return None
    try:
        before, after = loads(old), loads(new)
    except WireError:
        return None
    if canonical(before) == canonical(after):
        return DamageKind.ARGUMENTS_RESPELLED, ""
    if isinstance(before, dict) and isinstance(after, dict):
        only_old, only_new = before.keys() - after.keys(), after.keys() - before.keys()
        if only_old and not only_new:
            return (
                DamageKind.VALUE_CHANGED,
                f"{', '.join(map(repr, sorted(only_old)[:3]))} removed from the JSON in the text",
            )
        if only_new and not only_old:
            return (
                DamageKind.VALUE_CHANGED,
                f"{', '.join(map(repr, sorted(only_new)[:3]))} added to the JSON in the text",
            )
    if _floats(before) == _floats(after):
        return DamageKind.VALUE_CHANGED, "a number in the JSON text lost digits"
    return DamageKind.VALUE_CHANGED, "the JSON in the text has a different meaning"


def _floats(value: JsonValue) -> str:
    """Text of a value with its integers as doubles."""
    if isinstance(value, dict):
        members = ",".join(f"{k!r}:{_floats(v)}" for k, v in sorted(value.items()))
        return f"{{{members}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_floats, value))}]"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**1000:
        return repr(float(value))
    return repr(value)


def _whitespace_change(old: str, new: str) -> How | None:
    if old.strip() == new.strip():
        if len(new) < len(old):
            return DamageKind.TEXT_TRIMMED, "whitespace at the " + _ends(old, new)
        return DamageKind.VALUE_CHANGED, "whitespace was added"
    if _lines(old) == _lines(new):
        return DamageKind.VALUE_CHANGED, "line endings"
    if len(new) < len(old):
        if [line.rstrip() for line in _lines(old)] == [line.rstrip() for line in _lines(new.rstrip())]:
            return DamageKind.TEXT_TRIMMED, "whitespace at the ends of lines"
        if old.split() == new.split():
            return DamageKind.TEXT_TRIMMED, "whitespace within the text"
    elif old.split() == new.split():
        return DamageKind.VALUE_CHANGED, "whitespace was added"
    return None


def _ends(old: str, new: str) -> str:
    start = len(old) - len(old.lstrip()) > len(new) - len(new.lstrip())
    end = len(old) - len(old.rstrip()) > len(new) - len(new.rstrip())
    return "beginning and end" if start and end else "beginning" if start else "end"


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _unicode_change(old: str, new: str) -> How | None:
    if old.isascii():
        return None
    for form in _FORMS:
        if unicodedata.normalize(form, old) == new:
            return DamageKind.UNICODE_NORMALISED, form
    for form in _FORMS[:2]:  # normalised, whatever happened besides
        if unicodedata.normalize(form, old) == unicodedata.normalize(form, new):
            return DamageKind.UNICODE_NORMALISED, ""
    if "\ufffd" in new and "\ufffd" not in old:
        return DamageKind.UNICODE_DAMAGED, "the text contains the replacement character"
    if _misread(old, new):
        return DamageKind.UNICODE_DAMAGED, "decoded with the wrong encoding"
    if new in (old.encode("ascii", "replace").decode(), _units(old)):
        return DamageKind.UNICODE_DAMAGED, "characters became question marks"
    if new == "".join(c for c in old if c.isascii()) or new == "".join(c for c in old if c < "\U00010000"):
        return DamageKind.UNICODE_DAMAGED, "characters are missing"
    if new == "".join(c for c in old if unicodedata.category(c) not in ("Cf", "Cc", "Cs")):
        return DamageKind.UNICODE_DAMAGED, "invisible characters are missing"
    return None


def _units(text: str) -> str:
    """A question mark for each UTF-16 unit outside ASCII."""
    return "".join(c if c.isascii() else "?" * (1 + (c >= "\U00010000")) for c in text)


def _misread(old: str, new: str) -> bool:
    raw = old.encode("utf-8", "surrogatepass")
    return new in (raw.decode("latin-1"), raw.decode("cp1252", "replace"), raw.decode("cp1252", "ignore"))


def _cut_change(old: str, new: str) -> How | None:
    if len(new) >= len(old):
        return None
    words = f"from {len(old):,} to {len(new):,} characters"
    if old.startswith(new) or old.endswith(new):
        return DamageKind.TEXT_CUT, words
    head = common(old, new)
    tail = common_end(old[head:], new[head:])
    mark = new[head : len(new) - tail]
    if len(mark) <= _MOST_MARK and head + tail >= len(mark) and _ELLIPSIS.fullmatch(mark.strip(" \n[](){}<>") or "x"):
        return DamageKind.TEXT_CUT, words
    is_piece = not mark and head and tail and len(old) - len(new) >= 16
    return (DamageKind.TEXT_CUT, words) if is_piece else None
