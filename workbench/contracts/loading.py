"""Contracts by name: those that ship, and the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from workbench.config import cache_files, resources
from workbench.contracts import contract_cache
from workbench.contracts.common_practice import CommonPractice, CommonRefusals, soften
from workbench.contracts.contract import Contract
from workbench.contracts.facts import Clues, ContractFile, Endpoint, load, with_terms
from workbench.contracts.reader import Node
from workbench.contracts.relations import Relation
from workbench.contracts.shared_facts import with_siblings
from workbench.errors import ProfileError, UnknownName, UsageError
from workbench.lazy_dataclass import replace
from workbench.protocols import traits
from workbench.wire import urls

GENERIC = "generic"
OF_MODELS = "reasoning."
"""Terms with these beginnings are facts of the model, wherever it is served."""
OF_FRONT_ENDS = ("reasoning.carriers", "reasoning.refused-carriers")
"""The exception among these: the field in which reasoning travels, which the server chooses."""
OF_APIS = ("closure.", "reasoning.", "schema.", "content.", "args.", "choice.", "params.", "shapes.", "tools.")
"""Terms with these beginnings hold wherever an API is served, except those that depend on its address."""
OF_TOOLS = "schema."
"""Terms with these beginnings hold for each protocol that is translated to an API."""
OF_ADDRESSES = ("params.required", "params.fields", "params.beta-fields", "params.refused")
NOTHING_SEEN = Clues()
_DERIVED: list[Any] = []

__all__ = [
    "Clues",
    "Endpoint",
    "broken_files",
    "common_practice",
    "common_refusals",
    "copy_compiled",
    "demand",
    "endpoint",
    "endpoints",
    "files",
    "forget",
    "forgotten_with",
    "get",
    "keep_resolved",
    "key_owner",
    "key_variable",
    "load",
    "names",
    "of_model",
    "outline",
    "outlines",
    "proof_forms",
    "protocols",
    "read",
    "resolve",
    "variants",
    "warnings",
    "with_common_practice",
]


@cache
def names() -> tuple[str, ...]:
    """The contracts that can be read: those that ship and the user's own, ``generic`` last."""
    readable = {*resources.shipped_profiles(), *(resources.own_profiles().keys() - broken_files().keys())}
    return tuple(sorted(readable, key=lambda name: (name == GENERIC, name)))


@cache
def broken_files() -> Mapping[str, ProfileError]:
    """The user's own contracts that cannot be read: name → error. Only asking for one by its name fails."""
    found: dict[str, ProfileError] = {}
    own = resources.own_profiles()
    if not own:
        return found
    from workbench.contracts.vocabulary import vet

    for name, path in own.items():
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
    instead = {True: "the contract that ships with Workbench is used", False: "this contract is ignored"}
    return tuple(f"{error}; {instead[name in shipped]}" for name, error in broken_files().items())


def demand(name: str) -> None:
    """Refuse a name of a broken contract of the user's own: for callers who ask by name. Raises ProfileError."""
    if error := broken_files().get(name.partition(":")[0]):
        raise ProfileError(error.what, where=error.where, hint=error.hint)


@cache
def read(name: str) -> ContractFile:
    """The contract file of a name that exists. Raises ProfileError."""
    _own_when_read()
    shipped = resources.shipped_profiles()
    if name not in shipped:
        demand(name)
    own = {} if name in broken_files() else resources.own_profiles()
    if name in own:
        return _load(name, own[name])
    return contract_cache.contract(name) or _load_shipped(name)


@cache
def _own_when_read() -> Mapping[str, list[int]]:
    """The user's own contracts when the first contract was read: name → what changes with its content."""
    return _own_now()


def _own_now() -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = {}
    for name, path in resources.own_profiles().items():
        with suppress(OSError):
            found[name] = cache_files.identity(path)
    return found


def _load_shipped(name: str) -> ContractFile:
    return _load(name, resources.shipped_profiles()[name])


