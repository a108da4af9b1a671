"""Breakpoints on the way to a tool server: a tap and a relay hold a call and its result for a person."""

from __future__ import annotations

import json
import random
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.recorder.test_mcp_tap import python, tap, written
from workbench.cli._record.breakpoint_lines import announcer
from workbench.errors import WorkbenchError
from workbench.recorder import process
from workbench.recorder.breakpoints.kinds import parse
from workbench.recorder.breakpoints.remote import Pause, Recorders, Remote
from workbench.recorder.mcp_tap import reporting_pauses
from workbench.recorder.mcp_tap.events import GONE, HELD_RECEIVED, HELD_SENT, RECEIVED, SENT
from workbench.recorder.mcp_tap.held_lines import HeldLines, PassedStream
from workbench.recorder.mcp_tap.pauses import TapPauses
from workbench.simulator import serve_tools
from workbench.simulator._tool_server import VERSIONS, ToolRecording
from workbench.wire import TOOL_HOP
from workbench.wire.exchange import Exchange, State
from workbench.wire.session import exchanges_of, open_session

Act = Callable[[Remote, int], object]

ECHO = """
import json, sys
def answer(asked):
    given = json.dumps(asked.get("params", {}).get("arguments"), ensure_ascii=False)
    said = {"content": [{"type": "text", "text": given}]}
    return {"jsonrpc": "2.0", "id": asked["id"], "result": said}
for line in sys.stdin:
    asked = json.loads(line)
    said = [answer(each) for each in asked] if isinstance(asked, list) else answer(asked)
    print(json.dumps(said), flush=True)
"""


def decide(out: Path, act: Act) -> Pause:
    """The next pause of a session, once something is decided on it."""
    wait = threading.Event()
    while True:
        try:
            recorders = Recorders(out)
        except WorkbenchError:
            wait.wait(0.02)
            continue
        with recorders:
            pause = recorders.wait(60)
            assert pause
            act(*recorders.find_pause(str(pause["id"])))
            return pause


