"""Likeness of two requests by their content, independent of changes that a gateway made to bytes and protocol."""

from __future__ import annotations

from array import array
from collections import Counter

from workbench import regex
from workbench.fingerprint import ANSWERING, SYSTEM, items, visible_text
from workbench.hashing import blake2b
from workbench.ir import Message, ToolResultIR
from workbench.named_tuple import NamedTuple
from workbench.protocols.decode import REQUEST, DecodedExchange
from workbench.protocols.history import fact
from workbench.wire import urls

_LAST = 4_000
"""Characters at the end of a request by whose words it is known again when every text was altered."""

_WORD = regex.compile(r"\w+")


class Likeness(NamedTuple):
    """Properties by which a request is recognised.

    Attributes:
        digest: of its body's bytes.
        fingerprints: of everything it says but for its instructions, without call ids.
        words: the last words of it.
        what: method and end of the path, of what is no model exchange.
    """

    digest: bytes
    fingerprints: array[int]
    words: frozenset[str]
    what: tuple[str, str]


def likeness_of(decoded: DecodedExchange) -> Likeness:
    """Likeness of one exchange; kept with it."""
    found: Likeness | None = decoded.facts.get(likeness_of)
    if found is None:
        found = decoded.facts[likeness_of] = _likeness(decoded)
    return found


def alike(a: Likeness, b: Likeness) -> float:
    """Share of content that two requests have in common, 0 to 1: of the items of the longer one; else of the words."""
    if a.digest == b.digest:
        return 1.0
    if a.what == b.what != ("", ""):
        return 0.9
    longest = max(len(a.fingerprints), len(b.fingerprints))
    common = (Counter(a.fingerprints) & Counter(b.fingerprints)).total() if longest else 0
    words = len(a.words & b.words) / len(a.words | b.words) if a.words and b.words else 0.0
    return max(common / longest if longest else 0.0, 0.95 * words)


def ends_alike(a: Likeness, b: Likeness) -> bool:
    """Both end with the same words, or are as long: turns before and after have other lengths."""
    return a.fingerprints[-1:] == b.fingerprints[-1:] or len(a.fingerprints) == len(b.fingerprints)


def _likeness(decoded: DecodedExchange) -> Likeness:
    http = decoded.exchange.request
    own_messages = [m for m in decoded.messages(REQUEST) if m.role not in SYSTEM]
    numbers = array("q", (number for message in own_messages for number in fact(message, _plain)))
    is_model = decoded.request is not None
    path = urls.split_url(http.url).path.rstrip("/").rpartition("/")[2] if http else ""
    what = ("", "") if is_model or http is None else (http.method.upper(), path or "/")
    text = "" if is_model else decoded.request_text[-_LAST:].decode("utf-8", "replace")
    digest = blake2b(repr(what).encode() + decoded.request_text, digest_size=32).digest()
    return Likeness(digest, numbers, _last_words(own_messages, text), what)


def _plain(message: Message) -> tuple[int, ...]:
    return tuple(item.plain for item in items(message, is_answer=message.role in ANSWERING))


def _last_words(messages: list[Message], text: str) -> frozenset[str]:
    room, pieces = _LAST - len(text), [text]
    for message in reversed(messages):
        if room <= 0:
            break
        results = (visible_text(Message("", p.content)) for p in message.parts if isinstance(p, ToolResultIR))
        words = " ".join((visible_text(message), *results))[-room:]
        pieces.append(words)
        room -= len(words)
    return frozenset(_WORD.findall(" ".join(pieces).casefold()))
