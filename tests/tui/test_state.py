from __future__ import annotations

from dataclasses import replace

from tests.tui import samples
from tests.tui.models.test_timeline import summary
from workbench.rules.inspection import Inspector
from workbench.tui.models.headline import key_words, upstream_of
from workbench.tui.state import SessionState
from workbench.wire.exchange import State
from workbench.wire.session import Session


def state(name: str) -> SessionState:
    session = samples.example(name)
    made = listed(session)
    made.update(Inspector(session).run().rows)
    return made


def listed(session: Session) -> SessionState:
    made = SessionState()
    made.list(session.name, session.summaries())
    return made


def test_rows_come_piece_by_piece() -> None:
    session = samples.example(samples.LOST_RESULT)
    assert SessionState().verdict() == "opening …"
    made = listed(session)
    assert made.verdict() == "inspecting: 0 of 3 exchanges, no breaks so far"
    assert made.tally() == "none so far"
    assert (made.row(0), made.lane(0)) == (None, " ")
    rows = Inspector(session).run().rows
    made.update(rows[:1])
    assert not made.is_done
    assert made.row(0) is rows[0]
    made.update(rows)
    assert made.is_done
    assert made.tally() == "1 error · in 1 of 3 exchanges"
    assert list(made.found.numbers_of(2)) == [0]
    assert list(made.found.numbers_of(0)) == []


def test_no_findings_say_under_which_contract_and_why_that() -> None:
    assert state(samples.TOOL_LOOP).verdict() == (
        "no breaks found under contract anthropic (from host api.anthropic.com)"
    )


def test_nothing_to_check_says_why() -> None:
    assert "has no exchanges" in listed(samples.session()).verdict()
    page = samples.session(samples.exchange(b"", b"<html>", url="https://example.org/index.html"))
    made = listed(page)
    made.update(Inspector(page).run().rows)
    assert made.verdict() == "nothing to check: no exchanges with a model"
    other = samples.session(samples.exchange({"prompt": "hi"}, {"id": "v1"}, url="https://h/v1/completions"))
    made = listed(other)
    made.update(Inspector(other).run().rows)
    assert made.verdict() == "nothing to check: openai-completions is recognised but not decoded by this version"


def test_what_turned_out_to_be_torn_is_shown_as_such() -> None:
    session = samples.session(samples.exchange({}, {}), replace(samples.exchange({}, {}), state=State.INCOMPLETE))
    made = listed(samples.session(*session.exchanges[:1], session.exchanges[0]))
    assert made.summary(1).state is State.COMPLETE
    made.update(Inspector(session).run().rows)
    assert made.summary(1).state is State.INCOMPLETE


def test_damage_and_what_is_not_judged_stand_beside_the_findings() -> None:
    session = samples.example(samples.LOST_RESULT)
    made = SessionState()
    made.list("x", session.summaries(), ("page 3 is torn",))
    made.update(Inspector(session).run().rows)
    assert made.tally() == "1 error · in 1 of 3 exchanges, 1 damaged place"


def test_trouble_is_the_verdict() -> None:
    made = listed(samples.example(samples.TOOL_LOOP))
    made.trouble = "inspection stopped at exchange 1: torn"
    assert made.is_done
    assert made.verdict() == made.trouble


def test_which_key_is_used_while_a_session_is_recorded() -> None:
    state, known = SessionState("s"), [summary(), summary(note="loss: x; note: the key is that of DEEPSEEK_API_KEY")]
    state.list("s", known)
    assert (key_words(state), upstream_of(state)) == ("offline", "")
    state.follow(known[:1], is_live=True, about={})
    assert key_words(state) == "client's API key not stored"
    state.follow(known, is_live=True, about={})
    assert key_words(state) == "key from $DEEPSEEK_API_KEY"
    assert upstream_of(state) == known[-1].url.split("/")[2]


def test_the_beginning_of_a_list_counts_the_rest() -> None:
    session = samples.example(samples.LOST_RESULT)
    made = SessionState()
    made.list(session.name, session.summaries()[:1])
    made.follow(session.summaries()[:1], is_live=False, about={}, total=3)
    assert (list(made.visible), made.progress()) == ([0], "inspected 0 of 3")
    made.follow(session.summaries(), is_live=False, about={})
    assert (list(made.visible), made.progress()) == ([0, 1, 2], "inspected 0 of 3")


def test_a_provisional_row_counts_until_the_inspection_reaches_it() -> None:
    session = samples.example(samples.LOST_RESULT)
    rows = Inspector(session).run().rows
    made = listed(session)
    made.provision(rows[2:])
    assert (made.is_provisional(1), made.is_provisional(2)) == (False, True)
    assert made.row(2) is rows[2]
    assert [finding.exchange for finding in made.findings] == [2]
    healthy = replace(rows[2], findings=())
    made.update((*rows[:2], healthy))
    assert made.is_done and not made.is_provisional(2)
    assert made.row(2) is healthy and not made.findings
