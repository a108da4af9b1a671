"""Shipped contracts in compiled form: an index with what is needed to choose one, and each contract separately.

They are kept in the cache of the user, so that an installation can be read-only and several versions can be installed.
Entries that were compiled from other files than the present ones are ignored. Next to them are the last contracts that
were resolved for a protocol and a model, each in a file of its own: a short command needs one of them, and to resolve
it takes longer than all else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.config import cache_files, resources
from workbench.contracts.common_practice import CommonPractice, CommonRefusals, Refusals, practices
from workbench.contracts.contract import Contract, EnforcedCheck, Fact
from workbench.contracts.facts import ContractFile, Endpoint, Variant
from workbench.contracts.pointer_patterns import Place
from workbench.contracts.relations import Condition, Relation, When
from workbench.contracts.scopes import Holds
from workbench.contracts.signs import Sign
from workbench.contracts.value_tests import Test
from workbench.hashing import blake2b
from workbench.lazy_dataclass import replace
from workbench.terms import ClosureTerms, Placement, ReasoningTerms, Scope
from workbench.wire import plain_form

_CLASSES = (
    *(CommonPractice, Condition, ContractFile, Endpoint, EnforcedCheck, Fact),
    *(Holds, Place, Relation, Sign, Test, Variant, When),
)
_RESOLVED_CLASSES = (*_CLASSES, Contract, ClosureTerms, Placement, ReasoningTerms, Scope)
_PRACTICES = "/practices/"
"""Beginning of the keys of common practices, next to the names of contracts; the protocol follows."""
_REFUSALS = "/refusals/"
"""Beginning of the keys of what a practice rests on: place → the refusals there, each place with a text of its own."""
_FAULTS = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
"""Exceptions for a file that is not a compiled contract."""


MOST_FILES = 4
"""Number of files that are kept: each installation has its own, and removed installations leave theirs behind."""


MOST_RESOLVED = 16
"""Number of resolved contracts that are kept."""


class _Store:
    """The file of the cache.

    Args:
        data: a line of JSON, and the parts behind it.
        places: name of a contract, "" for the index, or key of a practice → start and end of its JSON.
    """

    def __init__(self, data: bytes, places: Mapping[str, tuple[int, int]]) -> None:
        self._data, self._places = data, places

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def get(self, name: str) -> Any:
        """A contract, or the index. None if it cannot be read."""
        with suppress(*_FAULTS):
            return plain_form.decode(self._data[slice(*self._places[name])], _CLASSES)
        return None


def contract(name: str) -> ContractFile | None:
    """A shipped contract; None if it was not compiled."""
    store = _store()
    found = store.get(name) if store else None
    return found if isinstance(found, ContractFile) else None


def outlines(load: Callable[[str], ContractFile]) -> Mapping[str, ContractFile]:
    """Every shipped contract by name, as its outline. What is not compiled yet is compiled with ``load``."""
    store = _store()
    found = store.get("") if store else None
    if isinstance(found, dict) and all(isinstance(file, ContractFile) for file in found.values()):
        return found
    files = {name: load(name) for name in resources.shipped_profiles()}
    _save(files)
    return {name: outline(file) for name, file in files.items()}


def common_practice(protocol: str, load: Callable[[str], ContractFile]) -> CommonPractice | None:
    """Common practice of the shipped contracts of a protocol, without the refusals that it rests on.

    What is not compiled yet is compiled with ``load``.
    """
    store, key = _store(), _PRACTICES + protocol
    found = store.get(key) if store else None
    if isinstance(found, CommonPractice) or (store and key not in store):
        return found
    return _compile_practices(load).get(protocol)


def common_refusals(protocol: str, load: Callable[[str], ContractFile]) -> CommonRefusals:
    """The refusals that common practice of a protocol rests on. What is not compiled yet is compiled with ``load``."""
    store, key = _store(), _REFUSALS + protocol
    found = store.get(key) if store else None
    if isinstance(found, dict):
        return CommonRefusals(_LateRefusals(found))
    practice = None if store and key not in store else _compile_practices(load).get(protocol)
    return CommonRefusals(practice.refusals if practice else {})


class _LateRefusals(Mapping[str, Refusals]):
    """Place → refusals, decoded when they are asked for: a request asks at a few places of fifty."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts, self._values = texts, dict[str, Refusals]()

    def __getitem__(self, place: str) -> Refusals:
        if place not in self._values:
            self._values[place] = plain_form.decode(self._texts[place], _CLASSES)
        return self._values[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


@cache
def _compile_practices(load: Callable[[str], ContractFile]) -> Mapping[str, CommonPractice]:
    """Every common practice, compiled once a process: there may be no folder to keep it in."""
    files = {name: load(name) for name in resources.shipped_profiles()}
    _save(files)
    return practices(files.values())


def read_resolved(key: str) -> tuple[Contract, Contract] | None:
    """A resolved contract that was kept under a key, and the same with common practice; None if there is none."""
    digest, _, text = (cache_files.read(_resolved_name(key)) or b"").partition(b"\n")
    with suppress(*_FAULTS):
        if text and digest == _digest(text):
            contract, softened = plain_form.decode(text, _RESOLVED_CLASSES)
            if isinstance(contract, Contract) and isinstance(softened, Contract | None):
                return contract, softened or contract
    return None


def keep_resolved(key: str, contract: Contract, softened: Contract) -> None:
    """Keep a resolved contract, and the same with common practice, without the examples for the tests."""
    with suppress(*_FAULTS, OSError):
        pair = [_without_examples(contract), None if softened is contract else _without_examples(softened)]
        text = plain_form.encode(tuple(pair), _RESOLVED_CLASSES).encode()
        cache_files.write(_resolved_name(key), _digest(text) + b"\n" + text)
        cache_files.keep_newest("resolved-*.json", MOST_RESOLVED)


def _without_examples(contract: Contract) -> Contract:
    return replace(contract, relations=tuple(replace(each, broken={}, healthy={}) for each in contract.relations))


def _resolved_name(key: str) -> str:
    return f"resolved-{_digest(key.encode(errors='surrogateescape')).decode()}.json"


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).hexdigest().encode()


