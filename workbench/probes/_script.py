"""Probes, their scripts and samples. A script does no I/O and runs no real tool.

A script is a generator: it yields an ``Ask`` and receives the ``Exchange``, until it returns a ``Sample``. The caller
may show the pending request, change it, or send another one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import TypeAlias

from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.probes._subject import Subject
from workbench.wire import Exchange, HttpRequest


class Outcome(StrEnum):
    """Result of one sample."""

    PASS = "pass"
    PARTIAL = "partial"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"  # could not be measured: network, key, rate limit, or no usable answer


@dataclass(frozen=True, slots=True)
class Ask:
    """A request to send.

    Attributes:
        title: its purpose, in words.
        protocol: of the request.
    """

    title: str
    request: HttpRequest
    protocol: str


@dataclass(frozen=True, slots=True)
class Sample:
    """Result of one run of a script.

    Attributes:
        words: explanation, in one sentence.
        facts: learned, by the names of the profile (``supports_parallel_tool_use`` …) and finer ones.
    """

    outcome: Outcome
    words: str
    facts: Mapping[str, JsonValue] = field(default=NOTHING)


Script: TypeAlias = Generator[Ask, Exchange, Sample]


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe.

    Attributes:
        name: as typed by the user: ``"parallel"``.
        title: the question that it answers.
        requests: most requests of one sample.
        script: creates the script for a subject.
        is_core: one of the seven that make a profile; the others add finer facts.
        tokens: of one sample, roughly, for the estimate before a run.
    """

    name: str
    title: str
    requests: int
    script: Callable[[Subject], Script]
    is_core: bool = False
    tokens: int = 1000


def passed(words: str, **facts: JsonValue) -> Sample:
    """A sample that shows the capability."""
    return Sample(Outcome.PASS, words, facts)


def partly(words: str, **facts: JsonValue) -> Sample:
    """A sample that shows a part of the capability."""
    return Sample(Outcome.PARTIAL, words, facts)


def failed(words: str, **facts: JsonValue) -> Sample:
    """A sample that shows the lack of the capability."""
    return Sample(Outcome.FAIL, words, facts)


def unclear(words: str, **facts: JsonValue) -> Sample:
    """A sample that shows nothing."""
    return Sample(Outcome.INCONCLUSIVE, words, facts)
