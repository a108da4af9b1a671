from __future__ import annotations

from dataclasses import replace

from tests.tui import samples
from workbench.rules.inspection import Inspector
from workbench.tui.screens.session.moves import find_at_other_hop
from workbench.wire.exchange import Exchange, HttpRequest
from workbench.wire.session import MemorySession


def test_o_goes_to_the_inner_place_and_back_to_the_outer_one() -> None:
    inspector = Inspector(samples.example("gateway-field-dropped"))
    inspector.run()
    assert [find_at_other_hop(inspector, index) for index in range(4)] == [1, 0, 3, 2]


def test_what_a_recorder_linked_is_a_pair_whatever_it_says() -> None:
    outer = Exchange("a", HttpRequest(), hop="client")
    inner = Exchange("b", HttpRequest(), hop="upstream", parent="a")
    alone = Exchange("c", HttpRequest(), hop="client")
    inspector = Inspector(MemorySession("s", (outer, inner, alone)))
    inspector.run()
    assert [find_at_other_hop(inspector, index) for index in range(3)] == [1, 0, None]
    one_place = Inspector(MemorySession("s", tuple(replace(e, hop="") for e in (outer, inner))))
    assert find_at_other_hop(one_place, 0) is None
