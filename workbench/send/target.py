"""A target: where requests can be sent, what a base URL is, and the URL of a request."""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

from workbench import regex
from workbench.lazy_dataclass import dataclass
from workbench.wire import in_url, split_url

SIMULATOR = "sim:"
"""Prefix of the name of a simulator; the label of its contract follows."""

VARIABLE = regex.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
"""Syntax of the name of an environment variable."""

_HOST = regex.compile(r"[A-Za-z0-9._-]+|[0-9a-fA-F:.]+", re.ASCII)
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Target:
    """A destination of requests.

    Attributes:
        name: as typed by the user.
        protocol: its main protocol; empty for a simulator, which supports every protocol of its contract.
        url: base URL; empty for a simulator.
        contract: label of the contract to judge requests by ("deepseek:v4"); empty to choose one for each request.
        model: replaces the model of requests; empty to keep theirs.
        key_variable: name of the environment variable with the key; empty if there is none.
        headers: sent with every request; ``${NAME}`` in a value is an environment variable.
        others: further protocols, each with its base URL.
    """

    name: str
    protocol: str = ""
    url: str = ""
    contract: str = ""
    model: str = ""
    key_variable: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    others: tuple[tuple[str, str], ...] = ()

    @property
    def is_simulator(self) -> bool:
        """Nothing leaves this process."""
        return not self.url

    @property
    def is_loopback(self) -> bool:
        """Nothing leaves this machine."""
        return self.is_simulator or is_loopback(self.url)

    @property
    def protocols(self) -> tuple[str, ...]:
        """Supported protocols, the main one first; empty for a simulator of any protocol."""
        from workbench import contracts
        from workbench import protocols as adapters

        if not self.is_simulator:
            return tuple(dict.fromkeys((self.protocol, *(name for name, _ in self.others))))
        return tuple(name for name in contracts.protocols(self.contract) if name in adapters.protocols())

    def base(self, protocol: str) -> str:
        """Base URL for one of its protocols; the main one for any other."""
        return self.url if protocol == self.protocol else dict(self.others).get(protocol, self.url)

    @property
    def origins(self) -> frozenset[Origin]:
        """The only origins that receive its key and headers."""
        return frozenset(origin(url) for url in (self.url, *(url for _, url in self.others)) if url)


Origin = tuple[str, str, int]
"""Scheme, host and port of a URL."""


def origin(url: str) -> Origin:
    """Scheme, host and port of an absolute URL."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)


def is_loopback(url: str) -> bool:
    """The URL's host is this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def url_problem(url: str) -> str:
    """Why this is not a base URL, without quoting possible secrets; empty if it is one."""
    try:
        parts: SplitResult = urlsplit(url)
        parts.port  # noqa: B018 (it may be no number)
    except ValueError:
        return "not a URL"
    if parts.scheme not in _PORTS or not parts.hostname:
        return "not an http:// or https:// URL"
    if not _HOST.fullmatch(parts.hostname):
        return "a URL with an invalid host"
    if parts.username is not None or parts.password is not None:
        return "a URL with a user name or a password: put keys in the environment"
    if in_url(url):
        return "a URL that contains a key: put keys in the environment"
    if parts.fragment or not url.isascii() or re.search(r"[\x00-\x20\x7f\\]", url):
        return "a URL with a fragment or invalid characters"
    return ""


_VERSION: Final = regex.compile(r"/v[0-9]+[a-z0-9]*(?=/|$)")


def join_url(base: str, path: str) -> str:
    """URL of a path below a base URL.

    A base with a version keeps it ("…/v1" and "/v1/messages", "…/api/paas/v4" and "/v1/chat/completions"); a base that
    already ends with the path is complete; queries of both are kept.
    """
    parts, tail = split_url(base), split_url(path)
    front, back = parts.path.rstrip("/"), tail.path
    bare = _VERSION.sub("", back, count=1) if _VERSION.match(back) else back
    if not front.endswith(bare):
        step = re.match(r"/[^/]+", back)
        if step and front.endswith(step[0]):
            back = back[step.end() :]
        elif _VERSION.search(front):
            back = bare
        front += back
    query = "&".join(filter(None, (parts.query, tail.query)))
    return urlunsplit((parts.scheme, parts.netloc, front, query, ""))


def server_url(base: str, path: str) -> str:
    """URL of a path of the server itself, outside of its versioned API ("…/v1" and "/props")."""
    parts, tail = split_url(base), split_url(path)
    front = re.sub(r"/v[0-9]+[a-z0-9]*$", "", parts.path.rstrip("/"))
    return urlunsplit((parts.scheme, parts.netloc, front + tail.path, tail.query, ""))


def path_of(url: str) -> str:
    """Path and query of a recorded URL, without keys."""
    parts = split_url(url)
    return with_query_of(parts.path, url, is_same=True)


def with_query_of(path: str, url: str, *, is_same: bool) -> str:
    """An adapter's path with the query of the recorded URL, without keys.

    Args:
        is_same: keep the recorded query unchanged; else the path's own query comes first (it may select streaming).
    """
    front, _, own = path.partition("?")
    pairs = [p for p in split_url(url).query.split("&") if p and not in_url(f"?{p}")]
    if not is_same:
        named = {p.partition("=")[0] for p in (*own.split("&"), "alt")}
        pairs = [*filter(None, own.split("&")), *(p for p in pairs if p.partition("=")[0] not in named)]
    return "?".join(filter(None, (front, "&".join(pairs))))
