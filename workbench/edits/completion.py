"""Completion of JSON that is being written: the keys and the values that may be at a place of a request.

What may be there is read from the grammar of the request's protocol, and of its provider if that has one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from workbench import regex
from workbench.errors import WireError
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, DecodedExchange, grammar_places, grammars
from workbench.provenance import escape
from workbench.wire import dumps, loads

LONGEST = 32_000
"""Characters of a text in which something is completed."""

MOST = 200
"""Offers of one completion."""

_TOKEN = regex.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\],:]|[^\s{}\[\],:"]++')
_TAGS = ("type", "role")


class PlaceOffer(NamedTuple):
    """What may be written at a place.

    Attributes:
        insertion: the text to insert.
        name: the key or the value, as it is shown.
        expected: what the value of a key is, in words; "" for a value.
    """

    insertion: str
    name: str
    expected: str = ""


@dataclass(frozen=True, slots=True)
class PlaceOffers:
    """Offers at a place of a text.

    Attributes:
        start, end: offsets of what was typed, which an offer replaces.
        offers: the likeliest first.
    """

    start: int
    end: int
    offers: tuple[PlaceOffer, ...] = ()


@dataclass(slots=True)
class _OpenBracket:
    """An object or a list that is open at the place."""

    is_object: bool
    step: str = ""
    number: int = 0
    is_value: bool = False  # behind a colon
    keys: list[str] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)


def say_place(decoded: DecodedExchange, provider: str, pointer: str) -> str:
    """What may be at a pointer of a request, in words; "" where no grammar says it.

    Args:
        provider: name of a contract.
    """
    grammar = grammars.grammar_of(decoded.protocol or "", provider)
    known = grammar and grammar_places.key_at(grammar, pointer, grammar_places.tags_of(_reader(decoded)))
    if not known:
        return ""
    return f"{known.expected}, required" if known.is_required else known.expected


def complete(decoded: DecodedExchange, provider: str, pointer: str, text: str, offset: int) -> PlaceOffers:
    """What may be written at an offset of a text.

    Args:
        provider: name of a contract.
        pointer: of the value of the request that the text is to be.
        text: JSON, as far as it is written.
        offset: in characters.
    """
    nothing = PlaceOffers(offset, offset)
    grammar = grammars.grammar_of(decoded.protocol or "", provider)
    if grammar is None or len(text) > LONGEST:
        return nothing
    levels, typed = _open_levels(text[:offset])
    start = offset - len(typed)
    here = pointer + "".join(f"/{escape(level.step)}" for level in levels[:-1])
    tags_at = {at: level.tags for at, level in _places(pointer, levels)}
    read = grammar_places.tags_of(_reader(decoded))

    def tags(at: str) -> Mapping[str, str]:
        return tags_at[at] if at in tags_at else read(at)

    level = levels[-1] if levels else None
    if level and level.is_object and not level.is_value:
        behind = text[offset:].removeprefix('"').lstrip()
        known = (key for key in grammar_places.keys_of(grammar, here, tags) if key.name not in level.keys)
        tail = "" if behind.startswith(":") else ": "
        offers = [PlaceOffer(dumps(key.name).decode() + tail, key.name, _say(key)) for key in known]
    else:
        place = f"{here}/{escape(level.step if level.is_object else str(level.number))}" if level else here
        offers = list(_values(grammar_places.key_at(grammar, place, tags)))
    fitting = [offer for offer in offers if offer.insertion.startswith(typed) and offer.insertion != typed]
    is_in_quotes = typed.startswith('"') and text[offset : offset + 1] == '"'
    return PlaceOffers(start, offset + is_in_quotes, tuple(fitting[:MOST])) if fitting else nothing


def complete_text(decoded: DecodedExchange, provider: str, pointer: str, text: str) -> PlaceOffers:
    """What a value that is a text may be, as it is written without quotes."""
    grammar = grammars.grammar_of(decoded.protocol or "", provider)
    known = grammar and grammar_places.key_at(grammar, pointer, grammar_places.tags_of(_reader(decoded)))
    values = known.values if known else ()
    offers = tuple(PlaceOffer(value, value) for value in values if value.startswith(text) and value != text)
    return PlaceOffers(0, len(text), offers)


def _say(key: grammar_places.KnownKey) -> str:
    return f"{key.expected}, required" if key.is_required else key.expected


def _values(known: grammar_places.KnownKey | None) -> Iterator[PlaceOffer]:
    if known is None:
        return
    yield from (PlaceOffer(dumps(value).decode(), value) for value in known.values)
    if "true or false" in known.expected:
        yield from (PlaceOffer(word, word) for word in ("true", "false"))


def _reader(decoded: DecodedExchange) -> Callable[[str], object]:
    """Pointer → the value there in the request; None where there is none."""

    def read(pointer: str) -> object:
        span = decoded.place(REQUEST, pointer).span
        if not span:
            return None
        try:
            return loads(decoded.request_text[slice(*span)])
        except WireError:
            return None

    return read


def _places(pointer: str, levels: list[_OpenBracket]) -> Iterator[tuple[str, _OpenBracket]]:
    """The levels with their pointers."""
    for level in levels:
        yield pointer, level
        pointer += f"/{escape(level.step)}"


def _open_levels(text: str) -> tuple[list[_OpenBracket], str]:
    """The objects and lists that are open at the end of a text, the innermost last, and what is typed there."""
    levels: list[_OpenBracket] = []
    tokens = [(found.start(), found[0]) for found in _TOKEN.finditer(text)]
    typed = ""
    if tokens and _is_open(tokens[-1], text):
        typed = tokens.pop()[1]
    for _, token in tokens:
        _read_token(levels, token)
    if levels and not levels[-1].is_object:
        levels[-1].step = str(levels[-1].number)
    return levels, typed


def _is_open(token: tuple[int, str], text: str) -> bool:
    """The last token is being typed: a text without its end, or a word right before the place."""
    start, word = token
    if start + len(word) != len(text) or word in "{}[],:":
        return False
    return word[0] != '"' or len(word) == 1 or not _is_whole(word)


def _is_whole(word: str) -> bool:
    try:
        loads(word.encode("utf-8", "surrogatepass"))
    except WireError:
        return False
    return True


def _read_token(levels: list[_OpenBracket], token: str) -> None:
    level = levels[-1] if levels else None
    if token in ("{", "["):
        if level and not level.is_object:
            level.step = str(level.number)
        levels.append(_OpenBracket(token == "{"))
    elif token in ("}", "]"):
        if levels:
            levels.pop()
        if levels:
            levels[-1].is_value = levels[-1].is_value and levels[-1].is_object
    elif level is None:
        return
    elif token == ",":
        level.is_value = False
        level.number += not level.is_object
    elif token == ":":
        level.is_value = True
    elif level.is_object and token[0] == '"':
        _read_text(level, token)


def _read_text(level: _OpenBracket, token: str) -> None:
    """A key, or a text behind it."""
    try:
        value = loads(token.encode("utf-8", "surrogatepass"))
    except WireError:
        return
    if not isinstance(value, str):
        return
    if not level.is_value:
        level.step = value
        level.keys.append(value)
    elif level.step in _TAGS:
        level.tags[level.step] = value
