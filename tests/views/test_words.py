from __future__ import annotations

import pytest

from workbench.views import words


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (words.count(1, "call"), "1 call"),
        (words.count(2000, "call"), "2,000 calls"),
        (words.size(999), "999 B"),
        (words.size(3100), "3.1 kB"),
        (words.size(5_060_000), "5.1 MB"),
        (words.duration(None), ""),
        (words.duration(0.02), "20 ms"),
        (words.duration(1.42), "1.4 s"),
        (words.duration(180), "180 s"),
        (words.byte_range(()), ""),
        (words.byte_range(((187, 301),)), "bytes 187–301"),
        (words.byte_range(((5, 9), (1, 3))), "2 pieces in bytes 1–9"),
        (words.event_range(()), ""),
        (words.event_range((3,)), "event 3"),
        (words.event_range((3, 4, 41)), "events 3–41"),
    ],
)
def test_words(said: str, expected: str) -> None:
    assert said == expected
