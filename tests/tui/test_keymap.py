"""A user's own keys: what applies, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.ir import JsonValue
from workbench.tui import keymap, keys
from workbench.tui.keymap import Keymap


def shown(found: Keymap, id: str) -> tuple[str, ...]:
    return found.row(keys.table()[id]).names


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("n", "n"),
        ("N", "N"),
        ("?", "?"),
        ("question_mark", "question_mark"),
        ("pgdn", "pagedown"),
        ("Esc", "escape"),
        ("F8", "f8"),
        ("ctrl+X", "ctrl+x"),
        ("shift+ctrl+x", "ctrl+shift+x"),
        ("shift+a", "A"),
        ("shift+tab", "shift+tab"),
        (",", "comma"),
        ("comma", "comma"),
        (" ", "space"),
        ("f25", None),
        ("nn", None),
        ("", None),
        ("ctrl+", None),
        ("cmd+x", None),
        ("\x1b", None),
    ],
)
def test_names_of_keys(word: str, name: str | None) -> None:
    assert keymap.canonical(word) == name


def test_what_the_file_says_is_what_is_bound_and_shown() -> None:
    found = keymap.read({"session.next-break": ["]", "f8"], "wire.headers": "none", "session.wire": 9})
    assert found.problems == ()
    assert shown(found, "session.next-break") == ("]", "f8")
    assert shown(found, "wire.headers") == ()
    assert shown(found, "session.wire") == ("9",)
    assert shown(found, "session.zoom") == ("z",)
    assert found.overrides()["session.next-break"] == "],f8"
    assert found.row(keys.table()["wire.headers"]).show == ""


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ({"session.nxt-break": "f8"}, "session.nxt-break: no such id; did you mean session.next-break?"),
        ({"zzz": "f8"}, "zzz: no such id: see workbench keys"),
        ({"session.zoom": "hyperspace"}, "session.zoom: 'hyperspace' is not the name of a key"),
        ({"session.zoom": "n"}, "session.zoom: n is already used by session.next-match on the same screen"),
        ({"session.zoom": "j"}, "session.zoom: j is already used by pane.down on the same screen"),
        ({"wire.headers": "z"}, "wire.headers: z is already used by session.zoom on the same screen"),
        ({"session.zoom": "question_mark"}, "session.zoom: ? is already used by global.help"),
        ({"session.zoom": "ctrl+i"}, "session.zoom: a terminal sends ctrl+i as tab"),
        ({"global.quit": "x"}, "global.quit: x is also a character that you can type"),
        ({"session.zoom": {"a": 1}}, "session.zoom: "),
    ],
)
def test_what_is_wrong_is_said_and_the_rest_applies(entries: dict[str, JsonValue], problem: str) -> None:
    found = keymap.read({**entries, "session.search": "f7"})
    (said,) = found.problems
    assert said.startswith(problem)
    assert found.changed == {"session.search": ("f7",)}


def test_two_keys_may_change_places() -> None:
    found = keymap.read({"session.next-break": "[", "session.previous-break": "]"})
    assert found.problems == ()
    assert (shown(found, "session.next-break"), shown(found, "session.previous-break")) == (("[",), ("]",))


def test_of_two_entries_for_one_key_the_first_stays() -> None:
    found = keymap.read({"session.zoom": "f5", "session.search": "f5"})
    assert found.changed == {"session.zoom": ("f5",)}
    assert found.problems == ("session.search: f5 is already used by session.zoom on the same screen",)


def test_screens_that_are_never_there_together_may_share_a_key() -> None:
    assert keymap.read({"home.open": "p"}).problems == ()


IDS = st.sampled_from(sorted(keys.table()))
NAMES = st.sampled_from(["n", "p", "q", "j", "z", "?", "f5", "ctrl+k", "none", "enter"])


@settings(max_examples=60)
@given(st.dictionaries(IDS, st.one_of(NAMES, st.lists(NAMES, max_size=3)), max_size=12))
def test_whatever_the_file_says_no_key_does_two_things(entries: dict[str, JsonValue]) -> None:
    found = keymap.read(entries)
    for scope in keys.SCOPES.values():
        for other in (*scope.over, ""):
            rows = {*found.rows(scope.keys), *(found.rows(keys.SCOPES[other].keys) if other else ())}
            signs = [sign for row in rows for sign in row.names]
            assert len(signs) == len(set(signs)), scope.title


def test_a_file_that_is_no_mapping_no_yaml_or_no_file_is_one_problem(tmp_path: Path) -> None:
    assert keymap.load(tmp_path / "none.yaml") == Keymap()
    file = tmp_path / "keys.yaml"
    for text in ("- a", "a: [", "\x00", "x" * 10):
        file.write_text(text)
        assert len(keymap.load(file).problems) == 1, text
    file.write_text("")
    assert keymap.load(file) == Keymap()
    assert "directory" in keymap.load(tmp_path).problems[0]


def test_the_keymap_that_ships_gives_the_keys_as_they_were() -> None:
    found = keymap.read({"keymap": "classic", "session.zoom": "f8"})
    assert found.problems == ()
    assert shown(found, "session.next-break") == ("n",)
    assert shown(found, "session.next-exchange") == ("]",)
    assert shown(found, "compare.previous-difference") == ("N", "p")
    assert found.is_off("session.next-match")
    assert shown(found, "session.zoom") == ("f8",)


def test_own_keys_win_over_the_keymap_they_are_laid_over() -> None:
    found = keymap.read({"keymap": "classic", "session.next-break": "f7"})
    assert shown(found, "session.next-break") == ("f7",)
    clash = keymap.read({"keymap": "classic", "session.zoom": "n"})
    assert shown(clash, "session.zoom") == ("n",)
    assert shown(clash, "session.next-break") == ("]",)


def test_an_unknown_keymap_is_named() -> None:
    assert keymap.read({"keymap": "vim"}).problems == ("keymap: no keymap 'vim'; available: classic",)
