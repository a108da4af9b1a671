"""The one gate between untrusted text and the screen.

Traffic is hostile text: escape sequences, direction overrides and invisible characters would act on the terminal or
hide content. Everything the app shows passes this module, one painted line at a time; no other code may decode wire
bytes for display. A character that acts, hides or looks like a plain space is replaced by a visible form and flagged,
so that it is painted differently from the same characters written literally.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench import regex
from workbench.characters import COMBINING, INVISIBLE, ODD_SPACES
from workbench.glyphs import LONG_FORMS, SIGNS
from workbench.named_tuple import NamedTuple

TAB = "    "

_HIDDEN = (
    "\x00-\x08\x0a-\x1f\x7f-\x9f"  # C0 without tab, DEL, C1
    f"\ud800-\udfff{INVISIBLE}"
)
_MAX_STACKED = 3
"""Limit of combining marks on one letter; real writing needs two, more would cover the lines around it."""

_SPECIAL = regex.compile(f"[{_HIDDEN}{ODD_SPACES}\t]|(?<=[{COMBINING}]{{{_MAX_STACKED}}})[{COMBINING}]")
HIDDEN = regex.compile(f"[{_HIDDEN}]")
"""Pattern of one character that acts on a terminal or hides content, except tab."""

SHOWABLE = f"[^{_HIDDEN}\t]*"
"""Pattern of text that needs no visible form: allowed content of an input line."""

_IS_SHOWABLE = regex.compile(SHOWABLE)

_OUTSIDE_ASCII = regex.compile(r"[^\x20-\x7e]")

_ascii_only = False


def use_ascii(on: bool) -> None:
    """Switch to ASCII output: our signs become their stand-ins, every other character its escape.

    It holds for the whole process, as the terminal does. One of our signs in the data is shown as in our own words; raw
    bytes are exact.
    """
    global _ascii_only
    _ascii_only = on


_SHORT = {"\n": "\\n", "\r": "\\r", "\0": "\\0"}


class Piece(NamedTuple):
    """Text that is safe to show; ``is_form`` when it stands for a character that is not."""

    text: str
    is_form: bool


def pieces(text: str, *, is_bytes: bool = False) -> Iterator[Piece]:
    """Safe pieces of one line of text.

    Args:
        text: untrusted text.
        is_bytes: it comes from ``from_bytes``: escaped surrogates are undecodable bytes.
    """
    if text.isascii() and text.isprintable():
        yield Piece(text, False)
        return
    done = 0
    for found in (_OUTSIDE_ASCII if _ascii_only else _SPECIAL).finditer(text):
        if found.start() > done:
            yield Piece(text[done : found.start()], False)
        yield _form(found.group(), is_bytes)
        done = found.end()
    if done < len(text):
        yield Piece(text[done:], False)


def _form(character: str, is_bytes: bool) -> Piece:
    if character == "\t":
        return Piece(TAB, False)
    if _ascii_only and not is_bytes and character in SIGNS:
        return Piece(LONG_FORMS.get(character) or SIGNS[character], False)
    code = ord(character)
    if is_bytes and 0xDC80 <= code <= 0xDCFF:
        return Piece(f"\\x{code - 0xDC00:02x}", True)
    if character in _SHORT:
        return Piece(_SHORT[character], True)
    return Piece(f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}", True)


def is_showable(text: str) -> bool:
    """True if an input line may contain the text unchanged."""
    return _IS_SHOWABLE.fullmatch(text) is not None


def visible(text: str) -> str:
    """The text with every acting or hidden character in its visible form."""
    return "".join(piece.text for piece in pieces(text))


def from_bytes(data: bytes) -> str:
    """Wire bytes as text, without loss: what is not UTF-8 becomes escaped surrogates, which ``pieces`` shows."""
    return data.decode("utf-8", "surrogateescape")


def cells(text: str) -> int:
    """Columns the text takes on the screen, after the gate."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len

    return cell_len(visible(text))


def clip(text: str, room: int) -> str:
    """The safe form of as much of the text as fits into ``room`` columns, ending in an ellipsis when cut."""
    return clip_safe(visible(text[: room * 4 + 4]), room, has_more=len(text) > room * 4 + 4)


def clip_start(safe: str, room: int) -> str:
    """The end of a text that has passed the gate, with … in front if it is longer than ``room`` columns."""
    from rich.cells import cell_len

    if cell_len(safe) <= room:
        return safe
    end = safe[1 - room :] if room > 1 else ""
    while cell_len(end) > room - 1:
        end = end[1:]
    return f"…{end}"


def clip_middle(text: str, room: int) -> str:
    """The safe form of a name that fits into ``room`` columns: of a longer one the beginning and the longer end."""
    whole, start = visible(text), room // 3
    return whole if cells(whole) <= room else f"{clip_safe(whole, start)}{clip_start(whole, room - start + 1)[1:]}"


def clip_safe(safe: str, room: int, *, has_more: bool = False) -> str:
    """Like ``clip``, for text that has passed the gate."""
    from rich.cells import cell_len, set_cell_size

    if not has_more and cell_len(safe) <= room:
        return safe
    return set_cell_size(safe, room - 1).rstrip() + "…" if room > 0 else ""
