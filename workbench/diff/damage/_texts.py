"""What became of one text: trimmed, cut, normalised, damaged, or another one."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Literal

from workbench.diff.damage.kinds import Kind
from workbench.diff.meaning import canonical
from workbench.diff.wire import common, common_end
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.wire import loads

How = tuple[Kind, str]
"""A kind, and what is special about it in words ("" for nothing)."""

SEPARATORS = ("", "\n", "\n\n", " ", "\r\n")
"""What stands between texts that are joined."""

_FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
_ELLIPSIS = re.compile(r"\s*[\[(<]?\s*(?:…|\.\.\.|.{0,20}(?:truncat|omitted|cut off|snip).{0,30})", re.IGNORECASE)
_MOST_MARK = 80
"""Characters of what stands for a piece that was cut out."""

_SMALL = 2**53
"""Integers up to here are exact in a double, the only number of many JSON libraries."""


def of_texts(old: str, new: str) -> How:
    """What happened to a text that is not the same any more."""
    for judge in (_json_inside, _white_space, _unicode, _cut):
        if found := judge(old, new):
            return found
    if html.unescape(new) == old:
        return Kind.VALUE_CHANGED, "HTML escapes were put in"
    if html.unescape(old) == new:
        return Kind.VALUE_CHANGED, "HTML escapes were resolved"
    return Kind.VALUE_CHANGED, "its case" if old.casefold() == new.casefold() else ""


def of_scalars(old: JsonValue, new: JsonValue) -> How:
    """The same of two values of which one is no text."""
    if isinstance(old, int | float) and isinstance(new, int | float) and not isinstance(old, bool):
        is_lost = abs(old) > _SMALL and not isinstance(new, bool) and float(old) == float(new)
        return Kind.VALUE_CHANGED, "digits of a number were lost" if is_lost else ""
    a, b = kind_of(old), kind_of(new)
    return Kind.VALUE_CHANGED, f"{a} became {b}" if a != b else ""


def kind_of(value: JsonValue) -> str:
    """What a JSON value is, in words."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "a switch", type(None): "null"}
    if value in ("", [], {}) and isinstance(value, str | list | dict):
        return names[type(value)].replace("a ", "an empty ", 1).replace("an object", "an empty object")
    return names.get(type(value), "a number")


def joined(olds: list[str], new: str) -> bool:
    """One text is the others, one after the other."""
    return any(sep.join(olds) == new for sep in SEPARATORS)


def is_json(text: str) -> bool:
    """An object or array stands in it."""
    return text.lstrip()[:1] in ("{", "[")


def same_json(old: str, new: str) -> bool:
    """Both texts hold the same object or array."""
    if not is_json(old) or not is_json(new):
        return False
    try:
        return canonical(loads(old)) == canonical(loads(new))
    except WireError:
        return False


def _json_inside(old: str, new: str) -> How | None:
    if not is_json(old) or not is_json(new):
        return None
    try:
        before, after = loads(old), loads(new)
    except WireError:
        return None
    if canonical(before) == canonical(after):
        return Kind.ARGUMENTS_RESPELLED, ""
    if isinstance(before, dict) and isinstance(after, dict):
        gone, came = before.keys() - after.keys(), after.keys() - before.keys()
        if gone and not came:
            return Kind.VALUE_CHANGED, f"{', '.join(map(repr, sorted(gone)[:3]))} went from the JSON in it"
        if came and not gone:
            return Kind.VALUE_CHANGED, f"{', '.join(map(repr, sorted(came)[:3]))} came into the JSON in it"
    if _floats(before) == _floats(after):
        return Kind.VALUE_CHANGED, "digits of a number in its JSON were lost"
    return Kind.VALUE_CHANGED, "the JSON in it says something else"


def _floats(value: JsonValue) -> str:
    """One text for values that are the same in doubles."""
    if isinstance(value, dict):
        members = ",".join(f"{k!r}:{_floats(v)}" for k, v in sorted(value.items()))
        return f"{{{members}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_floats, value))}]"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**1000:
        return repr(float(value))
    return repr(value)


def _white_space(old: str, new: str) -> How | None:
    if old.strip() == new.strip():
        if len(new) < len(old):
            return Kind.TEXT_TRIMMED, "white space at its " + _ends(old, new)
        return Kind.VALUE_CHANGED, "white space was added"
    if _lines(old) == _lines(new):
        return Kind.VALUE_CHANGED, "its line ends"
    if len(new) < len(old):
        if [line.rstrip() for line in _lines(old)] == [line.rstrip() for line in _lines(new.rstrip())]:
            return Kind.TEXT_TRIMMED, "white space at the ends of its lines"
        if old.split() == new.split():
            return Kind.TEXT_TRIMMED, "white space inside"
    elif old.split() == new.split():
        return Kind.VALUE_CHANGED, "white space was added"
    return None


def _ends(old: str, new: str) -> str:
    start = len(old) - len(old.lstrip()) > len(new) - len(new.lstrip())
    end = len(old) - len(old.rstrip()) > len(new) - len(new.rstrip())
    return "beginning and end" if start and end else "beginning" if start else "end"


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _unicode(old: str, new: str) -> How | None:
    if old.isascii():
        return None
    for form in _FORMS:
        if unicodedata.normalize(form, old) == new:
            return Kind.UNICODE_NORMALISED, form
    for form in _FORMS[:2]:  # normalised, whatever happened besides
        if unicodedata.normalize(form, old) == unicodedata.normalize(form, new):
            return Kind.UNICODE_NORMALISED, ""
    if "\ufffd" in new and "\ufffd" not in old:
        return Kind.UNICODE_DAMAGED, "it contains the replacement character"
    if _misread(old, new):
        return Kind.UNICODE_DAMAGED, "read in another encoding"
    if new in (old.encode("ascii", "replace").decode(), _units(old)):
        return Kind.UNICODE_DAMAGED, "question marks replace characters"
    if new == "".join(c for c in old if c.isascii()) or new == "".join(c for c in old if c < "\U00010000"):
        return Kind.UNICODE_DAMAGED, "characters are gone"
    if new == "".join(c for c in old if unicodedata.category(c) not in ("Cf", "Cc", "Cs")):
        return Kind.UNICODE_DAMAGED, "invisible characters are gone"
    return None


def _units(text: str) -> str:
    """A question mark for each UTF-16 unit outside ASCII."""
    return "".join(c if c.isascii() else "?" * (1 + (c >= "\U00010000")) for c in text)


def _misread(old: str, new: str) -> bool:
    raw = old.encode("utf-8", "surrogatepass")
    return new in (raw.decode("latin-1"), raw.decode("cp1252", "replace"), raw.decode("cp1252", "ignore"))


def _cut(old: str, new: str) -> How | None:
    if len(new) >= len(old):
        return None
    words = f"from {len(old):,} to {len(new):,} characters"
    if old.startswith(new) or old.endswith(new):
        return Kind.TEXT_CUT, words
    head = common(old, new)
    tail = common_end(old[head:], new[head:])
    mark = new[head : len(new) - tail]
    if len(mark) <= _MOST_MARK and head + tail >= len(mark) and _ELLIPSIS.fullmatch(mark.strip(" \n[](){}<>") or "x"):
        return Kind.TEXT_CUT, words
    is_piece = not mark and head and tail and len(old) - len(new) >= 16
    return (Kind.TEXT_CUT, words) if is_piece else None
