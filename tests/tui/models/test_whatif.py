"""Lines of the what-if table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.contracts import Verdict
from workbench.send.target import Target
from workbench.trials.whatif import RequestVariant, VariantOutcome
from workbench.tui.models import whatif
from workbench.views.lines import plain
from workbench.wire.exchange import Exchange, HttpRequest, HttpResponse

VARIANT = RequestVariant("reasoning=dropped", "without reasoning", HttpRequest())
TARGETS = [Target(f"sim:t{n}", contract=f"t{n}") for n in range(6)]


def outcome(verdict: Verdict, status: int = 200, text: str = "") -> VariantOutcome:
    exchange = Exchange("1", HttpRequest(), HttpResponse(status), duration=0.5) if status else None
    return VariantOutcome(VARIANT, TARGETS[0], verdict, text, exchange)


@pytest.mark.parametrize(
    ("told", "cell"),
    [
        (False, (" ", "not sent", "muted")),
        (True, ("…", "sending", "muted")),
        (outcome(Verdict.ACCEPTS), ("✓", "200", "ok")),
        (outcome(Verdict.REFUSES, 400, "no \x1b[2J"), ("✗", "400 no \x1b[2J", "error")),
        (
            outcome(Verdict.UNKNOWN, 0, "sim:t0 does not support gemini; supported: one"),
            ("·", "does not support gemini", "muted"),
        ),
    ],
)
def test_an_outcome_is_a_sign_and_a_word(told: VariantOutcome | bool, cell: tuple[str, str, str]) -> None:
    assert whatif.cell(told) == cell


@pytest.mark.parametrize("width", [58, 78, 118, 198])
@pytest.mark.parametrize("chosen", [0, 3, 5])
def test_the_chosen_target_is_always_seen_under_its_name(width: int, chosen: int) -> None:
    shown = whatif.visible_targets(len(TARGETS), chosen, width)
    assert chosen in shown
    head = plain(whatif.columns(TARGETS, chosen, width))
    name = head.partition("▸")[2].split()[0]
    assert TARGETS[chosen].name.endswith(name.lstrip("…"))
    hidden = len(TARGETS) - len(shown)
    assert (f"+{hidden}" in head) == (hidden > 0)


def test_why_a_variant_cannot_be_tried_stands_in_its_row() -> None:
    variant = RequestVariant("parallel=off", "off", why_not="the request declares no tools")
    assert "the request declares no tools" in plain(whatif.row(variant, [False], 0, range(1), 20))
    text = [plain(each) for each in whatif.details(variant, TARGETS[0], False, 80)]
    assert any("the request declares no tools" in each for each in text)


def test_the_summary_counts_what_was_sent_apart_from_what_cannot_be() -> None:
    known = [outcome(Verdict.ACCEPTS), outcome(Verdict.REFUSES, 400), outcome(Verdict.UNKNOWN, 0)]
    told = plain(whatif.summary(5, known))
    assert told.startswith("2 sent") and "1 cannot be sent" in told and "2 remaining" in told


def test_every_variant_has_a_row_where_all_fit_or_the_person_asks() -> None:
    rows, variants = whatif.VariantRows(), [VARIANT, replace(VARIANT, request=None, why_not="no reasoning")]
    rows.sort(variants, {}, 1)
    assert (rows.listed, rows.hidden) == ([0], [1])
    rows.fit(2)
    assert (rows.listed, rows.hidden) == ([0, 1], [])
    rows.fit(1)
    assert rows.count() == 2 and rows.variant(1) is None
    rows.unfold()
    assert rows.hidden == []


def test_a_narrow_row_begins_with_the_status_and_its_variant_is_not_cut() -> None:
    shown = plain(whatif.row(VARIANT, [outcome(Verdict.REFUSES, 400)], 0, range(1), 38))
    assert shown.startswith("✗ 400") and shown.endswith("without reasoning")
    head = plain(whatif.columns(TARGETS, 1, 38))
    assert "▸sim:t1" in head and "+5" in head


def test_one_reason_of_all_targets_is_said_once() -> None:
    unsent = outcome(Verdict.UNKNOWN, 0, "sim:t0 does not support gemini")
    shown = plain(whatif.row(VARIANT, [unsent] * 3, None, range(3), 118))
    assert shown.count("does not support gemini") == 1
