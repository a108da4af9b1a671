"""``workbench breakpoints``, and ``record --break``: a client paused, seen and decided on from another process."""

from __future__ import annotations

import http.client
import json
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench.cli._record import breakpoint_lines
from workbench.cli.record import configure
from workbench.recorder import process
from workbench.recorder.breakpoints.remote import Remote
from workbench.simulator import Simulator, serve
from workbench.wire.session.store import fsck, open_session

TOOL = {"name": "look", "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}}}


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A runtime folder of the test's own, with a short path."""
    with tempfile.TemporaryDirectory(prefix="wb") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield


class Asking(threading.Thread):
    """A client with one request under way; ``status`` and ``body`` once it is over, ``error`` where it broke off."""

    def __init__(self, port: int, messages: list[object]) -> None:
        super().__init__()
        self.status, self.body, self.error = 0, b"", ""
        self._port = port
        asked = {"model": "claude-sonnet-4-5", "max_tokens": 500, "tools": [TOOL], "messages": messages}
        self._asked = json.dumps(asked).encode()
        self.start()

    def run(self) -> None:
        headers = {"Content-Type": "application/json", "Anthropic-Version": "2023-06-01", "X-Api-Key": "sk-ant-none"}
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=100)) as client:
            try:
                client.request("POST", "/v1/messages", self._asked, headers)
                answer = client.getresponse()
                self.status, self.body = answer.status, answer.read()
            except OSError as error:
                self.error = str(error)

    def over(self) -> Asking:
        self.join()
        return self


QUESTION: list[object] = [{"role": "user", "content": "look at it"}]


def broken(call: object) -> list[object]:
    """A history whose call has no result."""
    return [*QUESTION, {"role": "assistant", "content": [call]}, {"role": "user", "content": "go on"}]


