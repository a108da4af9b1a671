"""The data of the published failures, and the grades that findings get."""

from __future__ import annotations

import re

import pytest

from tests import breakages
from tests.breakages import leave_out, scoring
from tests.breakages.artefacts import artefact, corrected
from workbench import contracts
from workbench.contracts import pages


@pytest.mark.parametrize("name", breakages.CATALOGUES)
def test_every_entry_is_whole(name):
    entries = breakages.entries(name)
    assert len({entry["id"] for entry in entries}) == len(entries)
    for entry in entries:
        assert re.match(r"https://", entry["source"]), entry["id"]
        assert entry["first"] in (*scoring.GRADES, "unknown"), entry["id"]
        assert entry["contract"] is None or entry["contract"] in contracts.names(), entry["id"]
        assert entry["expected"]["location"], entry["id"]
        assert corrected(entry) is None or artefact(entry) is None or corrected(entry) != artefact(entry), entry["id"]


def test_every_error_text_has_its_source_and_a_rule_that_there_is():
    rows = breakages.error_texts()
    known = {slug.partition(".")[0] for slug in pages.slugs()}
    assert len({row["text"] for row in rows}) == len(rows) > 80
    for row in rows:
        assert row["source"].startswith("https://"), row
        assert row["first"] in scoring.TEXT_GRADES, row
        assert row["added"] and row["commit"], row
        rules = set(row["right_rule"].split("|")) - {scoring.NO_RULE}
        assert {rule.partition(".")[0] for rule in rules} <= known, row


def entry(*location, evidence=None, also=()):
    expected = {"in": "request", "rule": "closure.missing-result", "location": list(location), "also": list(also)}
    return {"id": "X1", "expected": expected, "evidence": evidence or {"request": {}}}


def finding(rule="closure.missing-result", pointer="", exchange=0, last=None, span=None, events=None):
    lasting = {"exchange": exchange, "last": exchange if last is None else last}
    return {"rule": rule, "pointer": pointer, "bytes": span, "events": events, **lasting}


STREAM = {"sse": "data: 1\n\n: ping\n\ndata: 2\n\n"}

GRADED = {
    "the node": ("hit", entry("messages[1].content[0]"), finding(pointer="/messages/1/content/0"), 0),
    "its parent": ("hit", entry("messages[1].content[0]"), finding(pointer="/messages/1/content"), 0),
    "its child": ("hit", entry("messages[1]"), finding(pointer="/messages/1/role"), 0),
    "deep within": ("hit", entry("a.b.c.d"), finding(pointer="/a/b/c/d/e/f"), 0),
    "far within": ("rule", entry("messages"), finding(pointer="/messages/1/content/0"), 0),
    "elsewhere": ("rule", entry("messages[1]"), finding(pointer="/messages/2"), 0),
    "an escaped key": ("hit", entry("a/b.c"), finding(pointer="/a~1b/c"), 0),
    "another rule": ("miss", entry("messages[1]"), finding("args.schema", "/messages/1"), 0),
    "an allowed rule": ("near", entry("messages[1]", also=["args.schema"]), finding("args.schema", "/messages/1"), 0),
    "an allowed rule elsewhere": ("miss", entry("messages[1]", also=["args.schema"]), finding("args.schema", "/x"), 0),
    "an earlier exchange": ("miss", entry("messages[1]"), finding(pointer="/messages/1"), 2),
    "up to this exchange": ("hit", entry("messages[1]"), finding(pointer="/messages/1", exchange=1, last=3), 2),
    "bytes of a text": ("hit", entry("text[1:3]", evidence={"text": "日本語"}), finding(span=[5, 6]), 0),
    "bytes before it": ("rule", entry("text[1:3]", evidence={"text": "日本語"}), finding(span=[0, 3]), 0),
    "a block": ("hit", entry("sse[1]", evidence=STREAM), finding(events=[1]), 0),
    "the last block": ("hit", entry("sse[end]", evidence=STREAM), finding(events=[2]), 0),
    "the last bytes": ("hit", entry("sse[end]", evidence=STREAM), finding(span=[0, 25]), 0),
    "not the end": ("rule", entry("sse[end]", evidence=STREAM), finding(events=[0], span=[0, 7]), 0),
}


@pytest.mark.parametrize("case", GRADED)
def test_a_finding_is_graded_by_rule_and_place(case):
    grade, expected, found, index = GRADED[case]
    assert scoring.grade(expected, [found], index) == grade
    assert scoring.grade(expected, [], index) == "miss"


def test_what_nobody_expects_is_noise_and_an_error_on_the_corrected_request_is_an_alarm(tmp_path):
    made = breakages.entry("B001")
    (one,) = scoring.score([made], tmp_path).scored
    assert one.is_clean and one.grade == "hit"
    unexpected = made | {"expected": made["expected"] | {"rule": "args.schema", "also": []}}
    unmended = {"fixed_request": made["evidence"]["request"]}
    score = scoring.score([unexpected | unmended], tmp_path)
    (one,) = score.scored
    assert (one.grade, one.is_clean) == ("miss", False)
    assert set(one.noise) == {"closure.missing-result"} == set(one.alarms)
    assert (
        score.line() == f"breakages: 0 of 1 hit, {len(one.noise)} noise, 1 of 1 corrected requests with a false alarm"
    )


def test_without_its_own_facts_a_failure_that_only_they_tell_is_silent(tmp_path):
    taught = next(one for one in breakages.entries("breakages-3") if one["id"] == "T3001")
    assert [one.grade for one in scoring.score([taught], tmp_path).scored] == ["hit"]
    assert leave_out.grades([taught]) == {"silent": 1}