@cache
def outlines() -> tuple[ContractFile, ...]:
    """Every readable contract except ``generic``, without facts and checks: only what is needed to choose one."""
    shipped, own = contract_cache.outlines(_load_shipped), resources.own_profiles().keys() - broken_files().keys()
    return tuple(
        contract_cache.outline(read(name)) if name in own else shipped[name] for name in names() if name != GENERIC
    )


@cache
def _outlines_by_name() -> Mapping[str, ContractFile]:
    return {file.name: file for file in outlines()}


def outline(name: str) -> ContractFile:
    """A contract without facts, checks and relations, by a name that exists."""
    return _outlines_by_name().get(name) or read(name)


def copy_compiled(home: Path) -> None:
    """Put the compiled contracts into the cache of another home folder: a process with that home starts faster."""
    contract_cache.outlines(_load_shipped)
    contract_cache.copy_to(home)


@cache
def proof_forms() -> Mapping[str, str]:
    """Title of a provider → beginning of the proofs of reasoning that it issues (term ``reasoning.proof``)."""
    proofs = ((file, facts.get("reasoning.proof")) for file in files() for _, facts in file.facts)
    return {file.title: str(fact.value) for file, fact in proofs if fact}


@cache
def common_practice(protocol: str | None) -> CommonPractice | None:
    """Refusals shared by most shipped contracts of a protocol; None if no contract covers it."""
    return contract_cache.common_practice(protocol or "", _load_shipped)


@cache
def common_refusals(protocol: str | None) -> CommonRefusals:
    """The refusals that common practice of a protocol rests on; none if no contract covers it."""
    return contract_cache.common_refusals(protocol or "", _load_shipped)


def _load(name: str, path: Path, vet: Callable[[Node], None] | None = None) -> ContractFile:
    file = load(resources.profile(path), str(path), vet)
    if file.name != name:
        raise ProfileError(f"the contract is named {file.name!r}", where=str(path), hint="rename the file to match")
    for part in file.includes:
        file = file.with_part(_part(part, str(path)))
    return file


def _part(name: str, where: str) -> ContractFile:
    """A part that contracts share. Raises ProfileError."""
    shared = resources.shared_profiles()
    if name not in shared:
        raise ProfileError(f"no shared part named {name!r}", where=where, hint=f"known: {', '.join(shared)}")
    return load(resources.profile(shared[name]), str(shared[name]))


def forget() -> None:
    """Read every contract again when it is next asked for: for callers that have changed a file."""
    contract_cache.forget()
    _kept.clear()
    own = (names, broken_files, read, _own_when_read, outlines, _outlines_by_name, endpoints, _key_prefixes)
    for cached in (*own, resolve, of_model, proof_forms, common_practice, common_refusals, *_DERIVED):
        cached.cache_clear()


def forgotten_with(cached: Any) -> Any:
    """Decorate a cached function whose results depend on contracts, so that ``forget`` clears it, too."""
    _DERIVED.append(cached)
    return cached


def variants(name: str) -> tuple[str, ...]:
    """Labels of a contract ("deepseek:v4"), the current one first; its name alone if it needs no variant."""
    file = read(name)
    labels = tuple(f"{name}:{v.name}" for v in file.variants)
    return labels if file.default else (name, *labels)


def protocols(label: str) -> tuple[str, ...]:
    """The protocols that the contract of a label covers; empty if it covers all, or there is no such contract."""
    name = label.partition(":")[0]
    return read(name).protocols if name in names() else ()


