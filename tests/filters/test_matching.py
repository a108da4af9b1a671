from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.filters.test_parser import EXPRESSIONS
from tests.tool_hops import lost_structured
from tests.tui import samples
from workbench.filters import And, Expression, Facts, Filter, Not, Or, parse
from workbench.filters.expression import KEYS, ValueKind
from workbench.filters.matching import FLAGS, NUMBERS, TEXTS, host_and_path, turn_numbers
from workbench.rules.inspection import InspectedExchange, Inspector
from workbench.wire.exchange import Exchange
from workbench.wire.session import Session


def facts_of(session: Session) -> list[Facts]:
    rows = Inspector(session).run().rows
    return [
        Facts(row, turn, lambda n=n: session.exchange(n), is_marked=n == 0, notes=["Retry later"] if n == 1 else [])
        for n, (row, turn) in enumerate(zip(rows, turn_numbers(rows), strict=True))
    ]


@cache
def broken() -> list[Facts]:
    """Not at import: each process collects all tests."""
    return facts_of(samples.example(samples.LOST_RESULT))


@cache
def streamed() -> list[Facts]:
    return facts_of(samples.example(samples.LOST_REASONING))


def passing(expression: str, facts: list[Facts]) -> list[int]:
    decides = Filter(parse(expression))
    return [f.row.index for f in facts if decides.passes(f)]


def test_every_key_looks_somewhere() -> None:
    for key in KEYS:
        tables = {ValueKind.TEXT: TEXTS, ValueKind.FLAG: FLAGS}
        assert key.name in tables.get(key.kind, NUMBERS), key


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("", [0, 1, 2]),
        ("tool:", [0]),
        ("tool:run_tests", [0]),
        ("tool:RUN", [0]),
        ("tool=RUN_TESTS", []),
        ("tool:run_*", [0]),
        ("tool:ru", []),
        ("tool~un_te", [0]),
        ("-tool:", [1, 2]),
        ("status:4xx", [2]),
        ("status:200..299", [0, 1]),
        ("rule:closure", [2]),
        ("rule:closure.missing-result", [2]),
        ("rule:clos", []),
        ("severity:error", [2]),
        ("turn:>1", [2]),
        ("turn:..2", [0, 1, 2]),
        ("exchange:3", [2]),
        ("conversation:1", [0, 2]),
        ("model:claude", [0, 1, 2]),
        ("provider:anthropic", [0, 1, 2]),
        ("protocol:anthropic", [0, 1, 2]),
        ("bytes:>1", [0, 1, 2]),
        ("request:>1G", []),
        ("method:post", [0, 1, 2]),
        ("host~anthropic", [0, 1, 2]),
        ("path:/v1/", [0, 1, 2]),
        ("path:/v1", [0, 1, 2]),
        ("mark:", [0]),
        ("note~retry", [1]),
        ("note:", [1]),
        ("mark: or note:", [0, 1]),
        ("mark: note:", []),
        ("text~TOOLU_01TESTS", [0, 2]),
        ("id:toolu_01*", [0, 2]),
        ("id=toolu_01Tests", [0, 2]),
        ("missing-result", [2]),
        ("text:", [0, 1, 2]),
    ],
)
def test_what_passes(expression: str, expected: list[int]) -> None:
    assert passing(expression, broken()) == expected


def test_a_deep_filter_says_so() -> None:
    assert Filter(parse("a or -text~b")).is_deep
    assert not Filter(parse("a or -tool~b")).is_deep


def test_the_list_decides_without_reading_an_exchange() -> None:
    def read() -> Exchange:
        raise AssertionError

    for facts in broken():
        untouched = replace(facts, read=read)
        for key in KEYS:
            if not key.is_deep:
                Filter(parse(key.example)).passes(untouched)


@settings(max_examples=60)
@given(EXPRESSIONS, st.deferred(lambda: st.sampled_from(broken() + streamed())))
def test_a_negation_is_the_complement(expression: Expression, facts: Facts) -> None:
    assert Filter(Not(expression)).passes(facts) is not Filter(expression).passes(facts)


@settings(max_examples=60)
@given(EXPRESSIONS, EXPRESSIONS, st.deferred(lambda: st.sampled_from(broken() + streamed())))
def test_and_is_the_intersection_and_or_the_union(one: Expression, other: Expression, facts: Facts) -> None:
    first, second = Filter(one).passes(facts), Filter(other).passes(facts)
    assert Filter(And((one, other))).passes(facts) is (first and second)
    assert Filter(Or((one, other))).passes(facts) is (first or second)


def test_turns_count_in_each_conversation() -> None:
    row = broken()[0].row

    def of(conversation: int | None) -> InspectedExchange:
        return replace(row, conversation=conversation)

    assert turn_numbers([of(0), of(1), of(None), of(0), of(1), of(0)]) == [1, 1, None, 2, 2, 3]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.b:1/v1/x?y=z", ("a.b:1", "/v1/x")),
        ("/v1/x?y://z", ("", "/v1/x")),
        ("https://a.b", ("a.b", "")),
        ("", ("", "")),
    ],
)
def test_parts_of_a_url(url: str, expected: tuple[str, str]) -> None:
    assert host_and_path(url) == expected


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("mcp:", [0, 1, 2, 3, 5, 6, 7]),
        ("mcp:sky", [0, 2, 5, 7]),
        ("mcp:sky/weather", [5, 7]),
        ("mcp~map", [1, 3, 6, 7]),
    ],
)
def test_requests_to_tool_servers_and_those_that_tell_of_their_results(expression: str, found: list[int]) -> None:
    assert passing(expression, facts_of(lost_structured().session())) == found