def outline(file: ContractFile) -> ContractFile:
    """A contract without its facts, checks and relations."""
    return replace(file, facts=(), checks=(), relations=())


def copy_to(home: Path) -> None:
    """Copy the compiled contracts to the cache of another home folder: a process with that home need not compile again.

    A failure is ignored.
    """
    import shutil  # it reads every kind of archive

    with suppress(OSError):
        folder = home / ".cache" / "workbench"
        folder.mkdir(parents=True, mode=0o700)
        shutil.copy(resources.cache_folder() / _file_name(), folder)


def forget() -> None:
    """Forget what was read, so that the files are read again."""
    for cached in (_store, _compile_practices):
        cached.cache_clear()


def _save(files: Mapping[str, ContractFile]) -> None:
    with suppress(*_FAULTS, OSError):
        parts = {name: plain_form.encode(file, _CLASSES) for name, file in files.items()}
        parts[""] = plain_form.encode({name: outline(file) for name, file in files.items()}, _CLASSES)
        for protocol, practice in practices(files.values()).items():
            parts[_PRACTICES + protocol] = plain_form.encode(replace(practice, refusals={}), _CLASSES)
            refusals = {place: plain_form.encode(each, _CLASSES) for place, each in practice.refusals.items()}
            parts[_REFUSALS + protocol] = plain_form.encode(refusals, ())
        texts = {name: part.encode() for name, part in parts.items()}
        head = plain_form.encode((_made_of(), {name: len(text) for name, text in texts.items()}), ())
        cache_files.write(_file_name(), b"\n".join((head.encode(), b"".join(texts.values()))))
        cache_files.keep_newest("contracts-*.json", MOST_FILES)
    _store.cache_clear()


@cache
def _store() -> _Store | None:
    with suppress(*_FAULTS, OSError):
        data = cache_files.read(_file_name()) or b""
        end = data.index(b"\n")
        made_of, sizes = plain_form.decode(data[:end], ())
        ends = [*accumulate(sizes.values(), initial=end + 1)]
        if made_of == _made_of() and ends[-1] == len(data):
            return _Store(data, dict(zip(sizes, pairwise(ends), strict=True)))
    return None


def _file_name() -> str:
    place = blake2b(os.fsencode(resources.folder("profiles").resolve()), digest_size=8).hexdigest()
    return f"contracts-{place}.json"


def _made_of() -> list[Any]:
    """The version, and the identity of each file that decides what a contract is: its own, and these modules."""
    modules = (*Path(__file__).parent.glob("*.py"), Path(plain_form.__file__), *resources.shared_profiles().values())
    files = {**resources.shipped_profiles(), **{str(file): file for file in modules}}
    return [__version__, {name: cache_files.identity(path) for name, path in files.items()}]
