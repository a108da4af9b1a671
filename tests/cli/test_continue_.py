"""``workbench continue``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.send.loop.samples import answered, call, chat, exchanged
from workbench.cli import main
from workbench.wire.exchange import Exchange
from workbench.wire.session import MemorySession, exchanges_of, store

URL = "https://api.openai.com/v1/chat/completions"
USER = {"role": "user", "content": "read it"}


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """One finished turn that tells a result, then a call that nobody answered."""
    asked = {"role": "assistant", "content": None, "tool_calls": [call("c1")]}
    told = chat(USER, asked, {"role": "tool", "tool_call_id": "c1", "content": "recorded"})
    exchanges: tuple[Exchange, ...] = (
        exchanged(told, answered(), url=URL),
        exchanged(chat({"role": "user", "content": "again"}), answered(call("c2"), call("c3", '{"file":1}')), url=URL),
    )
    path = tmp_path / "s.jsonl"
    named = (Exchange(f"e{n}", e.request, e.response) for n, e in enumerate(exchanges))
    store.save(exchanges_of(MemorySession("s", tuple(named))), path)
    return path


def told(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, Any]:
    status = main(["continue", *map(str, words), "--format", "json"])
    return status, json.loads(capsys.readouterr().out)


def test_a_call_without_an_answer_stops_it(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = told(capsys, session, "--target", "sim:openai")
    assert (status, said["reason"], said["exchange"], said["turns"]) == (3, "unanswered", 1, 0)
    assert said["pending"] == {"id": "c2", "name": "read", "arguments": {"path": "a"}, "error": None}


def test_the_recording_answers_and_a_bad_call_gets_its_error(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = session.with_name("out.wb")
    status, said = told(capsys, session, "--target", "sim:openai", "--recorded", "--out", out)
    assert (status, said["reason"], said["out"]) == (0, "done", str(out))
    first, second, sent = said["steps"]
    assert (first["result"], first["from"], first["recorded_in"]) == ("recorded", "recorded", 0)
    assert (second["from"], second["is_error"]) == ("refusal", True)
    assert "path" in second["error"]
    assert (sent["status"], sent["pointer"], len(sent["added"])) == (200, "/messages", 3)
    kept = [*exchanges_of(store.open_session(out))]
    assert [e.id for e in kept][:1] == ["e1"]
    assert kept[1].request is not None
    assert kept[1].request.body.raw.startswith(chat({"role": "user", "content": "again"}).split(b"]")[0])


def test_what_is_given_counts_by_id_then_by_tool(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "result.txt"
    text.write_text("from a file\n")
    given = ("--result", "read=by name", "--error", "c3=it broke", "--target", "sim:openai")
    _, said = told(capsys, session, *given)
    assert [(s["result"], s["is_error"]) for s in said["steps"][:2]] == [("by name", False), ("it broke", True)]
    _, said = told(capsys, session, "--result-file", f"c2={text}", "--recorded", "--target", "sim:openai")
    assert said["steps"][0]["result"] == "from a file\n"


def test_limits_stop_it(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = told(capsys, session, "--target", "sim:openai", "--recorded", "--tokens", "1", "--exchange", "2")
    assert (status, said["reason"]) == (0, "done"), "the limit is asked before a request, and one was enough"


def test_a_refusal_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.jsonl"
    asked = chat(USER, {"role": "assistant", "content": None, "tool_calls": [call("c1")]}, USER)
    store.save([exchanged(asked, url=URL)], path)
    status, said = told(capsys, path, "--target", "sim:openai")
    assert (status, said["reason"]) == (1, "refused")
    assert "tool_call_id" in str(said["text"])


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--target", "sim:nobody"], "no contract named 'nobody'"),
        (["--target", "sim:openai", "--result", "x"], "no ID=…"),
        (["--target", "sim:openai", "--result", "x=1", "--error", "x=2"], "two results for 'x'"),
        (["--target", "sim:openai", "--turns", "-1"], "negative"),
        (["--target", "sim:openai", "--exchange", "9"], "no exchange 9"),
        (["--target", "sim:openai", "--parser", "nothing"], "no text format named"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    session: Path, capsys: pytest.CaptureFixture[str], words: list[str], what: str
) -> None:
    assert main(["continue", str(session), *words]) == 2
    error = capsys.readouterr().err
    assert what in error
    assert error.count("\n") == 1


def test_people_read_what_happens(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["continue", str(session), "--target", "sim:openai", "--recorded"]) == 0
    said = capsys.readouterr().out
    assert '  read {"path": "a"}\n    = recorded  (recorded in exchange 1)\n' in said
    assert "sent (3 new items): 200\ndone: the model answered without a call" in said
    assert "recorded in the working session" in said
