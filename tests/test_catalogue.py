"""The catalogue of published breakages: every entry found where it is, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests import breakages
from tests.breakages import scoring
from tests.breakages.artefacts import URLS
from workbench.cli._check.file_report import finding_json
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Chunk, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession


def test_every_breakage_is_found_where_it_is(tmp_path, stated):
    score = scoring.score(breakages.entries(), tmp_path)
    assert [one.line() for one in score.scored if not one.is_clean] == []
    assert score.skipped == list(TWO_HOPS)
    stated(score.line())


SCORES = (Path(__file__).resolve().parent.parent / "docs" / "guide" / "scores.md").read_text(encoding="utf-8")


def stated_score(title: str) -> list[str]:
    """Entries, score now and first score, as the table of the page on scores has them."""
    row = re.search(rf"^\| {title}[^|]*\|(.*)\|$", SCORES, re.MULTILINE)
    assert row
    return [cell.strip() for cell in row[1].split("|")]


ORDINALS = (
    *("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "twenty-first",
    "twenty-second",
    "twenty-third",
    "twenty-fourth",
    "twenty-fifth",
    "twenty-sixth",
    "twenty-seventh",
    "twenty-eighth",
    "twenty-ninth",
    "thirtieth",
    "thirty-first",
    "thirty-second",
    "thirty-third",
    "thirty-fourth",
    "thirty-fifth",
    "thirty-sixth",
    "thirty-seventh",
    "thirty-eighth",
    "thirty-ninth",
    "fortieth",
    "forty-first",
    "forty-second",
    "forty-third",
    "forty-fourth",
    "forty-fifth",
    "forty-sixth",
    "forty-seventh",
    "forty-eighth",
    "forty-ninth",
    "fiftieth",
    "fifty-first",
    "fifty-second",
    "fifty-third",
    "fifty-fourth",
    "fifty-fifth",
    "fifty-sixth",
    "fifty-seventh",
    "fifty-eighth",
    "fifty-ninth",
    "sixtieth",
    "sixty-first",
    "sixty-second",
    "sixty-third",
    "sixty-fourth",
    "sixty-fifth",
    "sixty-sixth",
    "sixty-seventh",
    "sixty-eighth",
    "sixty-ninth",
    "seventieth",
    "seventy-first",
)


@pytest.mark.sampled(24)
@pytest.mark.parametrize(("title", "name"), zip(ORDINALS, breakages.CATALOGUES[1:], strict=True))
def test_the_page_on_scores_states_what_is_measured_on_a_catalogue(tmp_path, title, name):
    score = scoring.score(breakages.entries(name), tmp_path)
    assert [one.line() for one in score.scored if one.noise or one.alarms] == []
    now = [one.grade for one in score.scored].count("hit")
    first = [one.entry["first"] for one in score.scored].count("hit")
    assert stated_score(f"{title} catalogue") == [str(len(score.scored)), str(now), str(first)]


MISSED = ("wrong", "unknown")
UNREAD_TEXTS = (
    "Agent reset_tool_choice must be a boolean, got get_weather",
    "Error: --models cannot be used with tools",
    "Expected all items to be TextContentItem or ImageContentItem",
    "InvalidAssistantMessageException: Assistant message with prefix True m",
    "InvalidAssistantMessageException: Message cannot have both thinking ch",
    "JSON schema contains a circular `lookup` chain.",
    "RuntimeError: Got tool_call_start_chunk with conflicting id",
    "RuntimeError: No current_tool_id for ToolCallChunk",
    "The provided arguments are not a JSON dictionary.",
    "Tool support injection is not implemented for OS: lookup. Only Linux c",
    "TypeError: Image URL must be a string.",
    "TypeError: Image received both `source` and `url`; provide only one im",
    "ValueError: Arg city is invalid: 5 is not of type 'string'",
    "ValueError: Pass messages or direct-call inputs, not both.",
    "ValueError: Stream output indices must be contiguous from 0; missing i",
    "ValueError: Unexpected $ref format '#definitions/A'; Does not start wi",
    "can't use both Content and MultiContent properties simultaneously",
    "failed to unmarshal JSON to Schema: json: cannot unmarshal array into ",
    "failed to unmarshal text editor tool: json: cannot unmarshal string in",
    "function 0 '{'parameters': {}}' does not have 'name' property. Please ",
    "function 1 'get' is not a dict.",
    "invalid content type (must be string or array of ChatCompletionContent",
    "invalid media_type for image 'image/tiff'",
    "openapi_schema must be a dictionary",
)
"""Beginnings of error texts that no rule reads, or that one reads as something else: a gap that is known."""


def test_the_page_on_scores_states_what_is_measured_on_error_texts():
    rows = breakages.error_texts()
    grades = [scoring.grade_text(row) for row in rows]
    missed = [row["text"][:70] for row, grade in zip(rows, grades, strict=True) if grade in MISSED]
    assert sorted(missed) == sorted(UNREAD_TEXTS)
    stated = [int(re.sub(r"\D", "", cell)) for cell in stated_score("error texts")]
    right = [100 * each.count("right") // len(rows) for each in (grades, [row["first"] for row in rows])]
    assert [a >= b for a, b in zip([len(rows), *right], stated, strict=True)] == [True, True, True]


TWO_HOPS = ("B059", "B088", "B089")
"""Entries that show what came in and what went on: one turn at two places, which no one file shows."""

LOOK = [{"name": "get_weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}]
ASKED = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 1024,
    "stream": True,
    "tools": LOOK,
    "messages": [{"role": "user", "content": "How is the weather?"}],
}


def sighting(hop, url, asked, answer, status, cuts=()):
    """One exchange at one place; ``cuts`` are the borders of its network chunks."""
    request = HttpRequest(url=url, body=Body(json.dumps(asked, ensure_ascii=False).encode()))
    is_stream = isinstance(answer, str)
    body = answer.encode() if is_stream else json.dumps(answer).encode()
    chunks = tuple(Chunk(end, 0.1 * n) for n, end in enumerate((*cuts, len(body)))) if cuts else ()
    kind = "text/event-stream" if is_stream else "application/json"
    answered = HttpResponse(status, Headers((("content-type", kind),)), Body(body, chunks=chunks))
    return Exchange(hop, request, answered, hop=hop)


def two_hops(entry, url):
    """(before the gateway, behind it), and the index of the one that holds the fault."""
    evidence, status = entry["evidence"], entry["http_status"]
    if "forwarded" in evidence:
        refused = {"error": {"message": entry["symptom"]}}
        came = sighting("client", url, evidence["request"], refused, status)
        return (came, sighting("upstream", url, evidence["forwarded"], refused, status)), 1
    got = sighting("client", url, ASKED, evidence["sse"], status)
    return (got, sighting("upstream", url, ASKED, evidence["upstream_sse"], status, evidence["cuts"])), 0


@pytest.mark.parametrize("name", TWO_HOPS)
def test_breakages_between_two_places_are_found_where_they_are(name):
    entry = breakages.entry(name)
    expected = entry["expected"]
    session, broken = two_hops(entry, URLS[entry["protocol"]])
    result = Inspector(MemorySession(name, session), provider=entry["contract"]).run()
    found = [finding_json(f) for f in result.findings]
    here = [f for f in found if f["rule"] == expected["rule"] and f["exchange"] == broken]
    assert any(scoring.is_at_place(f, entry) for f in here), found
    assert {f["severity"] for f in here} == {expected["severity"]}
    origins = {(f["origin"]["exchange"], f["origin"]["hop"]) for f in here}
    assert origins == {(broken, session[broken].hop)}
    allowed = {expected["rule"], *expected.get("also", ())}
    assert not [f for f in found if f["severity"] == "error" and f["rule"] not in allowed | {"gateway.altered-bytes"}]