def call(id_: int, name: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def told(answer: Any) -> tuple[int, Any]:
    return answer["id"], json.loads(answer["result"]["content"][0]["text"])


class Client:
    """A client of one tapped server."""

    def __init__(self, out: Path, *words: str) -> None:
        line = tap(out, *python(ECHO))
        at = line.index("--")
        self.process = subprocess.Popen([*line[:at], *words, *line[at:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.out = out

    def send(self, id_: int, name: str, **arguments: Any) -> None:
        self.write(call(id_, name, **arguments))

    def write(self, message: object) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        """Id and told arguments of the next response; of a batch, of each of them."""
        assert self.process.stdout
        said = json.loads(self.process.stdout.readline())
        return [told(each) for each in said] if isinstance(said, list) else told(said)

    def decide(self, act: Act) -> Pause:
        return decide(self.out, act)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]

    def end(self) -> list[Exchange]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        assert self.process.wait(60) == 0
        self.process.stdout.close()
        return written(self.out)


@contextmanager
def ended(client: Client) -> Iterator[Client]:
    """A client that is over at the end."""
    try:
        yield client
    finally:
        client.kill()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with ended(Client(tmp_path / "s.wb", "--break", "mcp:my server/held")) as client:
        yield client


def test_a_call_and_its_result_are_held_edited_and_answered_while_others_pass(client: Client) -> None:
    client.send(1, "held", a=1)
    client.send(2, "free", b=2)
    assert client.receive() == (2, {"b": 2})

    def edit(remote: Remote, number: int) -> None:
        remote.edit(number, remote.body(number).replace(b'{"a": 1}', b'{\n"a": 9}'))

    pause = client.decide(edit)
    assert (pause["side"], pause["method"], pause["deeds"]) == (
        "request", "tools/call", ["continue", "edit", "answer", "drop"])  # fmt: skip
    pause = client.decide(Remote.resume)
    assert (pause["side"], pause["sent"]) == ("response", 0)
    assert client.receive() == (1, {"a": 9})

    client.send(3, "held", a=1)
    client.decide(lambda remote, number: remote.answer(number, "recording"))
    assert client.receive() == (3, {"a": 9})
    client.send(4, "held", a=4)
    client.decide(lambda remote, number: (remote.drop(number), remote.disarm("all")))
    client.send(5, "held", a=5)
    assert client.receive() == (5, {"a": 5})

    _, *calls = client.end()
    notes = {call.id.rpartition(".")[2]: call for call in calls}
    assert "edited" in notes["1"].note and "answered by recording" in notes["3"].note
    assert "dropped" in notes["4"].note and notes["4"].state is State.ABORTED
    (child,) = (call for call in calls if call.branch)
    assert child.parent == notes["1"].id and child.request and b'"a": 9' in child.request.body.raw
    assert notes["1"].request and b'"a": 1' in notes["1"].request.body.raw


def test_of_a_batch_each_call_is_decided_alone_and_each_pause_is_a_line_on_stderr(tmp_path: Path) -> None:
    lines: list[str] = []
    out = tmp_path / "s.wb"
    with (
        reporting_pauses(out, announcer(out, lines.append)),
        ended(Client(out, "--break", "mcp:my server/held")) as client,
    ):
        client.send(0, "held", a=0)
        client.decide(Remote.drop)
        client.write([call(n, "free" if n == 2 else "held", a=n) for n in range(1, 6)])
        for act in (
            lambda remote, n: remote.edit(n, remote.body(n).replace(b'"a": 1', b'"a": 9')),
            Remote.drop,
            Remote.resume,
            lambda remote, n: (remote.disarm("all"), remote.drop(n)),  # in this order: the response would be held, too
        ):
            client.decide(act)
        assert client.receive() == [(1, {"a": 9}), (2, {"a": 2}), (4, {"a": 4})]
        connection, *calls = client.end()
    assert {f"pause {n}: request" for n in range(1, 6)} | {"pause 2: edited", "pause 3: dropped"} <= {
        line.partition(",")[0] for line in lines
    }
    assert all(f"workbench breakpoints {client.out} --continue" in line for line in lines if "request," in line)
    assert [each.state is State.COMPLETE for each in calls if not each.branch] == [
        False,
        True,
        True,
        False,
        True,
        False,
    ]
    (child,) = (each for each in calls if each.branch)
    assert child.request and b'"a": 9' in child.request.body.raw and child.parent == f"{connection.id}.2"


def test_at_damage_only_a_harmful_message_is_held(tmp_path: Path) -> None:
    client = Client(tmp_path / "s.wb", "--break", "mcp-damage")
    try:
        client.send(1, "t", text="fine")
        assert client.receive() == (1, {"text": "fine"})
        client.send(2, "t", text="hidden \u2066text")
        pause = client.decide(lambda remote, number: None)
        assert (pause["side"], [reason["rule"] for reason in pause["reasons"]]) == ("response", ["mcp.hidden-text"])
        client.process.stdin.close()  # type: ignore[union-attr]
        assert client.receive() == (2, {"text": "hidden \u2066text"}), "the client leaves: nothing is held any more"
    finally:
        client.kill()


def test_over_http_a_call_and_its_result_are_held(tmp_path: Path) -> None:
    kept = ToolRecording("w", lists={"tools/list": {"held": {"name": "held", "inputSchema": {"type": "object"}}}})
    kept.results["tools/call", "held", b'{"a":1}'] = [{"result": {"content": [{"type": "text", "text": "one"}]}}]
    said: list[bytes] = []

    def post(url: str, **message: Any) -> str:
        headers = {"content-type": "application/json", **session}
        request = Request(url, json.dumps({"jsonrpc": "2.0", **message}).encode(), headers)
        with urlopen(request, timeout=60) as answer:
            said.append(answer.read())
            return str(answer.headers["mcp-session-id"])

    with serve_tools(kept) as url:
        origin, path = url[: -len("/mcp")], "/mcp"
        recorder = process.start({"w": origin}, tmp_path / "s.wb", hop=TOOL_HOP, breaks=["mcp:w/held"])
        try:
            session: dict[str, str] = {}
            here = recorder.urls["w"] + path
            session = {"mcp-session-id": post(here, id=0, method="initialize", params={"protocolVersion": VERSIONS[0]})}
            call = {"id": 1, "method": "tools/call", "params": {"name": "held", "arguments": {"a": 2}}}
            asking = threading.Thread(target=post, args=(here,), kwargs=call)
            asking.start()
            sides = [
                decide(tmp_path / "s.wb", act)["side"]
                for act in (
                    lambda remote, n: remote.edit(n, remote.body(n).replace(b'"a": 2', b'"a": 1')),
                    lambda remote, n: remote.edit(n, remote.body(n).replace(b"one", b"two")),
                )
            ]
            asking.join(60)
        finally:
            recorder.stop()
    assert sides == ["request", "response"]
    assert b"two" in said[-1]
    with closing(open_session(tmp_path / "s.wb")) as recorded:
        found = list(exchanges_of(recorded))
    assert sorted(exchange.branch for exchange in found) == ["", "", "edited at a breakpoint"]


@contextmanager
def older_server() -> Iterator[str]:
    """A tool server with the HTTP+SSE transport: each call is answered on the stream, with its arguments."""
    events: SimpleQueue[bytes] = SimpleQueue()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            while event := events.get():
                self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            self.wfile.write(b"0\r\n\r\n")

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            assert self.path == "/messages?sessionId=1"
            text = json.dumps(asked["params"]["arguments"])
            said = {"jsonrpc": "2.0", "id": asked["id"], "result": {"content": [{"type": "text", "text": text}]}}
            whole = b"event: message\nid: 7\ndata: " + json.dumps(said).encode() + b"\n\n"
            events.put(whole[:30])
            events.put(whole[30:])
            self.send_response(202)
            self.send_header("content-length", "8")
            self.end_headers()
            self.wfile.write(b"Accepted")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    events.put(b"event: endpoint\ndata: /messages?sessionId=1\n\n")
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        events.put(b"")
        server.shutdown()
        server.server_close()


def test_over_the_older_transport_responses_on_the_stream_are_held(tmp_path: Path) -> None:
    out = tmp_path / "s.wb"

    def ask(id_: int, name: str, *acts: Act, a: int) -> list[Pause]:
        body = json.dumps(call(id_, name, a=a)).encode()
        asked = Request(f"{root}/messages?sessionId=1", body, {"content-type": "application/json"})
        asking = threading.Thread(target=lambda: said.append(urlopen(asked, timeout=60).read()))
        asking.start()
        pauses = [decide(out, act) for act in acts]
        asking.join(60)
        return pauses

    def event() -> Any:
        lines = [*iter(stream.readline, b"\n")]
        return lines[:-1], told(json.loads(lines[-1].removeprefix(b"data: ")))

    said: list[bytes] = []
    with older_server() as origin:
        breaks = ["mcp:w/held"]
        recorder = process.start({"w": origin, "other": origin}, out, hop=TOOL_HOP, breaks=breaks)
        root = recorder.urls["w"].removesuffix("/w")
        try:
            stream = urlopen(Request(f"{recorder.urls['w']}/sse", headers={"accept": "text/event-stream"}), timeout=60)
            assert [stream.readline() for _ in range(3)][1] == b"data: /messages?sessionId=1\n"
            pauses = ask(1, "held", Remote.resume, lambda r, n: r.edit(n, r.body(n).replace(b"1}", b"2}")), a=1)
            assert [(each["side"], each["method"], each["sent"]) for each in pauses] == [
                ("request", "POST", 0), ("response", "POST", 0)]  # fmt: skip
            assert event() == ([b"event: message\n", b"id: 7\n"], (1, {"a": 2}))
            ask(2, "held", lambda r, n: r.answer(n, "recording"), a=1)
            assert event() == ([b"event: message\n"], (2, {"a": 1})), "what the server said, on the stream"
            ask(3, "held", Remote.resume, Remote.drop, a=3)
            ask(4, "free", a=4)
            assert event()[1] == (4, {"a": 4})
        finally:
            recorder.stop()
    assert said == [b"Accepted", b"", b"Accepted", b"Accepted"]
    with closing(open_session(out)) as recorded:
        found = list(exchanges_of(recorded))
    whole = next(each for each in found if each.request and each.request.method == "GET")
    assert "the response was edited" in whole.note and "dropped" in whole.note
    asked = [each for each in found if each.request and each.request.method == "POST"]
    first, third = (each for each in asked if each.branch)
    assert first.response and b"1}" in first.response.body.raw and third.response and b"3}" in third.response.body.raw
    assert [each.parent for each in (first, third)] == [asked[0].id, [each for each in asked if not each.branch][2].id]


@pytest.mark.parametrize("seed", range(4))
def test_streams_pass_every_byte_in_order_whatever_is_armed_between(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random cuts, lines and moments of arming; every held line is let go at a random later moment."""
    dice = random.Random(seed)
    kinds = [b'{"method":"tools/call","id":%d}', b'{"result":%d}', b"log %d", b""]
    lines = [dice.choice(kinds) for _ in range(400)]
    lines = [line % n if b"%d" in line else line for n, line in enumerate(lines)]
    given = b"\n".join(lines) + dice.choice([b"", b"\n"])
    passed = {7: bytearray(), 8: bytearray()}
    monkeypatch.setattr("workbench.recorder.mcp_tap.held_lines.os.write", lambda t, d: passed[t].extend(d) or len(d))
    noted = bytearray()
    waiting: list[int] = []

    def note(kind: int, data: bytes) -> None:
        if kind in (HELD_SENT, HELD_RECEIVED):
            number, _, _ = data.partition(b"\n")
            waiting.append(int(number))
        elif kind == RECEIVED:
            noted.extend(data)
        assert kind != GONE

    sent, received = PassedStream(7, SENT, note), PassedStream(8, RECEIVED, note)
    held = HeldLines(sent, received, note, is_armed=False)
    at = 0
    while at < len(given):
        end = at + dice.choice([1, 3, 17, 200])
        received.take(given[at:end])
        at = end
        if dice.random() < 0.2:
            held.hear(b'{"armed": %s}' % dice.choice([b"true", b"false"]))
        if waiting and dice.random() < 0.3:
            held.hear(b'{"line": %d}' % waiting.pop(dice.randrange(len(waiting))))
    for number in waiting:
        held.hear(b'{"line": %d}' % number)
    held.hear(b'{"armed": false}')
    assert bytes(noted) == bytes(passed[8])
    assert sorted(bytes(passed[8]).split(b"\n")) == sorted(given.split(b"\n"))


def test_a_line_passes_when_nobody_judges_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Mapping[str, Any]] = []
    monkeypatch.setattr("workbench.recorder.mcp_tap.pauses.send_line", said.append)
    pauses = TapPauses("r", tmp_path / "s.wb", [], lambda _: None)
    pauses.close()
    pauses.take(7, "request", b"{}\n", ())
    pauses.leave(7)
    pauses.close()
    assert said == [{"line": 7}]


def test_names_of_breakpoints_on_tools() -> None:
    (server,), (tool,) = parse("mcp:files"), parse("mcp:files/read")
    assert not server.sides and server.tool_sides == tool.tool_sides == {"request", "response"}
    assert any(each.tool_sides for each in parse("all"))
