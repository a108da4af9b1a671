"""Settings that point a client at a recorder: which upstreams it needs, and what to set once the recorder listens."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from urllib.parse import urlsplit

from workbench import contracts, regex
from workbench.errors import UsageError
from workbench.lazy_dataclass import dataclass
from workbench.protocols.clients import CLIENTS, PROVIDERS, Client
from workbench.send import PORTS

_NAMED = regex.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)=(?=[A-Za-z][A-Za-z0-9+.-]*://)(.*)", re.DOTALL)
UNNAMED_UPSTREAM = "default"
"""Name of an upstream that was given none."""

_LOCAL = ("127.0.0.1", "localhost")


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Variables, arguments and a file to start a client with.

    Attributes:
        variables: environment variables and their values.
        arguments: to put in front of the client's own.
        file: text of a file that replaces ``{file}`` in the arguments; empty if none.
    """

    variables: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    file: str = ""


def parse_upstreams(texts: Sequence[str]) -> dict[str, str]:
    """``[NAME=]URL`` → name → URL. Raises UsageError for a name given twice or two without."""
    upstreams = dict[str, str]()
    for text in texts:
        parts = _NAMED.fullmatch(text)
        name, url = (parts[1], parts[2]) if parts else (UNNAMED_UPSTREAM, text)
        if name in upstreams:
            what = "two upstreams without a name" if name == UNNAMED_UPSTREAM else f"two upstreams named {name!r}"
            raise UsageError(what, hint="give each a unique name: --upstream NAME=URL")
        upstreams[name] = url
    return upstreams


def default_upstreams(client: Client, environment: Mapping[str, str]) -> dict[str, str]:
    """Upstreams that a client uses without a recorder: from its environment variables, else its provider."""
    upstreams = {}
    for provider in client.reaches():
        urls = (environment.get(v.name) for v in client.variables if v.provider == provider)
        upstreams[provider] = next(filter(None, urls), PROVIDERS[provider])
    return upstreams


def settings_for(
    client: Client, upstreams: Mapping[str, str], urls: Mapping[str, str], environ: Mapping[str, str]
) -> ClientSettings:
    """Settings with which a client sends its requests to the recorder.

    Args:
        client: the client to start.
        upstreams: name → where the recorder forwards to.
        urls: name → where it listens for that.
        environ: the client's environment: its proxy must not get requests to this machine.
    """

    def base(provider: str, path: str) -> str:
        name = provider if provider in urls else next(iter(urls)) if len(urls) == 1 else ""
        if not name or (name in PROVIDERS and name != provider):
            return ""
        return urls[name] + ("" if urlsplit(upstreams[name]).path.strip("/") else path)

    extra = client.extra(base)
    bases = {v.name: base(v.provider, v.path) for v in client.variables}
    variables = {name: url for name, url in bases.items() if url} | dict(extra.variables)
    return ClientSettings(variables | dict(_past_proxies(environ)), extra.arguments, extra.file)


def _past_proxies(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if not any(environ.get(name) for each in ("http_proxy", "all_proxy") for name in (each, each.upper())):
        return
    for name in ("NO_PROXY", "no_proxy"):
        yield name, ",".join(filter(None, (environ.get(name, ""), *_LOCAL)))


_OFFERED = ("anthropic", "openai", "deepseek", "gemini", "mistral", "kimi", "groq", "openrouter", "xai")
"""Providers that are offered, by the names of their contracts: their clients put ``/v1/…`` behind the first URL."""

_SERVERS = ("ollama", "llama.cpp", "vllm", "lm-studio")
"""Servers of this machine that are offered, at their default ports."""


@cache
def known_upstreams() -> Mapping[str, str]:
    """Provider or local server → its URL, as its contract states it."""
    providers = {name: contracts.read(name).endpoints[0].url for name in _OFFERED}
    return MappingProxyType({**providers, **{name: f"http://127.0.0.1:{PORTS[name]}" for name in _SERVERS}})


def parse(text: str) -> dict[str, str]:
    """Upstreams by name, from words: a known name, ``NAME=URL``, ``NAME=KNOWN``, a URL, or the command of a client.

    Raises:
        UsageError: a word is none of these, or two words have the same name.
    """
    arguments = text.split()
    words = [_command_word(word) for word in arguments if word not in _commands()]
    if not arguments:
        raise UsageError("no upstream", hint="type a provider's name, or a URL")
    of_clients = dict[str, str]()
    for command in clients_in(text):
        of_clients |= default_upstreams(_commands()[command], os.environ)
    return of_clients | parse_upstreams(words)


def _commands() -> Mapping[str, Client]:
    """Command → client; that of Gemini CLI is the name of its provider as well, which means the same."""
    found = {command: client for client in CLIENTS for command in client.commands}
    return {command: client for command, client in found.items() if command not in known_upstreams()}


def clients_in(text: str) -> tuple[str, ...]:
    """The commands of clients among typed words."""
    return tuple(word for word in text.split() if word in _commands())


def installed_clients() -> dict[str, Client]:
    """Command → client, of the known clients whose program is on this machine."""
    return {
        command: client for client in CLIENTS for command in client.commands[:1] if shutil.which(command) is not None
    }


def setting_words(client: Client) -> str:
    """What points a client at the recorder, without values."""
    urls = {provider: "http://127.0.0.1" for provider in client.reaches()}
    found = settings_for(client, urls, urls, {})
    words = [f"sets {', '.join(found.variables)}"] if found.variables else []
    words += (
        ["passes a settings file to the client"]
        if found.file
        else ["passes an argument to the client"]
        if found.arguments
        else []
    )
    return " and ".join(words)


def _command_word(word: str) -> str:
    """A typed word in the form of the command line: a URL or ``NAME=URL``."""
    name, _, base = word.partition("=")
    if base in known_upstreams():
        return f"{name}={known_upstreams()[base]}"
    if word in known_upstreams():
        return f"{word}={known_upstreams()[word]}"
    if "://" not in word:
        raise UsageError(f"unknown provider {word}", hint="type the provider's URL: https://HOST, or NAME=https://HOST")
    name = next((name for name, url in known_upstreams().items() if url == word.rstrip("/")), "")
    return f"{name}={word}" if name else word
