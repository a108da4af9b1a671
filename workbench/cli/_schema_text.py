"""Report of ``schema`` for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.views import SCHEMA_SIGNS

if TYPE_CHECKING:
    from workbench.ir import JsonValue

MOST_ISSUES = 12


def lines(answer: Mapping[str, JsonValue], *, in_full: bool) -> Iterator[str]:
    """A tool: a line for each dialect, its issues, and in full the schema to send instead."""
    where = f"  exchange {answer['exchange'] + 1}, {answer['pointer']}" if answer["exchange"] is not None else ""
    yield f"tool {_output.cut(answer['name'], 80)}{where}"
    for judged in answer["dialects"]:
        yield f"  {SCHEMA_SIGNS[judged['verdict']][0]} {judged['dialect']:<28} {_verdict(judged)}"
        for issue in judged["issues"][:MOST_ISSUES]:
            yield f"      {issue['effect']:<8} {issue['pointer'] or 'the schema'}  {issue['message']}"
            if in_full and issue["source"]:
                yield f"               {_output.cut(issue['source'])}"
        if len(judged["issues"]) > MOST_ISSUES:
            yield f"      and {len(judged['issues']) - MOST_ISSUES} more"
        if in_full:
            yield from _change(judged, "    ")
        if judged["proof"]:
            yield from _proof(judged["proof"])
    yield ""


def _verdict(judged: Mapping[str, JsonValue]) -> str:
    if judged["verdict"] == "accepted":
        return "accepted"
    if judged["verdict"] == "refused":
        return "refused; no known change helps"
    if not judged["steps"]:
        return "refused; its schema is accepted"
    return f"needs {_output.number(len(judged['steps']), 'change')}"


def _change(judged: Mapping[str, JsonValue], indent: str) -> Iterator[str]:
    if not judged["steps"]:
        return
    yield f"{indent}changes"
    for step in judged["steps"]:
        yield f"{indent}  {step['pointer'] or 'the root'}: {step['what']} → {step['instead']}  ({step['effect']})"
    yield f"{indent}schema"
    yield from (f"{indent}  {line}" for line in json.dumps(judged["schema"], indent=2, ensure_ascii=False).split("\n"))
    if judged["check"] is True:
        yield f"{indent}local check: none needed"
    else:
        yield f"{indent}local check, for arguments that match the original schema"
        text = json.dumps(judged["check"], indent=2, ensure_ascii=False)
        yield from (f"{indent}  {line}" for line in text.split("\n"))
    for issue in judged["remaining"]:
        yield f"{indent}still refused: {issue['pointer'] or 'the schema'}  {issue['message']}"
    for part in judged["parts"]:
        yield f"{indent}replaced by a tool {_output.cut(part['name'], 80)}"
        yield from _change(part, indent + "  ")


def _proof(proof: Mapping[str, JsonValue]) -> Iterator[str]:
    if proof["against"]:
        yield "    proof failed: schema and local check differ from the original"
        for one in proof["against"]:
            value = _output.cut(json.dumps(one["value"], ensure_ascii=False))
            verdicts = ", ".join(f"{k} {'accepts' if one[k] else 'refuses'}" for k in ("original", "schema", "check"))
            yield f"      {value}: {verdicts}"
        return
    more = [f"{proof['accepted']:,} of them accepted"]
    if proof["inexpressible"]:
        more.append(f"{proof['inexpressible']:,} no longer valid")
    if proof["undecided"]:
        more.append(f"{proof['undecided']:,} undecided: {proof['problem']}")
    yield f"    proof: same verdict as the original for {proof['tried']:,} values, {', '.join(more)}"
