"""Rows of a table that are read before they are asked for."""

from __future__ import annotations

import sqlite3

from workbench.wire.session.rows_ahead import RowsAhead


def _table(value: str) -> tuple[sqlite3.Connection, RowsAhead]:
    db = sqlite3.connect(":memory:")
    db.execute("create table t (n integer primary key, v text)")
    db.executemany("insert into t values (?, ?)", ((n, value) for n in range(100)))
    return db, RowsAhead("select v from t where n = ?", "select n, v from t where n >= ? order by n")


def test_rows_in_order_are_read_together() -> None:
    db, table = _table("x")
    assert [table.row(db, n) for n in range(100)] == [("x",)] * 100
    assert table.row(db, 100) is None


def test_what_was_read_ahead_is_dropped_when_the_file_has_changed() -> None:
    db, table = _table("old")
    assert [table.row(db, n) for n in range(3)] == [("old",)] * 3
    db.execute("update t set v = 'new'")
    table.forget()
    assert [table.row(db, n) for n in range(3, 6)] == [("new",)] * 3


def test_a_text_counts_to_what_is_read_ahead() -> None:
    db, table = _table("x" * 100_000)
    for n in range(3):
        table.row(db, n)
    assert len(table._ahead) <= 3
