"""``workbench record``: a client started, recorded, and its end handed on."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import record_anthropic as messages
from tests import record_openai as chat
from tests.cli.conftest import Run
from workbench.cli import main
from workbench.library import home_sections
from workbench.wire.exchange import Exchange, Origin, State
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import fsck, open_session

KEY = "sk-test-" + "0aB1" * 8


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No client's variable of the developer's reaches a test, and no state is left behind."""
    for name in list(os.environ):
        if name.endswith(("_BASE_URL", "_API_BASE", "_API_KEY")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return tmp_path


def record(*words: object) -> tuple[int, str, str]:
    """The command in a process of its own, as people run it."""
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "record", *map(str, words)], capture_output=True, text=True, timeout=100
    )
    return done.returncode, done.stdout, done.stderr


RecordHere = Callable[..., tuple[int, str, str]]


@pytest.fixture
def record_here(capfd: pytest.CaptureFixture[str]) -> RecordHere:
    """The command in this process, and what it and its client wrote."""

    def record(*words: object) -> tuple[int, str, str]:
        status = main(["record", *map(str, words)])
        return status, *capfd.readouterr()

    return record


def recorded(path: Path) -> list[Exchange]:
    assert not fsck(path).problems
    session = open_session(path)
    try:
        return list(exchanges_of(session))
    finally:
        session.close()


SCRIPTS = {
    "anthropic": """
import anthropic
from tests.record_anthropic import loop
client = anthropic.Anthropic(max_retries=0)
def streamed(**words):
    with client.messages.stream(**words) as stream:
        return stream.get_final_message()
loop(client.messages.create)
loop(streamed)
print("done")
""",
    "openai": """
import openai
from tests.record_openai import loop
client = openai.OpenAI(max_retries=0)
def streamed(**words):
    with client.chat.completions.stream(**words) as stream:
        return stream.get_final_completion().choices[0].message
loop(lambda **words: client.chat.completions.create(**words).choices[0].message)
loop(streamed)
print("done")
""",
}
ANSWERS = {
    sdk: [answer for name in ("loop-whole", "loop-stream") for answer in scenarios[name][1]]
    for sdk, scenarios in (("anthropic", messages.SCENARIOS), ("openai", chat.SCENARIOS))
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("sdk", SCRIPTS)
def test_an_sdk_is_recorded_byte_for_byte(sdk: str, tmp_path: Path, run: Run) -> None:
    """A tool loop of two turns, whole and streamed."""
    if not find_spec(sdk):  # to import it here, too, takes seconds
        pytest.skip(f"{sdk} is not installed")
    script, out = tmp_path / "agent.py", tmp_path / "live.wb"
    root = Path(__file__).resolve().parents[2]
    script.write_text(f"import sys; sys.path.insert(0, {str(root)!r})\n{SCRIPTS[sdk]}", encoding="utf-8")
    upstream = messages.Upstream(ANSWERS[sdk])
    status, printed, said = record("--upstream", upstream.url, "--out", out, "--", sys.executable, script)
    upstream.server.shutdown()
    upstream.server.server_close()
    assert (status, printed) == (0, "done\n"), said
    exchanges = recorded(out)
    assert [e.request and e.request.body.raw for e in exchanges] == upstream.asked
    assert [e.response and e.response.body.raw for e in exchanges] == upstream.answered
    assert {e.state for e in exchanges} == {State.COMPLETE}
    assert {e.origin for e in exchanges} == {Origin.RECORDED}
    assert all("SDK for Python" in e.client for e in exchanges)
    assert KEY.encode() not in out.read_bytes()
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert f"4 exchanges in {out}" in said
    assert f"workbench open {out}" in said
    assert out in {item.path for section in home_sections.all_sections() for item in section.items}
    assert run("check", out).status == 0


def python(code: str) -> Sequence[str]:
    return ("--", sys.executable, "-c", code)


def test_stdout_is_the_clients_and_stderr_says_what_was_set() -> None:
    status, printed, said = record(*python("import os; print(os.environ['ANTHROPIC_BASE_URL'])"))
    assert status == 0
    assert printed.startswith("http://127.0.0.1:") and printed.count("\n") == 1
    assert f"ANTHROPIC_BASE_URL={printed.strip()}" in said
    assert "https://api.anthropic.com" in said
    assert "0 exchanges" in said


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("raise SystemExit(7)", 7),
        ("import os; os.kill(os.getpid(), 15)", 143),
        ("import os; os.kill(os.getpid(), 9)", 137),
    ],
)
def test_the_clients_end_is_the_end(code: str, status: int, record_here: RecordHere) -> None:
    assert record_here(*python(code))[0] == status


def test_an_empty_recording_that_nobody_named_is_not_kept(tmp_path: Path, record_here: RecordHere) -> None:
    record_here(*python(""))
    assert not list((tmp_path / "state" / "workbench" / "recordings").iterdir())


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_are_the_clients(number: signal.Signals, status: int) -> None:
    """SIGTERM to us is passed on; ctrl-c reaches the whole foreground group."""
    waiting = "import signal, sys; signal.signal(2, signal.SIG_DFL); print('ready', flush=True); signal.pause()"
    with subprocess.Popen(
        [sys.executable, "-m", "workbench", "record", *python(waiting)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout and process.stdout.readline() == b"ready\n"
        if number is signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == status
    assert b"0 exchanges" in said
    assert b"does the client read" not in said


@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN], ids=["in front", "in the background"])
def test_without_a_command_the_addresses_are_printed_until_interrupted(
    tmp_path: Path, handler: signal.Handlers
) -> None:
    before = signal.signal(signal.SIGINT, handler)  # a shell has its jobs in the background ignore it
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "record", "--out", str(tmp_path / "a.wb")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    signal.signal(signal.SIGINT, before)
    with process:
        assert process.stdout
        lines = list(_until(process.stdout, "aider:"))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert any(line.startswith("Claude Code: ANTHROPIC_BASE_URL=http://127.0.0.1:") for line in lines)
    assert any("openai_base_url" in line for line in lines)
    assert "0 exchanges" in said
    assert not recorded(tmp_path / "a.wb")


