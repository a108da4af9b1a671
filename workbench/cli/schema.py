"""What each provider takes of the tools in a file, and the smallest change that it accepts.

FILE is anything with requests in it, or the JSON of a tool, a list of tools, or a JSON Schema. Every tool is held
against every contract that knows something of schemas, in each of its modes (NAME strict; gemini json-schema is its
field parametersJsonSchema), or against one with --provider. With --provider the changed schema and the check that
remains to be made locally are printed; --prove tries values that tell changed schema and check from the original.

JSON output is one object:
  {"path", "tools": [{"name", "exchange", "pointer", "schema", "dialects": [{"dialect", "provider", "mode", "verdict",
     "issues": [{"pointer", "keyword", "effect", "message", "source"}], "schema", "check",
     "steps": [{"pointer", "what", "instead", "effect"}], "remaining", "parts", "proof"}]}]}
"verdict" is accepted, changed (with "schema") or refused (no change was found that helps). "effect" of a step is exact,
local check, or narrower: some values of the original cannot be written any more. Pointers start at the tool's schema.
Exit status is 1 where a tool is not accepted as it stands, or a proof fails.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.cli import _files, _output
from workbench.errors import UnreadableInput, UsageError, WireError

if TYPE_CHECKING:
    from workbench.contracts import Contract
    from workbench.ir import JsonValue
    from workbench.toolcalls.schemas.dialect import Dialect
    from workbench.toolcalls.schemas.lint import Issue
    from workbench.toolcalls.schemas.lower import Lowered
    from workbench.toolcalls.schemas.proof import Proof

NAME = "schema"
HELP = "what providers refuse of a tool's schema, and the smallest change they accept"
MOST_PROVED = 100_000
_ACCEPTED = (
    "give recorded requests, the JSON of a tool (name, and inputSchema or parameters) or of a list of tools, "
    "or a JSON Schema (with type, properties, $ref, anyOf, allOf, oneOf, enum or const at its root)"
)


@dataclass(frozen=True, slots=True)
class _Tool:
    name: str
    schema: JsonValue
    exchange: int | None = None
    pointer: str = ""
    standing: JsonValue = None


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    _files.add_provider(parser)
    parser.add_argument("--tool", metavar="NAME", help="only this tool")
    parser.add_argument("--prove", type=int, metavar="N", default=0, help="try N values from each side")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Judge every tool; 1 where one is not accepted as it stands."""
    from workbench.cli import _schema_text
    from workbench.rules import lens

    _files.validate(args)
    if not 0 <= args.prove <= MOST_PROVED:
        raise UsageError(f"--prove takes a number up to {MOST_PROVED:,}")
    tools = _tools(args)
    dialects = lens.dialects(args.provider)
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
        for line in _schema_text.lines(answer, in_full=bool(args.provider)):
            _output.emit(line)
    return status


def _fails(judged: Mapping[str, JsonValue]) -> bool:
    return bool(judged["proof"] and judged["proof"]["against"])


def _tools(args: argparse.Namespace) -> list[_Tool]:
    unique: dict[tuple[str, str], _Tool] = {}
    for tool in _bare(args.file) or _recorded(args):
        unique.setdefault((tool.name, repr(tool.schema)), tool)
    if args.tool is not None:
        unique = {key: tool for key, tool in unique.items() if tool.name == args.tool}
    if not unique:
        named = f" named {args.tool!r}" if args.tool is not None else ""
        raise UsageError(f"{args.file} declares no tool{named}", hint="" if named else _ACCEPTED)
    return list(unique.values())


def _recorded(args: argparse.Namespace) -> list[_Tool]:
    from workbench.rules import lens

    try:
        session = _files.open_file(args.file, args)
    except UnreadableInput as error:
        raise UnreadableInput(error.what, where=error.where, hint=_ACCEPTED) from error
    found = []
    try:
        inspector = _files.inspector(session, args)
        for n in range(len(session)):
            decoded = inspector.detail(n).decoded
            for tool in decoded.request.tools if decoded.request else ():
                if tool.schema is not None and tool.kind == "client":
                    held = lens.standing(decoded, tool)
                    found.append(_Tool(tool.name or "", tool.schema, n, tool.pointer, held))
    finally:
        session.close()
    return found


