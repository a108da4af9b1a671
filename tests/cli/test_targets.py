"""``workbench targets``: where requests can be sent, and never a key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench import contracts
from workbench.send import local
from workbench.send.local import LocalServer

OWN = """
targets:
  gateway:
    base_url: https://gateway.example/v1
    protocol: openai-chat
    model: m-1
    key_variable: GATEWAY_KEY
    headers: {x-team: "${TEAM}"}
"""


@pytest.fixture
def own(own_home: Path) -> Path:
    path = own_home / ".config" / "workbench" / "targets.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(OWN)
    return path


def test_each_kind_is_listed(run: Run, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "sk-0123456789abcdef0123")
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    done = run("targets")
    assert done.status == 0 and not done.err and "0123456789" not in done.out
    assert all(f"  sim:{name}" in done.out for name in contracts.names())
    assert f"your own ({own})\n  gateway  https://gateway.example/v1  openai-chat · m-1 · GATEWAY_KEY (set)" in done.out
    assert "DEEPSEEK_API_KEY (not set)" in done.out and "on this machine" not in done.out


def test_json_says_the_same(run: Run, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GATEWAY_KEY", raising=False)
    told = json.loads(run("targets", "--format", "json").out)
    assert told["file"] == str(own) and told["local"] is None
    assert told["targets"] == [
        {
            "name": "gateway",
            "url": "https://gateway.example/v1",
            "protocols": ["openai-chat"],
            "model": "m-1",
            "profile": None,
            "key_variable": "GATEWAY_KEY",
            "key_set": False,
            "headers": ["x-team"],
        }
    ]
    assert {each["name"] for each in told["providers"]} >= {"anthropic", "openai", "deepseek", "gemini"}
    assert {each["name"] for each in told["simulators"]} == {f"sim:{name}" for name in contracts.names()}


@pytest.mark.parametrize(
    "there", [(), (LocalServer("vllm", "http://127.0.0.1:8000", ("a", "b", "c", "d"), ("openai-chat",)),)]
)
def test_servers_of_this_machine_when_asked_for(
    run: Run, there: tuple[LocalServer, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found() -> tuple[LocalServer, ...]:
        return there

    monkeypatch.setattr(local, "find_servers", found)
    done = run("targets", "--local")
    told = json.loads(run("targets", "--local", "--format", "json").out)["local"]
    if there:
        assert "  vllm  http://127.0.0.1:8000  openai-chat · a, b, c and 1 more\n" in done.out
        assert told == [
            {
                "server": "vllm",
                "url": "http://127.0.0.1:8000",
                "protocols": ["openai-chat"],
                "models": ["a", "b", "c", "d"],
            }
        ]
    else:
        assert "  no server responds on the default ports\n" in done.out and told == []


def test_a_file_that_is_not_right_is_one_line(run: Run, own: Path) -> None:
    own.write_text("targets: {a: {url: x}}")
    done = run("targets")
    assert done.status == 2 and not done.out
    assert done.err.startswith(f"workbench: {own}#/targets/a/url: unknown key 'url'; known: base_url, ")
