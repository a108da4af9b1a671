"""The order of kinds, texts and statements decides nothing: what fixes most of a text counts."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

from tests import breakages
from workbench.lazy_dataclass import replace
from workbench.protocols import refusals
from workbench.protocols.refusals import _classify, _kinds, _statements, _texts

OWN = Path(__file__).with_name("texts.tsv")


@cache
def known_texts():
    """Every error text of the tests, as it is compared with patterns."""
    own = (line.split("\t")[1] for line in OWN.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    texts = [*(row["text"] for row in breakages.error_texts()), *own]
    return tuple(dict.fromkeys(_classify._plain(text).translate(_classify._SMALL) for text in texts))


def told(texts):
    """What is said of each text: kind, words, rule and statement."""
    found = ((refusals.classify(text), _statements.statement_in(text)) for text in texts)
    return [(f and (f.kind.name, f.words, f.rule), s) for f, s in found]


def test_rows_in_reverse_say_the_same(monkeypatch):
    texts = known_texts()
    expected, table, rows = told(texts), _kinds.table(), _statements._rows()
    backwards = replace(table, sure=table.sure[::-1], texts=table.texts[::-1])
    monkeypatch.setattr(_classify, "table", lambda: backwards)
    monkeypatch.setattr(_statements, "_rows", lambda: rows[::-1])
    assert told(texts) == expected


def draws(found, breadth, name):
    """Names of the rows that say equally much of a text and different things."""
    ranks = {}
    for match, row in found:
        ranks.setdefault((breadth(row), -_texts.fixed_length(match)), set()).add(name(row))
    return ranks[min(ranks)] if ranks and len(ranks[min(ranks)]) > 1 else set()


def test_no_two_kinds_or_statements_draw_on_a_known_text():
    table = _kinds.table()
    for text in known_texts():
        hits = [
            [(match, row) for row in rows if (match := row.pattern.search(text))] for rows in (table.sure, table.texts)
        ]
        assert not draws(hits[0] or hits[1], lambda row: row.kind.breadth, lambda row: row.kind.name), text
        said = [(match, row) for row in _statements._rows() if (match := row.says.search(text))]
        open_rows = [(match, row) for match, row in said if not (row.unless and row.unless.search(text))]
        assert not draws(open_rows, lambda _: 0, lambda row: row.rule), text


def test_no_code_word_or_status_is_in_two_kinds():
    entries = [(name, entry) for name, entry in _texts.tables("kinds")]
    for key in ("codes", "words", "statuses"):
        count = Counter(str(each).lower() for _, entry in entries for each in entry.get(key) or ())
        assert [each for each, number in count.items() if number > 1] == [], key
