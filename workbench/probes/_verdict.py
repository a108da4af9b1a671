"""Verdict of a probe from its samples, with a confidence interval.

The facts of capability profiles: their names, meanings and values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.probes._script import Outcome, Sample
from workbench.wire import dumps

Z = 1.96
"""Quantile of a 95 % interval."""


class Interval(NamedTuple):
    """A 95 % interval of a share, 0 to 1 (Wilson 1927: valid for few samples, and for shares of 0 and 1)."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Result of all samples of a probe.

    Attributes:
        n: number of measured samples; ``unmeasured``: of the others.
        passes: number of measured samples that passed.
        interval: of the share of passes.
        words: explanation in one sentence, from the worst sample.
        facts: of most samples.
        evidence: indices of the exchanges in the probe's session.
        at: end of the last sample, seconds since the epoch.
    """

    probe: str
    outcome: Outcome
    n: int
    passes: int
    unmeasured: int
    interval: Interval
    words: str
    facts: Mapping[str, JsonValue] = field(default=NOTHING)
    evidence: tuple[int, ...] = ()
    at: float = 0.0


def interval(passes: int, n: int) -> Interval:
    """The interval of a share; 0 to 1 if nothing was measured."""
    if not n:
        return Interval(0.0, 1.0)
    share, zz = passes / n, Z * Z
    middle, half = share + zz / (2 * n), Z * sqrt(share * (1 - share) / n + zz / (4 * n * n))
    low, high = (middle - half) / (1 + zz / n), (middle + half) / (1 + zz / n)
    return Interval(0.0 if not passes else max(0.0, low), 1.0 if passes == n else min(1.0, high))


def verdict(probe: str, samples: Sequence[Sample], evidence: Sequence[int] = (), at: float = 0.0) -> ProbeResult:
    """The verdict of a probe.

    All measured samples passed: pass. All failed: fail. Otherwise: partial. Unmeasured samples are never failures: if
    nothing was measured, the verdict is inconclusive.
    """
    measured = [s for s in samples if s.outcome is not Outcome.INCONCLUSIVE]
    passes = sum(s.outcome is Outcome.PASS for s in measured)
    fails = sum(s.outcome is Outcome.FAIL for s in measured)
    if not measured:
        outcome = Outcome.INCONCLUSIVE
    elif passes == len(measured):
        outcome = Outcome.PASS
    else:
        outcome = Outcome.FAIL if fails == len(measured) else Outcome.PARTIAL
    return ProbeResult(
        probe,
        outcome,
        len(measured),
        passes,
        len(samples) - len(measured),
        interval(passes, len(measured)),
        _words(outcome, samples),
        _facts(measured or samples),
        tuple(evidence),
        at,
    )


def _words(outcome: Outcome, samples: Sequence[Sample]) -> str:
    """Explanation of the most frequent sample that decided the outcome."""
    for outcome_kind in (outcome, Outcome.FAIL, Outcome.PARTIAL):
        explanations = [s.words for s in samples if s.outcome is outcome_kind]
        if explanations:
            return Counter(explanations).most_common(1)[0][0]
    return "" if samples else "no samples"


def _facts(samples: Sequence[Sample]) -> dict[str, JsonValue]:
    """Most frequent value of each fact; the first one if several are equally frequent."""
    found: dict[str, JsonValue] = {}
    for name in dict.fromkeys(name for sample in samples for name in sample.facts):
        values = [sample.facts[name] for sample in samples if name in sample.facts]
        counts = Counter(dumps(value) for value in values)
        found[name] = max(values, key=lambda value: counts[dumps(value)])
    return found


FACTS: Mapping[str, str] = {
    # format
    "tool_call_format": "format of tool calls: anthropic, openai, responses, gemini, ollama …, json-text, xml, none",
    "parser": "text format of tool calls; empty for the protocol's own format",
    "parsed_from": "where tool calls in text occur: text or reasoning",
    # schema
    "schema_level": "schema that arguments match: strict-json-schema, simple-object or string-only",
    "schema_required": "every required argument is present",
    "schema_enum": "a value is one of the enum values",
    "schema_integer": "an integer argument is an integer",
    "schema_nested": "a nested object matches the schema",
    "schema_array": "an array matches the schema",
    # closure, parallel, repair
    "closes": "whether the model accepts the tool result and uses it in its response",
    "supports_parallel_tool_use": "whether one response can contain several tool calls whose results are accepted",
    "error_repair": "correction of failed calls: reliable (at once), limited (after several errors) or none",
    "repair_tries": "number of errors before the call was correct",
    "repair_limit": "number of errors after which the probe stopped",
    # reasoning
    "reasoning_carrier": "carrier of reasoning, or none",
    "requires_reasoning_replay": "whether the next request without reasoning is refused or gets a worse response",
    "reasoning_replay": "for each form of reasoning: taken (accepted), refused, needed, ignored or not tried",
    "reasoning_replay_scope": "how long reasoning must be sent back: never, optional, turn or conversation",
    # streaming
    "supports_streaming_tool_use": "whether a streamed tool call equals the same call in a single body",
    "streams_arguments_whole": "whether the arguments of a streamed tool call are readable",
    "streams_finish_reason": "finish reason of a stream with a tool call, as sent",
    "streams_usage": "whether streams contain token counts",
    "streams_deltas": "whether streams arrive in several pieces",
    "streams_stable": "whether common clients assemble the same message from a stream",
    # arguments
    "argument_text": "form of the argument text: strict, double-encoded, fenced, trailing text, repaired or broken",
    "argument_values": "for each kind of text that needs escapes: kept (unchanged) or changed",
    # text-format
    "text_formats": "number of calls for each format and position of tool calls in text",
    "text_format": "most frequent format of tool calls in text; empty if none",
    # choice
    "tool_choice": "for each mode: honoured, ignored, refused, unsayable (not expressible) or unseen (not observed)",
    # keywords
    "refused_keywords": "refused schema keywords",
    "unresolved_keywords": "keywords not tested because the request limit was reached",
    "ignored_keywords": "keywords that are accepted but not enforced",
    "strict_tools": "strict tools: taken (accepted), refused or unsayable (not expressible)",
    # names
    "tool_names": "for each kind of tool name: taken (accepted), refused, changed or unseen (not observed)",
    "call_ids": "for each kind of tool call id: taken (accepted) or refused",
    # large-results, context
    "large_results": "largest tool results in bytes: accepted, read, tried",
    "context": "estimated tokens of the history: kept, tried; trimming: none, silent or refused",
    # system, media, cancelled, canary
    "system_placement": "for each place of instructions: seen, ignored, refused or as top (the system prompt)",
    "media_in_results": "images in tool results: seen, ignored, refused or unsayable (not expressible)",
    "cancelled_calls": "cancelled calls: taken (accepted), repeated or refused",
    "reasoning_seen": "reasoning sent back, within the turn and later: seen, unseen (not observed) or refused",
}
"""Name → meaning."""
