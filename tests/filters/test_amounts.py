from __future__ import annotations

import pytest

from workbench.filters.expression import amount, status_class
from workbench.filters.keys import Kind


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Kind.NUMBER, "40", 40),
        (Kind.NUMBER, "40k", None),
        (Kind.NUMBER, "-1", None),
        (Kind.NUMBER, "²", None),
        (Kind.SIZE, "100k", 100_000),
        (Kind.SIZE, "1.5MB", 1_500_000),
        (Kind.SIZE, "2Ki", 2048),
        (Kind.SIZE, "3B", 3),
        (Kind.SECONDS, "300ms", 0.3),
        (Kind.SECONDS, "2", 2),
        (Kind.SECONDS, "1.5m", 90),
        (Kind.SECONDS, "2k", None),
        (Kind.SIZE, "9" * 400, None),
        (Kind.SIZE, "", None),
    ],
)
def test_amounts(kind: Kind, text: str, value: float | None) -> None:
    assert amount(kind, text) == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize(("text", "digit"), [("4xx", 4), ("5XX", 5), ("6xx", None), ("40x", None), ("4xxx", None)])
def test_classes_of_status(text: str, digit: int | None) -> None:
    assert status_class(text) == digit