def get(label: str, *, protocol: str | None = None, clues: Clues = NOTHING_SEEN) -> Contract:
    """The contract of a name, resolved.

    Args:
        label: ``"deepseek"`` or ``"deepseek:v4"``. Without a variant the clues decide, else the current era is used.
            ``"generic:deepseek"`` is ``generic`` with the facts of DeepSeek's contract on its models.
        protocol: the protocol it is applied to; the provider's own when None.
        clues: clues of the exchange to its variant.

    Raises:
        UsageError: no contract of this name, or no such variant.
        ProfileError: the contract's file is not well-formed.
    """
    name, _, variant = label.partition(":")
    if name not in names():
        demand(name)
        raise UnknownName("contract", name, names())
    file = read(name)
    if name == GENERIC and variant in names():
        return of_model(variant, protocol, read(variant).variant(clues)[0], clues.model)
    known = [v.name for v in file.variants]
    if variant and variant not in known:
        raise UsageError(
            f"contract {name!r} has no variant {variant!r}",
            hint=f"known: {', '.join(known)}" if known else "this contract has no variants",
        )
    return resolve(name, protocol, variant or file.variant(clues)[0], clues.model)


_kept: list[str] = []
"""Keys under which the next contracts that are resolved are kept in the cache."""

_MOST_KEPT = 4
"""Number of resolved contracts that a process keeps in the cache, or reads from it: the first ones."""


def keep_resolved(digest: str) -> None:
    """Keep the first resolved contracts of this process in the cache, and read those that an earlier one has kept.

    Nothing is kept if the user's own contracts have changed since they were read: the digest is of what is there now.

    Args:
        digest: of everything that contracts are made of: the program, its data, and the user's own contracts.
    """
    _kept[:] = [digest] * _MOST_KEPT if _own_when_read() == _own_now() else []


@lru_cache(maxsize=512)
def resolve(name: str, protocol: str | None, variant: str, model: str | None) -> Contract:
    """The contract of a name in a variant that exists, for one protocol and model."""
    try:
        digest = _kept.pop()
    except IndexError:  # none is left; threads may ask at the same time
        return _resolve(name, protocol, variant, model)
    key = repr((digest, name, protocol, variant, model))
    if pair := contract_cache.read_resolved(key):
        contract, contract.facts[with_common_practice] = pair
        return contract
    contract = _resolve(name, protocol, variant, model)
    contract_cache.keep_resolved(key, contract, with_common_practice(contract))
    return contract


def of_single_models(contract: Contract) -> Iterator[Contract]:
    """The same contract for each model of which it knows a fact of its own. See ``ContractFile.sample_models``."""
    for model in read(contract.name).sample_models(contract.protocol, contract.variant):
        yield resolve(contract.name, contract.protocol, contract.variant, model)


def with_common_practice(contract: Contract) -> Contract:
    """The contract, with what most providers of its protocol refuse and it says nothing of."""
    found: Contract | None = contract.facts.get(with_common_practice)
    if found is None:
        practice = common_practice(contract.protocol)
        found = contract.facts[with_common_practice] = soften(contract, practice) if practice else contract
    return found


def _resolve(name: str, protocol: str | None, variant: str, model: str | None) -> Contract:
    contract = read(name).resolve(protocol, variant, model)
    for term, add in (("gateway.serves", _as_served), ("gateway.serves-tools", _with_tools)):
        maker = contract.term(term)
        if isinstance(maker, str) and maker in names():
            contract = add(contract, read(maker), model)
    contract = with_siblings(read(name), contract, variant, model)
    return _with_models(contract, model) if contract.term("gateway.passes-models") and model else contract


def _as_served(contract: Contract, maker: ContractFile, model: str | None) -> Contract:
    """The contract of an endpoint that passes requests on to a maker's own API, with what that API requires.

    Terms of the contract itself count before those of the maker, and so do its relations about the same place.
    """
    api = maker.resolve(maker.protocols[0], maker.variant(Clues(model=model))[0], model)
    terms = {key: fact for key, fact in api.terms.items() if key.startswith(OF_APIS) and key not in OF_ADDRESSES}
    places = {str(each.place) for each in contract.relations}
    relations = (*contract.relations, *(each for each in api.relations if str(each.place) not in places))
    bare = replace(contract, enforces=(*contract.enforces, *api.enforces), relations=relations)
    return with_terms(bare, {**terms, **contract.terms})


