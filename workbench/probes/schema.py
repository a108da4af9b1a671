"""Schema: shapes of arguments that the model fills in as declared."""

from __future__ import annotations

from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.probes._drive import drive, without_call
from workbench.probes._script import Outcome, Probe, Sample, Script, Subject, failed, partly, passed, unclear
from workbench.probes._tools import SHAPES, Toolbox
from workbench.send.loop import Limits
from workbench.toolcalls.arguments import ladder

FULL, SIMPLE, TEXT = "strict-json-schema", "simple-object", "string-only"
OF_SHAPE = {"enum": "colour", "integer": "count", "nested": "place", "array": "tags"}
NESTED = ("place", "tags")


def script(subject: Subject) -> Script:
    """A tool with an enum, an integer, a nested object and an array, all required."""
    words = (
        f"Call probe_echo with the text {subject.nonce}, the colour of fresh grass, the count three, "
        "the place in line 7 of the file main.py, and the tags new and old."
    )
    request = subject.request(words, (SHAPES,))
    played = yield from drive(
        subject, request, "a tool with every kind of argument", Toolbox(subject.nonce).run, limits=Limits(1)
    )
    if not played.calls:
        sample = yield from without_call(subject, played)
        return replace(sample, facts={"schema_level": TEXT}) if sample.outcome is Outcome.FAIL else sample
    if played.is_cut:
        return unclear("the response reached the token limit inside the tool call")
    step = played.calls[0].step
    sample = evaluate(step.arguments, step.ladder.rungs if step.ladder else ())
    return replace(sample, facts={**sample.facts, **shapes(step.call.input)})


def evaluate(value: JsonValue, rungs: tuple[ladder.ArgumentStep, ...]) -> Sample:
    """Verdict: the schema level of some arguments."""
    wrong = wrong_keys(value)
    if not wrong and ladder.ArgumentStep.COERCED not in rungs:
        return passed("all argument shapes match the schema", schema_level=FULL)
    if not wrong:
        return partly("all argument shapes are present, some with values of a different type", schema_level=SIMPLE)
    level = SIMPLE if set(wrong) <= set(NESTED) else TEXT
    return (partly if level == SIMPLE else failed)(
        f"arguments violate the schema: {', '.join(wrong)}", schema_level=level
    )


def shapes(value: JsonValue) -> dict[str, bool]:
    """Shape → whether a call has it as declared, before any repair."""
    wrong, arguments = wrong_keys(value), value if isinstance(value, dict) else {}
    return {
        "schema_required": all(name in arguments for name in SHAPES.schema["required"]),
        **{f"schema_{shape}": name not in wrong for shape, name in OF_SHAPE.items()},
    }


def wrong_keys(value: JsonValue) -> list[str]:
    """Properties that are missing or invalid."""
    properties = SHAPES.schema["properties"]
    arguments = value if isinstance(value, dict) else {}
    return [
        name
        for name, schema in properties.items()
        if name not in arguments or ladder.climb(None, {"v": arguments[name]}, _alone(schema)).faults
    ]


def _alone(schema: JsonValue) -> JsonValue:
    return {"type": "object", "properties": {"v": schema}, "required": ["v"]}


probe = Probe("schema", "do arguments match the tool's schema?", 2, script, is_core=True)
