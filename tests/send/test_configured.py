"""The user's own targets: what a file may say, and how it is refused."""

from __future__ import annotations

import pytest

from tests.send.test_target import OWN, home
from workbench.errors import ProfileError
from workbench.send import own_targets
from workbench.send.target_names import resolve

__all__ = ["home"]


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ("nonsense", "#/", "not a mapping; workbench targets --help shows the format"),
        ("targets: [a]", "/targets", "not a mapping; workbench targets --help shows the format"),
        ("target: {}", "/target", "unknown key 'target'; did you mean targets?"),
        ("targets: {a: 1}", "/targets/a", "not a target"),
        ("targets: {a: {protocol: openai-chat}}", "/targets/a", "base_url is missing"),
        ("targets: {a: {base_url: 'https://x.example'}}", "/targets/a", "protocol is missing; one of anthropic-"),
        (
            "targets: {a: {base_url: 'x.example', protocol: gemini}}",
            "/targets/a/base_url",
            "not an http:// or https://",
        ),
        (
            "targets: {a: {base_url: 'https://k:p@x.example', protocol: gemini}}",
            "/targets/a/base_url",
            "put keys in",
        ),
        (
            "targets: {a: {base_url: 'https://x.example', protocol: openai}}",
            "/targets/a/protocol",
            "did you mean openai",
        ),
        ("targets: {a: {url: 'https://x.example'}}", "/targets/a/url", "known: base_url, protocol, "),
        ("targets: {a: {base-url: 'https://x.example'}}", "/targets/a/base-url", "did you mean base_url?"),
        ("targets: {'a b': {}}", "/targets/a b", "not a name"),
        ("targets: {a: {base_url: 'https://x.example', protocol: []}}", "/targets/a/protocol", "protocol is empty"),
        ("targets: [", ":2", "not YAML"),
    ],
)
def test_a_file_that_is_not_right_is_one_line(home, text, where, said):
    home(text)
    with pytest.raises(ProfileError) as refused:
        resolve("a")
    line = str(refused.value)
    assert str(own_targets.path()) in line and where in line and said in line and "\n" not in line


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("key_variable: sk-ant-api03-0123456789abcdef", "give the variable's name, never the key itself"),
        ("headers: {x-api-key: 0123456789abcdef}", "write ${NAME} here"),
        ("headers: {x-any: 'Bearer 0123456789abcdef0123'}", "write ${NAME} here"),
        ("headers: {x-any: sk-0123456789abcdef0123}", "write ${NAME} here"),
        ("headers: {cookie: 'a=0123456789abcdef'}", "write ${NAME} here"),
        ("headers: {x-any: '${not a name}'}", "write ${NAME}"),
        ("headers: {host: evil.example}", "this header cannot be set"),
        ("headers: {'x y': a}", "this header cannot be set"),
        ('headers: {x-any: "a\\r\\nb: c"}', "characters that a header cannot contain"),
        ("headers: {x-any: 1}", "put the value in quotes"),
        ("profile: nobody", "no contract named 'nobody'"),
    ],
)
def test_no_secret_stands_in_the_file_or_in_its_errors(home, entry, said):
    home(f"targets:\n  a:\n    base_url: https://x.example\n    protocol: openai-chat\n    {entry}\n")
    with pytest.raises(ProfileError) as refused:
        resolve("a")
    assert said in str(refused.value) and "0123456789" not in str(refused.value)


def test_the_working_directory_decides_nothing(tmp_path, monkeypatch):
    (tmp_path / "here" / "workbench").mkdir(parents=True)
    (tmp_path / "here" / "workbench" / "targets.yaml").write_text(OWN)
    (tmp_path / "targets.yaml").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("XDG_CONFIG_HOME", "here")
    assert own_targets.configured_targets() == {}
