"""What a probe is: a script that asks, is told, and says what it saw. It does no I/O and runs no tool of anybody's.

A script is a generator: it yields an ``Ask`` and gets the ``Exchange`` that came of it, until it returns a ``Sample``.
Whoever drives it may show the pending request, change it, or send another one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from workbench.ir import NOTHING, JsonValue
from workbench.probes._subject import Subject
from workbench.wire import Exchange, HttpRequest


class Outcome(StrEnum):
    """What one sample came to."""

    PASS = "pass"
    PARTIAL = "partial"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"  # it could not be measured: network, key, rate limit, or nothing to see


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that is to be sent.

    Attributes:
        title: what it is for, in words.
        protocol: what it is written in.
    """

    title: str
    request: HttpRequest
    protocol: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of a script.

    Attributes:
        words: why, in one sentence.
        facts: what it learned, by the names of the profile (``supports_parallel_tool_use`` …) and finer ones.
    """

    outcome: Outcome
    words: str
    facts: Mapping[str, JsonValue] = field(default=NOTHING)


Script: TypeAlias = Generator[Ask, Exchange, Sample]


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe.

    Attributes:
        name: ``"parallel"``: what people type.
        title: what it finds out, in a sentence.
        requests: that one sample sends at most.
        script: makes a fresh one for a subject.
        is_core: one of the seven that make a profile; the others add finer facts.
        tokens: of one sample, roughly: for the estimate before a run.
    """

    name: str
    title: str
    requests: int
    script: Callable[[Subject], Script]
    is_core: bool = False
    tokens: int = 1000


def passed(words: str, **facts: JsonValue) -> Sample:
    """The capability was seen."""
    return Sample(Outcome.PASS, words, facts)


def partly(words: str, **facts: JsonValue) -> Sample:
    """A part of it was."""
    return Sample(Outcome.PARTIAL, words, facts)


def failed(words: str, **facts: JsonValue) -> Sample:
    """It was not, although it could have been."""
    return Sample(Outcome.FAIL, words, facts)


def unclear(words: str, **facts: JsonValue) -> Sample:
    """Nothing can be said."""
    return Sample(Outcome.INCONCLUSIVE, words, facts)
