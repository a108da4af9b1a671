"""The user's own targets: ``$XDG_CONFIG_HOME/workbench/targets.yaml``, or ``~/.config/workbench/targets.yaml``.

    targets:
      gateway:
        base_url: https://gateway.example/v1
        protocol: openai-chat                # or several: [openai-chat, anthropic-messages]
        model: my-model                      # in place of the request's
        profile: deepseek:v4                 # the contract that requests are judged by
        key_variable: GATEWAY_KEY            # the name of the variable, never the key
        headers: {x-team: tools, x-token: "${TEAM_TOKEN}"}

``base_url`` and ``protocol`` are required; for a provider that is known by its host the protocol is not. ``${NAME}`` in
a header's value is any variable of the environment: it is read when a request is sent, goes to this base URL's scheme,
host and port alone, and is replaced in whatever is recorded. Values that look like secrets are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from workbench import contracts, protocols
from workbench.config import resources
from workbench.contracts.reader import Node
from workbench.errors import ProfileError, UsageError, WorkbenchError
from workbench.send.headers import LEFT_OUT, TOKEN
from workbench.send.target import SIMULATOR, VARIABLE, Target, fault_of_url
from workbench.wire.secrets import find, is_header

KEYS = ("base_url", "protocol", "model", "profile", "key_variable", "headers")
REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)
"""A variable of the environment in a header's value."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)


def path() -> Path:
    """Where the file is looked for; it need not exist."""
    return resources.own_folder("targets.yaml")


def named() -> Mapping[str, Target]:
    """The targets of the file, by name; none where there is no file.

    Raises:
        ProfileError: it cannot be read, or is not well-formed: file, entry, what is wrong, what to do.
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
        raise ProfileError(error.what, where=error.where, hint="mend the file") from error
    _demand_mapping(root)
    _only(root, "targets")
    _demand_mapping(root.get("targets"))
    return {name: _target(name, node) for name, node in root.get("targets").members()}


def _target(name: str, node: Node) -> Target:
    if not _NAME.fullmatch(name):
        raise _fail(node, "not a name", f"letters, digits and . _ -; {SIMULATOR} and URLs are targets already")
    if not isinstance(node.value, dict):
        raise _fail(node, "not a target", f"a mapping with the keys {', '.join(KEYS)}")
    _only(node, *KEYS)
    url = node.get("base_url").text("")
    if not url:
        raise _fail(node, "base_url is missing", "give https://HOST[/PATH]")
    if fault := fault_of_url(url):
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
    said = found.texts() if isinstance(found.value, list) else (found.text(),)
    for name in said:
        if name not in protocols.protocols():
            raise _fail(found, f"no protocol named {name!r}", _nearest(name, protocols.protocols()))
    if not said:
        raise _fail(found, "protocol is empty", f"one of {', '.join(protocols.protocols())}")
    return said


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
    """The name of a variable. What is none may be a key: it is not quoted."""
    name = node.text("")
    if name and (not VARIABLE.fullmatch(name) or find(name.encode())):
        raise _fail(node, "not the name of an environment variable", "name the variable, never the key itself")
    return name


def _header(name: str, node: Node) -> tuple[str, str]:
    if not TOKEN.fullmatch(name) or name.lower() in LEFT_OUT:
        raise _fail(node, "a header that cannot be set", "leave it out")
    if not isinstance(node.value, str):
        raise _fail(node, "not text", "put the value into quotes")
    value = node.value
    if not value.isascii() or not value.isprintable():
        raise _fail(node, "characters that no header holds", "use printable ASCII")
    plain = REFERENCE.sub("", value)
    if "${" in plain:
        raise _fail(node, "${…} that names no variable", "write ${NAME}")
    is_secret = is_header(name)
    if (is_secret and plain == value) or find(plain.encode()):
        raise _fail(node, "a secret in plain text", "put it into the environment, and write ${NAME} here")
    return name, value


def _demand_mapping(node: Node) -> None:
    if not isinstance(node.value, dict | None):
        raise _fail(node, "not a mapping", "workbench targets --help has the form")


def _only(node: Node, *keys: str) -> None:
    for key, inner in node.members():
        if key not in keys:
            raise _fail(inner, f"unknown key {key[:80]!r}", _nearest(key, keys))


def _nearest(word: str, known: tuple[str, ...]) -> str:
    close = get_close_matches(word, known, 1)
    return f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}"


def _fail(node: Node, what: str, hint: str) -> ProfileError:
    return ProfileError(what, where=f"{node.file}#{node.pointer or '/'}", hint=hint)
