"""Check which providers accept the tool schemas in a file, and find the smallest change they accept.

FILE is anything with requests in it, or the JSON of a tool, a list of tools, or a JSON Schema. Each tool is checked by
every contract with facts about schemas, in each of its modes (NAME strict; gemini json-schema is its field
parametersJsonSchema), or by one contract with --provider. --provider also prints the changed schema and the check that
remains to be done locally; --prove searches for values that the changed schema and check treat differently.

JSON output is one object:
  {"path", "tools": [{"name", "exchange", "pointer", "schema", "dialects": [{"dialect", "provider", "mode", "verdict",
     "issues": [{"pointer", "keyword", "effect", "message", "source"}], "schema", "check",
     "steps": [{"pointer", "what", "instead", "effect"}], "remaining", "parts", "proof"}]}]}
"verdict" is accepted, changed (accepted as "schema") or refused (no known change helps). "effect" of a step is exact,
local check, or narrower (some values of the original are no longer valid). Pointers start at the tool's schema.
Exit status: 1 if a tool is not accepted unchanged, or a proof fails.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from workbench.cli import _files, _output
from workbench.errors import NoSuchFile, UnreadableInput, UsageError, WireError
from workbench.ir import HISTORIES
from workbench.lazy_dataclass import dataclass
from workbench.views import SCHEMA_SIGNS

if TYPE_CHECKING:
    from workbench.contracts import Contract
    from workbench.ir import JsonValue
    from workbench.toolcalls.schemas import Dialect, Issue, LoweredSchema, SchemaProof


MOST_ISSUES = 12


def lines(answer: Mapping[str, JsonValue], *, in_full: bool) -> Iterator[str]:
    """A tool: a line for each dialect, its issues, and in full the schema to send instead."""
    where = f"  exchange {answer['exchange'] + 1}, {answer['pointer']}" if answer["exchange"] is not None else ""
    yield f"tool {_output.cut(answer['name'], 80)}{where}"
    for dialect in answer["dialects"]:
        yield f"  {SCHEMA_SIGNS[dialect['verdict']][0]} {dialect['dialect']:<28} {_verdict(dialect)}"
        for issue in dialect["issues"][:MOST_ISSUES]:
            yield f"      {issue['effect']:<8} {issue['pointer'] or 'the schema'}  {issue['message']}"
            if in_full and issue["source"]:
                yield f"               {_output.cut(issue['source'])}"
        if len(dialect["issues"]) > MOST_ISSUES:
            yield f"      and {len(dialect['issues']) - MOST_ISSUES} more"
        if in_full:
            yield from _change(dialect, "    ")
        if dialect["proof"]:
            yield from _proof(dialect["proof"])
    yield ""


def _verdict(judged: Mapping[str, JsonValue]) -> str:
    if judged["verdict"] == "accepted":
        return "accepted"
    if judged["verdict"] == "refused":
        return "refused; no known change makes it acceptable"
    if not judged["steps"]:
        return "refused for another reason; the schema is accepted"
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
        yield f"{indent}local check of the arguments: not needed"
    else:
        yield f"{indent}local check, so that arguments match the original schema"
        text = json.dumps(judged["check"], indent=2, ensure_ascii=False)
        yield from (f"{indent}  {line}" for line in text.split("\n"))
    for issue in judged["remaining"]:
        yield f"{indent}still refused: {issue['pointer'] or 'the schema'}  {issue['message']}"
    for part in judged["parts"]:
        yield f"{indent}replaced by a tool {_output.cut(part['name'], 80)}"
        yield from _change(part, indent + "  ")


def _proof(proof: Mapping[str, JsonValue]) -> Iterator[str]:
    if proof["against"]:
        yield "    proof failed: with these values the new schema and the check differ from the original"
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


NAME = "schema"
HELP = "check which providers accept tool schemas"
MOST_PROVED = 100_000
_ACCEPTED = (
    "give a recorded request; the JSON of a tool (name, and inputSchema or parameters) or of a list of tools; "
    "or a JSON Schema, with type, properties, $ref, anyOf, allOf, oneOf, enum or const at its root"
)


@dataclass(frozen=True, slots=True)
class _DeclaredTool:
    name: str
    schema: JsonValue
    exchange: int | None = None
    pointer: str = ""
    schema_as_sent: JsonValue = None


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    _files.add_provider(parser)
    parser.add_argument("--tool", metavar="NAME", help="only this tool")
    parser.add_argument("--prove", type=int, metavar="N", default=0, help="prove each change with N generated values")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Check all tools; 1 if one is not accepted unchanged."""
    from workbench.rules import schema_check

    _files.validate(args)
    if not 0 <= args.prove <= MOST_PROVED:
        raise UsageError(f"--prove {args.prove} is out of range", hint=f"give 0 to {MOST_PROVED:,}")
    tools = _tools(args)
    dialects = schema_check.dialects(args.provider)
    answers, status = [], 0
    for tool in tools:
        judged = [_judge(tool, contract, dialect, args.prove) for contract, dialect in dialects]
        status = max(status, *(int(j["verdict"] != "accepted" or _fails(j)) for j in judged))
        answers.append(
            {
                "name": tool.name,
                "exchange": tool.exchange,
                "pointer": tool.pointer,
                "schema": tool.schema,
                "dialects": judged,
            }
        )
    if args.format == "json":
        _output.emit_json({"path": args.file, "tools": answers})
        return status
    for answer in answers:
        for line in lines(answer, in_full=bool(args.provider)):
            _output.emit(line)
    return status


