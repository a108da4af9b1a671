"""The session over time: lanes, parallel calls, failures and shortened pauses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tool_hops import lost_structured
from tests.tui import samples
from workbench.rules import InspectedExchange, Inspector
from workbench.tui.models.time_lanes import (
    TimeMap,
    TimeWindow,
    lane_line,
    ruler_line,
    time_map,
    time_words,
    window_of,
)
from workbench.views import plain
from workbench.wire import ExchangeKind, Origin, State, Summary


def row(index: int, start: float | None, seconds: float = 1.0, **more: object) -> InspectedExchange:
    status, conversation, calls, hop = (
        more.get("status", 200),
        more.get("conversation", 0),
        more.get("calls", ()),
        more.get("hop", ""),
    )
    summary = Summary(
        index,
        str(index),
        "POST",
        "https://x.example/v1",
        status,  # type: ignore[arg-type]
        State.COMPLETE,
        ExchangeKind.HTTP,
        Origin.RECORDED,
        1,
        1,
        started_at=start,
        duration=seconds,
        hop=str(hop),
    )
    return InspectedExchange(
        index,
        summary,
        "openai-chat",
        "",
        "openai",
        "",
        "m",
        conversation,
        calls=calls,  # type: ignore[arg-type]
    )


def drawn(times: TimeMap, columns: int, zoom: int = 1, here: int | None = None) -> list[str]:
    window = window_of(times, columns, zoom, here)
    return [plain(lane_line(times, n, window, here))[len(lane.name) :] for n, lane in enumerate(times.lanes)]


def test_width_is_time_and_tools_are_between_exchanges() -> None:
    times = time_map([row(0, 100.0, 2.0, calls=("a", "b")), row(1, 106.0, 2.0)])
    assert drawn(times, 8) == ["██──2─██"]


def test_one_call_has_no_number_and_no_call_no_line() -> None:
    times = time_map([row(0, 0.0, 2.0, calls=("a",)), row(1, 4.0, 2.0), row(2, 8.0, 2.0)])
    assert drawn(times, 10) == ["██──██  ██"]


def test_conversations_and_hops_have_their_lanes() -> None:
    times = time_map([row(0, 0.0, 2.0, hop="in"), row(1, 0.0, 2.0, conversation=1, hop="out"), row(2, 3.0, hop="in")])
    assert [lane.name for lane in times.lanes] == ["1 in", "2 out"]
    assert [[bar.exchange for bar in lane.bars] for lane in times.lanes] == [[0, 2], [1]]


def test_a_failure_and_a_break_are_seen_without_colour() -> None:
    times = time_map([row(0, 0.0, 4.0), row(1, 4.0, 4.0, status=400)], {1: "error"})
    assert drawn(times, 8) == ["████✗▒▒▒"]
    assert drawn(times, 8, here=0) == ["▌▌▌▌✗▒▒▒"]


def test_a_long_pause_is_shortened_and_said() -> None:
    times = time_map([row(0, 0.0, 10.0), row(1, 7200.0, 10.0)])
    assert len(times.pauses) == 1
    assert times.length < 21
    line = drawn(times, 40)[0]
    assert line.count("█") >= 36
    assert "⋮" in line
    for seconds in (0.0, 5.0, 10.0, 3000.0, 7200.0, 7205.0):
        assert times.seconds(times.position(seconds)) == pytest.approx(seconds)


def test_without_times_exchanges_are_in_order() -> None:
    times = time_map([row(0, None), row(1, None)])
    assert not times.has_times
    assert "in order" in plain(ruler_line(times, window_of(times, 40, 1, None)))
    assert drawn(times, 20)[0].count("█") >= 14


def test_a_zoom_shows_the_time_around_the_exchange() -> None:
    times = time_map([row(n, float(n * 2), 1.0) for n in range(100)])
    window = window_of(times, 50, 10, 60)
    assert window.start < 120 < window.end
    assert window.end - window.start == pytest.approx(times.length / 10)
    assert window_of(times, 50, 10, 99).end == pytest.approx(times.length)
    assert window_of(times, 50, 10, 0).start == 0


def test_ticks_do_not_overlap_and_fit() -> None:
    times = time_map([row(n, float(n * 7), 3.0) for n in range(40)])
    for columns in (20, 60, 200):
        line = plain(ruler_line(times, window_of(times, columns, 1, None)))
        assert len(line) == times.label + columns
        assert line.count("│") >= 1


def test_a_break_stays_visible_where_many_exchanges_share_a_column() -> None:
    times = time_map([row(n, float(n), 0.9) for n in range(1000)], {500: "error"})
    assert drawn(times, 40)[0].count("✗") == 1


def test_every_exchange_is_found_in_its_lane() -> None:
    rows = Inspector(samples.example("anthropic-long-session")).run().rows
    times = time_map(rows)
    for each in rows:
        found = times.find(each.index)
        assert found is not None
        assert times.lanes[found[0]].bars[found[1]].exchange == each.index


def test_an_empty_session_has_an_empty_map() -> None:
    times = time_map([])
    assert times.lanes == ()
    assert isinstance(window_of(times, 10, 4, 3), TimeWindow)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.5, "0.5 s"), (40, "40 s"), (200, "3:20"), (3720, "1:02:00"), (0.0, "0 s")]
)
def test_times_in_words(seconds: float, words: str) -> None:
    assert time_words(seconds) == words


def test_an_open_exchange_looks_open() -> None:
    made = row(0, 0.0, 4.0)
    arriving = replace(made, summary=replace(made.summary, state=State.OPEN))
    assert drawn(time_map([arriving]), 4) == ["░░░░"]


def test_each_tool_server_has_a_lane_without_its_connection() -> None:
    times = time_map(Inspector(lost_structured().session()).run().rows)
    named = {lane.name: [bar.exchange for bar in lane.bars] for lane in times.lanes}
    assert named == {"mcp sky": [2, 5], "mcp maps": [3, 6], "3": [4, 7]}
    assert not any(bar.ended for lane in times.lanes for bar in lane.bars)
