"""Lines of the stream screen, without the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.protocols.clients.test_javascript_sdks import call
from tests.protocols.clients.test_python_sdks import chat_stream
from tests.tui.samples import exchange
from workbench import protocols
from workbench.ir import Text, ToolCallIR
from workbench.protocols.clients.differences import where_they_differ
from workbench.protocols.clients.steps import Highlight
from workbench.protocols.decode import DecodedExchange
from workbench.tui.models.stream import StreamTable, part_lines
from workbench.views.lines import Line, plain

DATA = Path(__file__).parents[2] / "data"
ROLE = {"role": "assistant", "content": None}


def stream(*deltas: dict[str, Any], done: bool = True) -> StreamTable:
    decoded = DecodedExchange(0, exchange({"model": "m", "messages": []}, chat_stream(deltas, done=done)))
    return StreamTable(decoded, protocols.get("openai-chat"), where_they_differ(decoded))


REUSED = (ROLE, call(0, "call_1", "f", '{"a":1}'), call(0, "call_2", "g", '{"b":2}'))


def lit(lines: list[Line]) -> str:
    return "".join(span.text for line in lines for span in line if span.style == "lit")


def test_marks_are_anomalies_and_departures() -> None:
    made = stream(*REUSED)
    assert made.marks == (2,)
    assert made.next_mark(0, 1) == made.next_mark(4, -1) == 2
    assert made.next_mark(2, 1) is None
    assert plain(made.row(2, 120)).lstrip().startswith("! 2")


@pytest.mark.parametrize(
    ("deltas", "selected", "expected"),
    [(REUSED, 1, 1), (REUSED, None, 2), (REUSED, 99, 2), ((ROLE, call(0, "call_1", "f", "{}")), None, 3)],
    ids=["the selected event", "the first anomaly", "no such event", "the last event"],
)
def test_where_it_begins(deltas: tuple[dict[str, Any], ...], selected: int | None, expected: int) -> None:
    assert stream(*deltas).start(selected) == expected


def test_the_message_after_each_event() -> None:
    made = stream(ROLE, {"content": "hel"}, {"content": "lo"})
    assert [lit(made.message(n, 60)[0]) for n in range(3)] == ["", "hel", "lo"]
    lines, first = made.message(2, 60)
    assert "".join(span.text for span in lines[first]).strip() == "hello"
    assert "ended" in "\n".join(plain(line) for line in made.message(4, 60)[0])


def test_partial_arguments_say_whether_they_parse() -> None:
    made = stream(ROLE, call(0, "call_1", "f", '{"a"'), call(0, arguments=": 1}", kind=""))
    assert "4 characters, not JSON yet" in plain(made.message(1, 80)[0][1])
    assert "8 characters, valid JSON" in plain(made.message(2, 80)[0][1])


def test_a_long_part_is_shown_around_what_was_added() -> None:
    lines, first = part_lines(Text("x" * 10_000 + "new" + "y" * 10_000), Highlight(10_000, 10_003), 80)
    assert lit(lines) == "new"
    assert len(lines) < 30
    assert "new" in plain(lines[first])
    text = "\n".join(plain(line) for line in lines)
    assert "… 9,100 characters before" in text
    assert "… 9,700 characters after" in text


def test_wide_characters_and_line_ends_stay_within_the_width() -> None:
    from workbench.safetext import cells

    lines, _ = part_lines(Text("日本語\n" * 30 + "語" * 200), Highlight(0, 4), 40)
    assert all(cells(plain(line)) <= 40 for line in lines)
    assert lit(lines) == "日本語"


def test_a_call_without_arguments_says_so() -> None:
    lines, _ = part_lines(ToolCallIR("call_1", "f", None, "openai"), Highlight(0, 0), 80)
    assert "no arguments yet" in plain(lines[0])


def test_raw_bytes_of_an_event_and_no_more_lines_than_asked_for() -> None:
    made = stream(ROLE, {"content": "x" * 20_000})
    lines = made.details(1, 80, 12)
    assert len(lines) == 12
    assert plain(lines[0]).strip().startswith("data: {")
    assert "more lines" in plain(lines[-1])


def test_clients_that_agree_and_that_do_not() -> None:
    assert stream(ROLE, {"content": "hi"}).agreement == "all 9 clients build this message"
    made = stream(*REUSED)
    assert made.agreement == "7 of 9 clients build a different message"
    assert plain(made.group_line(0)).startswith("✓ ")
    assert "from event 2" in plain(made.group_line(1))
    assert any("openai 3.52.0" in plain(line) for line in made.group_body(1, 200))


def test_another_stream_is_not_taken_for_the_same() -> None:
    made, grown, other = (stream(ROLE, {"content": a}, {"content": "b"}) for a in ("a", "a", "x"))
    assert grown.reuse_steps(made)
    assert grown.steps is made.steps
    assert not other.reuse_steps(made)


def test_search_looks_at_bytes_and_words() -> None:
    made = stream(*REUSED)
    assert [n for n in range(len(made.events)) if made.holds(n, "call_2")] == [2]
    assert [n for n in range(len(made.events)) if made.holds(n, "finish reason")] == [3]


def of(protocol: str, name: str) -> StreamTable:
    decoded = DecodedExchange(0, exchange({}, (DATA / name).read_bytes(), url="https://x/"), protocol)
    return StreamTable(decoded, protocols.get(protocol), where_they_differ(decoded))


def test_a_framed_event_shows_its_data() -> None:
    made = of("bedrock-invoke", "bedrock_invoke/loop-stream-1.response.eventstream")
    lines = [plain(line).strip() for line in made.details(10, 80, 12)]
    assert lines[0].startswith("a message of ") and lines[0].endswith("named chunk; its data, decoded from base64:")
    assert lines[1].startswith('{"type":"message_stop"')
    assert made.agreement == "clients cannot be compared for bedrock-invoke"


def test_items_are_one_answer_and_long_types_keep_their_ends() -> None:
    made = of("openai-responses", "openai_responses/loop-stream-1.response.sse")
    text = [plain(line) for line in made.message(46, 80)[0]]
    assert [line for line in text if line.startswith(("assistant", "choice"))] == ["assistant"]
    assert [plain(made.row(n, 100)).split()[1] for n in (27, 31)] == ["function_cal….delta", "function_call….done"]
