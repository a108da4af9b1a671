from __future__ import annotations

import pytest

from workbench.filters.expression import ValueKind, amount, status_class


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (ValueKind.NUMBER, "40", 40),
        (ValueKind.NUMBER, "40k", None),
        (ValueKind.NUMBER, "-1", None),
        (ValueKind.NUMBER, "²", None),
        (ValueKind.SIZE, "100k", 100_000),
        (ValueKind.SIZE, "1.5MB", 1_500_000),
        (ValueKind.SIZE, "2Ki", 2048),
        (ValueKind.SIZE, "3B", 3),
        (ValueKind.SECONDS, "300ms", 0.3),
        (ValueKind.SECONDS, "2", 2),
        (ValueKind.SECONDS, "1.5m", 90),
        (ValueKind.SECONDS, "2k", None),
        (ValueKind.SIZE, "9" * 400, None),
        (ValueKind.SIZE, "", None),
    ],
)
def test_amounts(kind: ValueKind, text: str, value: float | None) -> None:
    assert amount(kind, text) == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize(("text", "digit"), [("4xx", 4), ("5XX", 5), ("6xx", None), ("40x", None), ("4xxx", None)])
def test_classes_of_status(text: str, digit: int | None) -> None:
    assert status_class(text) == digit
