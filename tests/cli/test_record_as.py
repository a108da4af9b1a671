"""``workbench record --as``: a client of another protocol, recorded on both sides of the adapter."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench.cli._record import translation
from workbench.protocols.clients.known_clients import client_for
from workbench.wire.exchange import Exchange
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import open_session

CLIENT = """
import json, os, urllib.request
schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
said = [{"role": "user", "content": "what is here?"}]
for _ in range(2):
    asked = {"model": "claude-x", "max_tokens": 900, "messages": said,
             "tools": [{"name": "list_dir", "description": "List a folder", "input_schema": schema}]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(asked).encode(),
                                     {"content-type": "application/json", "x-api-key": os.environ["ANTHROPIC_API_KEY"]})
    content = json.load(urllib.request.urlopen(request))["content"]
    print([block["type"] for block in content])
    results = [{"type": "tool_result", "tool_use_id": block["id"], "content": "a b"}
               for block in content if "id" in block]
    said += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-mine-0123456789")
    return tmp_path


def body(exchange: Exchange) -> dict[str, object]:
    assert exchange.request
    value: dict[str, object] = json.loads(exchange.request.body.raw)
    return value


def test_a_client_of_another_protocol_is_recorded_on_both_sides(home: Path) -> None:
    words = ("--as", "openai-chat", "--model", "deepseek-v4-flash", "--upstream", "sim:deepseek", "--hop", "here")
    command = [sys.executable, "-m", "workbench", "record", *words, "--out", str(home / "a.wb"), "--"]
    done = subprocess.run([*command, sys.executable, "-c", CLIENT], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["['thinking', 'tool_use']", "['thinking', 'text']"]
    assert "→ sim:deepseek" in done.stderr and "changed in translation: conversion 4, handle 3" in done.stderr
    session = open_session(home / "a.wb")
    first, one, second, two = exchanges_of(session)
    session.close()
    assert [each.hop for each in (first, one, second, two)] == ["here:client", "here:upstream"] * 2
    assert (one.parent, two.parent) == (first.id, second.id)
    assert two.branch == "anthropic-messages to openai-chat at deepseek" and "reasoning: restored" in two.note
    assert body(two)["messages"][1]["reasoning_content"] and b"workbench:" not in two.request.body.raw  # type: ignore[index,union-attr]
    assert body(second)["messages"][1]["content"][0]["signature"].startswith("workbench:")  # type: ignore[index]
    assert "key-of-mine" not in (home / "a.wb").read_bytes().decode("latin-1")


def test_a_simulator_answers_in_the_protocol_of_the_client(home: Path) -> None:
    """Once on the way: nothing is translated."""
    command = [sys.executable, "-m", "workbench", "record", "--upstream", "sim:anthropic", "--out", str(home / "a.wb")]
    done = subprocess.run([*command, "--", sys.executable, "-c", CLIENT], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "→ sim:anthropic" in done.stderr and "--as" not in done.stderr
    session = open_session(home / "a.wb")
    first, second = exchanges_of(session)
    session.close()
    assert (first.hop, second.hop) == ("", "") and first.request and "/v1/messages" in first.request.url


@pytest.mark.parametrize(
    ("upstreams", "command", "spoken"),
    [
        (["sim:anthropic"], "claude", ""),
        (["sim:qwen"], "claude", ""),
        (["sim:gemini"], "claude", "gemini"),
        (["a=sim:qwen", "b=sim:deepseek"], "gemini", "openai-chat"),
        (["sim:gemini"], "python", ""),
        (["sim:gemini", "https://api.example"], "claude", ""),
        ([], "claude", ""),
    ],
)
def test_a_known_client_is_translated_where_the_simulator_does_not_speak_its_protocol(
    upstreams: list[str], command: str, spoken: str
) -> None:
    assert translation.choose(Namespace(upstream=upstreams), client_for(command)) == spoken


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--as", "nonsense", "--upstream", "sim:deepseek"], "no protocol named 'nonsense'"),
        (["--as", "openai-chat"], "--as needs an upstream"),
        (["--as", "openai-chat", "--upstream", "nowhere"], "no target named 'nowhere'"),
        (["--as", "openai-chat", "--upstream", "sim:qwen", "sim:kimi"], "two upstreams without a name"),
        (["--as", "openai-chat", "--upstream", "sim:qwen", "--correct", "weather"], "no correction named 'weather'"),
        (["--model", "m"], "--model needs --as"),
        (["--no-correct", "serial-calls"], "--no-correct needs --as"),
        (["--profile", "none"], "--profile needs --as"),
    ],
)
def test_words_that_cannot_be(run: Run, home: Path, words: list[str], says: str) -> None:
    result = run("record", *words, "--", "true")
    assert result.status == 2 and says in result.err
