from __future__ import annotations

from workbench.diff import compare
from workbench.tui.models.diff import Sides
from workbench.views.lines import plain


def body(tokens: int, last: str = "done") -> bytes:
    return (
        f'{{"model": "a-long-name-of-a-model", "max_tokens": {tokens}, "user": "somebody", "end": "{last}"}}'.encode()
    )


def rows(before: bytes, after: bytes, around: int = 1) -> list[str]:
    found = compare(before, after)
    return [plain(each).rstrip() for each in Sides(found, 40).lines(found.hunks[0], around)]


def test_rows_around_a_difference_are_shown_once() -> None:
    assert rows(body(1024), body(4096)) == [
        '    {"model": "a-long-name-of-a-model",',
        '  -  "max_tokens": 1024,',
        '  +  "max_tokens": 4096,',
        '     "user": "somebody",',
    ]


def test_as_many_rows_as_wanted_are_shown_around_a_difference() -> None:
    assert len(rows(body(1024), body(4096), 0)) == 2
    assert rows(body(1024), body(4096), 9)[-1] == '     "end": "done"}'


def test_what_is_only_added_is_shown_in_the_second_body() -> None:
    shown = rows(body(1024), body(1024).replace(b'"user"', b'"stream": true, "user"'))
    assert {each[2] for each in shown} == {" ", "+"}
    assert sum("stream" in each for each in shown) == 1
