"""What is set so that a client talks to the recorder."""

from __future__ import annotations

import json

import pytest

from workbench.errors import UsageError
from workbench.protocols.clients.known_clients import client_for
from workbench.recorder.client_settings import ClientSettings, default_upstreams, parse_upstreams, settings_for

HERE = "http://127.0.0.1:8100"


def pointed(command: str, upstreams: dict[str, str], environ: dict[str, str] | None = None) -> ClientSettings:
    urls = {name: HERE if len(upstreams) == 1 else f"{HERE}/{name}" for name in upstreams}
    return settings_for(client_for(command), upstreams, urls, environ or {})


@pytest.mark.parametrize(
    ("given", "upstreams"),
    [
        (["https://a.example"], {"default": "https://a.example"}),
        (["openai=https://a.example/v1"], {"openai": "https://a.example/v1"}),
        (["a=http://127.0.0.1:1", "b=http://127.0.0.1:2"], {"a": "http://127.0.0.1:1", "b": "http://127.0.0.1:2"}),
        (["https://a.example/x=http://y"], {"default": "https://a.example/x=http://y"}),
        (["nonsense"], {"default": "nonsense"}),
        ([], {}),
    ],
)
def test_upstreams_as_they_are_written(given: list[str], upstreams: dict[str, str]) -> None:
    assert parse_upstreams(given) == upstreams


@pytest.mark.parametrize("given", [["http://a", "http://b"], ["a=http://a", "a=http://b"]])
def test_one_name_for_two_is_refused(given: list[str]) -> None:
    with pytest.raises(UsageError, match="two upstreams"):
        parse_upstreams(given)


@pytest.mark.parametrize(
    ("command", "upstreams", "variables"),
    [
        ("claude", {"default": "https://api.anthropic.com"}, {"ANTHROPIC_BASE_URL": HERE}),
        ("qwen", {"default": "https://api.deepseek.com"}, {"OPENAI_BASE_URL": f"{HERE}/v1"}),
        ("qwen", {"default": "https://api.deepseek.com/v1"}, {"OPENAI_BASE_URL": HERE}),
        ("qwen", {"default": "https://api.deepseek.com/"}, {"OPENAI_BASE_URL": f"{HERE}/v1"}),
        ("gemini", {"default": "https://g.example"}, {"GOOGLE_GEMINI_BASE_URL": HERE}),
        ("claude", {"openai": "https://api.openai.com"}, {}),
        (
            "llm",
            {"openai": "https://o.example", "anthropic": "https://a.example"},
            {"OPENAI_BASE_URL": f"{HERE}/openai/v1", "ANTHROPIC_BASE_URL": f"{HERE}/anthropic"},
        ),
        (
            "python",
            {"default": "https://x.example"},
            {
                "ANTHROPIC_BASE_URL": HERE,
                "OPENAI_BASE_URL": f"{HERE}/v1",
                "OPENAI_API_BASE": f"{HERE}/v1",
                "GOOGLE_GEMINI_BASE_URL": HERE,
            },
        ),
        ("llm", {"mine": "https://o.example", "other": "https://a.example"}, {}),
    ],
)
def test_variables(command: str, upstreams: dict[str, str], variables: dict[str, str]) -> None:
    assert pointed(command, upstreams).variables == variables


def test_codex_is_told_by_an_argument() -> None:
    assert pointed("codex", {"default": "https://api.openai.com"}).arguments == ("-c", f'openai_base_url="{HERE}/v1"')
    assert pointed("codex", {"anthropic": "https://api.anthropic.com"}).arguments == ()


def test_opencode_is_told_by_its_configuration() -> None:
    made = pointed("opencode", {"anthropic": "https://api.anthropic.com", "openai": "https://o.example/v1"})
    config = json.loads(made.variables["OPENCODE_CONFIG_CONTENT"])
    bases = {name: entry["options"]["baseURL"] for name, entry in config["provider"].items()}
    assert bases == {"anthropic": f"{HERE}/anthropic/v1", "openai": f"{HERE}/openai"}


def test_pi_is_told_by_an_extension() -> None:
    made = pointed("pi", {"anthropic": "https://api.anthropic.com"})
    assert made.arguments == ("--extension", "{file}")
    assert f'pi.registerProvider("anthropic", {{ baseUrl: "{HERE}" }});' in made.file
    assert "openai" not in made.file


def test_a_proxy_of_the_environment_is_passed_by() -> None:
    made = pointed("claude", {"default": "https://a.example"}, {"HTTP_PROXY": "http://p:1", "no_proxy": "intranet"})
    assert made.variables["no_proxy"] == "intranet,127.0.0.1,localhost"
    assert made.variables["NO_PROXY"] == "127.0.0.1,localhost"


def test_where_a_client_goes_by_itself() -> None:
    environ = {"ANTHROPIC_BASE_URL": "https://gateway.example/anthropic", "OPENAI_BASE_URL": ""}
    assert default_upstreams(client_for("claude"), environ) == {"anthropic": "https://gateway.example/anthropic"}
    assert default_upstreams(client_for("llm"), environ)["openai"] == "https://api.openai.com"
