"""The order of kinds, texts and statements decides nothing: what fixes most of a text counts."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests import breakages
from workbench.lazy_dataclass import replace
from workbench.protocols import refusals
from workbench.protocols.refusals import _classify, _kinds, _literals, _statements, _texts

OWN = Path(__file__).with_name("texts.tsv")


@cache
def known_texts():
    """Every error text of the tests, as it is compared with patterns."""
    own = (line.split("\t")[1] for line in OWN.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    texts = [*(row["text"] for row in breakages.error_texts()), *own]
    return tuple(dict.fromkeys(_classify._plain(text).translate(_classify._SMALL) for text in texts))


def told(text):
    """What is said of a text: kind, words, rule and statement."""
    found = refusals.classify(text)
    return found and (found.kind.name, found.words, found.rule), _statements.statement_in(text)


def test_rows_in_reverse_say_the_same(monkeypatch, thin):
    texts = [*thin(known_texts(), 8)]
    expected, table, rows = [*map(told, texts)], _kinds.table(), _statements._rows()
    sure, seldom = (_kinds.rows_of(each.rows[::-1]) for each in (table.sure, table.texts))
    monkeypatch.setattr(_classify, "table", lambda: replace(table, sure=sure, texts=seldom))
    monkeypatch.setattr(_statements, "_rows", lambda: _statements.rows_of(rows.rows[::-1]))
    assert [*map(told, texts)] == expected


def test_the_words_that_a_row_needs_are_in_every_text_that_it_fits(thin):
    for table, pattern in (
        (_kinds.table().sure, lambda row: row.pattern),
        (_kinds.table().texts, lambda row: row.pattern),
        (_statements._rows(), lambda row: row.says),
    ):
        for text in thin(known_texts(), 20):
            fitting = [row for row in table.fitting(text) if pattern(row).search(text)]
            assert fitting == [row for row in table.rows if pattern(row).search(text)], text


NEEDED = {
    "a(?:b|cd)e?fgh": {"fgh"}, "ab?c": {"a"}, "ab+c": {"ab"}, r"\babc\b d": {"abc d"}, "(?!xyz)ab": {"ab"},
    "(?<=q)ab|c[^x]{0,3}de": {"ab", "de"}, r"\(foo\)": {"(foo)"}, "ab{2}y": {"ab"}, "(a|)b": {"b"}, "(?:abc)?": set(),
    "(?P<name>ab|cd)": {"ab", "cd"}, "(?i)abc": set(), "ab|c?": set(), r"\x41bc\nd": {"bc"}, "ab{0,2}": {"a"},
    "^ab$|[]x]cd": {"ab", "cd"}, "a{b": {"a{b"}, r"ab\.cd": {"ab.cd"},
}  # fmt: skip


@pytest.mark.parametrize(("pattern", "texts"), NEEDED.items())
def test_a_pattern_needs_the_texts_that_it_cannot_do_without(pattern, texts):
    assert _literals.needs_of(pattern) == texts


def draws(found, breadth, name):
    """Names of the rows that say equally much of a text and different things."""
    ranks = {}
    for match, row in found:
        ranks.setdefault((breadth(row), -_texts.fixed_length(match)), set()).add(name(row))
    return ranks[min(ranks)] if ranks and len(ranks[min(ranks)]) > 1 else set()


def fits(table, text, pattern):
    """Matches of a text, with their rows."""
    return [(match, row) for row in table.fitting(text) if (match := getattr(row, pattern).search(text))]


def test_no_two_kinds_or_statements_draw_on_a_known_text():
    table = _kinds.table()
    for text in known_texts():
        hits = fits(table.sure, text, "pattern") or fits(table.texts, text, "pattern")
        assert not draws(hits, lambda row: row.kind.breadth, lambda row: row.kind.name), text
        said = fits(_statements._rows(), text, "says")
        open_rows = [(match, row) for match, row in said if not (row.unless and row.unless.search(text))]
        assert not draws(open_rows, lambda _: 0, lambda row: row.rule), text


def test_no_code_word_or_status_is_in_two_kinds():
    entries = [(name, entry) for name, entry in _texts.tables("kinds")]
    for key in ("codes", "words", "statuses"):
        count = Counter(str(each).lower() for _, entry in entries for each in entry.get(key) or ())
        assert [each for each, number in count.items() if number > 1] == [], key
