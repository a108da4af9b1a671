"""Texts and names that the guide (``docs/language.md``) retires are refused, over the whole program."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.texts import PHRASES, PRONOUNS, RETIRED, ROOT, Text, docstrings, nodes, retired, stilted, texts

pytestmark = pytest.mark.together("source")  # parsed once

GUIDE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")

_IRREGULAR = """
told said heard begun gone done had held kept made met sent shown sought stood taken thought written seen
known given found left lost meant paid bought brought built caught chosen come drawn driven fallen felt got
grown hidden hurt laid led lent lit ridden risen sold spent spoken sworn thrown torn won worn bound borne
bitten broken dealt fed fought forgotten forgiven hung struck stuck swept taught understood woken withdrawn
wound
"""
PARTICIPLES = frozenset(_IRREGULAR.split())
VERBS = frozenset({"need", "feed", "speed", "seed", "embed", "proceed", "exceed", "succeed", "shed"})
"""Words that end as a participle does, and are none."""


KEPT = frozenset({"spelled anew", "JSON in a text written anew", "whole answer broken off", '"owed"'})
"""Kinds of damage and a key, in the JSON of ``compare``, ``audit`` and ``show``, which scripts read."""

PUBLIC = frozenset({"cancelled", "chunked", "failed", "found", "passed", "recorded", "unanswered", "unsupported"})
"""Names that others use or that rules and probes have; they were there before the guide."""

LEFT: dict[str, tuple[int, int]] = {
    "chain": (1, 0),
    "simulator": (1, 0),
}
"""Room → how many docstrings with a retired word, and how many names that are participles, it still has at most."""


USUAL = frozenset({"broken", "done", "found", "hidden", "known", "left", "lost", "seen", "sent", "thought"})
"""Participles that are plain as the name of a local value: ``found`` by a search, ``done`` of a total, ``broken``
beside ``fixed``, ``hidden`` beside ``listed``; and ``left`` beside ``right``, and the noun ``thought``."""

LEFT_INSIDE: dict[str, int] = {
    "formats": 6,
    "probes": 9,
    "protocols": 52,
    "recorder": 21,
    "rules": 14,
    "tui": 46,
    "wire": 8,
}
"""Room → how many locals, parameters and fields are a bare participle at most; no other room has more than five."""


def test_texts_use_no_retired_word() -> None:
    found = [f"{text}   « {retired(text.words)} »" for text in texts() if retired(text.words)]
    assert not [line for line in found if not any(kept in line for kept in KEPT)], "\n".join(found)


def test_texts_use_no_stilted_phrase() -> None:
    found = [f"{text}   « {stilted(text.words)} »" for text in texts() if stilted(text.words)]
    assert not [line for line in found if not any(kept in line for kept in KEPT)], "\n".join(found)


def test_a_note_names_what_it_is_about() -> None:
    """A note of a contract or a rule page is read alone, so it begins with a noun and not with a pronoun."""
    assert not [str(text) for text in texts() if text.path.endswith(".yaml") and PRONOUNS.match(text.words)]


def test_the_guide_names_the_phrases_that_are_refused() -> None:
    for pattern in PHRASES:
        first = re.split(r"[|(?\\]", pattern.removeprefix("(?<!there )").removeprefix("(?:"))[0].strip()
        assert re.search(rf"^\| .*{re.escape(first)}.* \|", GUIDE, re.MULTILINE), pattern


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("sampling settings beside thinking", "beside"),
        ("the target speaks no other protocol", "speaks"),
        ("check that the upstream speaks https://", ""),
        ("there is no response", ""),
        ("the signature is no longer valid", ""),
        ("a line on the channel is no message", "is no "),
        ("so many of its refusals are not listed", ""),
        ("the list changed, and the client did not fetch it", ", and the client did not"),
        ("give each its own index", ""),
        ("the id is checked too", "checked too"),
        ("the server does not know blocks of this type", "does not know blocks"),
    ],
)
def test_a_stilted_phrase_is_seen(words: str, expected: str) -> None:
    assert stilted(words) == expected


def by_room(places: Iterable[str]) -> Counter[str]:
    return Counter(place.split("/")[1].partition(".")[0] for place in places)


@cache
def retired_docstrings() -> tuple[Text, ...]:
    """Docstrings that have a retired word outside of ``KEPT``; the word takes the place of their text."""
    return tuple(_retired_docstrings())


def _retired_docstrings() -> Iterator[Text]:
    for text in docstrings():
        words = text.words.replace("\n", " ")
        for kept in KEPT:
            words = words.replace(kept, "")
        if found := retired(words):
            yield text._replace(words=found)


def test_docstrings_use_no_retired_word() -> None:
    found = [f"{text.path}:{text.line}: « {text.words} »" for text in retired_docstrings()]
    more = {room: count for room, count in by_room(found).items() if count > LEFT.get(room, (0, 0))[0]}
    assert not more, "\n".join(line for line in found if line.split("/")[1].partition(".")[0] in more)


def test_the_guide_names_the_words_that_are_refused() -> None:
    for pattern in RETIRED:
        first = re.split(r"[|(?]", pattern)[0]
        assert re.search(rf"^\| .*\b{first}", GUIDE, re.MULTILINE), pattern


def names() -> Iterator[tuple[str, str]]:
    """(place, name) of every module, class and function."""
    for path in sorted((ROOT / "workbench").rglob("*.py")):
        if "_data" in path.parts:
            continue
        place = path.relative_to(ROOT).as_posix()
        yield place, path.stem
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield f"{place}:{node.lineno}", node.name


def is_participle(name: str) -> bool:
    """A name of one word, and that word a participle; ``RequestStarted`` and ``with_rung`` are none."""
    word = name.strip("_")
    if name in PUBLIC or not re.fullmatch(r"[A-Z]?[a-z]+", word):
        return False
    return word.lower() in PARTICIPLES or (re.fullmatch(r"\w{3,}ed", word) is not None and word.lower() not in VERBS)


def test_names_are_nouns_or_verbs() -> None:
    found = [f"{place}: {name}" for place, name in names() if is_participle(name)]
    more = {room: count for room, count in by_room(found).items() if count > LEFT.get(room, (0, 0))[1]}
    assert not more, "\n".join(line for line in found if line.split("/")[1].partition(".")[0] in more)


def test_what_is_left_gets_less() -> None:
    """A room that was put right stays right: lower its numbers above."""
    words = by_room(text.path for text in retired_docstrings())
    bad = by_room(place for place, name in names() if is_participle(name))
    assert {room: (words[room], bad[room]) for room in LEFT} == LEFT


def inner_names(path: Path) -> set[tuple[str, int]]:
    """(name, line) of everything that a module binds inside its functions and classes."""
    found: set[tuple[str, int]] = set()
    for node in nodes(path):
        if isinstance(node, ast.arg):
            found.add((node.arg, node.lineno))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add((node.id, node.lineno))
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add((node.attr, node.lineno))
    return found


def test_names_inside_functions_say_a_role() -> None:
    """A name such as ``told`` or ``made`` says no role; ``report`` and ``request_text`` do."""
    refused = PARTICIPLES - USUAL
    left = Counter[str]()
    for path in sorted((ROOT / "workbench").rglob("*.py")):
        if "_data" not in path.parts:
            room = path.relative_to(ROOT / "workbench").parts[0].partition(".")[0]
            left[room] += sum(name.strip("_").lower() in refused for name, _ in inner_names(path))
    more = {room: count for room, count in left.items() if count > LEFT_INSIDE.get(room, 5)}
    assert not more, more


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("the call is still owed", "owed"),
        ("exchange 1 brought it", "brought"),
        ("it goes on", "goes on"),
        ("n stands for a number", ""),
        ("restore the reasoning from exchange 1", ""),
    ],
)
def test_a_retired_word_is_seen(words: str, expected: str) -> None:
    assert retired(words) == expected


def test_texts_of_all_kinds_are_listed(tmp_path: Path) -> None:
    listed = {text.path.rpartition("/")[2].rpartition(".")[2] for text in texts()}
    assert listed == {"py", "yaml"}
    assert sum(1 for _ in texts()) > 2000