def _bare(path: str) -> list[_Tool]:
    """Tools of a file that holds definitions and no request; [] for any other file."""
    from pathlib import Path

    from workbench.limits import MAX_DECODED_BODY
    from workbench.wire.jsontext import loads

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
    if isinstance(value, dict) and any(key in value for key in ("messages", "contents", "input", "log")):
        return []
    listed = value.get("tools", value) if isinstance(value, dict) else value
    return [tool for held in (listed if isinstance(listed, list) else [listed]) for tool in _definition(held)]


def _definition(value: JsonValue) -> Iterator[_Tool]:
    if not isinstance(value, dict):
        return
    for inner in value.get("functionDeclarations") or ():
        yield from _definition(inner)
    own = value["function"] if isinstance(value.get("function"), dict) else value
    keys = ("input_schema", "inputSchema", "parameters", "parametersJsonSchema")
    schema = next((own[key] for key in keys if isinstance(own.get(key), dict)), None)
    if isinstance(schema, dict) and isinstance(own.get("name"), str):
        yield _Tool(own["name"], schema)
    elif "functionDeclarations" not in value and _is_schema(value):
        yield _Tool(str(value.get("title") or "schema"), value)


def _is_schema(value: dict[str, JsonValue]) -> bool:
    """A JSON Schema by what it says at its root: a type, or what generators of schemas write in place of one."""
    if value.get("type") in ("object", "array", "string", "number", "integer", "boolean", "null"):
        return True
    objects, lists = ("properties", "$defs", "definitions"), ("anyOf", "oneOf", "allOf", "enum", "type")
    if any(isinstance(value.get(key), dict) for key in objects) or any(isinstance(value.get(k), list) for k in lists):
        return True
    return isinstance(value.get("$ref"), str) or isinstance(value.get("$schema"), str) or "const" in value


def _judge(tool: _Tool, contract: Contract, dialect: Dialect, count: int) -> dict[str, JsonValue]:
    from workbench.rules import lens
    from workbench.toolcalls.schemas.proof import prove

    judged = lens.judge(tool.name, tool.schema, contract, dialect, tool.standing)
    original = lens.in_words_of(dialect, tool.schema, tool.standing)
    proof = prove(original, judged.lowered, count) if count else None
    return {
        "dialect": dialect.name,
        "provider": judged.provider,
        "mode": dialect.mode,
        "verdict": judged.verdict,
        "issues": [_issue(i) for i in judged.issues],
        **_lowered(judged.lowered),
        "proof": _proof(proof) if proof else None,
    }


def _issue(issue: Issue) -> dict[str, JsonValue]:
    return {
        "pointer": issue.pointer,
        "keyword": issue.keyword,
        "effect": issue.effect,
        "message": issue.message,
        "source": issue.source,
    }


def _lowered(lowered: Lowered) -> dict[str, JsonValue]:
    return {
        "schema": lowered.schema,
        "check": lowered.check,
        "steps": [
            {"pointer": s.pointer, "what": s.what, "instead": s.instead, "effect": s.effect} for s in lowered.steps
        ],
        "remaining": [_issue(i) for i in lowered.remaining],
        "parts": [{"name": name, **_lowered(part)} for name, part in lowered.parts],
    }


def _proof(proof: Proof) -> dict[str, JsonValue]:
    return {
        "tried": proof.tried,
        "accepted": proof.accepted,
        "inexpressible": proof.inexpressible,
        "undecided": proof.undecided,
        "problem": proof.problem,
        "against": [
            {"value": c.value, "original": c.original, "schema": c.lowered, "check": c.check} for c in proof.against
        ],
    }
