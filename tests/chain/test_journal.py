from __future__ import annotations

from workbench.undo_log import Journal


def test_what_was_changed_is_taken_back_from_a_mark_on():
    journal, table, items = Journal(), {"a": 1}, [1]
    journal.put(table, "b", 2)
    journal.is_on = True
    journal.append(items, 2)
    mark = journal.mark()
    journal.put(table, "a", 9)
    journal.put(table, "c", 3)
    journal.put(table, "c", 4)
    journal.append(items, 3)
    noted = []
    journal.note(lambda: noted.append(len(items)))
    journal.append(items, 4)
    journal.rewind(mark)
    assert (table, items, noted) == ({"a": 1, "b": 2}, [1, 2], [3])
    journal.rewind(0)
    assert items == [1]


def test_what_was_forgotten_stays():
    journal, items = Journal(), []
    journal.is_on = True
    journal.append(items, 1)
    journal.forget()
    journal.append(items, 2)
    journal.rewind(0)
    assert (items, journal.mark()) == ([1, 2], 0)
