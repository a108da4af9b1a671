"""Lines of the arguments screen."""

from __future__ import annotations

import pytest

from workbench.safetext import cells
from workbench.tui.models import argument_steps
from workbench.tui.models.argument_steps import LadderRung
from workbench.views.lines import plain


def marked(rung: LadderRung, style: str) -> list[str]:
    return [span.text for line in argument_steps.rung_body(rung, 80) for span in line if style in span.style.split()]


@pytest.mark.parametrize(
    ("before", "after", "gone", "new"),
    [
        ('{"a": 1,}', {"a": 1}, [","], []),
        ('{"a":1,}', {"a": 1}, [","], []),
        ({"n": "3"}, {"n": 3}, ['"3"'], ["3"]),
        ("{'a': 1}", {"a": 1}, ["'a'"], ['"a"']),
        ({"a": 1}, {"a": 1, "b": 2}, [], [', "b": 2']),
    ],
)
def test_before_and_after_are_marked_where_they_differ(
    before: object, after: object, gone: list[str], new: list[str]
) -> None:
    rung = LadderRung("repaired", before, after)
    assert marked(rung, "broken") == gone
    assert marked(rung, "related") == new


def test_what_did_not_change_is_not_shown_twice() -> None:
    assert argument_steps.rung_body(LadderRung("validated", {"a": 1}, {"a": 1}), 80) == []


def test_an_unwrapped_string_is_shown_as_one_and_as_its_value() -> None:
    body = [
        plain(row).strip() for row in argument_steps.rung_body(LadderRung("unwrapped", '{"a": "b"}', {"a": "b"}), 80)
    ]
    assert body == [r'- "{\"a\": \"b\"}"', '+ {"a": "b"}']


def test_a_long_text_is_shown_from_just_before_the_difference() -> None:
    long = '{"text": "' + "x" * 50_000 + '", "n": "3"}'
    body = [plain(line) for line in argument_steps.rung_body(LadderRung("coerced", long, long.replace('"3"', "3")), 80)]
    assert '"3"' in "".join(body) and len(body) <= 2 * (argument_steps.LINES + 1)


def test_a_refusal_is_what_the_model_is_told() -> None:
    told = {"is_error": True, "error_code": "TRUNCATED", "message": "input stops", "retryable": True}
    text = "\n".join(plain(line) for line in argument_steps.rung_body(LadderRung("refused", '{"a', told), 80))
    assert '{"a' in text and '"error_code": "TRUNCATED"' in text and '"retryable": true' in text


@pytest.mark.parametrize(
    ("names", "word"),
    [
        ((), "free text"),
        (("strict",), "no schema"),
        (("strict", "validated"), "valid"),
        (("repaired", "coerced", "validated"), "repaired, coerced"),
        (("strict", "refused"), "unreadable"),
    ],
)
def test_the_verdict_is_the_highest_rung(names: tuple[str, ...], word: str) -> None:
    assert argument_steps.verdict([LadderRung(name, None, None) for name in names])[2] == word


@pytest.mark.parametrize("text", ["", "\n\n", "日本" * 100, "a" * 5000])
@pytest.mark.parametrize("width", [20, 40, 200])
def test_any_text_fits_its_width(text: str, width: int) -> None:
    for row in argument_steps.rung_body(LadderRung("unwrapped", text, f"{text}b"), width):
        assert cells(plain(row)) <= width or "more characters" in plain(row)
