from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.tui.models.verdict_order import FEW, ORDER, VerdictOrder, fold_line
from workbench.views import Span
from workbench.views.lines import plain

VERDICTS = st.lists(st.sampled_from(ORDER), max_size=12)


def order_of(verdicts: list[str]) -> VerdictOrder:
    order = VerdictOrder()
    order.arrange(len(verdicts), dict(enumerate(verdicts)))
    return order


def test_a_fold_names_what_it_holds_where_it_is_given_the_names() -> None:
    assert plain(fold_line(Span("✓ "), "2 others", ("a", "b"))) == "✓ 2 others  enter: list them  a, b"
    assert plain(fold_line(Span("✓ "), "2 others", ())) == "✓ 2 others  enter: list them"


def test_refusals_come_first_and_those_that_accept_are_one_row() -> None:
    order = order_of(["accepts", "accepts", "suspicious", "accepts", "refuses", "unknown", "accepts", "accepts"])
    assert list(order.rows) == [0, 4, 2, 5, None]
    assert list(order.accepting) == [1, 3, 6, 7]
    order.open()
    order.arrange(8, dict(enumerate(["accepts"] * 8)))
    assert list(order.rows) == list(range(8))


def test_contracts_take_their_places_as_they_are_judged() -> None:
    order = VerdictOrder()
    order.arrange(5, {3: "refuses", 2: "accepts"})
    assert list(order.rows) == [0, 3, None, 1, 4]


def test_contracts_of_one_cause_come_one_after_the_other() -> None:
    order = VerdictOrder()
    order.arrange(4, dict.fromkeys(range(4), "refuses"), {1: "b", 2: "a", 3: "b"})
    assert list(order.rows) == [0, 2, 1, 3]


@given(VERDICTS)
def test_every_contract_is_in_one_row_or_behind_one(verdicts: list[str]) -> None:
    order = order_of(verdicts)
    listed = [number for number in order.rows if number is not None]
    assert sorted([*listed, *order.accepting]) == list(range(len(verdicts)))
    assert not order.accepting or len(order.accepting) > FEW
    for number in range(len(verdicts)):
        row = order.row_of(number)
        assert order.is_folded_at(row) is (number in order.accepting)
        assert order.is_folded_at(row) or order.contract_at(row) == number
