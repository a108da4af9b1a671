"""The MCP servers of a client for one run, each behind a tap; the person's own files are only read.

A client gets a copy of its configuration in the form that it takes for a single run, which ``clients.yaml`` states. The
copy holds references: the tap reads an entry itself (``server_entry``), and values of headers become variables of the
client's environment.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from workbench import children, regex
from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols.clients import ServerCopies, ServerFile, server_copies
from workbench.provenance import escape
from workbench.recorder.mcp_tap.server_entry import SYNTAXES, command_words, entry_at, expand, read_configuration
from workbench.wire import urls

COPY_PATH = "{servers}"
"""Placeholder in arguments and variables for the path of the copied configuration."""

_URL = "{{url:{}}}"
"""Placeholder for the URL at which the recorder listens for an HTTP server."""

_NOT_IN_NAMES = regex.compile(r"[^A-Za-z0-9._~-]+")

_SECRET_KEYS = ("args", "command", "env", "environment", "headers")
"""Members of an entry that the copy of a stdio server does not hold."""

_HEADER_VARIABLE = "WORKBENCH_MCP_{}"


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
        return bool(command_words(self.entry))

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
        home: the file whose place it takes in a home for this run, and the name of its folder there
            (``run_home.private_home``); None if the client knows the file by its path.
        urls: name of a server that is reached at a URL → its scheme and host; in the texts a mark stands for where the
            recorder listens (``at_recorder``).
        tapped: names of the servers that are recorded.
        notes: what is not recorded, and why, one line each.
        marks: folder in which each tap has a file while it is not written; None if there is none.
    """

    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    home: tuple[Path, str] | None = None
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

    def path(self, template: str) -> Path | None:
        """The file that a path of ``clients.yaml`` means; None if its variable is not set."""
        known = {name: value for name, value in self.environment.items() if value}
        found = expand(template, "braced", known)
        if SYNTAXES["braced"].search(found):
            return None
        return self.home / found[2:] if found.startswith("~/") else self.folder / found

    def pointer(self, template: str) -> str:
        """A JSON pointer of ``clients.yaml``, with the client's folder as a key."""
        return template.replace("{folder}", escape(str(self.folder)))


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
    how = server_copies().get(client)
    if how is None:
        known = ", ".join(server_copies())
        hint = f"put workbench mcp-tap NAME -o {out} -- before the command of each server in the client's configuration"
        raise UsageError(f"--mcp supports {known}, not {client or 'this program'}", hint=hint)
    context = _Context(folder or Path.cwd(), home or Path.home(), environment, out.absolute(), breaks, marks)
    found = _Copier(how, context).copies()
    return replace(found, marks=marks if found.tapped else None)


