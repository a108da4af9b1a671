"""The place in a request that an error text speaks of in plain words, where it spells out no path.

"Thinking level is not supported for this model" is about ``thinkingLevel``, "The document file name can only contain …"
about ``document/name``, "Unsupported value: 'concise'" about the member with that value. The words of a member's name
are looked for in the text, one behind the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench import regex
from workbench.contracts import LONGEST, ErrorPlace
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.protocols import DecodedExchange
from workbench.provenance import escape

HISTORIES = ("messages", "contents", "input")
"""Members of a request that hold its history."""

MOST_NODES = 20_000
"""Values of a body that are looked at."""

ONE_WORD, LAST_WORD, NEAR = 1.0, 0.5, 0.25
"""What a name of one word counts; the last word of a longer name; a place where the rule is at home."""

_WORDS = regex.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAME = regex.compile(r"[A-Za-z][\w.\-]{2,60}\Z")
_SAME = {"maximum": "max", "minimum": "min", "configuration": "config", "parameters": "parameter"}
_COMMON = frozenset(
    regex.compile(r"\w+").findall(
        "api assistant block body call code content data default definition description enabled error field file "
        "format function id index input item key level list max message min mode model name number object option "
        "output parameter part please prompt property provider request required response result role schema server "
        "set source status stream string system text token tool turn type url usage use user value version"
    )
)
"""Words that nearly every text has: alone they name no member."""
_GROUPS = ("message", "content", "input", "tool")
"""Members whose name before another one is no way to name that: "the message content"."""
_DATA = frozenset(("arguments", "args", "properties", "$defs", "definitions", "metadata"))
"""Members whose keys are data of the client."""


class _Named(NamedTuple):
    """A value of the body, with the words that may name it.

    Attributes:
        above: words of the member that holds it.
        is_value: the words are its own text, not its name.
    """

    pointer: str
    words: tuple[str, ...]
    above: tuple[str, ...] = ()
    is_value: bool = False


def spoken_place(text: str, body: JsonValue, decoded: DecodedExchange, rule: str = "") -> ErrorPlace | None:
    """The place whose name, or whose value in quotes, a text has; None where it has none, or several alike.

    Args:
        rule: that the text belongs to: it tells whether messages, tools or parameters are meant first.
    """
    said = split_words(text[:LONGEST])
    best: tuple[float, list[str]] = (0.0, [])
    for named in _names(body):
        weight = _weight(named, said)
        if weight:
            weight += NEAR * _is_at_home(named.pointer, rule)
        if weight and weight >= best[0]:
            best = (weight, [*(best[1] if weight == best[0] else ()), named.pointer])
    weight, pointers = best
    if not pointers or (len(pointers) > 1 and weight < ONE_WORD):
        return None
    pointer = pointers[-1] if pointers[-1].split("/")[1] in HISTORIES else pointers[0]
    return ErrorPlace(pointer, decoded.request_index.span(pointer), pointer.rpartition("/")[2])


def split_words(text: str) -> list[str]:
    """The words of a text or a name, small and in the singular: ``thinkingLevels`` → ``thinking``, ``level``."""
    return [_singular(word.lower()) for word in _WORDS.findall(text)]


def _singular(word: str) -> str:
    word = _SAME.get(word, word)
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _names(body: JsonValue) -> Iterator[_Named]:
    """Members of a body, and values that are names themselves, from the top, in their order."""
    stack: list[tuple[JsonValue, str, tuple[str, ...]]] = [(body, "", ())]
    for _ in range(MOST_NODES):
        if not stack:
            return
        value, pointer, above = stack.pop()
        if isinstance(value, list):
            stack += [(item, f"{pointer}/{n}", above) for n, item in reversed(list(enumerate(value)))]
            yield from (
                _Named(f"{pointer}/{n}", tuple(split_words(item.rpartition(".")[2])), is_value=True)
                for n, item in enumerate(value)
                if isinstance(item, str) and _NAME.match(item)
            )
        elif isinstance(value, dict):
            yield from _of_members(value, pointer, above)
            inner = [(k, v) for k, v in value.items() if k not in _DATA]
            stack += [(v, f"{pointer}/{escape(k)}", tuple(split_words(k))) for k, v in reversed(inner)]


def _of_members(value: dict[str, JsonValue], pointer: str, above: tuple[str, ...]) -> Iterator[_Named]:
    for key, inner in value.items():
        at = f"{pointer}/{escape(key)}"
        if at != "/model":
            yield _Named(at, tuple(split_words(key)), above)
        if isinstance(inner, str) and _NAME.match(inner) and at != "/model" and key not in ("role", "text", "content"):
            yield _Named(pointer if key == "type" and pointer else at, tuple(split_words(inner)), is_value=True)


def _weight(named: _Named, said: Sequence[str]) -> float:
    """How surely a text names a value: words of its name that stand in the text; 0 for no name."""
    words = named.words
    if not words:
        return 0.0
    is_pair = len(words) == 1 == len(named.above) and not named.is_value and named.above[0] not in _GROUPS
    if is_pair and words[0] in said and _follow((*named.above, *words), said, 1):
        return 2.0
    if len(words) > 1 and _follow(words, said, 0):
        return float(len(words)) if set(words) - _COMMON else ONE_WORD
    if len(words) == 1 and words[0] in said and words[0] not in _COMMON and len(words[0]) > 3:
        return ONE_WORD
    is_last = len(words) > 1 and not named.is_value and words[-1] not in _COMMON and len(words[-1]) > 4
    return LAST_WORD if is_last and words[-1] in said else 0.0


def _follow(words: Sequence[str], said: Sequence[str], gap: int) -> bool:
    """The words stand in a text one behind the other, with at most ``gap`` others between two of them."""
    for start, word in enumerate(said):
        if word != words[0]:
            continue
        at = start
        for wanted in words[1:]:
            ahead = said[at + 1 : at + 2 + gap]
            if wanted not in ahead:
                break
            at += 1 + ahead.index(wanted)
        else:
            return True
    return False


def _is_at_home(pointer: str, rule: str) -> bool:
    """A place is where faults of a rule are: in the history, the tools or the parameters."""
    first = pointer.split("/")[1]
    family = rule.partition(".")[0]
    if family in ("content", "closure", "reasoning", "text", "args", "call"):
        return first in (*HISTORIES, "system")
    if family in ("schema", "tools"):
        return "tool" in first.lower() or first in ("functions", "response_format", "text")
    return family in ("params", "choice") and first not in (*HISTORIES, "tools")