def _with_tools(contract: Contract, maker: ContractFile, model: str | None) -> Contract:
    """The contract of an endpoint that translates requests to a maker's API, with what that API requires of tools.

    Where the maker speaks the same protocol, that is the one they are translated to.
    """
    variant = maker.variant(Clues(model=model))[0]
    protocol = contract.protocol if maker.speaks(contract.protocol) else maker.protocols[0]
    api = maker.resolve(protocol, variant, model)
    terms = {key: fact for key, fact in api.terms.items() if key.startswith(OF_TOOLS)}
    relations = (*contract.relations, *maker.on_tools(contract.protocol, variant, model))
    return with_terms(replace(contract, relations=relations), {**terms, **contract.terms})


def _with_models(contract: Contract, model: str) -> Contract:
    """The contract of a gateway that passes requests on, with what the provider of the model refuses of it."""
    places = {str(each.place) for each in contract.relations}
    makers = (file for file in outlines() if file.name != contract.name and file.claims_model(model))
    maker = next((file.name for file in makers if file.speaks(contract.protocol)), "")
    found = _of_models(maker, contract.protocol, model) if maker else ()
    return replace(
        contract, relations=(*contract.relations, *(each for each in found if str(each.place) not in places))
    )


def _of_models(name: str, protocol: str | None, model: str | None) -> tuple[Relation, ...]:
    file = read(name)
    return file.of_models(protocol, file.variant(Clues(model=model))[0], model)


@lru_cache(maxsize=256)
def of_model(name: str, protocol: str | None, variant: str, model: str | None) -> Contract:
    """``generic`` with the facts that a contract has on its models; labelled ``generic:NAME``."""
    own, generic = resolve(name, protocol, variant, model), resolve(GENERIC, protocol, "", None)
    facts = {t: fact for t, fact in own.terms.items() if t.startswith(OF_MODELS) and t not in OF_FRONT_ENDS}
    carriers = own.reasoning.carriers
    if carriers:
        carriers = tuple(dict.fromkeys((*carriers, *traits(protocol).common_carriers)))
    reasoning = replace(own.reasoning, carriers=carriers)
    relations = (*generic.relations, *_of_models(name, protocol, model))
    return replace(generic, variant=name, reasoning=reasoning, terms={**generic.terms, **facts}, relations=relations)


@cache
def endpoints() -> Mapping[str, tuple[Endpoint, ...]]:
    """Endpoints of providers, by the names of their contracts; only those whose API key has a known variable."""
    return {file.name: file.endpoints for file in outlines() if file.endpoints}


def endpoint(url: str) -> tuple[str, Endpoint] | None:
    """(contract, endpoint) of an https URL: of those on exactly its host, the one with the longest common path.

    Plain http, another port or a subdomain does not match.
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
    """The environment variable with the key for exactly the host of an https URL; empty if none is known."""
    found = endpoint(url)
    return found[1].key if found else ""


def key_owner(key: str) -> str:
    """The provider that issued an API key, by its beginning; empty if none is known."""
    return next((name for prefix, name in _key_prefixes().items() if key.startswith(prefix)), "")


@cache
def _key_prefixes() -> Mapping[str, str]:
    """Beginning of a key → the provider that issues it.

    The shipped contracts count too where a file of the user's own replaces them: an older copy that does not list the
    prefixes must not let a key go to another provider.
    """
    own = resources.own_profiles()
    shipped = [_load(name, path) for name, path in resources.shipped_profiles().items() if name in own]
    return {prefix: file.name for file in (*shipped, *outlines()) for prefix in file.key_prefixes}


def _secure_place(url: str) -> tuple[str, str]:
    """(host, path) of an https URL at the usual port; ("", "") of any other."""
    try:
        parts = urls.split_url(url)
        is_secure = parts.scheme == "https" and parts.port in (None, 443) and parts.username is None
    except ValueError:
        return "", ""
    return ((parts.hostname or ""), parts.path.rstrip("/")) if is_secure else ("", "")


def files() -> list[ContractFile]:
    """Every contract that can be read, except ``generic``."""
    return [read(name) for name in names() if name != GENERIC]
