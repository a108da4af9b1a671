"""The recorder as a process: started, followed, stopped, killed."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from workbench import children
from workbench.errors import UsageError
from workbench.limits import MAX_OPEN_FILES
from workbench.recorder import process
from workbench.wire.exchange import Exchange, State
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import fsck, open_session

EVENT = b'data: {"n": 1}\n\n'
SECRET = {"authorization": "Bearer sk-test-0123456789abcdef"}
NO_HEADERS: Mapping[str, str] = {}


class Upstream(ThreadingHTTPServer):
    """Answers /whole at once and /half with the first of two events, until ``more`` is set."""

    daemon_threads = True

    def __init__(self) -> None:
        self.more = threading.Event()
        super().__init__(("127.0.0.1", 0), Answers)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Answers(BaseHTTPRequestHandler):
    server: Upstream

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(2 * len(EVENT)))
        self.end_headers()
        self.wfile.write(EVENT)
        if self.path.endswith("/half"):
            self.server.more.wait()
        self.wfile.write(EVENT)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    server = Upstream()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.more.set()
    server.shutdown()
    server.server_close()


def ask(url: str, headers: Mapping[str, str] = NO_HEADERS, body: bytes = b'{"model": "m"}') -> bytes:
    with urllib.request.urlopen(urllib.request.Request(url, body, dict(headers))) as answer:
        said: bytes = answer.read()
        return said


def look(path: Path) -> list[Exchange]:
    session = open_session(path)
    try:
        return list(exchanges_of(session))
    finally:
        session.close()


def until(condition: Callable[[], bool]) -> None:
    """Look again and again: what is waited for happens in another process."""
    pause = threading.Event()
    while not condition():
        pause.wait(0.01)


def is_half_there(path: Path) -> bool:
    last = look(path)[-1:]
    return bool(last and last[0].response and last[0].response.body.raw == EVENT)


def test_a_recording_from_start_to_end(upstream: Upstream, tmp_path: Path) -> None:
    out = tmp_path / "made" / "live.wb"
    recording = process.start({"default": upstream.url}, out, hop="here")
    assert recording.is_running
    assert ask(f"{recording.urls['default']}/whole") == 2 * EVENT
    recording.stop()
    recording.stop()
    assert not recording.is_running
    assert recording.summary == {"exchanges": 1, "aborted": 0, "incomplete": 0, "lost": 0, "is_cut": False}
    assert [p.name for p in out.parent.iterdir()] == ["live.wb"]
    (exchange,) = look(out)
    assert (exchange.hop, exchange.state) == ("here", State.COMPLETE)
    assert exchange.request and exchange.request.url == f"{upstream.url}/whole"


def test_the_file_says_where_the_recorder_listens_while_it_does(upstream: Upstream, tmp_path: Path) -> None:
    def urls() -> str | None:
        with closing(open_session(tmp_path / "x.wb")) as session:
            return session.about.get("urls")

    one = process.start({"default": upstream.url}, tmp_path / "x.wb")
    until(lambda: urls() == one.urls["default"])
    one.stop()
    assert urls() is None
    two = process.start({"a": upstream.url, "b": upstream.url}, tmp_path / "x.wb")
    until(lambda: urls() == f"{two.urls['a']} (a) · {two.urls['b']} (b)")
    two.stop()


def test_a_file_made_through_a_link_is_private_and_another_recorder_may_join(
    upstream: Upstream, tmp_path: Path
) -> None:
    there, link, other = tmp_path / "there.wb", tmp_path / "link.wb", tmp_path / "other.wb"
    link.symlink_to(there)
    other.symlink_to(there)
    recording = process.start({"main": upstream.url}, link, hop="one")
    try:
        assert there.stat().st_mode & 0o777 == 0o600
        ask(f"{recording.urls['main']}/whole")
        second = process.start({"main": upstream.url}, other, hop="two")
        with closing(open_session(other)) as session:
            assert session.is_live
        ask(f"{second.urls['main']}/whole", SECRET)
        second.stop()
        ask(f"{recording.urls['main']}/whole", SECRET)
    finally:
        recording.stop()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.wb", "other.wb", "there.wb"]
    first, *same = look(there)
    assert [e.hop for e in (first, *same)] == ["one", "two", "one"]
    two, one = (e.request and e.request.headers.get("authorization") for e in same)
    assert one == two != SECRET["authorization"]


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of others cannot be read")
def test_a_small_limit_of_open_files_is_raised(upstream: Upstream, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 512), hard))
    try:
        recording = process.start({"main": upstream.url}, tmp_path / "live.wb")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    try:
        assert resource.prlimit(recording.pid, resource.RLIMIT_NOFILE)[0] == min(hard, MAX_OPEN_FILES)
    finally:
        recording.stop()


def test_several_upstreams_have_an_address_each(upstream: Upstream, tmp_path: Path) -> None:
    recording = process.start({"a": upstream.url, "b": f"{upstream.url}/base"}, tmp_path / "x.wb")
    try:
        assert ask(f"{recording.urls['a']}/whole") == ask(f"{recording.urls['b']}/whole")
    finally:
        recording.stop()
    urls = [e.request and e.request.url for e in look(tmp_path / "x.wb")]
    assert urls == [f"{upstream.url}/whole", f"{upstream.url}/base/whole"]


@pytest.mark.parametrize("victim", ["relay", "writer"])
def test_killed_it_leaves_what_was_complete_and_marks_the_rest(victim: str, upstream: Upstream, tmp_path: Path) -> None:
    """Without the relay there is no traffic; without the writer it goes on."""
    out, troubles = tmp_path / "live.wb", list[str]()
    recording = process.start({"default": upstream.url}, out, on_trouble=troubles.append)
    base = recording.urls["default"]
    for _ in range(3):
        ask(f"{base}/whole")
    asking = threading.Thread(target=_in_vain if victim == "relay" else ask, args=(f"{base}/half",))
    asking.start()
    until(lambda: is_half_there(out))
    assert [e.state for e in look(out)] == [State.COMPLETE] * 3 + [State.OPEN]
    os.kill(recording.pid if victim == "relay" else _writer_of(out), signal.SIGKILL)
    upstream.more.set()
    asking.join()
    until(lambda: look(out)[3].state is not State.OPEN)
    recording.stop()
    if victim == "writer":
        assert recording.summary["is_cut"]
        assert len(troubles) == 1 and "has died; traffic continues" in troubles[0]
    assert not fsck(out).problems
    exchanges = look(out)
    assert [e.state for e in exchanges] == [State.COMPLETE] * 3 + [State.INCOMPLETE]
    assert [e.response and e.response.body.raw for e in exchanges] == [2 * EVENT] * 3 + [EVENT]


def test_texts_of_megabytes_that_look_like_secrets_are_recorded_at_once(upstream: Upstream, tmp_path: Path) -> None:
    out, length = tmp_path / "live.wb", 3_000_000
    more = {"sk-": "aB3", "Bearer ": "aB3", '"password":"': "aB3", "xoxb-": "xoxb-"}
    texts = {start: start + again * (length // len(again)) for start, again in more.items()}
    recording = process.start({"default": upstream.url}, out)
    for text in texts.values():
        ask(f"{recording.urls['default']}/whole", body=text.encode())
    ask(f"{recording.urls['default']}/whole")
    writer = _writer_of(out)
    recording.stop()
    assert not Path(f"/proc/{writer}").exists()
    *long, short = look(out)
    assert short.request and {each.state for each in (*long, short)} == {State.COMPLETE}
    for (start, text), each in zip(texts.items(), long, strict=True):
        assert each.request
        raw = each.request.body.raw
        assert len(raw) == len(text)
        assert not any(text[at : at + 40].encode() in raw for at in range(len(start), length - 40, 99_991))


def _writer_of(out: Path) -> int:
    """The process that notes itself in the file as its writer."""
    with closing(sqlite3.connect(out)) as db:
        (noted,) = db.execute("SELECT value FROM meta WHERE key GLOB 'writer *'").fetchone()
    return int(json.loads(noted)["mark"].partition(" ")[0])


def _in_vain(url: str) -> None:
    with pytest.raises((OSError, HTTPException)):
        ask(url)


def test_it_ends_with_its_parent(upstream: Upstream, tmp_path: Path) -> None:
    """A parent that is killed cannot stop it; the end of its standard input does."""
    code = (
        "import sys; from pathlib import Path; from workbench.recorder.process import start\n"
        f"r = start({{'default': {upstream.url!r}}}, Path({str(tmp_path / 'x.wb')!r}))\n"
        "print(r.urls['default'], flush=True); sys.stdin.read()"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout and parent.stdin
    url = parent.stdout.readline().strip()
    assert ask(f"{url}/whole") == 2 * EVENT
    parent.kill()
    parent.wait()
    until(lambda: not _listens(url))
    until(lambda: [p.name for p in tmp_path.iterdir()] == ["x.wb"])
    parent.stdin.close()
    parent.stdout.close()


def _listens(url: str) -> bool:
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(number: signal.Signals, upstream: Upstream, tmp_path: Path) -> None:
    recording = process.start({"default": upstream.url}, tmp_path / "x.wb")
    asking = threading.Thread(target=_in_vain, args=(f"{recording.urls['default']}/half",))
    asking.start()
    until(lambda: is_half_there(tmp_path / "x.wb"))
    os.kill(recording.pid, number)
    recording.wait()
    asking.join()
    recording.stop()
    assert recording.summary["aborted"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["x.wb"]
    (exchange,) = look(tmp_path / "x.wb")
    assert exchange.state is State.ABORTED
    assert exchange.response and exchange.response.body.raw == EVENT


def test_what_cannot_be_started_says_why(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="http"):
        process.start({"default": "nowhere"}, tmp_path / "x.wb")
    assert not list(tmp_path.iterdir())


def test_a_full_disk_stops_no_traffic(upstream: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file may not grow beyond 256 kB; a body that does not compress does not fit."""
    troubles: list[str] = []
    code = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)"
    code += "; resource.setrlimit(resource.RLIMIT_FSIZE, (262144, 262144))"
    monkeypatch.setattr(children, "_BEGIN", f"{code}; {children._BEGIN}")
    recording = process.start({"default": upstream.url}, tmp_path / "x.wb", on_trouble=troubles.append)
    url = f"{recording.urls['default']}/whole"
    for _ in range(3):
        request = urllib.request.Request(url, os.urandom(200_000))
        with urllib.request.urlopen(request) as answer:
            assert answer.read() == 2 * EVENT
    recording.stop()
    assert len(troubles) == 1 and "cannot be written" in troubles[0]
    assert recording.summary["lost"] > 0
    assert all(e.state is not State.OPEN for e in look(tmp_path / "x.wb"))
