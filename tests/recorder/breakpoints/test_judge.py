"""The judge: it waits for what is being written, says what it cannot see, and answers as a simulator."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.recorder.breakpoints.living import EVERY, living
from tests.recorder.breakpoints.test_kinds import call, exchange, history
from workbench.errors import UsageError
from workbench.recorder.breakpoints.gate import BreakpointGate
from workbench.recorder.breakpoints.judge import BreakpointJudge, NotJudged, _answer_line
from workbench.recorder.breakpoints.kinds import parse
from workbench.rules import Inspector
from workbench.wire.exchange import State


def test_a_request_that_is_never_written_is_not_judged(tmp_path: Path) -> None:
    with living(tmp_path / "live.wb") as live:
        now = [0.0]
        judge = BreakpointJudge(live.judge._session, clock=lambda: now[0], sleep=lambda s: now.append(now.pop() + s))
        with pytest.raises(NotJudged, match="did not appear in the file within 2 seconds"):
            judge.request("run-1", EVERY, 2.0)


def test_it_waits_until_the_request_stands_in_the_file(tmp_path: Path) -> None:
    broken = exchange(2, [*history(call(1))[:2], {"role": "user", "content": "go on"}])
    with living(tmp_path / "live.wb") as live:
        looks: list[int] = []

        def sleep(_: float) -> None:
            looks.append(len(looks))
            if len(looks) == 2:
                live.began(broken)

        judge = BreakpointJudge(live.judge._session, clock=lambda: 0.0, sleep=sleep)
        assert [r.rule for r in judge.request("run-2", EVERY, 9.0)] == ["closure.missing-result"]
        assert looks == [0, 1]


def test_the_recording_is_hurried_before_the_judge_is_asked(tmp_path: Path) -> None:
    said = list[str]()

    class Judge:
        def start(self) -> None: ...

        async def ask(self, verb: str, **words: object) -> Mapping[str, object]:
            said.append(verb)
            return {}

        def close(self) -> None: ...

    gate = BreakpointGate("run", tmp_path / "x.wb", judge=Judge())
    gate.before_judging = lambda: said.append("write")
    gate.arm("closure")
    assert asyncio.run(gate.judge("run-1", "request")) == ((), "")
    assert said == ["write", "request"]
    asyncio.run(gate.judge("run-2", "request", request={}))
    gate.note_end(1)
    asyncio.run(gate.judge("run-3", "request", request={}))
    assert said[2:] == ["request", "write", "request"], "what had ended is needed, a request that comes along is not"


def test_a_request_that_comes_with_the_question_is_judged_as_one_in_the_file(tmp_path: Path) -> None:
    broken = exchange(2, [*history(call(1))[:2], {"role": "user", "content": "go on"}])
    with living(tmp_path / "live.wb") as live:
        first = replace(exchange(1, history()), started_at=1.0, duration=1.0)
        live.writer.finish(live.began(first), first)
        asked = replace(broken, response=None, state=State.OPEN, started_at=9.0)
        live.judge.wait_for_ended(["run-1"], 0.0)
        alone = live.judge.request(asked, EVERY, 0.0)
        live.began(asked)
        assert alone == live.judge.request("run-2", EVERY, 0.0) != ()
        assert [row.summary.id for row in live.judge._inspector.rows] == ["run-1"]
        with pytest.raises(NotJudged, match="the earlier exchanges did not appear"):
            live.judge.wait_for_ended(["run-2"], 0.0)


def test_what_is_in_the_file_is_not_looked_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with living(tmp_path / "live.wb") as live:
        for n in (1, 2):
            live.began(exchange(n, history()))
        live.judge.request("run-1", EVERY, 0.0)
        monkeypatch.setattr(live.judge, "look", lambda: pytest.fail("it was there at the last look"))
        assert live.judge.request("run-2", EVERY, 0.0) == ()


def test_a_simulator_answers_with_the_history_in_mind(tmp_path: Path) -> None:
    with living(tmp_path / "live.wb") as live:
        live.began(exchange(1, history()))
        told = live.judge.answer("run-1", "anthropic", 0.0)
        body = b"".join(base64.b64decode(piece) for piece in told["pieces"])
        assert told["status"] == 200 and b'"tool_use"' in body
        live.began(exchange(2, [*history(call(1))[:2], {"role": "user", "content": "go on"}]))
        refused = live.judge.answer("run-2", "anthropic", 0.0)
        assert refused["status"] == 400, "it is as strict as everywhere else"
        with pytest.raises(UsageError, match="does not support anthropic-messages"):
            live.judge.answer("run-1", "gemini", 0.0)


def test_whatever_goes_wrong_it_answers(tmp_path: Path) -> None:
    with living(tmp_path / "live.wb") as live:
        live.began(exchange(1, history()))
        asked = {"do": "request", "exchange": "run-1", "kinds": ["all"], "within": 0}
        assert _answer_line(live.judge, asked) == {"reasons": []}
        body = base64.b64encode(b"\x1f\x8b\x08 no gzip").decode()
        packed = {"status": 200, "headers": [["content-encoding", "gzip"]], "reason": "", "version": "HTTP/1.1"}
        for wrong, why in (
            ({"kinds": ["nonsense"]}, "no breakpoint"),
            ({"do": "response"}, "KeyError"),
            ({"do": "response", **packed, "body": body}, "gzip"),
            ({"do": "answer", "contract": "nobody"}, "nobody"),
        ):
            assert why in _answer_line(live.judge, {**asked, **wrong})["unjudged"]


def test_exchanges_are_read_once_in_the_order_in_which_they_ended(tmp_path: Path) -> None:
    with living(tmp_path / "live.wb") as live:
        made = [exchange(n, history()) for n in (1, 2, 3)]
        places = [live.began(each) for each in made]
        for n in (2, 1):
            live.writer.finish(places[n], made[n])
            live.judge.catch_up()
        rows = list(live.judge._inspector.rows)
        assert [row.summary.id for row in rows] == ["run-3", "run-2"]
        assert live.judge.request("run-1", EVERY, 0.0) == ()
        assert all(now is then for now, then in zip(live.judge._inspector.rows, rows, strict=True))
        assert live.judge.is_waiting, "one is still under way"
        live.writer.finish(places[0], made[0])
        live.judge.catch_up()
        assert not live.judge.is_waiting


def test_what_ended_before_a_request_began_is_there(tmp_path: Path) -> None:
    with living(tmp_path / "live.wb") as live:
        first, second = (replace(exchange(n, history()), started_at=100.0 * n, duration=1.0) for n in (1, 2))
        live.writer.finish(live.began(first), first)
        live.began(second)
        live.judge.request("run-2", EVERY, 0.0)
        assert [row.summary.id for row in live.judge._inspector.rows] == ["run-1"]


def test_what_has_ended_is_checked_by_the_armed_rules_alone_until_others_are_armed(tmp_path: Path) -> None:
    with living(tmp_path / "live.wb") as live:
        broken = exchange(1, [*history(call(1))[:2], {"role": "user", "content": "go on"}], call(2, at=5))
        ended = replace(broken, started_at=1.0, duration=1.0)
        live.writer.finish(live.began(ended), ended)
        asked = replace(exchange(2, history()), response=None, state=State.OPEN, started_at=9.0)
        live.judge.wait_for_ended(["run-1"], 0.0)
        rules = list[set[str]]()
        for name in ("closure", "reasoning", "arguments", "filter:status:200"):
            live.judge.request(asked, parse(name), 0.0)
            rules.append({finding.rule for finding in live.judge._inspector.rows[0].findings})
        assert (
            rules[0]
            == rules[1]
            == rules[2]
            < rules[3]
            == {f.rule for f in Inspector(live.judge._session).run().findings}
        )
