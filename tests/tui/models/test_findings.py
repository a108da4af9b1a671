from __future__ import annotations

import pytest

from tests.tui import samples
from workbench.contracts import FaultOrigin, Finding, Repair, Severity
from workbench.diff import compare
from workbench.tui.models import findings
from workbench.views.lines import plain
from workbench.views.words import origin_words

E, W, N = Severity.ERROR, Severity.WARNING, Severity.INFO


def finding(exchange: int = 0, severity: Severity = E, **more: object) -> Finding:
    return Finding("closure.missing-result", severity, exchange, "request", "/messages/1", "no result", **more)  # type: ignore[arg-type]


WALK = [finding(0, N), finding(1, W), finding(1, E), finding(3, W), finding(4, E)]


@pytest.mark.parametrize(
    ("severity", "current", "exchange", "step", "expected"),
    [
        (E, None, 0, 1, 2),
        (E, 1, 1, 1, 2),
        (E, 2, 1, 1, 4),
        (E, 4, 4, 1, None),
        (E, 4, 4, -1, 2),
        (E, 2, 1, -1, None),
        (E, None, 2, 1, 4),
        (E, None, 2, -1, 2),
        (E, None, 1, -1, None),  # and not as behind
        (E, None, 4, -1, 2),
        (E, None, 4, 1, 4),  # the exchange one has come to counts as ahead
        (W, None, 0, 1, 1),
        (W, 2, 1, 1, 1),  # from a finding of another severity: by exchange
        (E, 3, 3, 1, 4),
        (W, 3, 3, 1, None),
    ],
)
def test_walk_through_one_severity(
    severity: Severity, current: int | None, exchange: int, step: int, expected: int | None
) -> None:
    assert findings.next_of(severity, WALK, current, exchange, step) == expected


def test_breaks_are_errors_where_there_are_any() -> None:
    assert findings.worst(WALK) == "error"
    assert findings.worst(WALK[:2]) == "warning"


def test_first_break_is_the_first_error() -> None:
    assert findings.first_break(WALK) == 2
    assert findings.first_break(WALK[:2]) == 1
    assert findings.first_break(WALK[:1]) is None


def test_tally_names_what_there_is() -> None:
    assert findings.tally(WALK) == "2 errors, 2 warnings, 1 info"
    assert findings.tally(WALK[:1]) == "1 info"


@pytest.mark.parametrize(
    ("remaining", "words"),
    [
        ((), "other findings remain"),
        (("args.schema",), "args.schema remains"),
        (("args.schema", "closure.id"), "args.schema and 1 other rule remain"),
    ],
)
def test_what_remains_after_a_repair_is_named(remaining: tuple[str, ...], words: str) -> None:
    request = samples.exchange({}, {}).request
    assert request
    same = compare(b"{}", b"{}")
    offer = findings.RepairOffer(Repair("t", False, ()), request, b"{}", same, "generic", remaining=remaining)
    assert plain(findings.effect(offer)) == f" ! {words}"


def test_a_finding_is_explained_when_open() -> None:
    made = finding(
        1,
        span=(187, 301),
        events=(3, 4),
        evidence="received in exchange 1",
        refusal="must be passed back",
        source="docs",
        repairs=(Repair("put it back", True, ()),),
    )
    assert plain(findings.finding_line(made, is_open=False)).endswith("request 2  no result")
    assert "/messages/1 · bytes 187–301 · events 3–4" in plain(findings.finding_line(made, is_open=True))
    told = "\n".join(plain(x) for x in findings.finding_body(made, 60))
    for word in ("no result", "received in exchange 1", "must be passed back", "docs", "put it back"):
        assert word in told


def test_where_a_finding_began_is_said_and_found() -> None:
    began = FaultOrigin(0, "request", "/messages/1", "the call was cut off", "gateway")
    first, later = finding(0), finding(3, origin=began)
    told = "\n".join(plain(x) for x in findings.finding_body(later, 100))
    assert "in exchange 1 · hop gateway · request · /messages/1: the call was cut off" in told
    assert findings.origin_of(later, [first, later]) == 0
    assert findings.origin_of(later, [later]) is None
    assert origin_words(finding(0, origin=began)) == "here · hop gateway: the call was cut off"
    assert origin_words(first) == "" and findings.origin_of(first, [first]) is None
