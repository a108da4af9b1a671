from __future__ import annotations

import pytest

from tests.tui.models.test_timeline import row
from workbench.safetext import cells
from workbench.tui.models.headline import PROMISE, headline, title_with_promise
from workbench.views.lines import plain

FORMS = ("simulated · no API key · tools are never run", "simulated · tools are never run", "simulated")


@pytest.mark.parametrize("width", [60, 80, 100, 160, 240])
def test_what_is_open_and_that_nothing_runs_is_always_said(width: int) -> None:
    lines = headline("a-session", row(), width)
    text = "\n".join(plain(x) for x in lines)
    assert PROMISE in text
    assert "a-session" in text
    assert "openai-chat · gpt · contract openai (from host)" in text
    assert len(lines) == (1 if width >= 160 else 2)


def test_a_long_name_gives_way() -> None:
    first, _ = headline("n" * 200, row(), 80)
    assert sum(abs(s.width) or len(s.text) for s in first) == 80


@pytest.mark.parametrize(("name", "words"), [("live.wb", "live · key"), ("a-longer-name-of-one-file.wb", "live")])
def test_a_name_is_whole_where_a_shorter_promise_leaves_room(name: str, words: str) -> None:
    first, _ = headline(name, row(), 40, mode="live", key="key")
    assert [span.text.strip() for span in first][-2:] == [name, words]


@pytest.mark.parametrize(("width", "form"), [(120, 0), (46, 1), (24, 2)])
def test_a_title_has_the_longest_promise_that_fits_beside_it(width: int, form: int) -> None:
    shown = title_with_promise("Send to x", FORMS, "ok", width)
    assert shown[-1].text.strip() == FORMS[form] and sum(abs(s.width) or cells(s.text) for s in shown) == width


@pytest.mark.parametrize("width", [40, 60])
def test_a_long_title_keeps_the_shortest_promise_within_two_rows(width: int) -> None:
    shown = plain(title_with_promise("t" * 300, FORMS, "ok", width))
    assert shown.endswith("  simulated") and width < cells(shown) <= 2 * width


def test_a_title_is_named_beside_a_promise_of_any_length() -> None:
    title, promise = title_with_promise("Send request 12 again", ["LIVE " + "host." * 30], "ok", 40)
    assert title.text.startswith(" Send")
    assert cells(title.text) + cells(promise.text) <= 2 * 40


def test_no_contract_is_claimed_for_what_is_not_decoded() -> None:
    assert plain(headline("s", row(protocol="gemini", conversation=None), 60)[1]).strip() == "gemini, not decoded"


def test_before_anything_is_inspected() -> None:
    assert "opening …" in "".join(plain(x) for x in headline("s", None, 80, "opening …"))
    told = plain(headline("s", row(), 80, "inspected 1,200 of 5,000")[1])
    assert told.startswith(" inspected 1,200 of 5,000 · openai-chat")


def test_what_is_no_model_exchange_says_why() -> None:
    line = plain(headline("s", row(protocol=None, protocol_from="no protocol claims it"), 60)[1])
    assert "exchange 2: no protocol claims it" in line
