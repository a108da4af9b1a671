"""``workbench simulate``: one line, a provider, a line for each request, and a clean end."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench.wire.session.store import fsck, open_session

KEY = "sk-test-" + "0aB1" * 8
ORPHAN = {"role": "tool", "tool_call_id": "call_1", "content": "a"}


def post(client, messages):
    body = json.dumps({"model": "deepseek-v4-flash", "messages": messages})
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    client.request("POST", "/v1/chat/completions", body, headers)
    answer = client.getresponse()
    answer.read()
    return answer.status


def test_it_serves_until_interrupted_and_keeps_a_session(tmp_path: Path) -> None:
    out = tmp_path / "kept.wb"
    words = [sys.executable, "-m", "workbench", "simulate", "deepseek", "--out", str(out)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"at (http://127\.0\.0\.1:(\d+)) until ctrl-c", line)
        assert found, line
        assert f"OPENAI_BASE_URL={found[1]}/v1" in line and f"ANTHROPIC_BASE_URL={found[1]}/anthropic" in line
        client = http.client.HTTPConnection("127.0.0.1", int(found[2]))
        assert [post(client, [{"role": "user", "content": "hi"}]), post(client, [ORPHAN])] == [200, 400]
        client.close()
        process.send_signal(signal.SIGINT)
        rest, told = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, "")
    first, second = told.splitlines()
    assert first == "workbench: POST /v1/chat/completions 200"
    assert second.startswith("workbench: POST /v1/chat/completions 400 closure.orphan-result /messages/0")
    assert not fsck(out).problems and KEY not in out.read_bytes().decode("latin-1")
    with_status = open_session(out)
    assert [row.status for row in with_status.summaries()] == [200, 400]
    with_status.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody",), "no contract named 'nobody'"),
        (("deepseek:v9",), "contract 'deepseek' has no variant 'v9'"),
        (("openai", "--calls", "morse"), "calls: 'morse' is not known"),
        (("openai", "--http", "twice"), "not an HTTP fault: 'twice'"),
        (("openai", "--retry-after", "1"), "retry-after can only be used together with http"),
        (("openai", "--out", "a.jsonl"), "cannot record to a.jsonl"),
    ],
)
def test_what_cannot_be_served_is_one_line(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run("simulate", *words)
    assert (done.status, done.out) == (2, "")
    assert done.err.count("\n") == 1 and said in done.err


def test_a_script_that_is_none_says_where(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "turns.yaml"
    script.write_text("version: 1\nturns: [{match: {txt: a}}]")
    done = run("simulate", "openai", "--script", script)
    assert done.status == 2 and "turns.yaml#/turns/0/match" in done.err and done.err.count("\n") == 1
    for option in ("--script", "--known"):
        missing = run("simulate", "openai", option, tmp_path / "none")
        assert missing.status == 2 and missing.err.count("\n") == 1


def test_what_is_known_has_to_hold_answers(run: Run, tmp_path: Path) -> None:
    asked = tmp_path / "known"
    for text in (json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}), "some notes"):
        asked.write_text(text)
        done = run("simulate", "openai", "--known", asked)
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert "known contains no response of a model" in done.err


def test_a_port_that_is_taken(run: Run) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("simulate", "openai", "--port", taken.getsockname()[1])
    assert done.status == 4 and "in use" in done.err


def test_help_shows_a_script_that_can_be_read(run: Run) -> None:
    from workbench.simulator import read_script

    text = run("simulate", "--help").out
    start = text.index("  version: 1")
    script = "\n".join(line[2:] for line in text[start : text.index("The keys of dials")].splitlines())
    assert len(read_script(script, "help").turns) == 1
    assert "double-encoded" in text and "split-utf8" in text