def _fails(judged: Mapping[str, JsonValue]) -> bool:
    return bool(judged["proof"] and judged["proof"]["against"])


def _tools(args: argparse.Namespace) -> list[_DeclaredTool]:
    unique: dict[tuple[str, str], _DeclaredTool] = {}
    for tool in _tools_of_file(args.file) or _recorded_tools(args):
        unique.setdefault((tool.name, repr(tool.schema)), tool)
    if args.tool is not None:
        unique = {key: tool for key, tool in unique.items() if tool.name == args.tool}
    if not unique:
        named = f" named {args.tool!r}" if args.tool is not None else ""
        raise UsageError(f"{args.file} declares no tool{named}", hint="" if named else _ACCEPTED)
    return list(unique.values())


def _recorded_tools(args: argparse.Namespace) -> list[_DeclaredTool]:
    from workbench.rules import schema_check

    try:
        session = _files.open_file(args.file, args)
    except NoSuchFile:
        raise
    except UnreadableInput as error:
        raise UnreadableInput(error.what, where=error.where, hint=_ACCEPTED) from error
    found = []
    try:
        inspector = _files.inspector(session, args)
        for n in range(len(session)):
            decoded = inspector.detail(n).decoded
            for tool in decoded.request.tools if decoded.request else ():
                if tool.schema is not None and tool.kind == "client":
                    raw = schema_check.schema_as_sent(decoded, tool)
                    found.append(_DeclaredTool(tool.name or "", tool.schema, n, tool.pointer, raw))
    finally:
        session.close()
    return found


def _tools_of_file(path: str) -> list[_DeclaredTool]:
    """Tools of a file with bare tool definitions; empty for any other file."""
    from pathlib import Path

    from workbench.limits import MAX_DECODED_BODY
    from workbench.wire import loads

    file = Path(path)
    if path == "-" or not file.is_file() or file.stat().st_size > MAX_DECODED_BODY:
        return []
    with file.open("rb") as opened:
        if not opened.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
            return []
    try:
        value = loads(file.read_bytes())
    except WireError:
        return []
    if isinstance(value, dict) and isinstance(value.get("result"), dict):
        value = value["result"]  # the answer of an MCP server to tools/list
    if isinstance(value, dict) and any(key in value for key in (*HISTORIES, "log")):
        return []
    tools = value.get("tools", value) if isinstance(value, dict) else value
    return [tool for entry in (tools if isinstance(tools, list) else [tools]) for tool in _definition(entry)]


def _definition(value: JsonValue) -> Iterator[_DeclaredTool]:
    if not isinstance(value, dict):
        return
    for inner in value.get("functionDeclarations") or ():
        yield from _definition(inner)
    own = value["function"] if isinstance(value.get("function"), dict) else value
    keys = ("input_schema", "inputSchema", "parameters", "parametersJsonSchema")
    schema = next((own[key] for key in keys if isinstance(own.get(key), dict)), None)
    if isinstance(schema, dict) and isinstance(own.get("name"), str):
        yield _DeclaredTool(own["name"], schema)
    elif "functionDeclarations" not in value and _is_schema(value):
        yield _DeclaredTool(str(value.get("title") or "schema"), value)


def _is_schema(value: dict[str, JsonValue]) -> bool:
    """True if the root has a type, or one of the keywords that schema generators write instead."""
    if value.get("type") in ("object", "array", "string", "number", "integer", "boolean", "null"):
        return True
    objects, lists = ("properties", "$defs", "definitions"), ("anyOf", "oneOf", "allOf", "enum", "type")
    if any(isinstance(value.get(key), dict) for key in objects) or any(isinstance(value.get(k), list) for k in lists):
        return True
    return isinstance(value.get("$ref"), str) or isinstance(value.get("$schema"), str) or "const" in value


def _judge(tool: _DeclaredTool, contract: Contract, dialect: Dialect, count: int) -> dict[str, JsonValue]:
    from workbench.rules import schema_check
    from workbench.toolcalls.schemas import prove

    judged = schema_check.judge(tool.name, tool.schema, contract, dialect, tool.schema_as_sent)
    original = schema_check.in_words_of(dialect, tool.schema, tool.schema_as_sent)
    proof = prove(original, judged.lowered, count) if count else None
    return {
        "dialect": dialect.name,
        "provider": judged.provider,
        "mode": dialect.mode,
        "verdict": judged.verdict,
        "issues": [_issue_json(i) for i in judged.issues],
        **_lowered_json(judged.lowered),
        "proof": _proof_json(proof) if proof else None,
    }


def _issue_json(issue: Issue) -> dict[str, JsonValue]:
    return {
        "pointer": issue.pointer,
        "keyword": issue.keyword,
        "effect": issue.effect,
        "message": issue.message,
        "source": issue.source,
    }


def _lowered_json(lowered: LoweredSchema) -> dict[str, JsonValue]:
    return {
        "schema": lowered.schema,
        "check": lowered.check,
        "steps": [
            {"pointer": s.pointer, "what": s.what, "instead": s.instead, "effect": s.effect} for s in lowered.steps
        ],
        "remaining": [_issue_json(i) for i in lowered.remaining],
        "parts": [{"name": name, **_lowered_json(part)} for name, part in lowered.parts],
    }


def _proof_json(proof: SchemaProof) -> dict[str, JsonValue]:
    return {
        "tried": proof.judged_values,
        "accepted": proof.accepted,
        "inexpressible": proof.inexpressible,
        "undecided": proof.undecided,
        "problem": proof.problem,
        "against": [
            {"value": c.value, "original": c.original, "schema": c.lowered, "check": c.check} for c in proof.against
        ],
    }
