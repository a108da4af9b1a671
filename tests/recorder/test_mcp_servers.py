"""A client's MCP servers behind taps: its configuration is only read, and no secret is in the copy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from workbench import children
from workbench.errors import UsageError
from workbench.protocols.clients import ServerCopies, ServerFile
from workbench.recorder import private_home
from workbench.recorder.mcp_tap import TappedServers, client_servers, read_command, tapped_servers
from workbench.recorder.mcp_tap.server_entry import expand, read_configuration

KEY = "wk-aB3dE6gH9jK2mN5pQ8sT"
STDIO = {"command": "npx", "args": ["-y", "server", f"--key={KEY}"], "env": {"A_KEY": KEY}, "timeout": 9000}
HTTP = {"type": "http", "url": f"https://mcp.example/mcp?key={KEY}", "headers": {"Authorization": f"Bearer {KEY}"}}


class Place:
    """A home and a project folder in it."""

    def __init__(self, home: Path) -> None:
        self.home, self.folder = home, home / "project"
        self.folder.mkdir()

    def write(self, name: str, text: object) -> Path:
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        return file

    def wrap(self, client: str, environment: Mapping[str, str] | None = None) -> TappedServers:
        return tapped_servers(client, Path("/s.wb"), environment or {}, self.folder, self.home)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def entries(found: TappedServers) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(found.file)["mcpServers"]
    return value


def assert_tap(words: list[str], name: str, file: Path, pointer: str, syntax: str) -> None:
    own = ("mcp-tap", name, "-o", "/s.wb", "--config", str(file), "--variables", syntax, "--", pointer)
    assert words[1:] == children.own_command(*own)[1:]


def test_claude_gets_one_file_with_every_server(place: Place) -> None:
    projects = {str(place.folder): {"mcpServers": {"local/one": STDIO}, "enabledMcpjsonServers": ["shared"]}}
    own = place.write(".claude.json", {"mcpServers": {"files": STDIO, "far": HTTP}, "projects": projects})
    shared = place.write("project/.mcp.json", {"mcpServers": {"shared": STDIO, "unseen": STDIO}})
    found = place.wrap("Claude Code")
    assert found.arguments == ("--mcp-config", "{servers}", "--strict-mcp-config")
    assert found.tapped == ("files", "shared", "local/one")
    wrapped = entries(found)
    assert sorted(wrapped) == ["far", "files", "local/one", "shared"]
    assert_tap([wrapped["files"]["command"], *wrapped["files"]["args"]], "files", own, "/mcpServers/files", "braced")
    assert wrapped["files"]["timeout"] == 9000 and "env" not in wrapped["files"]
    assert_tap(["", *wrapped["shared"]["args"]], "shared", shared, "/mcpServers/shared", "braced")
    at = f"/projects/{str(place.folder).replace('/', '~1')}/mcpServers/local~1one"
    assert_tap(["", *wrapped["local/one"]["args"]], "local/one", own, at, "braced")
    assert KEY not in found.file and KEY not in repr(found.arguments)
    assert wrapped["far"]["headers"] == {"Authorization": "${WORKBENCH_MCP_1}"}
    assert wrapped["far"]["url"] == "${WORKBENCH_MCP_2}"
    assert found.variables == {"WORKBENCH_MCP_1": f"Bearer {KEY}", "WORKBENCH_MCP_2": HTTP["url"]}
    assert any("unseen" in note and "not approved" in note for note in found.notes)
    assert any("far" in note and "not recorded" in note for note in found.notes)


APPROVALS: dict[str, tuple[str, object, bool]] = {
    "all in the person's settings": (".claude/settings.json", {"enableAllProjectMcpServers": True}, True),
    "by name in the project": ("project/.claude/settings.local.json", {"enabledMcpjsonServers": ["shared"]}, True),
    "another one": ("project/.claude/settings.local.json", {"enabledMcpjsonServers": ["other"]}, False),
    "refused": (
        "project/.claude/settings.json",
        {"enableAllProjectMcpServers": True, "disabledMcpjsonServers": ["shared"]},
        False,
    ),
    "not valid": ("project/.claude/settings.json", "{", False),
}


@pytest.mark.parametrize(("name", "text", "expected"), APPROVALS.values(), ids=APPROVALS)
def test_a_projects_servers_start_only_if_they_were_approved(
    place: Place, name: str, text: object, expected: bool
) -> None:
    place.write("project/.mcp.json", {"mcpServers": {"shared": STDIO}})
    place.write(name, text)
    assert place.wrap("Claude Code").tapped == (("shared",) if expected else ())


def test_a_projects_server_hides_the_persons_and_the_local_one_hides_both(place: Place) -> None:
    own = {"mcpServers": {"a": STDIO}, "projects": {str(place.folder): {"mcpServers": {"a": {"command": "local"}}}}}
    file = place.write(".claude.json", own)
    assert_tap(["", *entries(place.wrap("Claude Code"))["a"]["args"]], "a", file,
               f"/projects/{str(place.folder).replace('/', '~1')}/mcpServers/a", "braced")  # fmt: skip


def test_codex_gets_values_of_its_configuration(place: Place) -> None:
    text = '[mcp_servers.files]\ncommand = "npx"\nargs = ["x"]\n[mcp_servers."a.b"]\ncommand = "y"\n'
    text += f'[mcp_servers.off]\ncommand = "z"\nenabled = false\n[mcp_servers.far]\nurl = "https://x/?k={KEY}"\n'
    file = place.write("codex/config.toml", text)
    found = place.wrap("Codex", {"CODEX_HOME": str(place.home / "codex")})
    assert found.tapped == ("files",) and not found.file
    values = dict(word.split("=", 1) for word in found.arguments[1::2])
    assert set(found.arguments[::2]) == {"-c"}
    command, arguments = (json.loads(values[f"mcp_servers.files.{key}"]) for key in ("command", "args"))
    assert_tap([command, *arguments], "files", file, "/mcp_servers/files", "none")
    assert [note.split()[1] for note in found.notes] == ["a.b", "far"]


def test_opencode_gets_a_variable_and_its_comments_are_read(place: Place) -> None:
    text = '{ // mine, with "quotes" and http://x\n "mcp": {"w": {"type": "local", "command": ["a", "// b"],},}, }'
    file = place.write("project/opencode.json", text)
    found = place.wrap("OpenCode")
    held = json.loads(found.variables["OPENCODE_CONFIG_CONTENT"])
    assert_tap(held["mcp"]["w"]["command"], "w", file, "/mcp/w", "env")
    assert read_command(file, "/mcp/w", "env", {}).words == ["a", "// b"]


def test_gemini_gets_a_home_with_links_and_its_own_servers(place: Place) -> None:
    mine = {**STDIO, "trust": True, "env": {"A": "$MY_KEY", "B": "${MY_KEY}/${C:-c}"}}
    own = {"theme": "x", "mcpServers": {"w": mine, "far": HTTP, "off": {**STDIO, "enabled": False}}}
    settings = place.write(".gemini/settings.json", own)
    place.write(".gemini/oauth_creds.json", "old")
    place.write("project/.gemini/settings.json", {"mcpServers": {"shared": STDIO}})
    found = place.wrap("Gemini CLI", {"MY_KEY": KEY})
    held = json.loads(found.file)
    assert held["theme"] == "x" and set(held["mcpServers"]) == {"w", "far"} and KEY not in found.file
    assert held["mcpServers"]["w"]["trust"] is True and found.tapped == ("w",)
    assert held["mcpServers"]["w"]["env"] == {"MY_KEY": "${MY_KEY}"}
    assert found.variables["GEMINI_CLI_HOME"] == "{servers}" and found.home == (settings, ".gemini")
    assert any("shared" in note for note in found.notes)
    with private_home(found.file, *found.home, pytest.fail) as home:
        folder = Path(home, ".gemini")
        assert (folder / "settings.json").read_text(encoding="utf-8") == found.file
        assert (folder / "oauth_creds.json").is_symlink()
        (folder / "installation_id").write_text("new", encoding="utf-8")
        (folder / "oauth_creds.json").unlink()
        (folder / "oauth_creds.json").write_text("newer", encoding="utf-8")
    kept = {file.name: file.read_text(encoding="utf-8") for file in settings.parent.iterdir()}
    assert not Path(home).exists() and json.loads(kept.pop("settings.json")) == own
    assert kept == {"installation_id": "new", "oauth_creds.json": "newer"}
    assert tapped_servers("Gemini CLI", Path("/s.wb"), {}, place.home, place.home).tapped == ()


def test_pi_gets_a_folder_in_which_its_extension_finds_only_the_copy(place: Place) -> None:
    file = place.write(".config/mcp/mcp.json", {"mcpServers": {"w": STDIO}})
    place.write("project/.pi/mcp.json", {"mcpServers": {"far": HTTP}})
    found = place.wrap("pi")
    assert set(entries(found)) == {"w", "far"} and found.arguments == ()
    assert found.variables["PI_CODING_AGENT_DIR"] == "{servers}/agent"
    assert found.variables["PI_MCP_CONFIG_MODE"] == "exclusive"
    assert found.home == (place.home / ".pi/agent/mcp.json", "agent")
    assert_tap(["", *entries(found)["w"]["args"]], "w", file, "/mcpServers/w", "pi")


def test_qwen_gets_a_file(place: Place) -> None:
    file = place.write(".qwen/settings.json", {"mcpServers": {"w": STDIO}})
    found = place.wrap("Qwen Code")
    assert found.arguments == ("--mcp-config", "{servers}") and KEY not in found.file
    assert_tap(["", *entries(found)["w"]["args"]], "w", file, "/mcpServers/w", "dollar")


def test_another_client_is_data(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    files = (ServerFile("${MINE_HOME:-~/.mine}/mine.json", "/tools/{folder}"), ServerFile("${MINE_FILE}", "/tools"))
    mine = ServerCopies("Mine", "dollar", files, stdio={"run": "{words}"}, key="tools", variables={"MINE": "{json}"})
    monkeypatch.setattr(client_servers, "server_copies", lambda: {"Mine": mine})
    file = place.write("m/mine.json", {"tools": {str(place.folder): {"w": STDIO, "far": HTTP}}})
    found = place.wrap("Mine", {"MINE_HOME": str(place.home / "m")})
    held = json.loads(found.variables["MINE"])["tools"]
    assert list(held) == ["w"] and found.tapped == ("w",) and not found.file
    assert_tap(held["w"]["run"], "w", file, f"/tools/{str(place.folder).replace('/', '~1')}/w", "dollar")


@pytest.mark.parametrize("client", ["Claude Code", "Codex", "Gemini CLI", "OpenCode", "Qwen Code"])
def test_without_servers_nothing_is_set(place: Place, client: str) -> None:
    assert place.wrap(client) == TappedServers()


@pytest.mark.parametrize("client", ["Claude Code", "Codex", "Gemini CLI", "OpenCode", "Qwen Code"])
@pytest.mark.parametrize("text", ["", "{", "[1]", "a = ", "\x00", "{" * 5000], ids=repr)
def test_a_damaged_file_is_told_and_nothing_raises(place: Place, client: str, text: str) -> None:
    for name in (".claude.json", ".codex/config.toml", ".gemini/settings.json", ".qwen/settings.json"):
        place.write(name, text)
    place.write("project/opencode.json", text)
    assert place.wrap(client).tapped == ()


def test_a_client_nobody_knows(place: Place) -> None:
    with pytest.raises(UsageError, match="--mcp supports Claude Code") as caught:
        place.wrap("aider")
    assert "mcp-tap NAME -o /s.wb --" in str(caught.value.hint)


EXPANDED = {
    "braced": ("braced", "${A} ${B:-b} ${C} $A {env:A}", "1 b ${C} $A {env:A}"),
    "dollar": ("dollar", "${A} ${B:-b} $C $A/x $1 {env:A}", "1 b $C 1/x $1 {env:A}"),
    "env": ("env", "{env:A} {env:B} ${A}", "1 {env:B} ${A}"),
    "pi": ("pi", "${A} ${B:-b} $A/x $env:A {env:A}", "1 ${B:-b} $A/x 1 1"),
    "none": ("none", "${A} $A {env:A}", "${A} $A {env:A}"),
    "an empty default": ("braced", "x${B:-}y", "xy"),
    "set to nothing": ("braced", "x${E:-e}y", "xy"),
}


@pytest.mark.parametrize(("syntax", "text", "expected"), EXPANDED.values(), ids=EXPANDED)
def test_variables(syntax: str, text: str, expected: str) -> None:
    assert expand(text, syntax, {"A": "1", "E": ""}) == expected


def test_the_command_that_a_tap_reads(place: Place) -> None:
    entry = {"command": "${HOME}/bin/x", "args": ["${A:-1}", 2], "env": {"K": "${KEY}", "N": 3}}
    file = place.write("c.json", {"a/b": {"~x": entry}})
    found = read_command(file, "/a~1b/~0x", "braced", {"HOME": "/h", "KEY": KEY})
    assert (found.words, found.variables) == (["/h/bin/x", "1", "2"], {"K": KEY, "N": "3"})
    for pointer in ("/a", "/a~1b/y", "", "/a~1b/~0x/args"):
        with pytest.raises(UsageError, match="no command at"):
            read_command(file, pointer, "braced", {})


def test_an_absent_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_configuration(tmp_path / "x.json")


FAR = "https://tools.example.com/mcp"
URL_KEYS = {"Claude Code": "url", "Qwen Code": "httpUrl", "Gemini CLI": "httpUrl"}


@pytest.mark.parametrize("client", ["Claude Code", "Codex", "OpenCode", "Qwen Code", "Gemini CLI"])
def test_a_server_at_a_url_is_reached_through_the_recorder(place: Place, client: str) -> None:
    if client == "Codex":
        place.write("codex/config.toml", f'[mcp_servers.far]\nurl = "{FAR}"\n')
    elif client == "OpenCode":
        place.write("oc.json", json.dumps({"mcp": {"far": {"type": "remote", "url": FAR}}}))
    else:
        entry = {URL_KEYS[client]: FAR, "headers": {"Authorization": f"Bearer {KEY}"}}
        name = {
            "Claude Code": ".claude.json",
            "Qwen Code": ".qwen/settings.json",
            "Gemini CLI": ".gemini/settings.json",
        }
        place.write(name[client], json.dumps({"mcpServers": {"far": entry}}))
    variables = {"CODEX_HOME": str(place.home / "codex"), "OPENCODE_CONFIG": str(place.home / "oc.json")}
    found = place.wrap(client, variables)
    assert found.urls == {"far": "https://tools.example.com"} and found.tapped == ("far",)
    at_recorder = found.at_recorder({"far": "http://127.0.0.1:9/far"})
    texts = (*at_recorder.arguments, *at_recorder.variables.values(), at_recorder.file)
    assert any("http://127.0.0.1:9/far/mcp" in text for text in texts)
    assert not any("{url:" in text or FAR in text for text in (*at_recorder.arguments, at_recorder.file))
    assert KEY not in at_recorder.file
