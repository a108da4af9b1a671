"""Who sends requests, by the words of real clients."""

from __future__ import annotations

import pytest

from workbench import contracts
from workbench.protocols.clients.known_clients import CLIENTS, PROVIDERS, SDKS, client_for, client_of


@pytest.mark.parametrize(
    ("agent", "client"),
    [
        ("claude-cli/2.1.329 (external, cli)", "Claude Code 2.1.329"),
        ("codex_exec/0.169.0 (Debian 12.0.0; x86_64) unknown", "Codex 0.169.0"),
        ("codex_cli_rs/0.30.0", "Codex 0.30.0"),
        ("QwenCode/0.24.4 (linux; x64)", "Qwen Code 0.24.4"),
        ("opencode/1.18.33 ai-sdk/provider-utils/3.0.9 runtime/bun/1.3.0", "OpenCode 1.18.33"),
        ("ai-sdk/openai-compatible/1.0.1 opencode/1.0", "OpenCode 1.0"),
        ("GeminiCLI/0.61.0/gemini-3-pro (linux; x64)", "Gemini CLI 0.61.0"),
        ("Anthropic/Python 2.11.0", "Anthropic SDK for Python 2.11.0"),
        ("AsyncAnthropic/Python 2.11.0", "Anthropic SDK for Python 2.11.0"),
        ("Anthropic/JS 0.73.0", "Anthropic SDK for JavaScript 0.73.0"),
        ("AsyncOpenAI/Python 3.52.0", "OpenAI SDK for Python 3.52.0"),
        ("OpenAI/JS 6.1.0", "OpenAI SDK for JavaScript 6.1.0"),
        ("google-genai-sdk/3.4.0 gl-python/3.11.2", "Google Gen AI SDK 3.4.0"),
        ("pi/0.73.1", "pi 0.73.1"),
        ("python-httpx/0.28.1", "python-httpx/0.28.1"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("pip/24.0", "pip/24.0"),
        ("", ""),
        ("\x1b[31mred", ""),
        ("x" * 5000, "x" * 60),
    ],
)
def test_who_it_is(agent: str, client: str) -> None:
    assert client_of(agent) == client


@pytest.mark.parametrize(
    ("agent", "client"),
    [("Anthropic/JS 0.91.1", "pi"), ("claude-cli/2.1.0", "Claude Code 2.1.0"), ("curl/8.5.0", "curl/8.5.0")],
)
def test_behind_a_library_is_who_was_started(agent: str, client: str) -> None:
    assert client_of(agent, "pi") == client


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("claude", "Claude Code"),
        ("/opt/bin/codex", "Codex"),
        ("./pi", "pi"),
        ("python3", "the SDKs"),
        ("aider", "aider"),
    ],
)
def test_a_client_is_known_by_its_command(command: str, name: str) -> None:
    assert client_for(command).name == name


def test_a_client_goes_where_the_contract_of_its_provider_says() -> None:
    assert {name: contracts.read(name).endpoints[0].url for name in PROVIDERS} == PROVIDERS


@pytest.mark.parametrize("client", [*CLIENTS, SDKS], ids=lambda c: c.name)
def test_every_client_goes_somewhere(client: object) -> None:
    assert isinstance(client, type(SDKS))
    assert client.reaches() and set(client.reaches()) <= set(PROVIDERS)
