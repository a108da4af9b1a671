"""Sentences of validators: the place in the request and the fault that they name, and the rule of both.

Validators differ in how they write a place (``messages.1.content``, ``('body', 'messages', 1)``, ``Go struct field
ChatRequest.messages``) and agree in what can be wrong there. The table is in ``kinds.yaml``.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from workbench import regex
from workbench.config import resources

_STEPS = regex.compile(r"[^\w$]+")
_BEHIND = 160
"""Characters behind a place that may name the fault."""


class Complaint(NamedTuple):
    """What a validator says.

    Attributes:
        validator: who writes so ("pydantic", "Go").
        place: steps in the request, with dots between ("messages.1.content").
        fault: "unknown", "missing", "empty", "type", "value" or "length".
        rule: of the place and the fault; empty if both do not tell it.
    """

    validator: str
    place: str
    fault: str
    rule: str

    def names(self, template: str) -> bool:
        """A template of a provider has the place in its own words."""
        end = ".".join(self.place.split(".")[-2:])
        return bool(end) and end in template.lower()


class _Table(NamedTuple):
    readers: tuple[tuple[re.Pattern[str], str], ...]
    faults: tuple[tuple[re.Pattern[str], str], ...]
    rules: tuple[tuple[re.Pattern[str], frozenset[str], str], ...]


@cache
def _table() -> _Table:
    from workbench.config import safeyaml

    data = safeyaml.load(resources.refusals(), name="kinds.yaml")
    assert isinstance(data, dict)
    held = data["validators"]
    assert isinstance(held, dict)
    readers, faults, rules = (held[key] for key in ("readers", "faults", "rules"))
    assert isinstance(readers, dict) and isinstance(faults, dict) and isinstance(rules, list)
    return _Table(
        tuple((re.compile(text), str(name)) for text, name in readers.items()),
        tuple((re.compile(text), str(name)) for text, name in faults.items()),
        tuple(
            (re.compile(str(row["at"])), frozenset(str(row.get("faults", "")).split()), str(row["rule"]))
            for row in rules
            if isinstance(row, dict)
        ),
    )


def complaint_in(small: str) -> Complaint | None:
    """What a validator complains of in a text in small letters with one kind of quotes; the first that tells a rule."""
    table, first = _table(), None
    for pattern, validator in table.readers:
        for found in pattern.finditer(small):
            place = ".".join(step for step in _STEPS.split(found["place"]) if step and step != "body")
            said = found[0] + small[found.end() : found.end() + _BEHIND]
            fault = next((name for test, name in table.faults if test.search(said)), "")
            rule = next((r for at, faults, r in table.rules if fault in faults and at.search(place)), "")
            if rule:
                return Complaint(validator, place, fault, rule)
            first = first or (Complaint(validator, place, fault, "") if fault else None)
    return first
