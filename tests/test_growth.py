"""Four times the input costs at most six times as much, for everything that reads what others wrote.

No limit here is a time: a slower machine is slower at both sizes.
"""

from __future__ import annotations

import pytest

from tests.growth import MOST, Made, by_steps, by_time, seconds, steps


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("n", "made"), [pytest.param(n, made, id=name) for name, n, made in by_steps()])
def test_steps_grow_with_the_input(n: int, made: Made) -> None:
    steps(made(4 * n))  # what is imported and read once is not counted
    few, many = steps(made(n)), steps(made(4 * n))
    assert many <= MOST * few


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("n", "made"), [pytest.param(n, made, id=name) for name, n, made in by_time()])
def test_time_grows_with_the_input(n: int, made: Made) -> None:
    ratio = 0.0
    for _ in range(4):  # others use the machine, too: what is quadratic is so each time
        ratio = seconds(made(4 * n)) / max(seconds(made(n)), 1e-6)
        if ratio <= MOST:
            return
    pytest.fail(f"{ratio:.1f} times the time for four times the input")
