"""Rules on the structured content of a tool's result against the schema that the tool declares for it."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.contracts import Finding
from workbench.ir import JsonValue
from workbench.protocols import RESPONSE, DecodedExchange
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.rules import ERROR_FLAG, INFO, OUTPUT_SCHEMA, WARNING, make, member
from workbench.toolcalls.arguments import climb


def of_output(decoded: DecodedExchange, params: JsonValue, result: JsonValue, entry: JsonValue) -> Iterator[Finding]:
    """Findings on the structured content of a result against the ``outputSchema`` of its tool."""
    name, schema = member(params, "name"), member(entry, "outputSchema")
    if not isinstance(schema, dict) or not isinstance(result, dict) or "task" in result:
        return
    if member(result, "isError") is True:
        yield from _of_failure(decoded, name, result, schema)
        return
    if result.get("resultType", "complete") != "complete":
        return
    if "structuredContent" not in result:
        text = f"{quote(name)} declares an outputSchema, but its result has no structuredContent"
        yield make(decoded, OUTPUT_SCHEMA, RESPONSE, "/result", text)
        return
    for fault in climb(None, result["structuredContent"], schema).faults:
        text = f"the structuredContent of {quote(name)} violates its outputSchema: {fault.message}"
        yield make(decoded, OUTPUT_SCHEMA, RESPONSE, f"/result/structuredContent{fault.pointer}", text)


def _of_failure(decoded: DecodedExchange, name: JsonValue, result: JsonValue, schema: JsonValue) -> Iterator[Finding]:
    """Structured content of a failure: some clients hold it to the schema of a success, and the text is lost."""
    structured = member(result, "structuredContent")
    fault = next(iter(climb(None, structured, schema).faults), None) if structured is not None else None
    if fault:
        what = f"the structuredContent of this failed result of {quote(name)}"
        text = f"{what} violates its outputSchema: {fault.message}"
        how = "clients that also check failed results show this instead of the error"
        yield make(decoded, OUTPUT_SCHEMA, RESPONSE, "/result/structuredContent", text, how, WARNING)
    elif structured is not None and member(schema, "required"):
        text = "the result is marked as an error, but its structuredContent matches the outputSchema"
        yield make(decoded, ERROR_FLAG, RESPONSE, "/result/isError", text, severity=INFO)
