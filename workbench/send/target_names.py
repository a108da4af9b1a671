"""Targets by name: ``sim:CONTRACT``, a URL, a name in ``targets.yaml``, a provider, a local server.

Laws of this file:

* Only the user's configuration and the command line decide where a key goes; never a session or a working directory.
* A key is bound to the origin (scheme, host and port) it is configured for. A typed URL gets the key of the target in
  ``targets.yaml`` with that origin, or of the provider whose endpoint is on exactly that https host.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench import contracts
from workbench import protocols as adapters
from workbench.errors import UsageError, did_you_mean
from workbench.lazy_dataclass import replace
from workbench.send import local, own_targets
from workbench.send.target import SIMULATOR, VARIABLE, Target, origin, url_problem


def resolve(text: str, protocol: str = "", *, key_variable: str = "") -> Target:
    """The target for a name, ``sim:CONTRACT`` or a URL.

    Args:
        protocol: of a URL; empty if its provider or target is known.
        key_variable: variable with the key, in place of the known one.

    Raises:
        UsageError: there is no such target.
        ProfileError: ``targets.yaml`` or a contract is malformed.
    """
    if key_variable and not VARIABLE.fullmatch(key_variable):
        raise UsageError(
            "not the name of an environment variable", hint="give the name of the variable, never the key itself"
        )
    if text.startswith(SIMULATOR):
        return _simulator(text)
    named = own_targets.configured_targets()
    known = {**providers(), **local.usual_targets()}
    if text in named or text in known:
        found = named[text] if text in named else known[text]
    elif "://" in text:
        found = _by_url(text, protocol, named)
    else:
        near = did_you_mean(text.removesuffix(":"), [*named, *known])
        otherwise = "sim:CONTRACT, a URL, or a name listed by workbench targets"
        raise UsageError(f"no target named {text!r}", hint=f"{near} Otherwise {otherwise}" if near else otherwise)
    return replace(found, key_variable=key_variable or found.key_variable)


def providers() -> Mapping[str, Target]:
    """Targets that need only a key: contracts with known endpoints."""
    targets = {}
    for name, endpoints in contracts.endpoints().items():
        bases = {protocol: each.url for each in endpoints for protocol in each.protocols}
        first, *others = bases.items()
        targets[name] = Target(name, *first, name, key_variable=endpoints[0].key, others=tuple(others))
    return targets


def _simulator(text: str) -> Target:
    label = text.removeprefix(SIMULATOR)
    contracts.demand(label)
    contracts.get(label)
    return Target(text, contract=label)


def _by_url(url: str, protocol: str, named: Mapping[str, Target]) -> Target:
    """Target of a typed URL. Raises UsageError."""
    if fault := url_problem(url):
        raise UsageError(fault, hint="give https://HOST[/PATH]")
    if protocol:
        adapters.get(protocol)
    place = origin(url)
    own = next((t for t in named.values() if place in t.origins and t.key_variable), None)
    known = contracts.endpoint(url)
    protocols = known[1].protocols if known else ()
    if not protocol and not protocols:
        raise UsageError(f"the protocol of {url} is unknown", hint=f"use --as {'|'.join(adapters.protocols())}")
    first, *others = (protocol,) if protocol else protocols
    key = own.key_variable if own else contracts.key_variable(url)
    return Target(url, first, url, key_variable=key, others=tuple((each, url) for each in others))
