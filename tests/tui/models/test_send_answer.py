"""Lines of two answers side by side."""

from __future__ import annotations

import pytest

from tests.tui import samples
from workbench.protocols.decode import DecodedExchange
from workbench.safetext import cells
from workbench.send.sending import RetryWait
from workbench.tui.models import send_answer
from workbench.tui.models.send_answer import AFTER, BEFORE, BOTH, ResponseComparison, compare_responses
from workbench.views.lines import plain

ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def answer(text: str | None = None, *, calls: object = None, finish: str = "stop") -> object:
    message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    return {"id": "1", "object": "chat.completion", "model": "m", "usage": usage} | {
        "choices": [{"index": 0, "message": message, "finish_reason": finish}]
    }


def call(arguments: str) -> object:
    return [{"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": arguments}}]


def decoded(response: object, status: int = 200) -> DecodedExchange:
    return DecodedExchange(0, samples.exchange(ASKED, response, status=status), "openai-chat")


ERROR = {"error": {"message": "no such thing", "type": "invalid_request_error"}}


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        (answer("a"), answer("a"), set()),
        (answer("a"), answer("b"), {"text"}),
        (answer(None, calls=call("{}"), finish="tool_calls"), answer("b"), {"call", "text", "finish reason"}),
        (answer(None, calls=call('{"a": 1}')), answer(None, calls=call('{ "a" : 1 }')), set()),
    ],
)
def test_what_differs_in_meaning_is_told_from_what_differs_in_bytes(
    before: object, after: object, kinds: set[str]
) -> None:
    rows = compare_responses(decoded(before), decoded(after)).rows
    assert {row.kind for row in rows if not row.is_same and row.kind != "bytes"} == kinds
    assert rows[-1].kind == "bytes" and rows[-1].is_same == (before == after)


def test_the_range_that_differs_is_marked_on_both_sides() -> None:
    shown = compare_responses(decoded(answer("the file is red today")), decoded(answer("the file is dark green today")))
    text = next(row for row in shown.rows if row.kind == "text")
    assert text.before and text.before.text[slice(*text.before.marked)] == "red"
    assert text.after and text.after.text[slice(*text.after.marked)] == "dark green"
    assert "first difference at character 13" in text.note
    lines = send_answer.body(text, 120, BOTH)
    marked = {span.text for each in lines for span in each if "doubtful" in span.style}
    assert marked == {"red", "dark green"}


def test_texts_that_share_nothing_are_not_marked_all_over() -> None:
    shown = compare_responses(decoded(answer("alpha beta gamma delta")), decoded(answer("one two three four five six")))
    text = next(row for row in shown.rows if row.kind == "text")
    assert text.before and text.before.marked == (0, 0) and not text.is_same


@pytest.mark.parametrize("width", [92, 118, 200])
def test_columns_stand_in_line_whatever_is_in_them(width: int) -> None:
    long = "日本語 and \x1b[2J " * 30
    shown = compare_responses(decoded(answer(long)), decoded(answer(long[::-1])))
    row = next(row for row in shown.rows if row.kind == "text")
    at = {cells(plain(each).partition(" │ ")[0]) for each in send_answer.body(row, width, BOTH)}
    assert len(at) == 1
    assert all(cells(plain(each)) <= width for each in send_answer.body(row, width, BOTH))


def test_short_contents_are_on_one_line_where_there_is_no_room_for_two() -> None:
    shown = compare_responses(decoded(answer("before")), decoded(answer("after")))
    row = next(row for row in shown.rows if row.kind == "text")
    assert [plain(each).strip() for each in send_answer.body(row, 70, BEFORE)] == ["before → after"]
    assert [plain(each).strip() for each in send_answer.body(row, 70, AFTER)] == ["before → after"]
    alone = row._replace(after=None)
    assert [plain(each).strip() for each in send_answer.body(alone, 70, AFTER)] == ["before"]


@pytest.mark.parametrize(
    ("before", "old", "after", "new", "words"),
    [
        (ERROR, 400, answer("a"), 200, "✓ accepted (200) · the original was refused (400)"),
        (answer("a"), 200, ERROR, 400, "✗ refused (400) · the original was accepted (200): no such thing"),
        (answer("a"), 200, answer("a"), 200, "✓ accepted (200) · the original was accepted (200) · same content"),
        (answer("a"), 200, answer("b"), 200, "✓ accepted (200) · the original was accepted (200) · differs in text"),
    ],
)
def test_the_verdict_is_one_line(before: object, old: int, after: object, new: int, words: str) -> None:
    assert plain(send_answer.verdict(compare_responses(decoded(before, old), decoded(after, new)))) == words


def test_what_has_not_come_yet_is_not_called_missing() -> None:
    shown: ResponseComparison = compare_responses(decoded(answer("a")), decoded({"choices": []}))
    text = next(row for row in shown.rows if row.kind == "text")
    assert "not received yet" in plain(send_answer.head(text, is_over=False))
    assert "only in original" in plain(send_answer.head(text, is_over=True))


def test_a_retry_says_why_and_how_long_it_waits() -> None:
    retry = RetryWait(529, 1, 2.5, "overloaded")
    assert "529" in plain(send_answer.progress(None, 0, [retry])) and "2.5 s" in plain(send_answer.retry_line(retry))
    unreached = RetryWait(0, 2, 1.0, "connection refused")
    assert "not reached" in plain(send_answer.progress(None, 0, [retry, unreached]))


def test_an_answer_that_cannot_be_read_is_not_called_accepted() -> None:
    after = decoded(["no", "answer"])
    assert after.unread
    told = plain(send_answer.verdict(compare_responses(decoded(answer("a")), after)))
    assert told.startswith("? 200, but unreadable: response: ")
