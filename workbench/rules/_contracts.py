"""Contracts by name, and the choice of one for an exchange: by its host, then its model, then its protocol."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from workbench import resources
from workbench.errors import ProfileError, UsageError
from workbench.rules._contract import Contract
from workbench.rules._contract_file import Clues, ContractFile, Endpoint, load
from workbench.rules._contract_text import Part, as_json, lines
from workbench.rules._contract_words import vet
from workbench.rules._reader import Node

GENERIC = "generic"
NOTHING_SEEN = Clues()

__all__ = [
    "Clues",
    "Endpoint",
    "Part",
    "as_json",
    "broken",
    "choose",
    "demand",
    "endpoint",
    "endpoints",
    "forget",
    "get",
    "key_variable",
    "lines",
    "load",
    "names",
    "protocols",
    "read",
    "variants",
    "warnings",
]


@cache
def names() -> tuple[str, ...]:
    """The contracts that can be read: those that ship and the user's own, ``generic`` last."""
    readable = {*resources.shipped_profiles(), *(resources.own_profiles().keys() - broken().keys())}
    return tuple(sorted(readable, key=lambda name: (name == GENERIC, name)))


@cache
def broken() -> Mapping[str, ProfileError]:
    """The user's own contracts that cannot be read, by name, and why: nothing but asking for one by name fails."""
    found = {}
    for name, path in resources.own_profiles().items():
        try:
            _load(name, path, vet)
        except ProfileError as error:
            found[name] = error
        except OSError as error:
            found[name] = ProfileError(error.strerror or str(error), where=str(path))
    return found


def warnings() -> tuple[str, ...]:
    """A line for each broken contract: file, place, problem, and what counts in its place."""
    shipped = resources.shipped_profiles()
    instead = {True: "the one that ships counts", False: "this contract is passed over"}
    return tuple(f"{error}; {instead[name in shipped]}" for name, error in broken().items())


def demand(name: str) -> None:
    """For who asks by name: nothing stands in for a broken contract of the user's own. Raises ProfileError."""
    if error := broken().get(name.partition(":")[0]):
        raise ProfileError(error.what, where=error.where, hint=error.hint)


@cache
def read(name: str) -> ContractFile:
    """The contract file of a name that exists. Raises ProfileError."""
    shipped = resources.shipped_profiles()
    if name not in shipped:
        demand(name)
    own = {} if name in broken() else resources.own_profiles()
    return _load(name, own.get(name) or shipped[name])


def _load(name: str, path: Path, vet: Callable[[Node], None] | None = None) -> ContractFile:
    file = load(resources.profile(path), str(path), vet)
    if file.name != name:
        raise ProfileError(f"the contract is named {file.name!r}", where=str(path), hint="name the file after it")
    return file


def forget() -> None:
    """Read every contract again when it is next asked for: for who has changed a file."""
    for cached in (names, broken, read, endpoints, _resolved, _choose):
        cached.cache_clear()


def variants(name: str) -> tuple[str, ...]:
    """Labels of a contract ("deepseek:v4"), the current one first; its name alone where it can go without a variant."""
    file = read(name)
    labels = tuple(f"{name}:{v.name}" for v in file.variants)
    return labels if file.default else (name, *labels)


def protocols(label: str) -> tuple[str, ...]:
    """The protocols that the provider of a label speaks; none where it may be any, or there is no such contract."""
    name = label.partition(":")[0]
    return read(name).protocols if name in names() else ()


def get(label: str, *, protocol: str | None = None, clues: Clues = NOTHING_SEEN) -> Contract:
    """The contract of a name, resolved.

    Args:
        label: ``"deepseek"`` or ``"deepseek:v4"``. Without a variant the clues decide, then the current era counts.
        protocol: the protocol it is applied to; the provider's own when None.
        clues: what the exchange shows.

    Raises:
        UsageError: no contract of this name, or no such variant.
        ProfileError: the contract's file is not well-formed.
    """
    name, _, variant = label.partition(":")
    if name not in names():
        demand(name)
        raise UsageError(f"no contract named {name!r}", hint=f"known: {', '.join(names())}")
    file = read(name)
    known = [v.name for v in file.variants]
    if variant and variant not in known:
        raise UsageError(
            f"contract {name!r} has no variant {variant!r}",
            hint=f"known: {', '.join(known)}" if known else "it has no variants",
        )
    return _resolved(name, protocol, variant or file.variant(clues)[0], clues.model)


