"""The session as text for screen readers: the same places and keys."""

from __future__ import annotations

import pytest

from tests.tui import samples
from workbench.rules.inspection import Inspector
from workbench.tui import session_panes
from workbench.tui.keymap import Keymap
from workbench.tui.linear import ACTIONS, LinearReader, sayings


def reader(name: str = samples.LOST_REASONING, keymap: Keymap | None = None) -> LinearReader:
    return LinearReader(Inspector(samples.example(name)), keymap or Keymap())


def test_it_begins_with_the_session_and_its_first_break() -> None:
    first, second, *more = reader().begin()
    assert first == "deepseek-reasoning-lost.jsonl: 2 exchanges, 1 error. ? lists the keys."
    assert second.startswith("finding 1 of 1: ✗ error reasoning.missing request 2 /messages/1")
    assert any("reasoning_content was not sent back" in line for line in more)
    assert "no findings" in reader(samples.TOOL_LOOP).begin()[0]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("3", "IR 1 of 11: request deepseek-v4-flash"),
        ("3 j j", "IR 3 of 11: 1 user"),
        ("3 j k k", "beginning of IR"),
        ("3 G", "IR 11 of 11: "),
        ("4", "Reasoning 1 of 1: ✗ missing"),
        ("5", "Closure 1 of 1: ● closed list_dir"),
        ("2", 'request 2 1 of 23: {"model": "deepseek-v4-flash",'),
        ("2 r", 'response 2 1 of 5: {"error": {'),
        ("K", "exchange 1 of 2: 1 200"),
        ("K K", "no more exchanges"),
        ("K ]", "finding 1 of 1"),
        ("]", "no further break"),
        ("S j", "story 2 of"),
        ("3 / tool", "IR 2 of 11: tools list_dir"),
        ("3 / tool n", "IR 6 of 11"),
        ("3 / zzz", "no match in IR"),
        ("7 / get_weather_nowhere", "no match in HTTP"),
        ("4 / .env.example", "no match in Reasoning; found in "),
        ("f", "repair 1 of 3: restore the reasoning from exchange 1"),
        ("n", "no search yet"),
        ("~", "~ does nothing here; ? lists the keys"),
    ],
)
def test_keys_say_where_they_went(typed: str, said: str) -> None:
    ours = reader()
    ours.begin()
    lines = [line for key in typed.split() for line in (ours.search if ours.is_asking else ours.press)(key)]
    assert any(line.startswith(said) for line in lines[-12:]), lines


def test_every_pane_can_be_read_to_its_end() -> None:
    ours = reader()
    ours.begin()
    for number, row in enumerate(session_panes.PANES, 1):
        told = ours.press(str(number))
        assert told and told[0].strip(), row.id
        assert ours.press("G") and ours.press("enter")


def test_the_users_own_keys_apply_and_help_lists_them() -> None:
    ours = reader(keymap=Keymap({"session.next-break": ("x",)}))
    said = "\n".join(ours.press("?"))
    assert "x next break" in said and all(words in said for words in ACTIONS.values())
    assert "does nothing" in ours.press("]")[0] and "finding 1" in ours.press("x")[0]


def test_it_ends_when_the_person_leaves() -> None:
    said = list(sayings(reader(), iter(["3", "q", "4"])))
    assert said[-1].startswith("IR 1 of")
