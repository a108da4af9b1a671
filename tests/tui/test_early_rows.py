from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.message import Message

from tests.tui import samples
from workbench.rules import Inspector
from workbench.tui import early_rows
from workbench.tui.early_rows import AHEAD, ProvisionalPass, first_to_open, suspects
from workbench.tui.service import InspectedRows, InspectionThread, ProvisionalRows
from workbench.wire import State, Summary, summarize
from workbench.wire.session import SessionWriter, open_session

ASKED = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]}


def listed(*failed: tuple[int, int | None, State], count: int = AHEAD + 9) -> list[Summary]:
    """The list of a session in which some exchanges failed: (index, status, state)."""
    whole = summarize(0, samples.exchange(ASKED, samples.DONE))
    rows = [replace(whole, index=n) for n in range(count)]
    for index, status, state in failed:
        rows[index] = replace(rows[index], status=status, state=state)
    return rows


def test_a_refused_request_comes_before_other_failures() -> None:
    rows = listed(
        (1, None, State.ABORTED),
        (2, 429, State.COMPLETE),
        (3, 422, State.COMPLETE),
        (4, 500, State.COMPLETE),
        (5, 400, State.COMPLETE),
        (6, None, State.OPEN),
    )
    assert suspects(rows) == [3, 5, 2, 1]


@pytest.mark.parametrize(("count", "first"), [(AHEAD, None), (AHEAD + 1, 7)])
def test_only_a_large_session_is_opened_before_it_is_inspected(count: int, first: int | None) -> None:
    assert first_to_open(listed((7, 400, State.COMPLETE), count=count)) == first


def test_a_large_session_without_failures_is_opened_at_its_beginning() -> None:
    assert first_to_open(listed()) == 0


def test_what_the_pass_reaches_soon_is_left_to_it() -> None:
    first = ProvisionalPass(listed((AHEAD - 1, 400, State.COMPLETE), (AHEAD + 3, 400, State.COMPLETE)))
    assert first.is_next(AHEAD) and first.next() == AHEAD + 3
    assert not first.is_next(AHEAD)
    assert not ProvisionalPass(listed((AHEAD + 3, 400, State.COMPLETE))).is_next(AHEAD + 4)


def test_it_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_rows, "SECONDS", -1.0)
    first = ProvisionalPass(listed(*((AHEAD + n, 400, State.COMPLETE) for n in range(3))))
    assert first.is_next(AHEAD) and first.next() == AHEAD  # one is always inspected
    assert not first.is_next(AHEAD)


def test_a_row_keeps_its_index() -> None:
    first = ProvisionalPass(())
    first.inspect(Inspector(samples.example(samples.LOST_RESULT)), 2)
    assert {n: row.index for n, row in first.rows.items()} == {2: 2}
    assert {finding.exchange for finding in first.rows[2].findings} == {2}


def written(folder: Path, *, said: str = "go on") -> Path:
    """A session file that is large enough, with a call whose result is lost."""
    lost = {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f"}}]}
    path = folder / "large.wb"
    with SessionWriter(path) as writer:
        for n in range(AHEAD + 5):
            more = [lost, {"role": "user", "content": said}] if n == 7 else []
            asked = {**ASKED, "messages": [{"role": "user", "content": f"question {n}"}, *more]}
            writer.append(samples.exchange(asked, samples.DONE, number=n))
    return path


def run(path: Path) -> list[Message]:
    """What is posted until all is inspected."""
    session, came = open_session(path), list[Message]()
    service = InspectionThread(session, None, None)

    def post(message: Message) -> None:
        came.append(message)
        if isinstance(message, InspectedRows) and len(message.rows) == len(session):
            service.stop()

    service.run(post)
    session.close()
    return came


def kept(came: list[Message]) -> list[ProvisionalRows]:
    return [message for message in came if isinstance(message, ProvisionalRows)]


def inspected(came: list[Message]) -> list[InspectedRows]:
    return [message for message in came if isinstance(message, InspectedRows)]


def test_a_file_that_was_inspected_shows_its_rows_at_once(tmp_path: Path) -> None:
    path = written(tmp_path)
    first = run(path)
    assert kept(first) == []
    again = run(path)
    (known,) = kept(again)
    assert known.rows == inspected(first)[-1].rows == inspected(again)[-1].rows
    assert [row.index for row in known.rows if row.findings] == [7]
    assert again.index(known) < again.index(inspected(again)[0])
    with SessionWriter(path) as writer:
        writer.append(samples.exchange(ASKED, samples.DONE, number=9999))
    assert kept(run(path)) == []


def test_rows_that_name_a_credential_are_not_kept(tmp_path: Path) -> None:
    path = written(tmp_path, said="use sk-proj-" + "aB3dE5fG7h" * 5)
    run(path)
    assert kept(run(path)) == []
