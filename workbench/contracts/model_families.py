"""Families of models: what two versions of a family refuse is expected of a later one without a fact."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache

from workbench import regex
from workbench.contracts.relations import Evidence, Relation
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple

LEAST = 2
"""Minimum number of versions of a family with the same refusal."""

_NAME = regex.compile(r"(?P<base>[a-z]+(?:-[a-z]+)*-?\d+[a-z]?)(?P<minor>(?:-\d+(?![a-z\d]))*)(?:-(?P<kind>[a-z]+))?")
_LONGEST_VERSION = 3
"""Digits of a version; longer numbers are dates."""


class ModelFamily(NamedTuple):
    """``gpt-5-2-codex``: the family ``gpt-5``, the kind ``codex``, the version ``(2,)``."""

    base: str
    kind: str
    version: tuple[int, ...]


@lru_cache(maxsize=4096)
def family_of(plain_name: str) -> ModelFamily | None:
    """The family of a plain model name, or of a glob of such names; None if its form does not show one."""
    found = _NAME.match(plain_name.rstrip("*").rstrip("-"))
    if found is None:
        return None
    numbers = tuple(int(n) for n in found["minor"].split("-") if 0 < len(n) <= _LONGEST_VERSION)
    return ModelFamily(found["base"], found["kind"] or "", numbers)


def of_other_versions(relations: Iterable[tuple[tuple[str, ...], Relation]], plain_name: str) -> Iterator[Relation]:
    """Refusals of other versions of a model's family, as suspicions, if the model itself has no fact about them.

    Args:
        relations: (globs of plain model names, relation) of relations that do not hold for the model.
        plain_name: plain name of the model.
    """
    own = family_of(plain_name)
    if own is None:
        return
    found: defaultdict[str, dict[tuple[int, ...], Relation]] = defaultdict(dict)
    for globs, relation in relations:
        for glob in globs if relation.is_enforced else ():
            other = family_of(glob)
            if other is not None and other[:2] == own[:2]:
                found[repr((relation.place, relation.test, relation.when, relation.rule))][other.version] = relation
    for by_version in found.values():
        if len(by_version) >= LEAST and own.version >= min(by_version):
            first = next(iter(by_version.values()))
            yield replace(first, evidence=Evidence.FAMILY, has_instead=False)
