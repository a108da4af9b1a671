"""The place in a request that an error text speaks of in plain words, where it spells out no path.

"Thinking level is not supported for this model" is about ``thinkingLevel``, "The document file name can only contain …"
about ``document/name``, "Unsupported value: 'concise'" about the member with that value. The words of a member's name
are looked for in the text, one behind the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench import contracts, regex
from workbench.contracts import ErrorPlace
from workbench.ir import HISTORIES, JsonValue
from workbench.named_tuple import NamedTuple
from workbench.protocols import DecodedExchange
from workbench.provenance import escape
from workbench.rules._shared.request_keys import top_key
from workbench.wire import value_at

MOST_NODES = 20_000
"""Values of a body that are looked at."""

ONE_WORD, LAST_WORD, NEAR = 1.0, 0.5, 0.25
"""What a name of one word counts; the last word of a longer name; a place where the rule is at home."""

_WORDS = regex.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAME = regex.compile(r"[A-Za-z][\w.\-]{2,60}\Z")
_SAME = {"maximum": "max", "minimum": "min", "configuration": "config", "parameters": "parameter"}
_COMMON = frozenset((
    "api", "argument", "assistant", "block", "body", "call", "code", "content", "data", "default", "definition",
    "description",
    "enabled", "error", "field", "file", "format", "function", "id", "index", "input", "item", "key", "level",
    "list", "max", "message", "min", "mode", "model", "name", "number", "object", "option", "output", "parameter",
    "part", "please", "prompt", "property", "provider", "request", "required", "response", "result", "role",
    "schema", "server", "set", "source", "status", "stream", "string", "system", "text", "token", "tool", "turn",
    "type", "url", "usage", "use", "user", "value", "version",
))  # fmt: skip
"""Words that nearly every text has: alone they name no member."""
_GROUPS = ("message", "content", "input", "tool")
"""Members whose name before another one is no way to name that: "the message content"."""
_TEXTS = ("role", "text", "content")
"""Members whose value is no name."""
_DATA = frozenset(("arguments", "args", "metadata"))
"""Members that are data of the client."""
_SCHEMAS = frozenset(("properties", "$defs", "definitions"))
"""Members whose keys are names that the client chose, with schemas."""


class _Candidate(NamedTuple):
    """A value of the body that a text names.

    Attributes:
        weight: how surely, with the members around it that the text names.
    """

    pointer: str
    weight: float


def spoken_place(
    text: str, body: JsonValue, decoded: DecodedExchange, rule: str = "", field: str = ""
) -> ErrorPlace | None:
    """The place whose name, or whose value that is a name, a text has; None where it has none, or several alike.

    Args:
        rule: that the text belongs to: it tells whether messages, tools or parameters are meant first.
        field: the member that the text complains of, if it says so: of the value that it names, where it has it.
    """
    best: list[_Candidate] = []
    for candidate in _candidates(body, split_words(text[: contracts.LONGEST])):
        weight = candidate.weight + NEAR * _is_at_home(candidate.pointer, rule)
        weighed = _Candidate(candidate.pointer, weight)
        if not best or weighed.weight > best[0].weight:
            best = [weighed]
        elif weighed.weight == best[0].weight:
            best.append(weighed)
    if not best or (len(best) > 1 and best[0].weight < ONE_WORD):
        return None
    pointer = best[-1 if top_key(best[-1].pointer) in HISTORIES else 0].pointer
    value = value_at(body, pointer)
    how = pointer.rpartition("/")[2]
    if isinstance(value, dict) and field in value:
        pointer, how = f"{pointer}/{escape(field)}", field
    elif how.isdecimal():
        kind = value.get("type") if isinstance(value, dict) else None
        how = kind if isinstance(kind, str) and kind else pointer[1:]
    return ErrorPlace(pointer, decoded.request_index.span(pointer), how)


def split_words(text: str) -> list[str]:
    """The words of a text or a name, small and in the singular: ``thinkingLevels`` → ``thinking``, ``level``."""
    return [_singular(word.lower()) for word in _WORDS.findall(text)]


def says_name(text: str, name: str) -> bool:
    """A text has the words of a name that is made of several, in any spelling: "service tier" for ``serviceTier``."""
    words = split_words(name)
    return len(words) > 1 and _follow(words, split_words(text), 0)


def _singular(word: str) -> str:
    word = _SAME.get(word, word)
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _candidates(body: JsonValue, spoken_words: Sequence[str]) -> Iterator[_Candidate]:
    """Members of a body that a text names, and values that are names themselves, from the top, in their order."""
    stack: list[tuple[JsonValue, str, tuple[str, ...], float]] = [(body, "", (), 0.0)]
    for _ in range(MOST_NODES):
        if not stack:
            return
        value, pointer, above, around = stack.pop()
        if isinstance(value, list):
            stack += [(item, f"{pointer}/{n}", above, around) for n, item in reversed(list(enumerate(value)))]
            for n, item in enumerate(value):
                if weight := _weight_of_value(item, spoken_words):
                    yield _Candidate(f"{pointer}/{n}", around + weight)
        elif isinstance(value, dict):
            inner = []
            kind = value.get("type")
            holders = (above, tuple(split_words(kind)) if isinstance(kind, str) else ())
            is_data = pointer.rpartition("/")[2] in _SCHEMAS
            for key, member in value.items():
                at, words = f"{pointer}/{escape(key)}", tuple(split_words(key))
                weight = (
                    0.0
                    if is_data or at == "/model"
                    else max(_weight(words, holder_words, spoken_words) for holder_words in holders)
                )
                if weight:
                    yield _Candidate(at, around + weight)
                if key not in _TEXTS and at != "/model" and (value_weight := _weight_of_value(member, spoken_words)):
                    yield _Candidate(pointer if key == "type" and pointer else at, around + value_weight)
                if key not in _DATA:
                    inner.append((member, at, words, around + weight))
            stack += reversed(inner)


def _weight_of_value(value: JsonValue, spoken_words: Sequence[str]) -> float:
    if not isinstance(value, str) or not _NAME.match(value):
        return 0.0
    words = split_words(value.rpartition(".")[2])
    return _weight_of_words(words, spoken_words)


def _weight(words: tuple[str, ...], above: tuple[str, ...], spoken_words: Sequence[str]) -> float:
    """How surely a text names a member: words of its name that are in the text; 0 for no name."""
    is_group = len(above) == 1 and above[0] in _GROUPS
    if above and words and not is_group and words[0] in spoken_words and _follow((*above, *words), spoken_words, 1):
        return float(len(words) + 1)
    if weight := _weight_of_words(words, spoken_words):
        return weight
    is_last = len(words) > 1 and words[-1] not in _COMMON and len(words[-1]) > 4 and words[-1] in spoken_words
    return LAST_WORD if is_last else 0.0


def _weight_of_words(words: Sequence[str], spoken_words: Sequence[str]) -> float:
    if len(words) > 1 and _follow(words, spoken_words, 0):
        return float(len(words)) if set(words) - _COMMON else ONE_WORD
    is_telling = len(words) == 1 and words[0] in spoken_words and words[0] not in _COMMON and len(words[0]) > 3
    return ONE_WORD if is_telling else 0.0


def _follow(words: Sequence[str], spoken_words: Sequence[str], gap: int) -> bool:
    """A text has the words one behind the other, with at most ``gap`` others between two of them."""
    for start, word in enumerate(spoken_words):
        if word != words[0]:
            continue
        at = start
        for wanted in words[1:]:
            ahead = spoken_words[at + 1 : at + 2 + gap]
            if wanted not in ahead:
                break
            at += 1 + ahead.index(wanted)
        else:
            return True
    return False


def _is_at_home(pointer: str, rule: str) -> bool:
    """A place is where faults of a rule are: in the history, the tools or the parameters."""
    first = top_key(pointer)
    family = rule.partition(".")[0]
    if family in ("content", "closure", "reasoning", "text", "args", "call"):
        return first in (*HISTORIES, "system")
    if family in ("schema", "tools"):
        return "tool" in first.lower() or first in ("functions", "response_format", "text")
    return family in ("params", "choice") and first not in (*HISTORIES, "tools")
