"""One stdio server as a client's configuration states it: what the tap starts in its place.

The copy of the configuration that a client gets names the file and the place of the entry in it. Only the tap reads the
entry, so its arguments and variables, which may hold secrets, are in no second file and on no command line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from workbench import regex
from workbench.errors import UsageError, WireError
from workbench.ir import JsonValue
from workbench.wire import loads

SYNTAXES: Mapping[str, re.Pattern[str]] = {
    "none": regex.compile(r"(?!)(?P<name>)"),
    "braced": regex.compile(r"\$\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\}"),
    "dollar": regex.compile(r"\$(?:\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\}|(?P<bare>[A-Za-z_]\w*))"),
    "env": regex.compile(r"\{env:(?P<name>\w+)\}"),
    "pi": regex.compile(r"\$\{(?P<name>\w+)\}|(?:\{env:|\$env:)(?P<bare>\w+)\}?"),
}
"""How a client writes a variable in its configuration: ``${NAME}`` or ``${NAME:-DEFAULT}`` (Claude Code), ``$NAME`` too
(Gemini CLI, Qwen Code), ``{env:NAME}`` (OpenCode), all of these and ``$env:NAME`` (pi), or not at all (Codex)."""

_MOST = 16 * 1024 * 1024
"""Bytes of a configuration file that is read."""


class ServerCommand(NamedTuple):
    """What starts a server: its words, and variables beside those of the environment."""

    words: Sequence[str]
    variables: Mapping[str, str]


def read_configuration(file: Path) -> JsonValue:
    """The values in a configuration file: TOML by its suffix, else JSON, in which comments are allowed.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST + 1)
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(file)) from error
    if len(data) > _MOST:
        raise UsageError(f"larger than {_MOST:,} bytes", where=str(file))
    text = data.decode("utf-8-sig", "replace")
    try:
        return (
            tomllib.loads(text)
            if file.suffix == ".toml"
            else loads(_without_comments(text).encode("utf-8", "surrogatepass"))
        )
    except (ValueError, WireError) as error:
        raise UsageError(f"not valid ({type(error).__name__})", where=str(file)) from error


def read_command(file: Path, pointer: str, syntax: str, environment: Mapping[str, str]) -> ServerCommand:
    """The command of the entry at a JSON pointer of a file, with its variables filled in.

    Raises:
        UsageError: the file cannot be read, or has no stdio server there.
    """
    entry = entry_at(read_configuration(file), pointer)
    words = command_words(entry)
    if not words:
        raise UsageError(
            f"there is no command at {pointer}", where=str(file), hint="the configuration may have changed"
        )
    own = entry.get("env") or entry.get("environment")
    variables = own if isinstance(own, dict) else {}
    return ServerCommand(
        [expand(word, syntax, environment) for word in words],
        {str(name): expand(str(value), syntax, environment) for name, value in variables.items()},
    )


def entry_at(value: JsonValue, pointer: str) -> Mapping[str, JsonValue]:
    """The object at a JSON pointer; empty if there is none."""
    for step in pointer.split("/")[1:]:
        value = value.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def command_words(entry: Mapping[str, JsonValue]) -> list[str]:
    """Command and arguments of an entry, as written; empty for a server that is not started but reached at a URL."""
    command, arguments = entry.get("command"), entry.get("args")
    words = command if isinstance(command, list) else [command, *(arguments if isinstance(arguments, list) else [])]
    return [str(word) for word in words] if words and isinstance(words[0], str) and words[0] else []


def expand(text: str, syntax: str, environment: Mapping[str, str]) -> str:
    """The text with its variables filled in; one that is not set and has no default stays as written."""

    def value(found: re.Match[str]) -> str:
        groups = found.groupdict()
        default = groups.get("default")
        return environment.get(groups["name"] or groups.get("bare") or "", found[0] if default is None else default)

    return SYNTAXES[syntax].sub(value, text)


_COMMENT = regex.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)


def _without_comments(text: str) -> str:
    """JSON without comments and commas before a closing bracket, which several clients accept."""
    return _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else "", text)
