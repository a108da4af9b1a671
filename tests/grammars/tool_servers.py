"""``python -m tests.grammars.tool_servers FOLDER``: derive the grammars of tool servers from the official schemas.

FOLDER is ``schema`` of a copy of modelcontextprotocol/modelcontextprotocol: it has a folder for each revision, with
``schema.json``. Types are written in the form of ``workbench.protocols.grammars``; a revision has those only that
differ from the ones of the revision before it, and null for each that it has no more.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
SOURCE = "modelcontextprotocol/modelcontextprotocol b0f60ba (2026-08-22), schema/REVISION/schema.json"
OUT = Path(__file__).resolve().parents[2] / "workbench" / "protocols" / "mcp" / "revisions.json"

_PLAIN = {"string": "str", "integer": "num", "number": "num", "boolean": "bool", "null": "null"}
"""Types; several revisions state an integer where their text has a number."""

_ANYTHING = ("JSONValue", "GetTaskPayloadResult")
_URI = "[A-Za-z][A-Za-z0-9+.-]*:.*"
"""What a URI looks like, whatever its scheme."""

_EMPTY = ("PingRequest", "SetLevelRequest", "SubscribeRequest", "UnsubscribeRequest")
"""Requests whose result has no members."""


class Schemas:
    """Definitions of one revision.

    Args:
        definitions: by their names, as JSON Schema.
    """

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._known = definitions
        self.types: dict[str, Any] = {}

    def methods(self) -> dict[str, Any]:
        """Method → who sends it, the type of the message, and that of its result (none for a notification)."""
        made: dict[str, Any] = {}
        for side in ("Client", "Server"):
            for word in ("Request", "Notification"):
                for name in self._names(f"{side}{word}"):
                    method = self._known[name]["properties"]["method"]["const"]
                    senders = [*made.get(method, {}).get("by", ()), side.lower()]
                    kinds = {"type": self.kind({"$ref": f"#/$defs/{name}"})}
                    if word == "Request":
                        kinds["result"] = self._result(name)
                    made[method] = {"by": senders, **kinds}
        return dict(sorted(made.items()))

    def _names(self, union: str) -> list[str]:
        stated = self._known.get(union, {})
        listed = stated.get("anyOf", [stated] if "$ref" in stated else [])
        names = [each["$ref"].rpartition("/")[2] for each in listed]
        if not listed and "method" in stated.get("properties", {}):
            names = [name for name, each in self._known.items() if each == stated and name != union] or [union]
        return names

    def _result(self, request: str) -> Any:
        response = self._known.get(request.replace("Request", "ResultResponse"))
        if response:
            return self.kind(response["properties"]["result"])
        name = request.replace("Request", "Result")
        return ["{}", "any"] if request in _EMPTY or name not in self._known else self.kind({"$ref": f"#/{name}"})

    def kind(self, schema: Any, name: str = "") -> Any:
        """A schema as a type; ``name`` is that of an object which has none of its own."""
        if "$ref" in schema:
            return self._named(schema["$ref"].rpartition("/")[2])
        if "const" in schema:
            return ["=", schema["const"]]
        if "enum" in schema:
            return ["=", *schema["enum"]]
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return _union(self.kind(each, f"{name}.{number}") for number, each in enumerate(schema[word]))
        if "allOf" in schema:
            return self._object(name, self._merged(schema))
        stated = schema.get("type")
        if isinstance(stated, list):
            return _union(self.kind({**schema, "type": each}, name) for each in stated)
        if stated == "array":
            return ["[]", self.kind(schema.get("items", {}), f"{name}.item")]
        if stated == "object" or "properties" in schema:
            return self._object(name, schema)
        return _PLAIN.get(stated, "any")

    def _named(self, name: str) -> Any:
        schema = self._known[name]
        if name in _ANYTHING:
            return "any"
        if "properties" not in schema and "allOf" not in schema:
            return self.kind(schema, name)
        if name not in self.types:
            self.types[name] = None  # a type may hold itself
            self._object(name, self._merged(schema))
        return f"#{name}"

    def _merged(self, schema: Any) -> dict[str, Any]:
        """A schema with what its ``allOf`` adds."""
        made: dict[str, Any] = {"properties": dict(schema.get("properties", {})), "required": []}
        made["required"] += schema.get("required", [])
        for each in schema.get("allOf", ()):
            inner = self._merged(self._known[each["$ref"].rpartition("/")[2]] if "$ref" in each else each)
            made["properties"] = {**inner["properties"], **made["properties"]}
            made["required"] += inner["required"]
        return made

    def _object(self, name: str, schema: Any) -> Any:
        if not schema.get("properties"):
            inner = schema.get("additionalProperties")
            return ["{}", self.kind(inner, name) if isinstance(inner, dict) and inner else "any"]
        keys = {key: self.kind(each, f"{name}.{key}") for key, each in sorted(schema["properties"].items())}
        need = sorted(set(schema.get("required", ())) & set(keys))
        limits = {key: {"pattern": _URI} for key, each in schema["properties"].items() if each.get("format") == "uri"}
        self.types[name] = {"keys": keys} | ({"need": need} if need else {}) | ({"limits": limits} if limits else {})
        return f"#{name}"


def _union(kinds: Iterable[Any]) -> Any:
    """Any of the kinds; one that is a union itself gives its own."""
    found = [arm for kind in kinds for arm in (kind[1:] if isinstance(kind, list) and kind[0] == "|" else [kind])]
    arms = [arm for number, arm in enumerate(found) if arm not in found[:number]]
    return "any" if "any" in arms else arms[0] if len(arms) == 1 else ["|", *arms]


def derive(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each revision with its types and methods."""
    before: dict[str, Any] = {}
    for revision in REVISIONS:
        read = json.loads((folder / revision / "schema.json").read_bytes())
        schemas = Schemas(read.get("$defs") or read["definitions"])
        methods = schemas.methods()
        error = "JSONRPCErrorResponse" if "$defs" in read else "JSONRPCError"
        schemas.types["Failure"] = schemas.types.pop(schemas.kind({"$ref": f"#/{error}"})[1:])
        types = dict(sorted(schemas.types.items()))
        gone = dict.fromkeys(sorted(before.keys() - types.keys()))
        yield (
            revision,
            {
                "methods": methods,
                "types": {name: each for name, each in types.items() if before.get(name) != each} | gone,
            },
        )
        before = types


def main() -> None:
    """Write the file, a line for each type."""
    lines = []
    for revision, made in derive(Path(sys.argv[1])):
        parts = [
            f'"{part}":{{\n' + ",\n".join(f"{json.dumps(k)}:{_compact(v)}" for k, v in made[part].items()) + "\n}"
            for part in ("methods", "types")
        ]
        lines.append(f'"{revision}":{{\n' + ",\n".join(parts) + "\n}")
    head = f'{{"source":{json.dumps(SOURCE)},\n"revisions":{{\n'
    OUT.write_text(head + ",\n".join(lines) + "\n}}\n", "utf-8")


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    main()
