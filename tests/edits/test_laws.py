"""What holds for every edit of every request: it can be taken back to the byte, and touches nothing beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.edits.bodies import STYLES, conversation, decoded, made, spelled
from workbench import protocols
from workbench.edits import apply_splices, diff_splices, inverse, json_problem
from workbench.edits.additions import ROLES, insert_message, insert_result, insert_text, insert_tool
from workbench.edits.elements import Element, ElementAction, ElementKind, elements_of, walk
from workbench.edits.operations import (
    Splices,
    duplicate,
    move,
    remove,
    rename,
    replace_range,
    set_parameter,
    set_text,
    set_value,
)
from workbench.errors import LocalProtocolError
from workbench.protocols.decode import DecodedExchange
from workbench.wire.session.store import open_session

BODIES = {name: conversation(name) for name in protocols.protocols()}
FOLDER = Path(__file__).resolve().parents[2] / "sessions"
SESSIONS = sorted(p.stem for p in FOLDER.glob("*.jsonl") if p.stat().st_size < 200_000)
TYPED = b' {"x" : [1.0 ,1e400],"x":"\\u00e9"} '


def edits(asked: DecodedExchange, one: Element) -> list[tuple[str, Splices]]:
    """Every edit that an element says it is able to."""
    doing = {
        ElementAction.REMOVE: lambda: remove(asked, one.pointer),
        ElementAction.DUPLICATE: lambda: duplicate(asked, one.pointer),
        ElementAction.UP: lambda: move(asked, one.pointer, -1),
        ElementAction.DOWN: lambda: move(asked, one.pointer, 1),
        ElementAction.VALUE: lambda: set_value(asked, one.pointer, TYPED),
        ElementAction.TEXT: lambda: set_text(asked, one.text_at or "", 'say "é" \\ \n☃'),
        ElementAction.RENAME: lambda: rename(asked, one.pointer, f"renamed/ü/{one.pointer}"),
    }
    return [(action, doing[action]()) for action in ElementAction if action in one.actions]


def additions(asked: DecodedExchange, one: Element) -> list[Splices]:
    """Everything that can be added at an element; what its protocol has no place for is refused in words."""
    at = one.pointer
    doing: list[Callable[[], Splices]] = []
    if one.kind is ElementKind.MESSAGE:
        doing += [partial(insert_message, asked, role, "new ü", at) for role in ROLES]
        doing += [partial(insert_text, asked, at, "new ü"), partial(insert_text, asked, at, "new", 0)]
    if one.kind is ElementKind.CALL:
        doing.append(partial(insert_result, asked, at, "new ü", is_error=True))
    if one.kind is ElementKind.TOOL:
        doing.append(partial(insert_tool, asked, "new", {"type": "object"}))
    found = []
    for add in doing:
        try:
            found.append(add())
        except LocalProtocolError as error:
            assert "\n" not in str(error)
    return found


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("protocol", protocols.protocols())
def test_every_edit_is_json_again_and_is_taken_back_to_the_byte(protocol: str, style: str) -> None:
    body = spelled(BODIES[protocol], style, seed=7)
    asked = decoded(body, protocol)
    found = list(walk(elements_of(asked)))
    assert {ElementKind.MESSAGE, ElementKind.CALL, ElementKind.RESULT, ElementKind.TOOL, ElementKind.PARAMETER} <= {
        one.kind for one in found
    }
    for one in found:
        for what, change in [*edits(asked, one), *(("add", a) for a in additions(asked, one))]:
            after = made(body, change)
            assert not json_problem(after), (one.pointer, what)
            assert apply_splices(after, inverse(body, change)) == body, (one.pointer, what)


@pytest.mark.parametrize("protocol", protocols.protocols())
def test_there_and_back_gives_the_same_bytes(protocol: str) -> None:
    for style in STYLES:
        body = spelled(BODIES[protocol], style, seed=3)
        asked = decoded(body, protocol)
        for one in walk(elements_of(asked)):
            parent, _, step = one.pointer.rpartition("/")
            if ElementAction.DOWN in one.actions:
                down = decoded(made(body, move(asked, one.pointer, 1)), protocol)
                assert down.request_text != body
                assert made(down.request_text, move(down, f"{parent}/{int(step) + 1}", -1)) == body
            if ElementAction.DUPLICATE in one.actions:
                twice = decoded(made(body, duplicate(asked, one.pointer)), protocol)
                assert made(twice.request_text, remove(twice, f"{parent}/{int(step) + 1}")) == body


@given(data=st.data(), style=st.sampled_from(STYLES), seed=st.integers(0, 99))
def test_edits_one_after_the_other_are_undone_in_turn(data: st.DataObject, style: str, seed: int) -> None:
    protocol = data.draw(st.sampled_from(protocols.protocols()))
    body = spelled(BODIES[protocol], style, seed)
    done = []
    for _ in range(data.draw(st.integers(1, 4))):
        asked = decoded(body, protocol)
        found = list(walk(elements_of(asked)))
        if not found:  # an edit may leave no request of any protocol
            break
        one = data.draw(st.sampled_from(found))
        _, change = data.draw(st.sampled_from(edits(asked, one)))
        done.append((body, change))
        body = made(body, change)
    while done:
        before, change = done.pop()
        body = apply_splices(body, inverse(before, change))
        assert body == before


@given(data=st.data(), new=st.binary(max_size=20), style=st.sampled_from(STYLES))
def test_a_raw_edit_touches_only_its_range(data: st.DataObject, new: bytes, style: str) -> None:
    body = spelled(BODIES[data.draw(st.sampled_from(protocols.protocols()))], style)
    start = data.draw(st.integers(0, len(body)))
    end = data.draw(st.integers(start, len(body)))
    change = replace_range(body, start, end, new)
    after = made(body, change)
    assert after == body[:start] + new + body[end:]
    assert apply_splices(after, inverse(body, change)) == body


@given(before=st.binary(max_size=60), after=st.binary(max_size=60))
def test_two_texts_differ_in_one_range(before: bytes, after: bytes) -> None:
    change = diff_splices(before, after)
    assert apply_splices(before, change) == after
    assert apply_splices(after, inverse(before, change)) == before


@pytest.mark.parametrize("protocol", protocols.protocols())
def test_a_parameter_is_added_as_it_was_typed(protocol: str) -> None:
    for style in STYLES:
        asked = decoded(spelled(BODIES[protocol], style), protocol)
        after = made(asked.request_text, set_parameter(asked, "/seed~1x", b" 1.0e2\n"))
        assert b"1.0e2" in after
        assert not json_problem(after)
        again = decoded(after, protocol)
        assert made(after, remove(again, "/seed~1x")) == asked.request_text


@pytest.mark.parametrize("name", SESSIONS)
def test_requests_of_the_example_sessions_are_edited_everywhere(name: str) -> None:
    session = open_session(FOLDER / f"{name}.jsonl")
    asked = DecodedExchange(0, session.exchange(len(session) - 1))
    body = asked.request_text
    for one in walk(elements_of(asked)):
        for change in [*(change for _, change in edits(asked, one)), *additions(asked, one)]:
            after = made(body, change)
            assert not json_problem(after)
            assert apply_splices(after, inverse(body, change)) == body
