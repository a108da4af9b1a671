"""MCP servers that a client gets for one run: ``servers`` of its entry in ``clients.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from workbench.ir import NOTHING, JsonValue
from workbench.named_tuple import NamedTuple
from workbench.protocols.clients.client_facts import every_client


class ServerFile(NamedTuple):
    """A place in the configuration of a client that has servers.

    Attributes:
        path: of the file: ``~/`` is the home folder, ``./`` the client's own, ``${NAME:-DEFAULT}`` a variable. A file
            whose variable is not set does not exist.
        at: JSON pointer of the servers in it; ``{folder}`` is the client's folder.
        is_approved: only servers that the person has approved start.
        left: why the servers of this file are left as they are; empty if they are recorded.
    """

    path: str
    at: str
    is_approved: bool = False
    left: str = ""


class Approvals(NamedTuple):
    """Places of the approvals of a project's servers, as a client keeps them.

    Attributes:
        files: their paths and pointers, as in ``ServerFile``.
        named, refused, every: members with the names that are approved and refused, and for all of them.
    """

    files: tuple[ServerFile, ...]
    named: str
    refused: str
    every: str


class HomeCopy(NamedTuple):
    """A folder of settings whose place another takes for one run: a client that knows only where its home is.

    Attributes:
        folder: its path, as in ``ServerFile``; the other has links to all that is in it, but for the file.
        file: name of the file with the servers, which is the copy.
        name: of the folder in the home for the run.
    """

    folder: str
    file: str
    name: str


class ServerCopies(NamedTuple):
    """Configuration by which a client gets its servers for one run.

    Attributes:
        client: its name.
        syntax: how it writes variables in its configuration.
        files: its servers; of one name the last counts.
        approvals: for files with ``is_approved``; None where a client asks nobody.
        names: pattern of the names that can be given; empty for any.
        stdio, url: entries of a server that is started, and of one that is reached at a URL: ``{command}``,
            ``{arguments}``, ``{words}`` (both) and ``{url}`` are filled in. Empty: a copy of its own entry.
        is_whole: the client reads no other servers in this run, so that also those are given that are not recorded.
        withholds: it withholds variables of its own environment from a server, but for those that its entry names.
        key: member under which the servers are, in a file or a variable.
        merges: path of a file whose place the copy takes, so that its values are kept.
        home: the folder whose place that of the copy takes; None if the client knows the file by its path.
        arguments: of the client; ``{servers}`` is the path of the file.
        each: arguments for each member of an entry: ``{name}``, ``{key}`` and ``{json}`` are filled in.
        variables: of its environment: ``{servers}`` is the path of the file, or of the home, ``{json}`` its text.
        note: a sentence for the person about it.
    """

    client: str
    syntax: str
    files: tuple[ServerFile, ...]
    approvals: Approvals | None = None
    names: str = ""
    stdio: Mapping[str, JsonValue] = NOTHING
    url: Mapping[str, JsonValue] = NOTHING
    is_whole: bool = False
    withholds: bool = False
    key: str = ""
    merges: str = ""
    home: HomeCopy | None = None
    arguments: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    variables: Mapping[str, str] = NOTHING
    note: str = ""


@cache
def server_copies() -> Mapping[str, ServerCopies]:
    """Client → configuration of its servers, for all clients of which it is known."""
    return {one.name: _read(one.name, one.servers) for one in every_client() if one.servers}


def _read(client: str, stated: Mapping[str, JsonValue]) -> ServerCopies:
    found: dict[str, JsonValue] = dict(stated)
    found["files"] = _files(stated["files"])
    if isinstance(approvals := stated.get("approvals"), dict):
        found["approvals"] = Approvals(**{**approvals, "files": _files(approvals["files"])})
    if isinstance(home := stated.get("home"), dict):
        found["home"] = HomeCopy(**home)
    for name in ("arguments", "each"):
        found[name] = tuple(stated.get(name, ()))
    return ServerCopies(client, **found)


def _files(stated: JsonValue) -> tuple[ServerFile, ...]:
    assert isinstance(stated, list)
    return tuple(ServerFile(**each) for each in stated if isinstance(each, dict))
