from __future__ import annotations

from dataclasses import replace

import pytest

from workbench import probes
from workbench.probes import Interval, Outcome, ProbeResult, Subject
from workbench.probes.profiles import CapabilityProfile, Drift, ProfileKey
from workbench.probes.profiles.store import SavedProfile
from workbench.send.target import Target
from workbench.send.target_names import resolve
from workbench.tui.models import lab
from workbench.tui.probing import LabColumn
from workbench.views.lines import Line, line_columns, plain

KEY = ProfileKey("openai", "m", "sim:openai", "openai-chat")
CLOSURE = next(probe for probe in probes.all_probes() if probe.name == "closure")
DAY = 86_400.0


def result(outcome: Outcome, passes: int = 1, n: int = 1, at: float = 0.0) -> ProbeResult:
    return ProbeResult(
        "closure", outcome, n, passes, 0, Interval(0.2, 1.0), "the answer names it", {"closes": True}, (0,), at
    )


def column(**more: object) -> LabColumn:
    return LabColumn(Subject(resolve("sim:openai"), "openai-chat", "m", ""), **more)  # type: ignore[arg-type]


def profile(at: float = 0.0, **facts: object) -> CapabilityProfile:
    return CapabilityProfile(KEY, facts, (), at)  # type: ignore[arg-type]


def text(lines: list[Line]) -> str:
    return "\n".join(map(plain, lines))


@pytest.mark.parametrize(
    ("found", "is_fresh", "shown"),
    [
        (result(Outcome.PASS), True, "✓ pass 1/1"),
        (result(Outcome.PARTIAL, 3, 5), True, "! partial 3/5"),
        (result(Outcome.FAIL, 0, 2), False, "✗ fail 0/2 · 2 d ago"),
        (result(Outcome.INCONCLUSIVE, 0, 0), True, "? unclear"),
        (None, True, "  not run"),
    ],
)
def test_a_cell_says_its_verdict_without_colour_and_how_old_it_is(
    found: ProbeResult | None, is_fresh: bool, shown: str
) -> None:
    made = lab.cell(found, is_fresh=is_fresh, now=2 * DAY)
    assert plain(made).rstrip() == shown
    assert sum(abs(span.width) or len(span.text) for span in made) == lab.CELL


def test_a_profile_stands_beside_the_last_one_with_what_differs() -> None:
    before = profile(at=0.0, closes=True, schema_level="string-only", parser="hermes")
    now = replace(profile(at=DAY, closes=True, schema_level="simple-object", repair_tries=2), evidence="/tmp/e.wb")
    drift = (Drift("closure", (60, 60), (40, 60), 1, 1e-9),)
    shown = text(lab.profile_lines(column(kept=SavedProfile(now, before, drift)), 2 * DAY, 90))
    marked = [line for line in shown.split("\n") if line[:1] in "~+-" and line.strip()]
    assert [line[:8] for line in marked[:-1]] == ["~ schema", "+ repair", "- parser"]
    assert "simple-object" in marked[0] and marked[0].endswith("string-only") and "not measured" in marked[2]
    assert marked[-1].split("   ") == ["~ 1 changed", "+ 1 new", "- 1 not measured"]
    assert (
        "last 2 d ago" in shown
        and "drift: closure passed 60 of 60 before, and 40 of 60" in shown
        and "/tmp/e.wb" in shown
    )
    same = text(lab.profile_lines(column(kept=SavedProfile(now, now)), 2 * DAY, 90))
    assert "the same facts as in the last measurement" in same
    other = replace(now, key=KEY._replace(chat_template_hash="abc"))
    assert "chat_template_hash: none → abc" in text(lab.profile_lines(column(kept=SavedProfile(other, now)), 0.0, 90))


def test_an_old_profile_is_stale_and_none_says_what_to_do() -> None:
    old = text(lab.profile_lines(column(history=(profile(closes=True),)), 90 * DAY, 90))
    assert "stale: measured 90 days ago" in old and "closes" in old
    assert "r: run the marked probes" in text(lab.profile_lines(column(), 0.0, 60))
    assert "T: add one" in text(lab.profile_lines(None, 0.0, 60))
    failed = SavedProfile(profile(closes=True), None, (), "disk full")
    assert "not saved: disk full" in text(lab.profile_lines(column(kept=failed), 0.0, 60))


def test_a_verdict_says_how_sure_it_is_and_what_it_rests_on() -> None:
    shown = text(lab.verdict_lines(CLOSURE, column(), result(Outcome.PASS), (), 80))
    assert all(
        told in shown for told in ("1 of 1 sample passed", "20%–100%", "1 exchange", "1970-01-01", "closes: yes")
    )
    assert "not run yet" in text(lab.verdict_lines(CLOSURE, column(), None, (), 80))


def test_what_is_asked_says_how_much_goes_where_and_with_which_key() -> None:
    real = Target("here", "openai-chat", "https://api.example/v1", key_variable="HERE_KEY")
    told = lab.estimate(probes.select(), 100)
    asked = lab.question(real, told, "m", is_set=False)
    assert asked.startswith("At most 2,900 requests, about 1,9") and "api.example (m)" in asked
    assert "$HERE_KEY, which is not set" in asked and "Tools are never run" in asked


def test_the_chosen_target_is_always_in_sight() -> None:
    for width in (60, 78, 120):
        for chosen in range(9):
            assert chosen in lab.visible_targets(9, chosen, width)


@pytest.mark.parametrize("width", [36, 38, 58])
def test_a_row_without_a_title_is_not_wider_than_its_list(width: int) -> None:
    for found in (None, result(Outcome.PASS)):
        cell = lab.cell(found, is_fresh=False, now=2 * DAY)
        assert line_columns(lab.row(CLOSURE, [cell], range(1), 0, width, is_marked=True)) <= width
    assert all(line_columns(head) <= width + lab.GUTTER for head in lab.heads([column()], 0, width))
