"""Suspicions of common practice about messages, of which the kinds of the messages tell that no vote confirms them.

Contracts without a fact about a place share the suspicions there. Most are about values that few providers refuse:
the kinds of the messages of a client tell it once, so that these values are not found and counted in each request.
"""

from __future__ import annotations

from functools import partial

from workbench.contracts import COMMON_SOURCE, Place, PlacedValue, Test, When, rule_of
from workbench.contracts import loading as contracts
from workbench.ir import JsonValue
from workbench.protocols import fact, history, of_kinds
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.relation_values import OnMessages, is_of_shapes, may_hold_near, may_pass

SHAPE_RULE = "content.shape"
"""Rule that the family ``shapes`` reports, too: of what is absent only if a decoder noted it."""

_MAY_WIN, _LOST_IF_SILENT, _LOST = range(3)


def hopeless_suspicions(case: RuleContext, query: OnMessages, rules: frozenset[str]) -> frozenset[int]:
    """Numbers of the relations that are suspicions which too few contracts can confirm for any message of a request.

    Args:
        query: relations on the messages, each about one of them alone.
        rules: slugs of the rules that no other family of rules reports.
    """
    if case.messages[0].pointer.count("/") != 2:  # a value would not be found beside its message
        return frozenset()
    is_silent = not case.request_anomalies
    return of_kinds(case.messages, _find_hopeless, query, case.contract.protocol, rules)[is_silent]


def _find_hopeless(
    kinds: history.KindSet, query: OnMessages, protocol: str | None, rules: frozenset[str]
) -> tuple[frozenset[int], frozenset[int]]:
    """Numbers of the relations: of a request with anomalies, and of one without."""
    numbers = [n for n, relation in enumerate(query.relations) if relation.source.startswith(COMMON_SOURCE)]
    chances = {n: min(fact(kind, _chance, query, n, protocol, rules) for kind in kinds.kinds) for n in numbers}
    lost = frozenset(n for n, chance in chances.items() if chance == _LOST)
    return lost, lost | {n for n, chance in chances.items() if chance == _LOST_IF_SILENT}


def _chance(
    kind: history.MessageKind, query: OnMessages, number: int, protocol: str | None, rules: frozenset[str]
) -> int:
    """Chance that contracts confirm a suspicion for a message of a kind (``_MAY_WIN`` and those after it)."""
    relation, question = query.relations[number], query.questions[number]
    if not question.has_role(kind.role):
        return _LOST
    root: JsonValue = getattr(kind.shape, "skeleton", None)
    found = question.search.may_find(root) if root is not None else None
    if found is None:
        return _MAY_WIN
    place = relation.source.removeprefix(COMMON_SOURCE)
    for each in found:
        may_refuse = partial(_may_refuse, kind, relation.place, root, each)
        if not each.pointer or contracts.common_refusals(protocol).may_confirm(place, may_refuse):
            return _MAY_WIN
    rule = rule_of(relation)
    if not found or rule in rules:
        return _LOST
    return _LOST_IF_SILENT if rule == SHAPE_RULE and all(each.value is None for each in found) else _MAY_WIN


def _may_refuse(
    kind: history.MessageKind, place: Place, root: JsonValue, found: PlacedValue, test: Test, when: When
) -> bool:
    """A contract may refuse what is at a place in messages of a kind; it was found in the skeleton ``root``."""
    if not test.is_absent and not may_pass(test, place, found.value):
        return False
    near = [each for each in when.places if each.place.up >= 0 and is_of_shapes(each.place)]
    has_role = not when.role or kind.role in when.role
    return has_role and all(may_hold_near(each, root, found.pointer) for each in near)
