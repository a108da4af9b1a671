"""Makes the plan of a run: what is listed, less what is known, in units and batches."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.survey.catalog import SurveyPlan
from workbench.survey.conversations import Joiner
from workbench.survey.judging import object_key
from workbench.survey.keys import hash_keyed
from workbench.survey.parts import batches_of
from workbench.survey.places import StoredObject
from workbench.survey.rows import Row

IndexPass = Callable[[Sequence[StoredObject]], Iterable[Sequence[Row]]]
"""Returns the rows of the index pass over objects, batch by batch."""

_WHOLE = 2**32


@dataclass(frozen=True, slots=True)
class ObjectSelection:
    """Which of the listed objects are judged.

    Attributes:
        sample: share of units, from 0 to 1, chosen by a keyed hash: the same ones in every run.
        joins: conversations are found first, over all objects.
    """

    sample: float = 1.0
    joins: bool = False


def make_plan(
    listing: Iterable[StoredObject],
    known: Collection[str],
    key: bytes,
    selection: ObjectSelection,
    index: IndexPass,
    about: Mapping[str, JsonValue],
) -> SurveyPlan:
    """The plan of a run.

    Args:
        known: keys of objects that are settled under the same rules.
        index: runs the index pass, if conversations are joined.
        about: what else the plan says of the run.
    """
    objects = list(listing)
    counts = Counter[str](listed=len(objects))
    units, joined = _units(objects, selection, index)
    todo = list(_todo(units, known, key, selection, counts))
    told = {**about, "planned": time.time(), "counts": dict(counts), "joined": joined}
    return SurveyPlan(told, list(batches_of(todo)))


def _units(
    objects: Sequence[StoredObject], selection: ObjectSelection, index: IndexPass
) -> tuple[Iterable[Sequence[StoredObject]], Mapping[str, int] | None]:
    if not selection.joins:
        return ((found,) for found in objects), None
    joiner = Joiner(objects)
    for rows in index(objects):
        joiner.add(rows)
    units = list(joiner.units())
    return units, joiner.counts.as_dict()


def _todo(
    units: Iterable[Sequence[StoredObject]],
    known: Collection[str],
    key: bytes,
    selection: ObjectSelection,
    counts: Counter[str],
) -> Iterator[Sequence[StoredObject]]:
    for unit in units:
        if known and all(object_key(found, key) in known for found in unit):
            counts["known"] += len(unit)
        elif selection.sample < 1 and not _is_sampled(unit[0], key, selection.sample):
            counts["left_out"] += len(unit)
        else:
            counts["planned"] += len(unit)
            yield unit


def _is_sampled(found: StoredObject, key: bytes, share: float) -> bool:
    return int(hash_keyed(key, "sample", found.uri, size=4), 16) < share * _WHOLE
