"""Searches for text in bytes: in any JSON spelling, and across the pieces of a stream.

Users cannot give regular expressions: one that backtracks would block the whole program. The searched text is turned
into a pattern that takes linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from workbench import regex
from workbench.errors import WireError
from workbench.ir import Message, Part
from workbench.lazy_dataclass import replace
from workbench.protocols import RESPONSE, DecodedExchange
from workbench.wire import Body, Exchange, decode_partial, framing_of, loads, string_slice_span

Span = tuple[int, int]

WINDOW = 1 << 20
"""Bytes searched at once: under 50 ms."""

_NAMED = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_SLASHES = 8
"""Limit of backslashes of an escape: each JSON string inside a JSON string doubles them."""
_RUNS = regex.compile(r"\\+|[^\\]", re.DOTALL)


def is_exact(needle: str) -> bool:
    """Smart case: True if the text has a capital letter."""
    return needle != needle.lower()


def byte_pattern(needle: str, *, exact: bool = False) -> re.Pattern[bytes]:
    """Pattern for the text in bytes, plain or escaped as in JSON strings, ignoring case unless ``exact``."""
    forms: list[bytes] = []
    fewest = 1
    for run in _RUNS.findall(needle):
        if run[0] == "\\":
            forms.append(rb"\\{%d,%d}+" % (len(run), (len(run) + 1) * _SLASHES))
            fewest = 0  # those of an escape that follows are among them
        else:
            forms.append(_forms(run, rb"\\{%d,%d}+" % (fewest, _SLASHES), exact=exact))
            fewest = 1
    return re.compile(b"".join(forms), 0 if exact else re.IGNORECASE)


def str_pattern(needle: str, *, exact: bool = False) -> re.Pattern[str]:
    """Pattern for the text in decoded text."""
    return re.compile(re.escape(needle), 0 if exact else re.IGNORECASE)


def _forms(character: str, slashes: bytes, *, exact: bool) -> bytes:
    """Every way to write a character. Only characters that JSON strings must escape make the pattern longer."""
    if character.isascii() and character.isalnum():
        return character.encode()
    cases = {character} if exact else {character, character.lower(), character.upper()}
    forms = [re.escape(c.encode("utf-8", "surrogateescape" if _is_byte(c) else "surrogatepass")) for c in cases]
    if character in '"/':
        forms.append(slashes + character.encode())
    if character in _NAMED:
        forms.append(slashes + _NAMED[character].encode())
    if not character.isascii() or not character.isalnum():
        forms += [b"".join(slashes + b"u" + _hex(unit) for unit in _units(c)) for c in cases]
    return b"(?:" + b"|".join(sorted(forms)) + b")"


def _is_byte(character: str) -> bool:
    """True for a byte that is not UTF-8, as ``surrogateescape`` reads it."""
    return len(character) == 1 and 0xDC80 <= ord(character) <= 0xDCFF


def _units(text: str) -> list[int]:
    """UTF-16 code units."""
    data = text.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[n : n + 2]) for n in range(0, len(data), 2)]


def _hex(unit: int) -> bytes:
    return b"".join(f"[{d}{d.upper()}]".encode() if d.isalpha() else d.encode() for d in f"{unit:04x}")


def spans_in(body: bytes, pattern: re.Pattern[bytes], longest: int) -> Iterator[Span | None]:
    """Spans of the pattern, in order; None after each window, so that the caller can do other work.

    Args:
        body: megabytes are fine.
        pattern: from ``byte_pattern``.
        longest: bytes a match may take at most (``longest_match``).
    """
    at = 0
    for start in range(0, len(body), WINDOW):
        end = start + WINDOW
        for found in pattern.finditer(body, max(at, start), min(len(body), end + longest)):
            if found.start() >= end:
                break
            at = max(found.end(), found.start() + 1)
            yield found.span()
        yield None


def longest_match(needle: str) -> int:
    """Limit of bytes for a match of a text in any form; the longest form of a character is an escaped UTF-16 pair."""
    return 40 * len(needle)


def holds(exchange: Exchange, protocol: str | None, needle: str) -> bool:
    """True if a body of the exchange contains the text, ignoring case."""
    pattern = byte_pattern(needle)
    bodies = [(http, decode_partial(http.body)[0]) for http in (exchange.request, exchange.response) if http]
    if any(pattern.search(text) for _, text in bodies):
        return True
    if any(pattern.search(frame.data) for frame in exchange.frames):
        return True
    return _is_streamed(exchange) and any(
        str_pattern(needle).search(text) for text in _streamed_texts(_answer_only(exchange, protocol))
    )


def _is_streamed(exchange: Exchange) -> bool:
    answer = exchange.response
    return answer is not None and framing_of(answer.body.raw, answer.headers.get("content-type") or "") is not None


def _answer_only(exchange: Exchange, protocol: str | None) -> DecodedExchange:
    """The exchange without its request's body: an agent's history is long, and was searched already."""
    request = exchange.request and replace(exchange.request, body=Body())
    return DecodedExchange(0, replace(exchange, request=request), protocol)


def _streamed_texts(decoded: DecodedExchange) -> Iterator[str]:
    for _, part in _streamed_parts(decoded):
        for name in part.source.segments:
            value = getattr(part, name, None)
            if isinstance(value, str):
                yield value


def _streamed_parts(decoded: DecodedExchange) -> Iterator[tuple[Message, Part]]:
    return ((message, part) for message in decoded.messages(RESPONSE) for part in message.parts)


def streamed_spans(decoded: DecodedExchange, pattern: re.Pattern[str]) -> Iterator[Span]:
    """Spans of text that a stream sent in several pieces: the bytes of its first piece."""
    for message, part in _streamed_parts(decoded):
        for name in part.source.segments:
            place = decoded.place_of(RESPONSE, message, part, name)
            yield from _cut_matches(decoded.response_text, place.spans, pattern)


def _cut_matches(body: bytes, spans: tuple[Span, ...], pattern: re.Pattern[str]) -> Iterator[Span]:
    texts = []
    for start, end in spans:
        try:
            value = loads(body[start:end])
        except WireError:
            return
        texts.append(value if isinstance(value, str) else "")
    starts = [0, *accumulate(map(len, texts))]
    for found in pattern.finditer("".join(texts)):
        first = bisect_right(starts, found.start()) - 1
        if found.end() > starts[first + 1]:
            inside = found.start() - starts[first]
            yield string_slice_span(body, spans[first], inside, len(texts[first]))