@lru_cache(maxsize=512)
def _resolved(name: str, protocol: str | None, variant: str, model: str | None) -> Contract:
    return read(name).resolve(protocol, variant, model)


@cache
def endpoints() -> Mapping[str, tuple[Endpoint, ...]]:
    """Where providers are reached, by the names of their contracts; only those whose keys have a known variable."""
    return {file.name: file.endpoints for file in _files() if file.endpoints}


def endpoint(url: str) -> tuple[str, Endpoint] | None:
    """(contract, endpoint) of an https URL: of those on exactly its host the one that has most of its path.

    Plain http, another port or a part of the name in front of the host is somebody else's.
    """
    host, path = _secure_place(url)
    found = [
        (name, known)
        for name, known_ones in endpoints().items()
        for known in known_ones
        if host and _secure_place(known.url)[0] == host
    ]
    fitting = [each for each in found if f"{path}/".startswith(f"{_secure_place(each[1].url)[1].rstrip('/')}/")]
    return max(fitting or found[:1], key=lambda each: len(each[1].url), default=None)


def key_variable(url: str) -> str:
    """The environment variable that holds the key for exactly the host of an https URL, "" where none is known."""
    found = endpoint(url)
    return found[1].key if found else ""


def _secure_place(url: str) -> tuple[str, str]:
    """(host, path) of an https URL at the usual port; ("", "") of any other."""
    try:
        parts = urlsplit(url)
        is_secure = parts.scheme == "https" and parts.port in (None, 443) and parts.username is None
    except ValueError:
        return "", ""
    return ((parts.hostname or ""), parts.path.rstrip("/")) if is_secure else ("", "")


def choose(clues: Clues, protocol: str | None) -> tuple[Contract, str]:
    """The contract of an exchange, and how it was found, in words."""
    name, how = _choose(_place(clues.url), clues.model, protocol, clues.answered_as)
    file = read(name)
    if not file.speaks(protocol):
        return _generic(protocol), f"{how}, but the contract of {name} does not cover {protocol}: generic"
    variant, why = file.variant(clues)
    return _resolved(name, protocol, variant, clues.model), f"{how}; {why}" if why else how


@lru_cache(maxsize=256)
def _choose(place: str, model: str | None, protocol: str | None, answered_as: str | None) -> tuple[str, str]:
    """(name, how) by its host, else by its names, else by its protocol.

    Hosts serve several wires, models are served by many: who does not speak the protocol gives way to one that does.
    """
    names_and_protocol = [*_by_model(model), *_by_model(answered_as), *_by_protocol(protocol)]
    for candidates in ([*_by_host(place)], names_and_protocol):
        spoken = (found for found in candidates if read(found[0]).speaks(protocol))
        if candidates:
            return next(spoken, candidates[0])
    return GENERIC, "no contract matches: generic"


def _by_host(place: str) -> Iterator[tuple[str, str]]:
    """Providers whose hosts fit, with or without the port."""
    said = (place, place.partition(":")[0])
    for file in _files():
        for host in said:
            if any(fnmatchcase(host, glob) for glob in file.hosts):
                yield file.name, f"by its host {host}"


def _by_model(model: str | None) -> Iterator[tuple[str, str]]:
    yield from ((file.name, f"by its model name {model}") for file in _files() if file.claims_model(model))


def _by_protocol(protocol: str | None) -> Iterator[tuple[str, str]]:
    yield from ((file.name, f"by its protocol {protocol}") for file in _files() if protocol in file.native)


def _files() -> list[ContractFile]:
    return [read(name) for name in names() if name != GENERIC]


def _place(url: str | None) -> str:
    """Host of a URL, with its port where it names one: "localhost:11434"."""
    found = re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?([^/?#:]+(?::[0-9]+)?)", url or "")
    return found[1].lower() if found else ""


def _generic(protocol: str | None) -> Contract:
    return _resolved(GENERIC, protocol, "", None)