def judge_of(recorder: int) -> int:
    """The process that judges for a recorder."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == recorder and b"breakpoints.judge" in (folder / "cmdline").read_bytes():
                    return int(folder.name)
            except OSError:
                continue
    raise AssertionError("nobody judges")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the judge by /proc")
def test_a_recording_is_paused_and_decided_on(run: Run, tmp_path: Path) -> None:
    out, lines = tmp_path / "live.wb", list[str]()
    with serve(Simulator("anthropic")) as provider:
        recording = process.start(
            {"": provider.url}, out, breaks=["closure", "repeat"], on_trouble=lines.append,
            on_event=breakpoint_lines.announcer(out, lines.append),
        )  # fmt: skip
        try:
            with Remote.of(out) as remote:
                _pauses(run, recording, remote, out, lines)
                asking = Asking(recording.port, broken(_call(recording)))
                last = remote.wait()
                assert last and last["reasons"][0]["kind"] == "closure"
                os.kill(judge_of(recording.pid), signal.SIGKILL)
                while remote.state()["armed"]:
                    pass
                assert "has died" in remote.state()["trouble"]
                assert Asking(recording.port, QUESTION).over().status == 200, "traffic goes on"
                assert [pause["id"] for pause in remote.pauses()] == [last["id"]], "what is paused stays so"
        finally:
            recording.stop()
    assert asking.over().error, "the end of the recorder ends what is paused"
    assert run("breakpoints", str(out)).status == 2
    assert not fsck(out).problems
    with closing(open_session(out)) as session:
        (child,) = (s for s in session.summaries() if s.parent)
        assert child.branch == "edited at a breakpoint" and child.status == 200


def _call(recording: process.RecorderProcess) -> object:
    """The call that the provider makes; healthy traffic is not paused."""
    answer = Asking(recording.port, QUESTION).over()
    assert answer.status == 200
    return json.loads(answer.body)["content"][-1]


def _pauses(run: Run, recording: process.RecorderProcess, remote: Remote, out: Path, lines: list[str]) -> None:
    call = _call(recording)
    assert run("breakpoints", str(out)).status == 0
    asking = Asking(recording.port, broken(call))
    waited = run("breakpoints", str(out), "--wait", "--timeout", "60", "--format", "json")
    (pause,) = json.loads(waited.out)["pauses"]
    assert (waited.status, pause["side"], pause["reasons"][0]["rule"]) == (0, "request", "closure.missing-result")
    listed = run("breakpoints", str(out))
    assert listed.status == 1 and "closure.missing-result /messages/1/content/0" in listed.out
    assert run("breakpoints", str(out), "--continue", "1").status == 0
    assert asking.over().status == 400
    for number, deed in ((2, ["--answer", "2", "sim:anthropic"]), (3, ["--drop", "3"])):
        asking = Asking(recording.port, broken(call))
        assert remote.wait()
        assert run("breakpoints", str(out), *deed).status == 0
        assert asking.over().status == (400 if number == 2 else 0)
    asking = Asking(recording.port, broken(call))
    assert remote.wait()
    body = out.with_name("body.json")
    body.write_bytes(remote.body(4).replace(b'"go on"', b'[{"type": "tool_result", "tool_use_id": "%s"}]' % _id(call)))
    assert run("breakpoints", str(out), "--edit", "4", str(body)).status == 0
    assert asking.over().status == 200
    assert run("breakpoints", str(out), "--wait", "--timeout", "0.01").status == 3
    assert run("breakpoints", str(out), "--arm", "id").out.startswith("armed: closure, repeat, id")
    assert run("breakpoints", str(out), "--disarm", "id").status == 0
    assert lines[0].startswith("pause 1: request, closure (closure.missing-result): ")
    assert f"workbench breakpoints {out} --continue 1" in lines[0] and lines[1] == "pause 1: continued"


def _id(call: object) -> bytes:
    assert isinstance(call, dict)
    return str(call["id"]).encode()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing.wb",), "no such file"),
        (("FILE",), "no recorder is writing this session"),
        (("FILE", "--wait"), "no recorder is writing this session"),
        (("FILE", "--timeout", "1"), "--timeout needs --wait"),
    ],
)
def test_what_cannot_be_controlled(words: tuple[str, ...], said: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "there.wb").touch()
    done = run("breakpoints", *(str(tmp_path / "there.wb") if w == "FILE" else w for w in words))
    assert done.status == 2 and said in done.err


def test_a_script_may_wait_for_the_recorder(run: Run, tmp_path: Path) -> None:
    done = run("breakpoints", str(tmp_path / "to-come.wb"), "--wait", "--timeout", "0")
    assert done.status == 3 and "no recorder started" in done.err


def test_a_pause_is_announced_with_what_can_be_done() -> None:
    lines: list[str] = []
    reasons = [{"kind": "repeat", "rule": "", "words": "it repeats", "pointer": ""}]
    pause = {"id": 2, "side": "response", "reasons": reasons, "deeds": ["continue", "drop"]}
    breakpoint_lines.announcer(Path("a.wb"), lines.append)({"event": "paused", "pause": pause})
    assert lines == ["pause 2: response, repeat: it repeats — workbench breakpoints a.wb --continue 2, or --drop"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--break", "closures"), "no breakpoint named 'closures'"),
        (("--break", "filter:tol:x"), "filter"),
    ],
)
def test_what_cannot_be_armed(words: tuple[str, ...], said: str, run: Run) -> None:
    done = run("record", *words)
    assert done.status == 2 and said in done.err


def test_a_pause_in_words() -> None:
    pause = {
        "id": 3, "exchange": "run-1", "side": "response", "method": "POST", "url": "http://h/v1/messages",
        "client": "pi 1", "since": 10.0, "timeout": 600.0, "timeout_from": "as it says itself", "times_out_at": 605.0,
        "bytes": 900, "sent": 20, "deeds": ["continue", "drop"],
        "reasons": [{"kind": "repeat", "rule": "", "words": "it repeats", "pointer": ""}],
    }  # fmt: skip
    assert list(breakpoint_lines.pause_lines(pause, "3", 15.0)) == [
        "3  response of run-1 · pi 1 · POST http://h/v1/messages",
        "   repeat /: it repeats",
        "   paused for 5 s · 900 bytes, 20 already sent · the client waits 600 s, as it says itself: 590 s left",
        "   --continue 3 · --drop 3",
    ]
    assert breakpoint_lines.timeout_words({**pause, "times_out_at": 1.0}, 15.0).endswith("timed out")
    assert "timeout is unknown" in breakpoint_lines.timeout_words({**pause, "timeout": None}, 15.0)


def test_every_kind_is_in_the_help() -> None:
    from argparse import ArgumentParser

    from workbench.recorder.breakpoints.kinds import KINDS

    configure(parser := ArgumentParser())
    for name, kind in KINDS.items():
        assert name in parser.format_help() and f"  {name:12} {kind.description}\n" in breakpoint_lines.KINDS_TEXT