class _Copier:
    """Makes what a client gets for one run from the servers that its files have."""

    def __init__(self, how: ServerCopies, context: _Context) -> None:
        self._how, self._context = how, context
        self._notes: list[str] = []
        self._variables: dict[str, str] = {}
        self._urls: dict[str, str] = {}

    def copies(self) -> TappedServers:
        """Arguments, variables and file; without servers only the notes."""
        servers = self._servers()
        if servers and self._how.home and self._context.folder == self._context.home:
            what = f"{self._how.client} reads its settings twice in your home folder: start it in another folder"
            return TappedServers(notes=(f"servers are not recorded: {what}",))
        self._notes += [self._how.note] if servers and self._how.note else []
        entries = {server.name: copy for server in servers if (copy := self._copy(server))}
        try:
            text = self._text(entries) if entries else ""
        except UsageError as error:
            return TappedServers(notes=(*self._notes, f"servers are not recorded: {error}"))
        if not entries:
            return TappedServers(notes=tuple(self._notes))
        set_variables = {name: value.replace("{json}", text) for name, value in self._how.variables.items()}
        return TappedServers(
            (*self._how.arguments, *self._each(entries)),
            {**self._variables, **set_variables},
            text if any(COPY_PATH in word for word in (*self._how.arguments, *set_variables.values())) else "",
            self._home(),
            self._urls,
            (*(server.name for server in servers if server.is_stdio), *self._urls),
            tuple(self._notes),
        )

    def _text(self, entries: Mapping[str, JsonValue]) -> str:
        """The servers as JSON, with what else is in the file whose place it takes."""
        path = self._context.path(self._how.merges) if self._how.merges else None
        settings = read_configuration(path) if path and path.exists() else {}
        settings = settings if isinstance(settings, dict) else {}
        others = {} if self._how.is_whole else entry_at(settings, f"/{self._how.key}")
        return json.dumps({**settings, self._how.key: {**others, **entries}}, ensure_ascii=False, indent=1)

    def _home(self) -> tuple[Path, str] | None:
        """The file whose place the copy takes in a home for this run, and the name of its folder there."""
        home = self._how.home
        folder = self._context.path(home.folder) if home else None
        return (folder / home.file, home.name) if folder and home else None

    def _each(self, entries: Mapping[str, Mapping[str, JsonValue]]) -> Iterator[str]:
        for name, entry in entries.items():
            for key, value in entry.items():
                parts = {"{name}": name, "{key}": key, "{json}": json.dumps(value, ensure_ascii=False)}
                yield from (_fill(word, parts) for word in self._how.each)

    # -- the servers

    def _servers(self) -> list[ConfiguredServer]:
        """One server for each name, from the last file that has it."""
        found: dict[str, ConfiguredServer] = {}
        for file in self._how.files:
            for server in self._of_file(file):
                if file.left:
                    self._notes.append(f"server {server.name} of {file.left}")
                elif server.entry.get("enabled") is not False:
                    found[server.name] = server
        return [server for server in found.values() if self._may_be_named(server.name)]

    def _may_be_named(self, name: str) -> bool:
        is_plain = not self._how.names or bool(regex.compile(self._how.names).fullmatch(name))
        if not is_plain:
            self._notes.append(
                f"server {name} is not recorded: {self._how.client} does not accept this name in the configuration "
                "of one run"
            )
        return is_plain

    def _of_file(self, server_file: ServerFile) -> Iterator[ConfiguredServer]:
        path, pointer = self._context.path(server_file.path), self._context.pointer(server_file.at)
        if path is None or (server_file.left and self._context.folder == self._context.home):
            return
        entries = self._read(path, pointer, "servers of {} are not recorded")
        may_start = self._approval() if server_file.is_approved and entries else lambda name: True
        for name, entry in entries.items():
            if not may_start(name):
                self._notes.append(f"server {name} of {path.name} is not started: it was not approved")
            elif isinstance(entry, dict):
                yield ConfiguredServer(name, path, f"{pointer}/{escape(name)}", entry)

    def _read(self, path: Path, pointer: str, fault: str) -> Mapping[str, JsonValue]:
        """An object of a file; empty if it is absent. One that cannot be read is noted."""
        try:
            return entry_at(read_configuration(path), pointer) if path.exists() else {}
        except UsageError as error:
            self._notes.append(f"{fault.format(path)}: {error}")
            return {}

    def _approval(self) -> Callable[[str], bool]:
        """Tells whether the person has approved a server of a project."""
        how = self._how.approvals
        assert how, f"{self._how.client} has no approval list"
        places = [(self._context.path(file.path), self._context.pointer(file.at)) for file in how.files]
        read = [self._read(path, pointer, "the servers approved in {} are unknown") for path, pointer in places if path]
        approved = {name for found in read for name in _texts(found.get(how.named))}
        refused = {name for found in read for name in _texts(found.get(how.refused))}
        is_every = any(found.get(how.every) is True for found in read)
        return lambda name: name not in refused and (is_every or name in approved)

    # -- their copies

    def _copy(self, server: ConfiguredServer) -> Mapping[str, JsonValue]:
        """The entry of a server for this run; empty for one that the client finds in its own files."""
        if server.is_stdio:
            words = self._context.tap(server, self._how.syntax)
            own = {key: value for key, value in server.entry.items() if key not in _SECRET_KEYS}
            own |= self._passed_on(server) if self._how.withholds else {}
            parts = {"{command}": words[0], "{arguments}": words[1:], "{words}": words}
            return _fill_entry(self._how.stdio, parts) or {**own, "command": words[0], "args": words[1:]}
        mark = self._mark(server)
        if not mark and not self._how.is_whole:
            return {}
        entry = _fill_entry(self._how.url, {"{url}": mark})
        return entry or {**self._referring(server.entry), **({server.url_key: mark} if mark else {})}

    def _passed_on(self, server: ConfiguredServer) -> dict[str, JsonValue]:
        """The variables that an entry refers to, as references: its tap fills them in, and gets no others."""
        found = SYNTAXES[self._how.syntax].finditer(json.dumps(server.entry, ensure_ascii=False))
        names = {match["name"] or match.groupdict().get("bare") or "" for match in found}
        known = sorted(name for name in names if name in self._context.environment)
        return {"env": {name: f"${{{name}}}" for name in known}} if known else {}

    def _mark(self, server: ConfiguredServer) -> str:
        """The mark for where the recorder listens for a server; empty if that is not possible."""
        url = expand(str(server.entry.get(server.url_key, "")), self._how.syntax, self._context.environment)
        parts = urls.split_url(url)
        if parts.scheme not in ("http", "https") or parts.query or "@" in parts.netloc or not server.url_key:
            self._notes.append(
                f"server {server.name} works, but is not recorded: its URL has a query or credentials, or is not http"
            )
            return ""
        name = _NOT_IN_NAMES.sub("-", server.name).strip("-._~") or "server"
        while name in self._urls:
            name += "-2"
        self._urls[name] = f"{parts.scheme}://{parts.netloc}"
        return f"{_URL.format(name)}{parts.path}"

    def _referring(self, entry: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """An entry of a server at a URL: its URL and the values of its headers become variables."""
        headers = entry.get("headers")
        safe_headers = (
            {name: self._reference(value) for name, value in headers.items()} if isinstance(headers, dict) else None
        )
        changed = {"url": self._reference(entry.get("url")), "headers": safe_headers}
        return {**entry, **{key: value for key, value in changed.items() if key in entry and value is not None}}

    def _reference(self, value: JsonValue) -> JsonValue:
        if not isinstance(value, str) or SYNTAXES[self._how.syntax].search(value):
            return value
        name = _HEADER_VARIABLE.format(len(self._variables) + 1)
        self._variables[name] = value
        return f"${{{name}}}"


def _fill_entry(template: Mapping[str, JsonValue], parts: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A stated entry with its placeholders filled in."""
    return {key: parts.get(value, value) if isinstance(value, str) else value for key, value in template.items()}


def _fill(word: str, parts: Mapping[str, str]) -> str:
    for name, value in parts.items():
        word = word.replace(name, value)
    return word


def _texts(value: JsonValue) -> set[str]:
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()
