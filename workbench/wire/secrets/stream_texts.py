"""Finds secrets that a stream sends in pieces: texts are searched after joining their deltas.

Pieces of one text share the member that holds them and the numbers next to it (index, item), in any protocol. The end
of a growing text may be the start of a secret: it waits until that is decided.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from workbench import regex
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.wire.secrets.escapes import decode_escapes
from workbench.wire.secrets.named_values import open_web_key
from workbench.wire.secrets.search import Secret, find, may_have, search
from workbench.wire.secrets.shapes import REACH, open_key

Key = tuple[bytes, ...]
Range = tuple[int, int]

_PIECE: Final = regex.compile(
    rb'"(?=[acdgimoprst])(?:(?:index|output_index|content_index|summary_index|contentBlockIndex|item_id)"\s*:\s*'
    rb'(?P<number>"[^"\\]*"|[0-9]+)|'
    rb"(?P<name>text|content|delta|partial_json|arguments|thinking|reasoning\w{0,20}|refusal|input|output|response"
    rb"|completion|stringValue|outputText|generated_text|transcript|message|token)\"\s*:\s*\""
    rb'(?P<said>[^"\\]*+(?:\\.[^"\\]*+)*+)")'
)
"""Starts with one literal byte, which makes the search 2.5 times as fast as one that also stops at line ends."""
_MESSAGE: Final = b":event-type"
"""Header that each message of an AWS event stream has."""
_TAIL_LENGTH: Final = 600
"""Bytes of already written text that are kept, because they may have a name before its value."""
_LONGEST_TAIL: Final = 16 * 1024
"""Such bytes of a table, whose names are in its first row, and of cookies."""
_MOST_BETWEEN: Final = 16
"""Pieces of one other text after which a text is over: of texts that are sent at the same time each gets its turn."""
_SHORTEST_MEDIA: Final = 512
_MEDIA: Final = regex.compile(rb"[A-Za-z0-9+/]+={0,2}")
"""A piece without a space that is longer than any token: sound or a picture."""

_RUN: Final = bytes(byte for byte in range(0x21, 0x80) if byte not in b"\"'`<>")
"""Characters of which a value without quotes may consist."""
_ENDS: Final = (b"}", b"]")
"""Last character of arguments: what follows it is another word."""
_BASE64_LINE: Final = regex.compile(rb"[ \t]{0,60}[A-Za-z0-9+/_-]{56,128}")
_NAMED: Final = regex.compile(
    rb"(?i)(?:(?:key|token|secret|pass(?:word|wd|phrase|code)?|pwd|auth(?:orization|entication)?|cred(?:ential)?s?|cookie"
    rb"|jwt)[\w.-]{0,12}[\\\"'`]{0,12}\]?\s{0,4}(?:=>|:=|[:=,>])\s{0,200}[\\\"'`]{0,12}|(?:bearer|basic)[ ]"
    rb"|--[a-z-]*(?:key|token|secret|password)[ ]|-u(?:ser)?[ =][\\\"']{0,4})(?P<value>[^\n\"'`]{0,200})\Z"
)
_AROUND: Final = 400
_ONE_LINE: Final = bytes.maketrans(b"\r\n", b"  ")


class SplitSecret(NamedTuple):
    """A secret in pieces: their positions in the stream, their joined text, and the length already written."""

    ranges: tuple[Range, ...]
    secret: bytes
    written_length: int
    kind: str


class _OpenText(NamedTuple):
    """A text that may continue: its end, and the pieces of each other text since its last one."""

    tail: bytes
    others: Mapping[Key, int]


@dataclass(slots=True)
class _TextPart:
    """What the next part of a stream has of one text: its end before that, and the ranges of its pieces."""

    key: Key
    tail: bytes
    ranges: list[Range] = field(default_factory=list)
    others: dict[Key, int] = field(default_factory=dict)
    is_over: bool = False

    def join_pieces(self, stream: bytes) -> bytes:
        """The text, from its end before this part on."""
        return self.tail + b"".join(stream[start:end] for start, end in self.ranges)


@dataclass(slots=True)
class StreamedTexts:
    """Texts of a stream searched so far. A text is over once another one has had many pieces and it has had none."""

    _open: dict[Key, _OpenText] = field(default_factory=dict)
    _part: bytes = b""
    _parts: list[_TextPart] = field(default_factory=list)

    def secrets(self, stream: bytes, seen: Collection[bytes]) -> Iterator[SplitSecret]:
        """Secrets in the texts of the next part of the stream."""
        for part in self._parts_of(stream):
            joined, before = part.join_pieces(stream), len(part.tail)
            for start, end, kind in find(joined, seen):
                if end > before:
                    overlap = max(before - start, 0)
                    cut = tuple(_ranges(part.ranges, start + overlap - before, end - before))
                    yield SplitSecret(cut, joined[start:end], overlap, kind)

    def settled_length(self, stream: bytes, seen: Collection[bytes]) -> int:
        """Length of the next part, in whole lines, without a piece of a possible secret."""
        least = len(stream)
        for part in self._parts_of(stream):
            joined, before = part.join_pieces(stream), len(part.tail)
            at = max(open_from(joined, seen), before)
            if at < len(joined) and not part.is_over:
                first_open = next(_ranges(part.ranges, at - before, len(joined) - before))[0]
                least = min(least, stream.rfind(b"\n", 0, first_open) + 1)
        return least

    def advance(self, stream: bytes) -> None:
        """Advance by this part, which was searched and written."""
        parts = [part for part in self._parts_of(stream) if not part.is_over]
        self._open = {part.key: _OpenText(_tail(part.join_pieces(stream)), part.others) for part in parts}
        self._part, self._parts = b"", []

    def _parts_of(self, stream: bytes) -> list[_TextPart]:
        """The texts of a part, which is read once for the three questions that follow each other."""
        if not stream or stream != self._part:
            self._part, self._parts = stream, self._read(stream)
        return self._parts

    def _read(self, stream: bytes) -> list[_TextPart]:
        current = {key: _TextPart(key, text.tail, others=dict(text.others)) for key, text in self._open.items()}
        parts = [*current.values()]
        for key, span in _pieces(stream):
            for other in [part for part in current.values() if part.key != key]:
                other.others[key] = other.others.get(key, 0) + 1
                if other.others[key] >= _MOST_BETWEEN:
                    other.is_over = True
                    del current[other.key]
            if key not in current:
                current[key] = _TextPart(key, b"")
                parts.append(current[key])
            current[key].ranges.append(span)
            current[key].others.clear()
        return parts


def _tail(text: bytes) -> bytes:
    """The end of a text that may decide what follows it."""
    if len(text) <= _TAIL_LENGTH:
        return text
    last = text[-_LONGEST_TAIL:]
    if b"cookie" in last.lower():
        return last
    start = min(
        (len(text) - _TAIL_LENGTH, len(decode_escapes(text).rstrip(_RUN)), *(one.start for one in _reaching(text)))
    )
    return text[max(start, len(text) - _LONGEST_TAIL) :]


def _reaching(text: bytes) -> Iterator[Secret]:
    """What is read as one thing and may continue at the end of a text, such as a table."""
    if may_have(text):
        yield from (one for one in search(text) if one.kind == REACH and one.end >= len(text) - 1)


def lines_of(messages: Sequence[bytes]) -> bytes:
    """Messages as a stream: one line each, every byte where it was but for line ends."""
    return b"".join(message.translate(_ONE_LINE) + b"\n" for message in messages)


def _pieces(stream: bytes) -> Iterator[tuple[Key, Range]]:
    """Each text piece in a stream: the text that it belongs to, and its position."""
    numbers, end = list[bytes](), 0
    is_aws = _MESSAGE in stream
    for match in _PIECE.finditer(stream):
        start, last = match.span()
        if stream.find(b"\n", end, start) >= 0 or (is_aws and stream.find(_MESSAGE, end, start) >= 0):
            numbers.clear()
        end = last
        number, name, text = match.groups()
        if name is None:
            numbers.append(number)
        elif text and not (len(text) >= _SHORTEST_MEDIA and _MEDIA.fullmatch(text)):
            yield (name, *numbers), (last - 1 - len(text), last - 1)


def _ranges(pieces: list[Range], start: int, end: int) -> Iterator[Range]:
    """Ranges of the pieces between two offsets of their joined text."""
    for (first, last), after in zip(pieces, accumulate(e - s for s, e in pieces), strict=True):
        before = after - (last - first)
        if before < end and after > start:
            yield first + max(start - before, 0), last - max(after - end, 0)


def open_from(text: bytes, seen: Collection[bytes]) -> int:
    """Offset in a growing text where a possible secret starts; its length if there is none."""
    plain = decode_escapes(text)
    start = len(plain) if plain.endswith(_ENDS) else len(plain.rstrip(_RUN))
    opens = [start, _start_of_lines(plain, start)]
    behind = max(0, start - _AROUND)
    if named := _NAMED.search(plain, behind, start) or _NAMED.search(plain, behind):
        opens.append(named.start("value"))
    opens += [key for find_open in (open_key, open_web_key) if (key := find_open(plain, len(plain))) is not None]
    for _ in _reaching(text):
        opens.append(max(plain.rfind(b"\n"), plain.rfind(b"\r")) + 1)
    for secret in seen:
        if secret.rstrip(_RUN):  # others are in the last word
            size = next((n for n in range(min(len(secret), len(text)), 0, -1) if text.endswith(secret[:n])), 0)
            opens.append(len(text) - size)
    return min(opens)


def _start_of_lines(plain: bytes, start: int) -> int:
    """Start of the lines of base64 that may continue after an offset; the offset if there are none."""
    while (end := len(plain[:start].rstrip(b"\r\n \t"))) < start:
        line = max(plain.rfind(b"\n", 0, end), plain.rfind(b"\r", 0, end)) + 1
        if not _BASE64_LINE.fullmatch(plain, line, end):
            break
        start = line
    return start
