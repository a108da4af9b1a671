"""The MCP servers of a client for one run, each behind a tap; the person's own files are only read.

A client gets a copy of its configuration in the form that it takes for a single run (reference: ``--help`` of the
clients; code.claude.com "MCP", developers.openai.com/codex "config", geminicli.com "settings", opencode.ai "config").
The copy holds references: the tap reads an entry itself (``server_entry``), and values of headers become variables of
the client's environment.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import NamedTuple

from workbench import children, regex
from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.recorder.mcp_tap.server_entry import entry_at, expand, read_configuration, words_of
from workbench.wire import urls

COPY_PATH = "{servers}"
"""Placeholder in arguments and variables for the path of the copied configuration."""

_URL = "{{url:{}}}"
"""Placeholder for the URL at which the recorder listens for an HTTP server."""

_NOT_IN_NAMES = regex.compile(r"[^A-Za-z0-9._~-]+")

_SECRET_KEYS = ("args", "command", "env", "environment", "headers")
"""Members of an entry that the copy of a stdio server does not hold."""

_HEADER_VARIABLE = "WORKBENCH_MCP_{}"
_PLAIN_NAME = regex.compile(r"[A-Za-z0-9_-]+")


class ConfiguredServer(NamedTuple):
    """A server in a configuration file.

    Attributes:
        pointer: JSON pointer of its entry in the file.
    """

    name: str
    file: Path
    pointer: str
    entry: Mapping[str, JsonValue]

    @property
    def is_stdio(self) -> bool:
        """The client starts it, and talks to it over standard input and output."""
        return bool(words_of(self.entry))

    @property
    def url_key(self) -> str:
        """Member of the entry that has the URL at which the server is reached; empty without one."""
        return next((key for key in ("httpUrl", "url", "serverUrl") if isinstance(self.entry.get(key), str)), "")


@dataclass(frozen=True, slots=True)
class TappedServers:
    """Arguments, variables and a file that put the servers of a client behind taps.

    Attributes:
        arguments: to put in front of the client's own; ``COPY_PATH`` in them is the path of ``file``.
        variables: of its environment, likewise.
        file: text of a file for this run; empty if none is needed.
        urls: name of a server that is reached at a URL → its scheme and host; in the texts a mark stands for where the
            recorder listens (``at_recorder``).
        tapped: names of the servers that are recorded.
        notes: what is not recorded, and why, one line each.
        marks: folder in which each tap has a file while it is not written; None if there is none.
    """

    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    urls: Mapping[str, str] = field(default_factory=dict)
    tapped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    marks: Path | None = None

    def at_recorder(self, listening: Mapping[str, str]) -> TappedServers:
        """The same with the URLs at which a recorder listens, by name."""

        def fill(text: str) -> str:
            for name, url in listening.items():
                text = text.replace(_URL.format(name), url)
            return text

        variables = {name: fill(value) for name, value in self.variables.items()}
        return replace(self, arguments=tuple(map(fill, self.arguments)), variables=variables, file=fill(self.file))


class _Context(NamedTuple):
    """Folders and environment of a client, and what its taps are given: session file, breakpoints, folder of marks."""

    folder: Path
    home: Path
    environment: Mapping[str, str]
    out: Path
    breaks: Sequence[str] = ()
    marks: Path | None = None

    def tap(self, server: ConfiguredServer, syntax: str) -> list[str]:
        """The command that starts a server behind a tap."""
        own = children.own_command("mcp-tap", server.name, "-o", str(self.out))
        own += ["--mark", str(self.marks)] if self.marks else []
        armed = [word for kind in self.breaks for word in ("--break", kind)]
        return [*own, *armed, "--config", str(server.file), "--variables", syntax, "--", server.pointer]

    def set_folder(self, variable: str, default: str) -> Path:
        """A folder that a variable names, else one in the home folder."""
        given = self.environment.get(variable)
        return Path(given) if given else self.home / default


def tapped_servers(
    client: str,
    out: Path,
    environment: Mapping[str, str],
    folder: Path | None = None,
    home: Path | None = None,
    breaks: Sequence[str] = (),
    marks: Path | None = None,
) -> TappedServers:
    """The servers of a client, each behind a tap that writes to a session file.

    Args:
        client: its name, as ``protocols.clients`` has it.
        out: the session file.
        environment: of the client.
        folder: the client's working folder; by default this process's.
        home: the person's home folder.
        breaks: breakpoints that the taps arm.
        marks: folder in which each tap has a file while it is not written (``running_taps``).

    Raises:
        UsageError: nothing is known of the client's configuration.
    """
    wrap = _CLIENTS.get(client)
    if wrap is None:
        known = ", ".join(_CLIENTS)
        hint = f"put workbench mcp-tap NAME -o {out} -- before the command of each server in its configuration"
        raise UsageError(f"--mcp supports {known}, not {client or 'this program'}", hint=hint)
    found = wrap(_Context(folder or Path.cwd(), home or Path.home(), environment, out.absolute(), breaks, marks))
    return replace(found, marks=marks if found.tapped else None)


def _servers(file: Path, pointer: str, notes: list[str]) -> Iterator[ConfiguredServer]:
    """The servers of one file; a file that cannot be read is noted, one that is absent has none."""
    if not file.exists():
        return
    try:
        entries = entry_at(read_configuration(file), pointer)
    except UsageError as error:
        notes.append(f"servers of {file} are not recorded: {error}")
        return
    for name, entry in entries.items():
        if isinstance(entry, dict):
            yield ConfiguredServer(name, file, f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}", entry)


class _Listeners:
    """URLs of servers with the recorder before them, each under a name that a path can have."""

    def __init__(self, environment: Mapping[str, str], syntax: str, notes: list[str]) -> None:
        self.urls: dict[str, str] = {}
        self._environment, self._syntax, self._notes = environment, syntax, notes

    def mark(self, server: ConfiguredServer) -> str:
        """The mark for where the recorder listens for a server; empty if that is not possible."""
        url = expand(str(server.entry.get(server.url_key, "")), self._syntax, self._environment)
        parts = urls.split_url(url)
        if parts.scheme not in ("http", "https") or parts.query or "@" in parts.netloc or not server.url_key:
            self._notes.append(
                f"server {server.name} works, but is not recorded: its URL has a query or credentials, or is not http"
            )
            return ""
        name = _NOT_IN_NAMES.sub("-", server.name).strip("-._~") or "server"
        while name in self.urls:
            name += "-2"
        self.urls[name] = f"{parts.scheme}://{parts.netloc}"
        return f"{_URL.format(name)}{parts.path}"


def _by_name(*groups: Iterable[ConfiguredServer]) -> list[ConfiguredServer]:
    """One server for each name, from the last group that has it."""
    return list({server.name: server for group in groups for server in group}.values())


def _result(
    servers: Iterable[ConfiguredServer],
    notes: list[str],
    listeners: _Listeners,
    arguments: Iterable[str] = (),
    **more: object,
) -> TappedServers:
    names = (*(server.name for server in servers if server.is_stdio), *listeners.urls)
    made = TappedServers(tuple(arguments), urls=listeners.urls, notes=tuple(notes), tapped=names)
    return replace(made, **more)  # type: ignore[arg-type]


def _entry_copy(server: ConfiguredServer, context: _Context, syntax: str) -> dict[str, JsonValue]:
    """The entry of a stdio server with the tap as its command."""
    command, *arguments = context.tap(server, syntax)
    own = {key: value for key, value in server.entry.items() if key not in _SECRET_KEYS}
    return {**own, "command": command, "args": arguments}


# Claude Code


def _claude(context: _Context) -> TappedServers:
    """All servers in one file, which replaces every other configuration for this run."""
    notes: list[str] = []
    set_home = context.environment.get("CLAUDE_CONFIG_DIR")
    own = (Path(set_home) if set_home else context.home) / ".claude.json"
    project = f"/projects/{str(context.folder).replace('~', '~0').replace('/', '~1')}"
    shared = list(_servers(context.folder / ".mcp.json", "/mcpServers", notes))
    approved = _approved_by_person(context, own, project, notes) if shared else lambda name: True
    notes += (
        f"server {s.name} of .mcp.json is not started: it was not approved" for s in shared if not approved(s.name)
    )
    servers = _by_name(
        _servers(own, "/mcpServers", notes),
        (server for server in shared if approved(server.name)),
        _servers(own, f"{project}/mcpServers", notes),
    )
    if not servers:
        return TappedServers(notes=tuple(notes))
    notes.append("servers of plugins and of claude.ai are not part of this run")
    variables: dict[str, str] = {}
    listeners = _Listeners(context.environment, "braced", notes)
    entries = {
        s.name: _entry_copy(s, context, "braced")
        if s.is_stdio
        else _with_url(_referring(s.entry, variables), s, listeners)
        for s in servers
    }
    text = json.dumps({"mcpServers": entries}, ensure_ascii=False, indent=1)
    arguments = ("--mcp-config", COPY_PATH, "--strict-mcp-config")
    return _result(servers, notes, listeners, arguments, variables=variables, file=text)


def _with_url(copy: dict[str, JsonValue], server: ConfiguredServer, listeners: _Listeners) -> dict[str, JsonValue]:
    """The copy of an entry with the URL of the recorder, if that is possible."""
    mark = listeners.mark(server)
    return {**copy, server.url_key: mark} if mark else copy


def _approved_by_person(context: _Context, own: Path, project: str, notes: list[str]) -> Callable[[str], bool]:
    """Tells whether the person has approved a server of a project's ``.mcp.json``."""
    names: set[str] = set()
    refused: set[str] = set()
    is_all = False
    places = [(own, project)]
    places += [(context.folder / ".claude" / name, "") for name in ("settings.json", "settings.local.json")]
    places.append((context.set_folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json", ""))
    for file, pointer in places:
        try:
            found = entry_at(read_configuration(file), pointer) if file.exists() else {}
        except UsageError as error:
            notes.append(f"approvals of {file} are not read: {error}")
            continue
        names |= _texts(found.get("enabledMcpjsonServers"))
        refused |= _texts(found.get("disabledMcpjsonServers"))
        is_all |= found.get("enableAllProjectMcpServers") is True
    return lambda name: name not in refused and (is_all or name in names)


def _texts(value: JsonValue) -> set[str]:
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()


def _referring(entry: Mapping[str, JsonValue], variables: dict[str, str], variable: str = "${") -> dict[str, JsonValue]:
    """An entry of a server at a URL: its URL and the values of its headers become variables."""

    def reference(value: JsonValue) -> JsonValue:
        if not isinstance(value, str) or variable in value:
            return value
        name = _HEADER_VARIABLE.format(len(variables) + 1)
        variables[name] = value
        return f"${{{name}}}"

    headers = entry.get("headers")
    kept = {name: reference(value) for name, value in headers.items()} if isinstance(headers, dict) else None
    changed = {"url": reference(entry.get("url")), "headers": kept}
    return {**entry, **{key: value for key, value in changed.items() if key in entry and value is not None}}


# Clients that merge a second configuration into their own, server by server


def _codex(context: _Context) -> TappedServers:
    """``-c`` sets a value of config.toml; a name with a dot cannot be written there."""
    notes: list[str] = []
    file = context.set_folder("CODEX_HOME", ".codex") / "config.toml"
    servers = [s for s in _servers(file, "/mcp_servers", notes) if s.entry.get("enabled") is not False]
    odd = [s.name for s in servers if not _PLAIN_NAME.fullmatch(s.name)]
    notes += (f"server {name} is not recorded: Codex's option -c cannot set such a name" for name in odd)
    servers = [s for s in servers if s.name not in odd]
    listeners = _Listeners(context.environment, "none", notes)
    arguments: list[str] = []
    for server in servers:
        if not server.is_stdio:
            mark = listeners.mark(server)
            arguments += ("-c", f"mcp_servers.{server.name}.url={json.dumps(mark)}") if mark else ()
            continue
        command, *rest = context.tap(server, "none")
        for key, value in (("command", command), ("args", rest)):
            arguments += ("-c", f"mcp_servers.{server.name}.{key}={json.dumps(value, ensure_ascii=False)}")
    return _result(servers, notes, listeners, arguments)


def _opencode(context: _Context) -> TappedServers:
    """OPENCODE_CONFIG_CONTENT is merged into its configuration, last."""
    notes: list[str] = []
    own = context.set_folder("XDG_CONFIG_HOME", ".config") / "opencode"
    files = [folder / name for folder in (own, context.folder) for name in ("opencode.json", "opencode.jsonc")]
    if given := context.environment.get("OPENCODE_CONFIG"):
        files.insert(2, Path(given))
    servers = _by_name(*(_servers(file, "/mcp", notes) for file in files))
    servers = [s for s in servers if s.entry.get("enabled") is not False]
    listeners = _Listeners(context.environment, "env", notes)
    entries: dict[str, JsonValue] = {}
    for server in servers:
        if server.is_stdio:
            entries[server.name] = {"type": "local", "command": context.tap(server, "env")}
        elif mark := listeners.mark(server):
            entries[server.name] = {"type": "remote", "url": mark}
    variables = {"OPENCODE_CONFIG_CONTENT": json.dumps({"mcp": entries}, ensure_ascii=False)} if entries else {}
    return _result(servers, notes, listeners, variables=variables)


def _gemini_servers(context: _Context, name: str, notes: list[str]) -> list[ConfiguredServer]:
    """Servers of the person's own settings. Those of a project start only where its folder is trusted: left to that."""
    servers = list(_servers(context.home / name / "settings.json", "/mcpServers", notes))
    if context.folder != context.home:
        shared = _servers(context.folder / name / "settings.json", "/mcpServers", notes)
        notes += (
            f"server {s.name} of this folder's settings is not recorded: add it to your user settings" for s in shared
        )
    return servers


def _entries(
    servers: Iterable[ConfiguredServer], context: _Context, listeners: _Listeners, variables: dict[str, str]
) -> dict[str, JsonValue]:
    """Copies of the entries of a client that replaces its own by them; those that stay as they are have none."""
    made: dict[str, JsonValue] = {}
    for server in servers:
        if server.is_stdio:
            made[server.name] = _entry_copy(server, context, "dollar")
        elif mark := listeners.mark(server):
            made[server.name] = {**_referring(server.entry, variables, "$"), server.url_key: mark}
    return made


def _qwen(context: _Context) -> TappedServers:
    """``--mcp-config`` adds servers, which replace those of the same name."""
    notes: list[str] = []
    servers = _gemini_servers(context, ".qwen", notes)
    listeners = _Listeners(context.environment, "dollar", notes)
    variables: dict[str, str] = {}
    entries = _entries(servers, context, listeners, variables)
    if not entries:
        return TappedServers(notes=tuple(notes))
    text = json.dumps({"mcpServers": entries}, ensure_ascii=False)
    return _result(servers, notes, listeners, ("--mcp-config", COPY_PATH), variables=variables, file=text)


_SYSTEM_SETTINGS = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"
_SYSTEM_FILES = {"darwin": "/Library/Application Support/GeminiCli/settings.json"}


def _gemini(context: _Context) -> TappedServers:
    """The settings of the system outrank all others, and a variable names their file; what they hold is kept."""
    notes: list[str] = []
    servers = _gemini_servers(context, ".gemini", notes)
    file = Path(
        context.environment.get(_SYSTEM_SETTINGS) or _SYSTEM_FILES.get(sys.platform, "/etc/gemini-cli/settings.json")
    )
    try:
        held = read_configuration(file) if file.exists() else {}
    except UsageError as error:
        return TappedServers(notes=(*notes, f"servers are not recorded: {error}"))
    held = held if isinstance(held, dict) else {}
    listeners, variables = _Listeners(context.environment, "dollar", notes), dict[str, str]()
    entries = {**entry_at(held, "/mcpServers"), **_entries(servers, context, listeners, variables)}
    text = json.dumps({**held, "mcpServers": entries}, ensure_ascii=False)
    if not servers:
        return TappedServers(notes=tuple(notes))
    return _result(servers, notes, listeners, variables={**variables, _SYSTEM_SETTINGS: COPY_PATH}, file=text)


_CLIENTS: Mapping[str, Callable[[_Context], TappedServers]] = {
    "Claude Code": _claude,
    "Codex": _codex,
    "Gemini CLI": _gemini,
    "OpenCode": _opencode,
    "Qwen Code": _qwen,
}
"""Client → how it is given other servers for one run."""
