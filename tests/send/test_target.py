"""Targets by what people type, and which key goes with them."""

from __future__ import annotations

import pytest

from workbench import contracts
from workbench.errors import UsageError
from workbench.send import own_targets
from workbench.send.target import is_loopback, origin, url_problem
from workbench.send.target_names import providers, resolve

OWN = """
targets:
  gateway:
    base_url: https://gateway.example/v1
    protocol: [openai-chat, anthropic-messages]
    model: m-1
    profile: deepseek:v3.2
    key_variable: GATEWAY_KEY
    headers: {x-team: tools, authorization: "Bearer ${TOKEN}"}
  anthropic:
    base_url: https://api.anthropic.com
    key_variable: WORK_KEY
  here:
    base_url: http://127.0.0.1:8000
    protocol: openai-chat
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty configuration; ``home(text)`` writes targets.yaml."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def write(text):
        own_targets.path().parent.mkdir(parents=True, exist_ok=True)
        own_targets.path().write_text(text, encoding="utf-8")

    return write


def test_a_simulator_needs_nothing():
    found = resolve("sim:deepseek:v3.2")
    assert found.is_simulator and found.is_loopback and not found.key_variable
    assert (found.contract, found.protocols[0]) == ("deepseek:v3.2", "openai-chat")
    assert resolve("sim:generic").protocols == ()


@pytest.mark.parametrize("name", ["deepseek", "anthropic", "openai", "gemini", "openrouter", "glm", "qwen", "kimi"])
def test_a_provider_needs_a_key_alone(name):
    found = resolve(name)
    assert found.name == found.contract == name and found.url.startswith("https://")
    assert found.key_variable.endswith("_API_KEY") and not found.is_simulator
    assert all(found.base(protocol).startswith("https://") for protocol in found.protocols)
    assert set(found.protocols) <= set(contracts.protocols(name))


def test_a_provider_has_a_base_for_each_protocol():
    found = resolve("deepseek")
    assert found.base("openai-chat") == "https://api.deepseek.com"
    assert found.base("anthropic-messages") == "https://api.deepseek.com/anthropic"
    assert found.origins == {("https", "api.deepseek.com", 443)}


def test_hosts_of_endpoints_are_hosts_of_their_contracts():
    for name, endpoints in contracts.endpoints().items():
        for each in endpoints:
            assert origin(each.url)[1] in contracts.read(name).hosts or name == "qwen"
            assert set(each.protocols) <= set(contracts.protocols(name))
    assert len({t.name for t in providers().values()}) == len(contracts.endpoints())


@pytest.mark.parametrize(
    ("url", "protocol", "key", "spoken"),
    [
        ("https://api.deepseek.com", "", "DEEPSEEK_API_KEY", "openai-chat"),
        ("https://api.deepseek.com:443/v1", "", "DEEPSEEK_API_KEY", "openai-chat"),
        ("https://api.deepseek.com/anthropic", "", "DEEPSEEK_API_KEY", "anthropic-messages"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "", "GEMINI_API_KEY", "openai-chat"),
        ("https://api.openai.com/v1", "openai-responses", "OPENAI_API_KEY", "openai-responses"),
        ("http://api.deepseek.com", "openai-chat", "", "openai-chat"),
        ("https://api.deepseek.com:8443", "openai-chat", "", "openai-chat"),
        ("https://api.deepseek.com.evil.example", "openai-chat", "", "openai-chat"),
        ("https://evil.example/api.deepseek.com", "openai-chat", "", "openai-chat"),
        ("https://eu.api.deepseek.com", "openai-chat", "", "openai-chat"),
        ("https://gateway.example/other", "openai-chat", "GATEWAY_KEY", "openai-chat"),
        ("http://gateway.example/v1", "openai-chat", "", "openai-chat"),
        ("https://gateway.example:444/v1", "openai-chat", "", "openai-chat"),
        ("https://api.anthropic.com", "", "WORK_KEY", "anthropic-messages"),
        ("http://127.0.0.1:8000/v1", "openai-chat", "", "openai-chat"),
    ],
)
def test_a_url_gets_the_key_of_exactly_its_place(home, url, protocol, key, spoken):
    home(OWN)
    found = resolve(url, protocol)
    assert (found.url, found.key_variable, found.protocols[0]) == (url, key, spoken)
    assert not found.headers, "headers are of the target that names them"


def test_a_key_can_be_named_by_hand():
    assert resolve("https://x.example", "openai-chat", key_variable="MY_KEY").key_variable == "MY_KEY"
    assert resolve("openai", key_variable="MY_KEY").key_variable == "MY_KEY"
    with pytest.raises(UsageError, match="never the key itself") as refused:
        resolve("openai", key_variable="sk-0123456789abcdef0123")
    assert "sk-" not in str(refused.value)


def test_ones_own_come_first(home):
    home(OWN)
    found = resolve("gateway")
    assert (found.url, found.model, found.contract) == ("https://gateway.example/v1", "m-1", "deepseek:v3.2")
    assert found.protocols == ("openai-chat", "anthropic-messages")
    assert found.base("anthropic-messages") == "https://gateway.example/v1"
    assert found.headers == (("x-team", "tools"), ("authorization", "Bearer ${TOKEN}"))
    own = resolve("anthropic")
    assert own.key_variable == "WORK_KEY" and own.protocols == ("anthropic-messages",)
    assert not resolve("here").key_variable and resolve("here").is_loopback


@pytest.mark.parametrize(
    ("text", "protocol", "said"),
    [
        ("nobody", "", "no target named 'nobody'"),
        ("deepsek", "", "did you mean deepseek"),
        ("sim:nobody", "", "no contract named 'nobody'"),
        ("sim:deepseek:v9", "", "no variant 'v9'"),
        ("https://x.example", "", "is unknown; use --as"),
        ("https://x.example", "morse", "no protocol named 'morse'"),
        ("ftp://x.example", "openai-chat", "not an http:// or https:// URL"),
        ("https://user:pw@x.example", "openai-chat", "put keys in the environment"),
        ("https://x.example?key=AIzaSecretSecret", "openai-chat", "put keys in the environment"),
        ("https://x.example:port", "openai-chat", "not a URL"),
        ("https://api.openai.com%2eevil.example", "openai-chat", "a URL with an invalid host"),
        ("https://api.openai.com;evil.example", "openai-chat", "a URL with an invalid host"),
        ("https://api.openai.com\\@evil.example", "openai-chat", "put keys in the environment"),
        ("https://evil.example#@api.openai.com", "openai-chat", "a URL with a fragment"),
        ("https://x.example/a b", "openai-chat", "invalid characters"),
    ],
)
def test_what_is_no_target_is_one_line(text, protocol, said):
    with pytest.raises(UsageError) as refused:
        resolve(text, protocol)
    assert said in str(refused.value) and "\n" not in str(refused.value)
    assert "pw" not in str(refused.value) and "AIza" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "is_local"),
    [
        ("http://127.0.0.1:1", True),
        ("http://localhost/x", True),
        ("http://[::1]:80", True),
        ("http://127.9.9.9", True),
        ("http://127.0.0.1.evil.example", False),
        ("http://10.0.0.1", False),
        ("https://localhost.example", False),
    ],
)
def test_what_is_this_machine(url, is_local):
    assert is_loopback(url) is is_local and not url_problem(url)
