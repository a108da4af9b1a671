"""A contract that notes which facts were read, so that contracts with the same facts can share a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from workbench.contracts.contract import Contract, EnforcedCheck, Fact
from workbench.ir import JsonValue

Read: TypeAlias = tuple[Callable[..., Any], str]
"""One reading: a function of a contract and a name, and that name."""


class NotedContract(Contract):
    """A contract with notes of its facts that were read.

    Attributes:
        reads: reading → what was read.
    """

    __slots__ = ("_contract", "reads")
    _contract: Contract
    reads: dict[Read, Any]

    def __init__(self, contract: Contract) -> None:
        object.__setattr__(self, "_contract", contract)
        object.__setattr__(self, "reads", {})

    def __getattr__(self, name: str) -> Any:
        """Any field: the slots of a contract are empty here."""
        if name == "terms":
            return _NotedTerms(self)
        if name == "facts":
            return _NotedFacts(self._contract, self.reads)
        if name in _RECORDS:
            return _NotedRecord(self, _RECORDS[name])
        return self.read(getattr, name)

    def term(self, key: str, default: JsonValue = None) -> JsonValue:
        value = self.read(_value_of, key)
        return default if value is _ABSENT else value

    def checks_of(self, rule: str) -> tuple[EnforcedCheck, ...]:
        return self.read(Contract.checks_of, rule)  # type: ignore[no-any-return]

    def terms_of(self, group: str) -> Mapping[str, Fact]:
        return self.read(Contract.terms_of, group)  # type: ignore[no-any-return]

    def read(self, find: Callable[..., Any], name: str) -> Any:
        """``find(contract, name)``, noted."""
        value = self.reads[find, name] = find(self._contract, name)
        return value


def reads_same(one: Contract, other: Contract, read: Read) -> bool:
    """True if a reading of both contracts gives the same."""
    find, name = read
    value, other_value = find(one, name), find(other, name)
    if value is other_value:
        return True
    return bool(value == other_value) and _text_of(one, read, value) == _text_of(other, read, other_value)


def _text_of(contract: Contract, read: Read, value: Any) -> str:
    """All that is read of a contract by this name: ``1 == True``, and texts of findings show the difference."""
    key = (_text_of, read)
    if key not in contract.facts:
        contract.facts[key] = repr(value)
    return contract.facts[key]  # type: ignore[no-any-return]


_ABSENT = object()


def _value_of(contract: Contract, key: str) -> Any:
    fact = contract.terms.get(key)
    return _ABSENT if fact is None else fact.value


def _closure_term(contract: Contract, name: str) -> Any:
    return getattr(contract.closure, name)


def _reasoning_term(contract: Contract, name: str) -> Any:
    return getattr(contract.reasoning, name)


_RECORDS = {"closure": _closure_term, "reasoning": _reasoning_term}


class _NotedRecord:
    """Terms of closure or of reasoning, noted one by one."""

    def __init__(self, noted: NotedContract, find: Callable[[Contract, str], Any]) -> None:
        self._noted, self._find = noted, find

    def __getattr__(self, name: str) -> Any:
        return self._noted.read(self._find, name)


def _fact_of(contract: Contract, key: str) -> Fact | None:
    return contract.terms.get(key)


class _NotedTerms(Mapping[str, Fact]):
    """The terms of a contract; one that it does not have is noted, too."""

    def __init__(self, noted: NotedContract) -> None:
        self._noted = noted

    def __getitem__(self, key: str) -> Fact:
        found = self._noted.read(_fact_of, key)
        if found is None:
            raise KeyError(key)
        return found  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter(self._noted.read(getattr, "terms"))

    def __len__(self) -> int:
        return len(self._noted.read(getattr, "terms"))


class _NotedFacts(dict[Any, Any]):
    """A value derived from a contract (``known.fact``), noted as the facts it was derived from."""

    def __init__(self, contract: Contract, reads: dict[Read, Any]) -> None:
        self._contract, self._reads = contract, reads

    def __contains__(self, key: object) -> bool:
        """True: the fact is derived if it was not before."""
        if (_NotedFacts, key) not in self._contract.facts:
            find, terms = key if isinstance(key, tuple) else (key, ())
            noted = NotedContract(self._contract)
            value = find(noted, *terms)
            self._contract.facts.setdefault(key, value)
            self._contract.facts[_NotedFacts, key] = noted.reads
        self._reads.update(self._contract.facts[_NotedFacts, key])
        return True

    def __getitem__(self, key: Any) -> Any:
        return self._contract.facts[key]

    def get(self, key: Any, default: Any = None) -> Any:
        """The fact, noted."""
        is_there = key in self
        return self[key] if is_there else default
