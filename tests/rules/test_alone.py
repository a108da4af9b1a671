"""An exchange by itself is read and judged as the first exchange of a session is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workbench.config import resources
from workbench.formats.importers import open_input
from workbench.rules import PENDING_RULE, Inspector, decode_alone, judge_alone

EXAMPLES = sorted(resources.folder("sessions").glob("*.jsonl"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_first_exchange_is_judged_as_in_the_session(path: Path) -> None:
    inspector = Inspector(open_input(str(path)))
    alone = judge_alone(inspector, 0)
    row = next(iter(inspector.steps()))
    found = tuple(replace(f, cause=None) for f in row.findings)
    assert replace(alone, findings=()) == replace(row, findings=())
    assert [f for f in alone.findings if f.rule != PENDING_RULE] == [f for f in found if f.rule != PENDING_RULE]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_later_exchange_is_decoded_as_in_the_session(path: Path) -> None:
    inspector = Inspector(open_input(str(path)))
    index = len(inspector.session) - 1
    alone = decode_alone(inspector, index)
    assert not inspector.rows
    detail = inspector.detail(index)
    assert alone.decoded.request == detail.decoded.request
    assert alone.decoded.response == detail.decoded.response
    assert (alone.row.index, alone.row.protocol, alone.row.findings) == (index, detail.row.protocol, ())
    assert [line.call for line in alone.closure.lines] == [line.call for line in detail.closure.lines]
    assert [entry.message for entry in alone.ledger.entries] == [entry.message for entry in detail.ledger.entries]
