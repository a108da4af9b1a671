from __future__ import annotations

import pytest

from workbench import contracts
from workbench.contracts import Severity, pages
from workbench.errors import UsageError
from workbench.rules import every_rule
from workbench.rules.inspection import Inspector

SHOWN = [slug for slug in pages.slugs() if pages.page(slug).failing]


def found(example):
    inspector = Inspector(example.session(), provider=example.provider, protocol=example.protocol)
    return inspector.run().findings


@pytest.mark.sampled(3)
@pytest.mark.parametrize("slug", SHOWN)
def test_the_failing_example_fails(slug):
    findings = found(pages.page(slug).failing)
    assert slug in {f.rule for f in findings}, findings


@pytest.mark.sampled(3)
@pytest.mark.parametrize("slug", SHOWN)
def test_the_passing_example_passes(slug):
    findings = found(pages.page(slug).passing)
    assert not [f for f in findings if f.severity is Severity.ERROR or f.rule == slug]


def test_every_rule_has_a_page_with_examples_and_no_other_page_has_them():
    checked = {slug for slug in every_rule() if not slug.startswith("program.")}
    assert checked == set(SHOWN)


@pytest.mark.parametrize("slug", sorted(every_rule()))
def test_page_and_rule_say_the_same(slug):
    assert pages.page(slug).summary == every_rule()[slug].summary


@pytest.mark.parametrize("slug", pages.slugs())
def test_pages_are_whole_and_fit_a_terminal(slug):
    page = pages.page(slug)
    assert page.look_for
    assert page.sources
    lines = list(pages.lines(page, 80))
    assert lines[0].startswith(f"{slug}: ")
    assert not [line for line in lines if len(line) > 80 and " " in line.strip() and not _is_data(line)]


def _is_data(line: str) -> bool:
    return any(mark in line for mark in ('": ', "data: ", '":"'))


@pytest.mark.parametrize("slug", [s for s in SHOWN if s.startswith(("closure.", "reasoning."))])
def test_examples_are_judged_by_somebody_who_refuses_them(slug):
    """Where a contract enforces the rule, the page shows it under such a contract."""
    page = pages.page(slug)
    who = {refusal.provider.split(":")[0] for refusal in page.refusals} & set(contracts.names())
    assert not who or page.failing.provider in who


def test_refusals_come_from_contracts_and_page():
    refusals = pages.page("closure.missing-result").refusals
    assert {r.provider for r in refusals} >= {"anthropic", "openai", "deepseek", "kimi", "mistral"}
    assert all(r.source for r in refusals)
    eras = {r.provider for r in pages.page("reasoning.missing").refusals}
    assert {"deepseek:v4", "deepseek:v3.2"} <= eras


def test_kinds_of_examples():
    kinds = {slug: pages.page(slug).failing.kind for slug in SHOWN}
    assert (kinds["closure.missing-result"], kinds["args.encoding"]) == ("request", "request")
    assert (kinds["stream.index"], kinds["args.schema"], kinds["reasoning.altered"]) == ("sse", "session", "session")


def test_an_unknown_rule_is_named():
    words = r"no rule named 'closure.nope'; did you mean closure.pending\? \(known: answer.abandoned, "
    with pytest.raises(UsageError, match=words):
        pages.page("closure.nope")
