"""Exported commands and programs, run for good: a client, the recorder, and a provider on loopback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.formats.exporters import ExportSelection, curl, python, python_sdk
from workbench.formats.importers import open_input
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

NASTY = [
    b"it's \"quoted\" \\' \\\" '''\"\"\"", b"$(touch x) ${HOME} $1 `id` !history %s {0}", b"line\nline\r\n\ttab\n\n",
    "é 日本 \U0001f44d\U0001f3fd \u202e\u200b\xa0".encode(), b"\xff\xfe\x80\x00\x1b[2J", b"@/etc/passwd", b"-n", b"\\",
    b'{"a": [1, "x"], "b": {"c": "d\\u00e9"}}\n', b'{"x": "' + b"word " * 40_000 + b'"}', b"\x01" * 150_000, b"",
]  # fmt: skip


def drawn() -> list[bytes]:
    """The listed bodies, and those that Hypothesis draws: all of them in one run."""
    found = list(NASTY)

    @settings(max_examples=6, database=None)
    @given(st.binary(max_size=80) | st.text(max_size=80).map(lambda text: text.encode("utf-8", "surrogatepass")))
    def collect(body: bytes) -> None:
        found.append(body)

    collect()
    return found


def asked(path: str, body: bytes, answer: str = "application/json", *headers: tuple[str, str]) -> Exchange:
    """A request whose host nobody recorded: it is sent where BASE_URL points."""
    http = HttpRequest("POST", path, Headers((("content-type", "application/json"), *headers)), Body(body))
    return Exchange("1", http, HttpResponse(200, Headers((("content-type", answer),))))


def selection(*exchanges: Exchange) -> ExportSelection:
    return ExportSelection(Inspector(MemorySession("it", exchanges)), tuple(range(len(exchanges))))


MODEL_ANSWERS = {
    "/v1/messages": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
                     "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}},
    "/v1/chat/completions": {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": []},
    "/v1/responses": {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": []},
    "/v1beta/models/m:generateContent": {"candidates": []},
    "/api/chat": {"model": "m", "message": {"role": "assistant", "content": "hi"}, "done": True},
}  # fmt: skip


@pytest.fixture
def provider() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            path = self.path.partition("?")[0]
            streams = path == "/v1/messages" and "stream" in self.path
            made = (
                b'event: ping\ndata: {"type": "ping"}\n\n'
                if streams
                else json.dumps(MODEL_ANSWERS.get(path, {})).encode()
            )
            self.send_response(200)
            self.send_header("content-type", "text/event-stream" if streams else "application/json")
            self.send_header("content-length", str(len(made)))
            self.end_headers()
            self.wfile.write(made)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join()


def recorded(provider: str, folder: Path, script: str) -> list[tuple[str, bytes]]:
    """(path, body) of what the recorder saw of a shell script that finds it at BASE_URL."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "API_KEY": "the-key",
        "no_proxy": "*",
        "PYTHONWARNINGS": "ignore",
    }
    line = [sys.executable, "-m", "workbench", "record", "--upstream", f"anthropic={provider}", "--out", "seen.wb"]
    client = ["sh", "-ec", f'export BASE_URL="$ANTHROPIC_BASE_URL"\n{script}']
    done = subprocess.run([*line, "--", *client], cwd=folder, env=env, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    session = open_input(str(folder / "seen.wb"))
    requests = [session.exchange(n).request for n in range(len(session))]
    session.close()
    return [(r.url[len(r.url.split("/v1")[0].split("/api")[0]) :], r.body.raw) for r in requests if r]


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_the_recorder_sees_the_same_bodies(provider: str, tmp_path: Path) -> None:
    bodies = drawn()
    sent = selection(*(asked("/v1/any", body) for body in bodies))
    (tmp_path / "curl.sh").write_bytes(curl.write(sent).data)
    (tmp_path / "again.py").write_bytes(python.write(sent).data)
    seen = recorded(provider, tmp_path, f"sh curl.sh >/dev/null\n{sys.executable} again.py >/dev/null 2>&1")
    assert [body for _, body in seen] == bodies * 2


SDKS = [
    ("anthropic", asked("/v1/messages", b'{"model": "m",  "max_tokens": 1, "messages": [ ]}', "application/json",
                        ("x-api-key", "sk-ant-0123456789abcdef0"), ("anthropic-beta", "x-1"))),
    ("anthropic", asked("/v1/messages?stream", b'{"model": "m", "max_tokens": 1.0, "stream": true, "messages": []}\n',
                        "text/event-stream", ("authorization", "Bearer sk-ant-0123456789abcdef0"))),
    ("openai", asked("/v1/chat/completions", '{"model": "m", "user": "\\u00e9é", "messages": []}'.encode(),
                     "application/json", ("authorization", "Bearer sk-0123456789abcdefghij"))),
    ("openai", asked("/v1/responses", b'{"model":"m","input":"x" , "store": false}')),
    ("google.genai", asked("/v1beta/models/m:generateContent", b'{"contents": [ {"parts":[{"text":"x"}]}]}',
                           "application/json", ("x-goog-api-key", "AIza" + "x" * 35))),
    ("ollama", asked("/api/chat", b'{"model": "m", "stream": false, "messages": [ ]}')),
]  # fmt: skip


def test_the_sdks_of_the_providers_send_the_same_bodies(provider: str, tmp_path: Path) -> None:
    for package in {package for package, _ in SDKS}:  # to import them here, too, takes seconds
        if not find_spec(package.partition(".")[0]) or not find_spec(package):
            pytest.skip(f"{package} is not installed")
    for number, (_, exchange) in enumerate(SDKS):
        data = python_sdk.write(selection(exchange)).data
        assert b"0123456789abcdef" not in data and b"AIzax" not in data
        (tmp_path / f"sdk{number}.py").write_bytes(data)
    run = f'{sys.executable} -c "import runpy, sys; [runpy.run_path(p) for p in sys.argv[1:]]" sdk*.py >/dev/null'
    seen = recorded(provider, tmp_path, run)
    assert [body for _, body in seen] == [exchange.request.body.raw for _, exchange in SDKS if exchange.request]
    assert [path for path, _ in seen] == [exchange.request.url for _, exchange in SDKS if exchange.request]