def test_a_recorder_that_dies_is_no_success(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "workbench", "record", "--out", str(tmp_path / "a.wb")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        list(_until(process.stdout, "aider:"))
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not children.exists():
            process.terminate()
            pytest.skip("the system does not say whose children are whose")
        os.kill(int(children.read_text().split()[0]), signal.SIGKILL)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, "ended early" in said) == (4, True)


def _until(lines: Iterator[str], beginning: str) -> Iterator[str]:
    for line in lines:
        yield line
        if line.startswith(beginning):
            return


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (("--", "no-such-client"), 127, "command not found"),
        (("--", "./mine.wb"), 126, "not executable"),
        (("--upstream", "ftp://x", "--", "true"), 2, "http"),
        (("--upstream", "qwen", "--", "true"), 2, "--as PROTOCOL"),
        (("--upstream", "sim:nobody", "--", "true"), 2, "nobody"),
        (("--upstream", "https://a.example", "https://b.example", "--", "true"), 2, "two upstreams"),
        (("--upstream", "a=https://a.example", "a=https://b.example", "--", "true"), 2, "named 'a'"),
        (("--upstream", "https://key@a.example", "--", "true"), 2, "user"),
        (("--out", "mine.wb", "--", "true"), 2, "not a recorded session"),
        (("--out", "new.jsonl", "--", "true"), 2, ".wb"),
        (("--out", "mine.wb/x.wb", "--", "true"), 4, "mine.wb"),
        (("--port", "{taken}", "--", "true"), 2, "{taken}"),
        (("--port", "{free}", "--upstream", "http://localhost:{free}", "--", "true"), 2, "this recorder itself"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_is_one_line(
    words: tuple[str, ...], status: int, reason: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.wb").write_text("precious", encoding="utf-8")
    with socket.socket() as taken, socket.socket() as free:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        free.bind(("127.0.0.1", 0))
        ports = {"taken": taken.getsockname()[1], "free": free.getsockname()[1]}
        free.close()
        done = run("record", *(word.format(**ports) for word in words))
        assert reason.format(**ports) in done.err
    assert (done.status, done.out, done.err.count("\n")) == (status, "", 1)
    assert (tmp_path / "mine.wb").read_text(encoding="utf-8") == "precious"
    assert [p.name for p in tmp_path.iterdir() if p.suffix in (".wb", ".jsonl")] == ["mine.wb"]


def test_it_is_said_that_nothing_points_the_client_to_names_nobody_knows(record_here: RecordHere) -> None:
    words = ("--upstream", "a=http://127.0.0.1:9", "--upstream", "b=http://127.0.0.1:9", "--", sys.executable, "-c", "")
    assert f"{sys.executable} gets no URL: name an upstream anthropic, openai, gemini" in record_here(*words)[2]


def test_a_bad_port_is_usage(run: Run) -> None:
    assert run("record", "--port", "99999").status == 2


def test_the_clients_own_variable_says_where_requests_go(
    record_here: RecordHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream = messages.Upstream([{"id": "x"}])
    monkeypatch.setenv("OPENAI_BASE_URL", f"{upstream.url}/api/v9")
    code = (
        "import os, urllib.request as u\n"
        "print(u.urlopen(u.Request(os.environ['OPENAI_BASE_URL'] + '/chat/completions', b'{}')).read().decode())"
    )
    status, printed, said = record_here(*python(code))
    upstream.server.shutdown()
    upstream.server.server_close()
    assert (status, json.loads(printed)) == (0, {"id": "x"}), said
    assert f"{upstream.url}/api/v9" in said


def test_a_client_that_accepts_nothing_but_tls(home: Path) -> None:
    client = (
        "import os, urllib.request\n"
        "url = os.environ['OPENAI_BASE_URL']\n"
        "print(url[:8], urllib.request.urlopen(url).read())\n"
    )
    out = home / "tls.wb"
    with socket.create_server(("127.0.0.1", 0)) as upstream:

        def serve() -> None:
            with upstream.accept()[0] as taken:
                taken.recv(9999)
                taken.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"openai=http://127.0.0.1:{upstream.getsockname()[1]}"
        done = record("--tls-listen", "--upstream", url, "--out", out, "--", sys.executable, "-c", client)
        thread.join()
    assert done[:2] == (0, "https:// b'ok'\n"), done[2]
    assert "SSL_CERT_FILE=" in done[2]
    (exchange,) = recorded(out)
    assert exchange.response and exchange.response.body.raw == b"ok"


def test_a_translation_has_no_tls_listener(run: Run) -> None:
    done = run("record", "--tls-listen", "--upstream", "sim:gemini-live", "--", sys.executable, "-c", "")
    assert done.status == 2 and "--tls-listen works only with URLs" in done.err
