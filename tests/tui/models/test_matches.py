from __future__ import annotations

from workbench.contracts import error_texts, pages
from workbench.tui.models import matches
from workbench.views.lines import plain

TEXT = "tool_use ids were found without tool_result blocks immediately after: toolu_01"


def test_a_text_leads_to_rules_with_what_to_look_for() -> None:
    first, *_ = matches.of_matches(error_texts.explain(TEXT))
    assert first.rule.startswith("closure.")
    assert "from" in plain(matches.known_line(first, 100))
    body = [plain(line) for line in matches.known_body(first, 60)]
    assert "  Look for" in body
    assert "  Record it" in body
    assert all(len(line) <= 60 for line in body)


def test_what_nobody_knows_says_what_to_do() -> None:
    said = " ".join(plain(line) for line in matches.nothing(True, True, 60))
    assert "No rule matches this error message." in said
    assert "record it" in said
    assert "searching" in plain(matches.nothing(True, False, 60)[0])


def test_every_rule_is_named_for_whoever_has_no_text() -> None:
    page = pages.page("closure.missing-result")
    (known,) = matches.of_rules([page])
    assert plain(matches.known_line(known, 100)) == f"{page.slug}{page.summary}"
    assert matches.known_body(known, 60) == []


def test_a_text_of_a_kind_is_named_by_it_and_leads_to_the_rules_that_look_at_it() -> None:
    (limit,) = matches.of_matches(error_texts.explain("Rate limit exceeded, try again in 20s"))
    assert (limit.rule, limit.page) == ("rate-limit", "")
    assert "reset in 20 s" in limit.said
    (schema,) = matches.of_matches(error_texts.explain("The compiled grammar is too large"))
    assert schema.rule == "tool-schema" and schema.page.startswith("schema.")
