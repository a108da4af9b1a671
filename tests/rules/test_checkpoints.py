"""An inspection that resumes what it computed finds what one finds that reads each request from its first message on.

Between the steps of the first one exchanges are looked at, and other requests are tried in their places: both read
histories that the next exchange continues.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.hostile.mutating import mutated_exchange
from tests.verdicts import random_sessions
from workbench.rules import by_cause
from workbench.rules.inspection import CheckedVariant, Detail, Inspector
from workbench.wire.exchange import Exchange
from workbench.wire.session import MemorySession

SEEDS = range(1000, 1064)
PARTS = 8


def everything(inspector: Inspector) -> list[Any]:
    """The result of an inspection, with what equality of findings leaves out."""
    inspection = inspector.run()
    hidden = [(f.cause, f.last, f.counts_as, f.fact, f.breaks, f.values) for f in inspection.findings]
    places = [(f, f.last, f.places) for f in by_cause(inspection.findings)]
    return [inspection, hidden, places]


def shown(detail: Detail) -> list[Any]:
    ledger = detail.ledger
    return [detail.closure, [*detail.closure.flawed_lines], ledger, [*ledger.deviations], dict(ledger.genuine)]


def found(trial: CheckedVariant) -> list[Any]:
    return [trial.findings, trial.contract.label, trial.case.closure, trial.case.ledger]


def another(session: MemorySession, index: int, chance: random.Random) -> Exchange:
    """A request of the session, or a changed one, to try in the place of an exchange."""
    exchange = session.exchanges[chance.choice((index, chance.randrange(len(session))))]
    return mutated_exchange(exchange, chance) if chance.random() < 0.7 else exchange


@pytest.mark.sampled(10)
@pytest.mark.parametrize("part", range(PARTS))
def test_steps_with_trials_between_them_find_the_same(part: int) -> None:
    for seed in SEEDS[part::PARTS]:
        session, chance = random_sessions.session(seed), random.Random(seed)
        kept, alone = Inspector(session), Inspector(session, known=None)
        tried: list[tuple[int, Exchange, str, list[Any]]] = []
        for row in kept.steps():
            if chance.random() < 0.3:
                index = chance.randrange(row.index + 1)
                made, provider = another(session, index, chance), chance.choice(("", "", "anthropic", "deepseek"))
                if made.request is not None:
                    tried.append((index, made, provider, found(kept.trial(index, made.request, provider=provider))))
            if chance.random() < 0.2:
                kept.detail(chance.randrange(row.index + 1))
        assert everything(kept) == everything(alone), seed
        for index, made, provider, before in tried:
            assert made.request is not None
            assert found(alone.trial(index, made.request, provider=provider)) == before, (seed, index)
        for index in range(len(session)):
            if kept.rows[index].protocol is not None:
                assert shown(kept.detail(index)) == shown(alone.detail(index)), (seed, index)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("part", range(PARTS))
def test_each_row_is_that_of_an_inspection_that_ends_there(part: int) -> None:
    for seed in SEEDS[part : len(SEEDS) // 3 : PARTS]:
        session = random_sessions.session(seed)
        for row in Inspector(session).steps():
            until_here = MemorySession(session.name, session.exchanges[: row.index + 1])
            last = Inspector(until_here, known=None).run().rows[-1]
            assert last == row, (seed, row.index)
            assert [f.cause for f in last.findings] == [f.cause for f in row.findings], (seed, row.index)
