"""What there is to break on, and what hits it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.recorder.breakpoints.living import EVERY, living
from workbench.contracts import Severity
from workbench.errors import FilterError, UsageError
from workbench.recorder.breakpoints.kinds import KINDS, parse
from workbench.rules import families
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse, Origin
from workbench.wire.session.store import open_session

EXAMPLES = sorted(path for path in Path("sessions").glob("*.jsonl") if path.stat().st_size < 100_000)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_what_pauses_live_is_what_a_check_finds_afterwards(path: Path, tmp_path: Path) -> None:
    """Of every kind that is a rule's; and where nothing is found, nothing is paused."""
    session = open_session(path)
    rows = Inspector(session).run().rows
    with living(tmp_path / "live.wb") as live:
        for row in rows:
            asked, answered = live.passes(session.exchange(row.index), EVERY)
            found = [f for f in row.findings if f.severity is not Severity.INFO]
            wanted = {
                (side, finding.rule, finding.pointer)
                for finding in found
                for side, rules in (("request", ("closure.", "reasoning.")), ("response", ("args.",)))
                if finding.side == side and finding.rule.startswith(rules)
            }
            paused = {("request", r.rule, r.pointer) for r in asked} | {
                ("response", r.rule, r.pointer) for r in answered
            }
            assert {hit for hit in paused if hit[1]} == wanted
            if not found:
                assert not asked and not answered


def exchange(number: int, messages: list[object], *calls: object, name: str = "claude-sonnet-4-5") -> Exchange:
    tools = [{"name": "look", "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}}}]
    asked = {"model": name, "max_tokens": 100, "tools": tools, "messages": messages}
    answer = {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": name, "content": list(calls),
        "stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    return Exchange(
        f"run-{number}",
        HttpRequest(
            url="https://api.anthropic.com/v1/messages",
            headers=Headers((("Content-Type", "application/json"),)),
            body=Body(json.dumps(asked).encode()),
        ),
        HttpResponse(200, Headers((("Content-Type", "application/json"),)), Body(json.dumps(answer).encode())),
        origin=Origin.RECORDED,
    )


def call(number: int, at: object = "here", ident: str = "") -> dict[str, object]:
    return {"type": "tool_use", "id": ident or f"toolu_{number:024}", "name": "look", "input": {"at": at}}


def history(*made: dict[str, object]) -> list[object]:
    """A question, and these calls, each with its result."""
    messages: list[object] = [{"role": "user", "content": "look"}]
    for each in made:
        result = {"type": "tool_result", "tool_use_id": each["id"], "content": "nothing"}
        reminder = {"type": "text", "text": "<system-reminder>be brief</system-reminder>"}
        messages += [{"role": "assistant", "content": [each]}, {"role": "user", "content": [result, reminder]}]
    return messages


@pytest.mark.parametrize(
    ("made", "now", "is_repeat"),
    [
        ((), (call(9),), False),
        ((call(1),), (call(9),), True),
        ((call(1),), (call(9, "there"),), False),
        ((call(1), call(2, "there")), (call(9),), False),
        ((call(1), call(2, "there"), call(3)), (call(9, "there"),), True),
        ((), (call(8), call(9)), True),
    ],
    ids=["first", "again", "elsewhere", "after something new", "round in circles", "twice at once"],
)
def test_a_call_repeats(
    made: tuple[dict[str, object], ...], now: tuple[object, ...], is_repeat: bool, tmp_path: Path
) -> None:
    with living(tmp_path / "live.wb") as live:
        asked, answered = live.passes(exchange(1, history(*made), *now), parse("repeat"))
        assert (bool(asked), bool(answered)) == (False, is_repeat)
        assert all(r.kind == "repeat" and r.pointer.startswith("/content/") for r in answered)


def test_an_id_breaks_the_contract(tmp_path: Path) -> None:
    twice = history(call(1), call(1, "there"))
    odd = history(call(1, ident="has a blank"))
    with living(tmp_path / "live.wb") as live:
        assert {r.rule for r in live.passes(exchange(1, twice), parse("id"))[0]} == {"closure.duplicate-id"}
        assert {r.rule for r in live.passes(exchange(2, odd), parse("id"))[0]} == {"closure.id-format"}
        assert live.passes(exchange(3, history(call(1))), parse("id")) == ((), ())


def test_arguments_that_break_the_schema(tmp_path: Path) -> None:
    with living(tmp_path / "live.wb") as live:
        _, answered = live.passes(exchange(1, history(), call(1, at=7)), parse("arguments"))
        assert [(r.kind, r.rule) for r in answered] == [("arguments", "args.schema")]


def test_filters_are_asked_where_they_can_be_answered(tmp_path: Path) -> None:
    with living(tmp_path / "live.wb") as live:
        told = {}
        names = (
            "model:claude",
            "tool:look",
            "-tool:look",
            "text:nothing",
            "text:toolu_000000000000000000000009",
            "look",
        )
        for number, name in enumerate(names):
            asked, answered = live.passes(exchange(number, history(call(1)), call(9)), parse(f"filter:{name}"))
            told[name] = (bool(asked), bool(answered))
    assert told == {
        "model:claude": (True, False),
        "tool:look": (False, True),
        "-tool:look": (False, False),
        "text:nothing": (True, False),
        f"text:{call(9)['id']}": (False, True),
        "look": (False, True),
    }


def test_names() -> None:
    assert [each.name for each in parse("all")] == [*KINDS]
    assert parse("closure")[0].sides == {"request"} and parse("arguments")[0].sides == {"response"}
    with pytest.raises(UsageError, match="no breakpoint named 'closures'"):
        parse("closures")
    with pytest.raises(FilterError):
        parse("filter:tol:x")


def test_rules_that_may_hit_a_request_are_of_families_that_are_asked() -> None:
    """Where kinds alone are armed, only families whose name begins as their rules check a request."""
    asked = {word for name in KINDS for each in parse(name) for word in each.rule_prefixes or ()}
    for name, family in families().items():
        for rule in family.RULES:
            if rule.slug.partition(".")[0] in asked:
                assert name.partition("_")[0] == rule.slug.partition(".")[0], rule.slug
