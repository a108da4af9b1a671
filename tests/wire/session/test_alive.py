"""Whether the process of a mark is there, told without a word to that process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from workbench.wire.session.writers import exists, is_alive, mark


@pytest.fixture
def waiting() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits for a word, with its end in reach."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def test_a_process_that_is_asked_for_goes_on(waiting: subprocess.Popen[bytes]) -> None:
    assert exists(waiting.pid) and is_alive(str(waiting.pid))
    assert waiting.communicate(b"now\n") and waiting.returncode == 0
    assert not exists(waiting.pid) and not is_alive(str(waiting.pid))


@pytest.mark.parametrize("word", ["", "x", "-1", "12345678901", "1x", "\u0661"])
def test_a_mark_that_is_no_process_id_is_nobody(word: str) -> None:
    assert not is_alive(word)


def test_an_id_that_was_given_again_is_another_process() -> None:
    pid, _, started = mark().partition(" ")
    assert is_alive(mark())
    assert not started or not is_alive(f"{pid} {int(started) + 1}")
