"""The user's own targets, in ``targets.yaml``: ``workbench targets --help`` has an example, docs/formats.md each key.

``${NAME}`` in a header's value is an environment variable: it is read when a request is sent, sent only to the scheme,
host and port of this target's ``base_url``, and replaced in recordings. Values that look like secrets are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from workbench import contracts, protocols, regex
from workbench.config import resources
from workbench.contracts import Node
from workbench.errors import ProfileError, UsageError, WorkbenchError, did_you_mean
from workbench.send.headers import LEFT_OUT, TOKEN
from workbench.send.target import SIMULATOR, VARIABLE, Target, url_problem
from workbench.wire.secrets import find, is_header

KEYS = ("base_url", "protocol", "model", "profile", "key_variable", "headers")
REFERENCE = regex.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)
"""Reference to an environment variable in a header's value."""

_NAME = regex.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)


def path() -> Path:
    """Path of the file; it need not exist."""
    return resources.own_folder("targets.yaml")


def configured_targets() -> Mapping[str, Target]:
    """Targets of the file by name; none if there is no file.

    Raises:
        ProfileError: the file cannot be read, or is malformed; with file, entry, problem and hint.
    """
    from workbench.config import safeyaml

    place = path()
    try:
        text = place.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ProfileError(error.strerror or str(error), where=str(place)) from error
    try:
        root = Node(safeyaml.load(text, name=str(place)), str(place))
    except WorkbenchError as error:
        raise ProfileError(error.what, where=error.where, hint="fix the file") from error
    _demand_mapping(root)
    _allow_keys(root, "targets")
    _demand_mapping(root.get("targets"))
    return {name: _target(name, node) for name, node in root.get("targets").members()}


def _target(name: str, node: Node) -> Target:
    if not _NAME.fullmatch(name):
        raise _fail(node, "not a name", f"use letters, digits and . _ -; {SIMULATOR} and URLs are already targets")
    if not isinstance(node.value, dict):
        raise _fail(node, "not a target", f"give a mapping with the keys {', '.join(KEYS)}")
    _allow_keys(node, *KEYS)
    url = node.get("base_url").text("")
    if not url:
        raise _fail(node, "base_url is missing", "give https://HOST[/PATH]")
    if fault := url_problem(url):
        raise _fail(node.get("base_url"), fault, "give https://HOST[/PATH]")
    first, *others = _protocols(node, url)
    return Target(
        name,
        first,
        url,
        contract=_contract(node.get("profile")),
        model=node.get("model").text(""),
        key_variable=_variable(node.get("key_variable")),
        headers=tuple(_header(key, value) for key, value in node.get("headers").members()),
        others=tuple((each, url) for each in others),
    )


def _protocols(node: Node, url: str) -> tuple[str, ...]:
    found = node.get("protocol")
    if found.value is None:
        known = contracts.endpoint(url)
        if known is None:
            raise _fail(node, "protocol is missing", f"one of {', '.join(protocols.protocols())}")
        return known[1].protocols
    names = found.texts() if isinstance(found.value, list) else (found.text(),)
    for name in names:
        if name not in protocols.protocols():
            raise _fail(found, f"no protocol named {name!r}", _nearest(name, protocols.protocols()))
    if not names:
        raise _fail(found, "protocol is empty", f"one of {', '.join(protocols.protocols())}")
    return names


def _contract(node: Node) -> str:
    label = node.text("")
    if label:
        try:
            contracts.demand(label)
            contracts.get(label)
        except UsageError as error:
            raise _fail(node, error.what, error.hint or "name a contract") from error
    return label


def _variable(node: Node) -> str:
    """Name of a variable. Anything else may be a key, so it is not quoted in the error."""
    name = node.text("")
    if name and (not VARIABLE.fullmatch(name) or find(name.encode())):
        raise _fail(node, "not the name of an environment variable", "give the variable's name, never the key itself")
    return name


def _header(name: str, node: Node) -> tuple[str, str]:
    if not TOKEN.fullmatch(name) or name.lower() in LEFT_OUT:
        raise _fail(node, "this header cannot be set", "leave out this header")
    if not isinstance(node.value, str):
        raise _fail(node, "not text", "put the value in quotes")
    value = node.value
    if not value.isascii() or not value.isprintable():
        raise _fail(node, "characters that a header cannot contain", "use printable ASCII")
    plain = REFERENCE.sub("", value)
    if "${" in plain:
        raise _fail(node, "${…} without a variable name", "write ${NAME}")
    is_secret = is_header(name)
    if (is_secret and plain == value) or find(plain.encode()):
        raise _fail(node, "a secret in plain text", "put the secret in an environment variable and write ${NAME} here")
    return name, value


def _demand_mapping(node: Node) -> None:
    if not isinstance(node.value, dict | None):
        raise _fail(node, "not a mapping", "workbench targets --help shows the format")


def _allow_keys(node: Node, *keys: str) -> None:
    for key, inner in node.members():
        if key not in keys:
            raise _fail(inner, f"unknown key {key[:80]!r}", _nearest(key, keys))


def _nearest(word: str, known: tuple[str, ...]) -> str:
    return did_you_mean(word, known) or f"known: {', '.join(known)}"


def _fail(node: Node, what: str, hint: str) -> ProfileError:
    return ProfileError(what, where=f"{node.file}#{node.pointer or '/'}", hint=hint)
