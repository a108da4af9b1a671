"""A session as a story: told once, results below their calls, attempts and side conversations folded."""

from __future__ import annotations

import json

import pytest

from tests.tui import samples
from tests.tui.samples import DONE, exchange, session
from workbench.protocols.mcp import McpChannel
from workbench.rules import Inspector, by_cause
from workbench.views import Story, StoryBuilder, column_text, story_body, story_digits, story_line
from workbench.views.story_lines import _clock
from workbench.wire import Exchange
from workbench.wire.session import MemorySession, Session


def story_of(of: Session) -> Story:
    inspector = Inspector(of)
    rows = inspector.run().rows
    builder = StoryBuilder()
    for row in rows:
        builder.add(row, inspector.read_exchange(row.index))
    return builder.story(by_cause(f for row in rows for f in row.findings))


def shape(story: Story) -> list[tuple[int, str, str]]:
    """Depth, kind and first words of every item."""
    return [(item.depth, item.kind, item.text.split("\n")[0][:30]) for item in story.items]


def user(text: str) -> dict[str, object]:
    return {"role": "user", "content": text}


def calling(*calls: tuple[str, str, dict[str, object]]) -> dict[str, object]:
    """An assistant message with calls: (id, name, arguments)."""
    made = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for id, name, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def answer(message: dict[str, object]) -> dict[str, object]:
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    return {**DONE, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def result(id: str, text: str) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": id, "content": text}


def chat(number: int, messages: list[dict[str, object]], said: dict[str, object], status: int = 200) -> Exchange:
    return exchange({"model": "gpt-5", "messages": messages, "tools": TOOLS}, said, number=number, status=status)


def tool(name: str, parameter: str) -> dict[str, object]:
    schema = {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = [tool("read", "path"), tool("task", "prompt")]


READ = calling(("call_a1b2c3d4e5f6", "read", {"path": "a.py"}), ("call_f6e5d4c3b2a1", "read", {"path": "b.py"}))


def test_results_are_below_their_calls_and_nothing_is_told_twice() -> None:
    asked = [user("Compare both files.")]
    told = [*asked, READ, result("call_f6e5d4c3b2a1", "B"), result("call_a1b2c3d4e5f6", "A")]
    story = story_of(
        session(chat(1, asked, answer(READ)), chat(2, told, answer({"role": "assistant", "content": "Alike."})))
    )
    assert shape(story) == [
        (0, "conversation", "Compare both files."),
        (1, "message", "Compare both files."),
        (1, "call", '{"path": "a.py"}'),
        (2, "result", "A"),
        (1, "call", '{"path": "b.py"}'),
        (2, "result", "B"),
        (1, "text", "Alike."),
    ]
    assert [(item.exchange, item.side, item.pointer) for item in story.items if item.kind == "result"] == [
        (1, "request", "/messages/3"),
        (1, "request", "/messages/2"),
    ]


def test_results_find_calls_to_which_the_client_gave_ids_of_its_own() -> None:
    asked = [user("Compare both files.")]
    made = calling(("mine_1", "read", {"path": "a.py"}), ("mine_2", "read", {"path": "b.py"}))
    told = [*asked, made, result("mine_2", "B"), result("mine_1", "A")]
    story = story_of(
        session(chat(1, asked, answer(READ)), chat(2, told, answer({"role": "assistant", "content": "Alike."})))
    )
    assert [(depth, text) for depth, kind, text in shape(story) if kind == "result"] == [(2, "A"), (2, "B")]


def test_failed_attempts_at_the_same_request_are_one_folded_row() -> None:
    asked = [user("Say something about the weather.")]
    busy: dict[str, object] = {"error": {"message": "overloaded", "type": "server_error"}}
    story = story_of(
        session(
            chat(1, asked, busy, status=503),
            chat(2, asked, busy, status=529),
            chat(3, asked, answer({"role": "assistant", "content": "It rains."})),
        )
    )
    group = next(item for item in story.items if item.kind == "attempts")
    assert (group.text, group.note, group.is_folded) == ("2 attempts failed", "503, 529", True)
    kinds = [story.items[number].kind for number in story.visible_items() if story.items[number].kind != "finding"]
    assert kinds == ["conversation", "message", "attempts", "text"]
    unfolded = story.visible_items(frozenset({story.items.index(group)}))
    assert len(unfolded) == len(story.visible_items()) + 2


def test_a_conversation_is_below_the_call_that_began_it() -> None:
    prompt = "Find every use of the retry limit and list the files."
    delegate = calling(("call_0a9b8c7d6e5f", "task", {"prompt": prompt}))
    asked = [user("Where is the retry limit used?")]
    found = {"role": "assistant", "content": "In client.py and jobs.py, twice each."}
    told = [*asked, delegate, result("call_0a9b8c7d6e5f", "In client.py and jobs.py, twice each.")]
    story = story_of(
        session(
            chat(1, asked, answer(delegate)),
            chat(2, [user(prompt)], answer(found)),
            chat(3, told, answer({"role": "assistant", "content": "In two files."})),
        )
    )
    inner = next(item for item in story.items if item.label == "sub-agent")
    assert (inner.depth, inner.exchange, inner.is_folded) == (2, 1, True)
    assert shape(story)[-1] == (1, "text", "In two files.")


def test_what_was_said_before_the_recording_is_folded() -> None:
    earlier = [user("One."), {"role": "assistant", "content": "1"}, user("Two."), {"role": "assistant", "content": "2"}]
    more = [*earlier, user("Three."), {"role": "assistant", "content": "3"}, user("Four.")]
    story = story_of(session(chat(1, more, answer({"role": "assistant", "content": "4"}))))
    assert shape(story)[1] == (1, "earlier", "6 messages")
    assert [story.items[number].text for number in story.visible_items()][1:] == ["6 messages", "Four.", "4"]


def test_a_changed_history_says_from_where_on() -> None:
    asked = [user("What is in the file that I opened?"), READ]
    told = [*asked, result("call_a1b2c3d4e5f6", "A"), result("call_f6e5d4c3b2a1", "B")]
    said = {"role": "assistant", "content": "Two letters, as far as I can see."}
    changed = [told[0], READ, result("call_a1b2c3d4e5f6", "A, cut"), *told[3:], said, user("Go on.")]
    story = story_of(
        session(chat(1, told, answer(said)), chat(2, changed, answer({"role": "assistant", "content": "."})))
    )
    history = next(item for item in story.items if item.kind == "history")
    assert (history.note, history.pointer) == ("message 3 of 4 has changed", "/messages/2")
    assert "Go on." in [item.text for item in story.items]


def test_a_break_is_at_the_exchange_where_it_begins() -> None:
    story = story_of(samples.example(samples.LOST_REASONING))
    broken = [item for item in story.items if item.kind == "finding"]
    assert [(item.exchange, item.label) for item in broken] == [(1, "reasoning.missing")]
    assert story.items[0].severity == "error"


def test_asking_for_the_story_again_gives_the_same() -> None:
    inspector = Inspector(samples.example(samples.LOST_RESULT))
    rows = inspector.run().rows
    findings = by_cause(f for row in rows for f in row.findings)
    builder = StoryBuilder()
    for row in rows:
        builder.add(row, inspector.read_exchange(row.index))
        builder.story(findings)
    assert builder.story(findings) == story_of(samples.example(samples.LOST_RESULT))


def test_an_unreadable_exchange_is_named() -> None:
    inspector = Inspector(samples.example(samples.LOST_RESULT))
    builder = StoryBuilder()
    for row in inspector.run().rows:
        builder.add(row, None)
    story = builder.story()
    assert [item.kind for item in story.items] == ["others", "other", "other", "other"]


@pytest.mark.parametrize("width", [38, 64, 118, 240])
def test_lines_fit(width: int) -> None:
    for name in (samples.LOST_RESULT, samples.LOST_REASONING, "anthropic-long-session", "gateway-field-dropped"):
        story = story_of(samples.example(name))
        digits = story_digits(story)
        for item in story.items:
            line = column_text(story_line(item, width, digits, is_open=True))
            facts = item.note or item.seconds
            assert not facts or len(line) <= width or line.endswith("…"), line


def test_a_line_that_has_the_whole_text_shows_it_once() -> None:
    story = story_of(samples.example(samples.LOST_REASONING))
    said = next(item for item in story.items if item.kind == "message")
    assert story_body(said, 120, 1) == []
    assert column_text(story_body(said, 40, 1)[0]).strip().startswith("Which files")


def tool_call(
    identifier: str, arguments: dict[str, object], meta: dict[str, object], answer: dict[str, object]
) -> list[Exchange]:
    """A connection to a tool server with one call in it."""
    channel = McpChannel(Exchange(identifier, started_at=1.0), "files")
    params = {"name": "read", "arguments": arguments, "_meta": meta}
    lines = (
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
        {"jsonrpc": "2.0", "id": 1, **answer},
    )
    for at, (direction, value) in enumerate(zip(("sent", "received"), lines, strict=True)):
        channel.feed(direction, "text", json.dumps(value).encode() + b"\n", float(at))
    channel.end(2.0)
    return [channel.connection(), *(exchange for _, exchange in channel.exchanges(1))]


TWICE = calling(("c1", "mcp__files__read", {"path": "a"}), ("c2", "mcp__files__read", {"path": "a"}))
RESULT = {"result": {"content": [{"type": "text", "text": "one"}]}}
HOPS: dict[str, tuple[list[Exchange], list[tuple[str, int, bool]]]] = {
    "by the id that the client states": (
        tool_call("m", {"path": "x"}, {"claudecode/toolUseId": "c2"}, RESULT), [("c2", 2, False)],
    ),
    "by name and arguments": (tool_call("m", {"path": "a"}, {}, RESULT), [("c1", 2, False)]),
    "an error": (tool_call("m", {"path": "a"}, {}, {"error": {"code": -32000, "message": "no"}}), [("c1", 2, True)]),
    "each of two equal calls": (
        [*tool_call("m", {"path": "a"}, {}, RESULT), *tool_call("n", {"path": "a"}, {}, RESULT)],
        [("c1", 2, False), ("c2", 4, False)],
    ),
    "of no call": (tool_call("m", {"path": "b"}, {}, RESULT), []),
}  # fmt: skip


@pytest.mark.parametrize(("hops", "expected"), HOPS.values(), ids=HOPS)
def test_the_request_to_a_tool_server_is_below_the_call_that_it_carries_out(
    hops: list[Exchange], expected: list[tuple[str, int, bool]]
) -> None:
    history = [user("go"), TWICE, result("c1", "one"), result("c2", "one")]
    turns = [
        chat(0, [user("go")], answer(TWICE)),
        *hops,
        chat(9, history, answer({"role": "assistant", "content": "x"})),
    ]
    story = story_of(MemorySession("s", tuple(turns)))
    calls = [n for n, item in enumerate(story.items) if item.kind == "call"]
    found = []
    for name, number in zip(("c1", "c2"), calls, strict=True):
        below = [item for item in story.items[number + 1 : story.end_of(number)] if item.kind == "tool-hop"]
        found += [(name, item.exchange, item.is_failed) for item in below]
        assert [item.kind for item in story.items[number + 1 : story.end_of(number)]][-1] == "result"
    assert found == expected
    assert all(item.label == "files · read" for item in story.items if item.kind == "tool-hop")


def test_the_time_before_the_first_request_is_negative() -> None:
    assert (_clock(-0.2), _clock(-61.0), _clock(61.25)) == ("-0:00.2", "-1:01.0", "1:01.2")
