"""Importer for model invocation logs of Amazon Bedrock, in S3 or CloudWatch: JSON Lines, one invocation a line.

Facts: docs.aws.amazon.com/bedrock/latest/userguide/model-invocation-logging.html. A body above 100 kB is a separate S3
object (``inputBodyS3Path``); a stream is a list of its chunks; a failed call has an ``errorCode`` and no body.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from workbench.formats.importers import _log_stores
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._log_stores import StoredSides, StoreRow, object_or_empty, scalar_text
from workbench.formats.importers._side_of_value import SYNTHESISED
from workbench.formats.importers._values import parse_text
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import replace
from workbench.wire import (
    Body,
    Exchange,
    Fidelity,
    Headers,
    HttpResponse,
    aws_message,
    dumps,
    sealed_payload,
)
from workbench.wire.session import MemorySession

NAME = "bedrock-log"
TITLE = "Bedrock invocation log"
_PATHS = {
    "Converse": "converse",
    "ConverseStream": "converse-stream",
    "InvokeModel": "invoke",
    "InvokeModelWithResponseStream": "invoke-with-response-stream",
}
_FAILED = {"ThrottlingException": 429, "AccessDeniedException": 403, "ResourceNotFoundException": 404}


def sniff(head: bytes) -> float:
    """Objects with the fields of an invocation."""
    return _log_stores.claims(head, "bedrock_log")


def read(data: bytes, name: str) -> MemorySession:
    """One exchange for each invocation. Raises UnreadableInput if there is none."""
    return _log_stores.read_store(data, name, TITLE, exchanges)


def exchanges(rows: Iterable[StoreRow], damage: ImportDamage) -> list[Exchange]:
    """The exchanges of invocations."""
    return [exchange for row in rows if _calls(row.value) for exchange in _log_stores.build(row, damage, _exchange)]


def _calls(row: dict[str, JsonValue]) -> bool:
    return scalar_text(row.get("operation")) in _PATHS and "embed" not in scalar_text(row.get("modelId"))


def _exchange(row: dict[str, JsonValue]) -> Exchange:
    input_, output = object_or_empty(row.get("input")), object_or_empty(row.get("output"))
    request, answer = parse_text(input_.get("inputBodyJson")) or None, parse_text(output.get("outputBodyJson")) or None
    code = scalar_text(row.get("errorCode"))
    failure: JsonValue = "" if code and answer is None else None
    chunks = answer if isinstance(answer, list) else None
    elsewhere = [
        f"the {side} body is in another S3 object: {scalar_text(members.get(name)).rpartition('/')[2][:80]!r}"
        for side, members, name, body in (
            ("request", input_, "inputBodyS3Path", request),
            ("response", output, "outputBodyS3Path", answer),
        )
        if body is None and scalar_text(members.get(name))
    ]
    sides = StoredSides(
        request,
        None if chunks else answer,
        200 if failure is None else _FAILED.get(code, 500 if "Server" in code or "Internal" in code else 400),
        _url(row),
        failure,
        tuple(elsewhere),
    )
    exchange = _log_stores.exchange_of(
        sides,
        Fidelity.RESERIALISED,
        key=scalar_text(row.get("requestId")),
        conversation=scalar_text(object_or_empty(row.get("requestMetadata")).get("session_id")),
        started=row.get("timestamp"),
        note=f"failed: {code}" if code else "",
        meta=SYNTHESISED if chunks else NOTHING,
    )
    return replace(exchange, response=_stream(chunks)) if chunks else exchange


def _stream(chunks: list[JsonValue]) -> HttpResponse:
    """The stream of logged chunks, in the framing of the service."""
    frames = b"".join(_frame(chunk) for chunk in chunks if isinstance(chunk, dict) and chunk)
    body = Body(frames, is_raw=False, note="only the chunks of the stream were logged; the importer added the framing")
    return HttpResponse(headers=Headers((("content-type", "application/vnd.amazon.eventstream"),)), body=body)


def _frame(chunk: dict[str, JsonValue]) -> bytes:
    """An event of Converse has its name as its only key; the events of a model travel in chunks."""
    name, value = next(iter(chunk.items()))
    if len(chunk) == 1 and isinstance(value, dict) and "type" not in chunk:
        return aws_message(name, dumps(value))
    return aws_message("chunk", sealed_payload(dumps(chunk)))


def _url(row: dict[str, JsonValue]) -> str:
    """The URL of the call, as far as the log has it: region, model, operation."""
    region = scalar_text(row.get("region")) or "us-east-1"
    model, path = (
        quote(scalar_text(row.get("modelId")), ":.", errors="surrogatepass"),
        _PATHS[scalar_text(row.get("operation"))],
    )
    return f"https://bedrock-runtime.{region}.amazonaws.com/model/{model}/{path}"
