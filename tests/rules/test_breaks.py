"""Every rule says what its faults break: the request, or the conversation."""

from __future__ import annotations

import pytest

from workbench.contracts import Breaks
from workbench.rules import every_rule

OF_THE_REQUEST = ("schema.", "params.", "choice.", "gateway.unknown-", "gateway.cache-", "gateway.beta-")
"""Families whose faults are nothing but what a provider refuses."""

OF_THE_CONVERSATION = ("args.", "call.", "text.", "stream.", "retry.", "state.", "answer.")
"""Families whose faults hurt whoever accepts them."""


def test_every_rule_declares_what_it_breaks_unless_it_is_advice() -> None:
    undeclared = {slug for slug, rule in every_rule().items() if rule.breaks is None}
    assert undeclared == {slug for slug, rule in every_rule().items() if rule.is_advice}


@pytest.mark.parametrize(
    ("families", "what"), [(OF_THE_REQUEST, Breaks.REQUEST), (OF_THE_CONVERSATION, Breaks.CONVERSATION)]
)
def test_a_family_of_one_kind_is_declared_so(families: tuple[str, ...], what: Breaks) -> None:
    found = {slug: rule.breaks for slug, rule in every_rule().items() if slug.startswith(families)}
    assert {slug for slug, breaks in found.items() if breaks not in (what, None)} == set()
    assert what in found.values()


@pytest.mark.parametrize("slug", ["closure.missing-result", "closure.orphan-result", "reasoning.missing"])
def test_what_is_lost_breaks_the_conversation(slug: str) -> None:
    assert every_rule()[slug].breaks is Breaks.CONVERSATION


@pytest.mark.parametrize(
    "slug", ["closure.id-format", "closure.result-not-first", "content.role-order", "content.empty"]
)
def test_what_only_a_strict_provider_refuses_breaks_the_request(slug: str) -> None:
    assert every_rule()[slug].breaks is Breaks.REQUEST
