"""Rows of stores: logs of gateways, exports of observability platforms, batch files.

A store keeps an envelope around one exchange, or around one side of it: as an object, an item of a list, a line, or a
row of a table. ``COLUMNS`` identifies stores by names that only their envelopes have.

Builds exchanges from what the envelope holds. An exchange states its fidelity, and the places where the store truncated
a value; rules find nothing there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from workbench import regex
from workbench.errors import LocalProtocolError, WireError
from workbench.formats.importers import _envelopes
from workbench.formats.importers._files import HEAD, ImportDamage, is_json, objects, split
from workbench.formats.importers._http import epoch, text_bytes
from workbench.formats.importers._logged_messages import LACKS
from workbench.formats.importers._values import mapping, mappings, parse_text
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import replace
from workbench.wire import Body, Exchange, Fidelity, HttpRequest, HttpResponse, Origin, State, dumps, loads
from workbench.wire.session import MemorySession

COLUMNS: Mapping[str, tuple[frozenset[str], ...]] = {
    "azure_apim": (
        frozenset({"CorrelationId", "SequenceNumber", "DeploymentName"}),
        frozenset({"CorrelationId", "SequenceNumber", "RequestMessages"}),
        frozenset({"category", "properties", "resourceId"}),
    ),
    "azure_openai": (
        frozenset({"category", "properties", "operationName", "resultSignature"}),
        frozenset({"Category", "OperationName", "properties_s"}),
    ),
    "batch_file": (
        frozenset({"custom_id", "method", "url", "body"}),
        frozenset({"custom_id", "response", "error"}),
        frozenset({"custom_id", "result"}),
        frozenset({"custom_id", "params"}),
        frozenset({"custom_id", "body"}),
        frozenset({"recordId", "modelInput"}),
        frozenset({"request", "response", "processed_time"}),
    ),
    "bedrock_log": (frozenset({"schemaType", "modelId", "operation"}), frozenset({"schemaType", "accountId"})),
    "cloudflare_gateway": (
        frozenset({"Provider", "Model", "Endpoint", "StatusCode"}),
        frozenset({"Provider", "RequestBody", "ResponseBody"}),
        frozenset({"provider", "request_type", "status_code", "tokens_in"}),
    ),
    "helicone": (
        frozenset({"request_id", "request_created_at", "request_model"}),
        frozenset({"response_id", "response_created_at", "response_status"}),
    ),
    "langfuse": (
        frozenset({"trace_id", "start_time", "provided_model_name"}),
        frozenset({"trace_id", "parent_observation_id", "type"}),
        frozenset({"traceId", "startTime", "parentObservationId"}),
        frozenset({"traceId", "type", "modelParameters"}),
    ),
    "langsmith": (frozenset({"run_type", "dotted_order"}), frozenset({"run_type", "inputs", "trace_id"})),
    "litellm_log": (
        frozenset({"call_type", "trace_id", "startTime"}),
        frozenset({"call_type", "response_cost", "model_map_information"}),
    ),
    "litellm_spend": (
        frozenset({"request_id", "call_type", "spend"}),
        frozenset({"proxy_server_request", "spend", "startTime"}),
    ),
    "otel_table": (frozenset({"TraceId", "SpanId", "SpanAttributes"}),),
    "phoenix": (
        frozenset({"span_kind", "context", "attributes"}),
        frozenset({"span_kind", "context.span_id"}),
        frozenset({"span_kind", "context.trace_id"}),
        frozenset({"context.span_id", "attributes.openinference.span.kind"}),
        frozenset({"trace_id", "span_id", "start_time_unix_nano"}),
    ),
    "span_records": (
        frozenset({"context", "attributes", "links", "resource"}),
        frozenset({"traceID", "spans", "processes"}),
        frozenset({"traceID", "spanID", "operationName", "tags"}),
        frozenset({"traceId", "id", "timestamp", "tags", "localEndpoint"}),
        frozenset({"insertId", "jsonPayload", "logName", "labels"}),
    ),
}
"""Importer → sets of names; an envelope with all names of one set is of that store."""

ONE_ROW_EACH = (
    "bedrock_log",
    "cloudflare_gateway",
    "helicone",
    "langfuse",
    "langsmith",
    "litellm_log",
    "litellm_spend",
)
"""Stores of which each row is an exchange of its own."""

_NAMES = frozenset(name for sets in COLUMNS.values() for names in sets for name in names)
_LISTS = ("data", "records", "observations", "runs", "requests", "result", "items", "value")
"""Names under which an API answers with its rows."""

_ANSWERS = ("data", "result")
"""Those of them under which it answers with a single row, too."""

NO_ERROR_TEXT = "the store contains the error code, but not the error message"
_TOKEN = regex.compile(rb'"(?:[^"\\]|\\[\s\S])*(?:"(\s*:)?|\\?\Z)|[{}\[\]]')
"""A sign, or a string: one that the end cuts is one, too, or each quote in it would be looked at as a beginning."""

_DEEPEST = 200


class StoreRow(NamedTuple):
    """One envelope. ``where`` is its position in the file."""

    where: str
    value: dict[str, JsonValue]


@lru_cache(maxsize=4)
def names_in(head: bytes) -> tuple[frozenset[str], ...]:
    """Names in the first object of a head, and in the first object of a list in it: read once for all stores."""
    start = head.lstrip()[:1]
    if start not in (b"{", b"["):
        return ()
    if len(head) < HEAD:
        with suppress(WireError):
            return _names_of(loads(head))
    outer: set[str] = set()
    inner: set[str] = set()
    depth, has_list, is_answer = 0, start == b"[", False
    for token in _TOKEN.finditer(head):
        sign = token[0][:1]
        if sign in (b"{", b"["):
            depth += 1
            has_list |= sign == b"[" and depth <= 2
        elif sign in (b"}", b"]"):
            depth -= 1
            if depth <= 0:
                break
        elif token[1]:
            name = token[0][1 : -len(token[1]) - 1].decode("utf-8", "replace")
            if depth == 1 and start == b"{":
                outer.add(name)
                is_answer = name in _ANSWERS
            elif name in _NAMES and (has_list or is_answer) and depth in (2, 3):
                inner.add(name)
    return frozenset(outer), frozenset(inner)


def _names_of(value: JsonValue) -> tuple[frozenset[str], frozenset[str]]:
    """The same of a whole file: names in it, and in what is in its lists."""
    outer = frozenset(value) if isinstance(value, dict) else frozenset[str]()
    inner: set[str] = set()
    has_list = isinstance(value, list)
    if isinstance(value, dict):
        inner.update(*(mapping(value.get(name)) for name in _ANSWERS))
    for first in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        has_list |= isinstance(first, list)
        if isinstance(first, dict) and has_list:
            inner.update(first)
        for second in first.values() if isinstance(first, dict) else first if isinstance(first, list) else ():
            if isinstance(second, dict) and has_list:
                inner.update(second)
    return outer, frozenset(inner & _NAMES)


def claims(head: bytes, store: str) -> float:
    """Score of a store for a head: certain if its names are there."""
    return 0.95 if any(is_of(store, names) for names in names_in(head)) else 0.0


def is_of(store: str, names: Iterable[str]) -> bool:
    """True if an envelope with these names is of a store."""
    columns = frozenset(names)
    return any(required <= columns for required in COLUMNS[store])


def store_of(names: Iterable[str]) -> str | None:
    """The store that an envelope with these names is of."""
    columns = frozenset(names)
    return next((store for store in COLUMNS if is_of(store, columns)), None)


def rows_in(data: bytes, damage: ImportDamage) -> Iterator[StoreRow]:
    """The envelopes of a file: one object, a list, the answer of an API, one a line, or one after another."""
    head = data.removeprefix(b"\xef\xbb\xbf")
    try:
        value = loads(head) if is_json(head) else None
    except WireError:
        value = None
    if value is None:
        yield from _lines(data, damage) if _is_by_line(data) else _sequence(head, damage)
        return
    yield from _rows_of(value, damage)


def _lines(data: bytes, damage: ImportDamage) -> Iterator[StoreRow]:
    return (StoreRow(f"line {line.number}", line.value) for line in objects(data, damage))


def _is_by_line(data: bytes) -> bool:
    """True if the first line is a value of its own, or none begins there."""
    _, first = next(split(data), (0, b""))
    try:
        return not first.startswith(b"{") or bool(loads(first))
    except WireError:
        return False


def _sequence(data: bytes, damage: ImportDamage) -> Iterator[StoreRow]:
    """Objects one after another, with or without lines between and inside them (Firehose, a console's output)."""
    depth = start = 0
    for token in _TOKEN.finditer(data):
        sign = token[0][:1]
        if sign in (b"{", b"["):
            start = start if depth else token.start()
            depth += 1
        elif sign in (b"}", b"]") and depth:
            depth -= 1
            if not depth:
                yield from _object_at(data[start : token.end()], f"byte {start}", damage)


def _object_at(piece: bytes, where: str, damage: ImportDamage) -> Iterator[StoreRow]:
    try:
        value = loads(piece)
    except WireError as error:
        damage.add(f"{where}: {error.what}")
        return
    if isinstance(value, dict):
        yield StoreRow(where, value)


def _rows_of(value: JsonValue, damage: ImportDamage) -> Iterator[StoreRow]:
    if not isinstance(value, dict):
        yield from _items(value, "", damage)
        return
    name = next((name for name in _LISTS if isinstance(value.get(name), list)), "")
    single = next((name for name in _ANSWERS if store_of(mapping(value.get(name)))), "")
    if store_of(value) or not (name or single):
        yield from _by_column(value) or [StoreRow("", value)]
    elif single:
        yield StoreRow(f"/{single}", mapping(value[single]))
    elif name:
        yield from _items(value[name], f"/{name}", damage)


def _by_column(value: dict[str, JsonValue]) -> list[StoreRow]:
    """The rows of a table that is written column by column, as pandas does by default; none for a row."""
    columns = [mapping(column) for column in value.values()]
    keys = columns[0].keys() if columns else ()
    if not keys or not all([column.keys() == keys for column in columns]):
        return []
    return [StoreRow(f"row {key}", {name: mapping(column)[key] for name, column in value.items()}) for key in keys]


def _items(values: JsonValue, where: str, damage: ImportDamage) -> Iterator[StoreRow]:
    for number, item in enumerate(values if isinstance(values, list) else []):
        if isinstance(item, dict):
            yield StoreRow(f"{where}/{number}", item)
        else:
            damage.add(f"{where}/{number}: not a row of this store")


def read_store(
    data: bytes,
    name: str,
    title: str,
    read: Callable[[Iterable[StoreRow], ImportDamage], list[Exchange]],
) -> MemorySession:
    """The session of a file of one store. Raises UnreadableInput if no row of it is an exchange."""
    damage = ImportDamage()
    return session_of(read(rows_in(data, damage), damage), name, title, damage)


def session_of(exchanges: list[Exchange], name: str, title: str, damage: ImportDamage) -> MemorySession:
    """The session of exchanges. Raises UnreadableInput if there are none."""
    if not exchanges:
        raise damage.refuse("no row contains an exchange with a model")
    numbered = tuple(_with_id(exchange, str(number)) for number, exchange in enumerate(exchanges, 1))
    return MemorySession(name, numbered, damage.as_lines(), format=title)


def _with_id(exchange: Exchange, id: str) -> Exchange:
    return replace(exchange, id=id)


class StoredSides(NamedTuple):
    """What an envelope holds of an exchange.

    Attributes:
        request: body of the request: a text, or its value; None if it is not there.
        answer: the same of the response; a list of chunks is a stream.
        status: of the response; 0 if it is not known.
        url: an absolute URL or a path.
        failure: an error that was kept instead of a response; empty text for one of which only the status is known.
        missing: what the store does not hold of it, in words.
        cuts: pointers of values that the store truncated, by side.
    """

    request: JsonValue = None
    answer: JsonValue = None
    status: int = 200
    url: str = ""
    failure: JsonValue = None
    missing: tuple[str, ...] = ()
    cuts: Mapping[str, tuple[str, ...]] = NOTHING


def exchange_of(
    sides: StoredSides,
    fidelity: Fidelity,
    *,
    key: str = "",
    conversation: str = "",
    started: JsonValue = None,
    ended: JsonValue = None,
    client: str = "",
    note: str = "",
    meta: Mapping[str, JsonValue] = NOTHING,
) -> Exchange:
    """An exchange as far as a store holds it. Raises LocalProtocolError for values that JSON does not have."""
    if sides.missing and sides.request is None and sides.answer is None and sides.failure is None:
        fidelity = Fidelity.SAMPLED
    if any(sides.cuts.values()):
        fidelity = Fidelity.CUT
    request, response, more = _request(sides), *_response(sides)
    is_rebuilt = fidelity in (Fidelity.REBUILT, Fidelity.CUT)
    cut = [
        f"the store truncated {len(places)} of the texts in the {side}" for side, places in sides.cuts.items() if places
    ]
    damage = (*sides.missing, *cut)
    start, over = epoch(started), epoch(ended)
    return Exchange(
        "",
        request=request,
        response=response,
        state=State.INCOMPLETE if damage else State.COMPLETE,
        origin=Origin.RECONSTRUCTED if is_rebuilt else Origin.IMPORTED,
        started_at=start,
        duration=over - start if start is not None and over is not None and over >= start else None,
        client=client,
        note=note,
        meta={
            "fidelity": fidelity.value,
            **({"lacks": list(LACKS)} if is_rebuilt else {}),
            **({"cut": {side: list(places) for side, places in sides.cuts.items()}} if cut else {}),
            **({"record": key[:200]} if key else {}),
            **({"conversation": conversation[:200]} if conversation else {}),
            **more,
            **meta,
        },
        damage=damage,
    )


def _request(sides: StoredSides) -> HttpRequest | None:
    if sides.request is None:
        return None
    http = _envelopes.body_in(sides.request, is_answer=False).http
    body = Body(text_bytes(sides.request)) if isinstance(sides.request, str) else http.body
    return HttpRequest(url=sides.url, body=body)


def _response(sides: StoredSides) -> tuple[HttpResponse | None, Mapping[str, JsonValue]]:
    if sides.answer is None and sides.failure is None:
        return None, NOTHING
    if sides.failure == "":  # the store has kept that it failed, and not how
        return HttpResponse(sides.status, body=Body(is_raw=False, note=NO_ERROR_TEXT)), NOTHING
    if sides.answer is None:
        side = _envelopes.response_side({"exception": sides.failure, "status": sides.status or None})
    else:
        side = _envelopes.body_in(sides.answer, is_answer=True)
    assert isinstance(side.http, HttpResponse)
    known = side.http.status if sides.answer is None and not sides.status else sides.status
    return HttpResponse(known, side.http.headers, side.http.body), side.meta


def cut_places(value: JsonValue, mark: str) -> Iterator[str]:
    """Pointers of the texts in a value that a store has truncated: they have its mark."""
    is_there = value is not None and mark.encode() in dumps(value)  # seldom, and quickly told
    return _places(value, mark) if is_there else iter(())


def _places(value: JsonValue, mark: str, where: str = "", depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        if mark in value:
            yield where
    elif depth > _DEEPEST:
        return
    elif isinstance(value, dict):
        for name, inner in value.items():
            step = name.replace("~", "~0").replace("/", "~1")
            yield from _places(inner, mark, f"{where}/{step}", depth + 1)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _places(inner, mark, f"{where}/{number}", depth + 1)


def scalar_text(value: JsonValue) -> str:
    """A text or a number as text; empty for other values."""
    return value if isinstance(value, str) else str(value) if isinstance(value, int) and value is not True else ""


def build(
    row: StoreRow, damage: ImportDamage, make: Callable[[dict[str, JsonValue]], Exchange | None]
) -> list[Exchange]:
    """The exchange of a row; none, and damage that says why, if it cannot be built."""
    try:
        exchange = make(row.value)
    except LocalProtocolError as error:
        damage.add(f"{row.where or '/'}: {error.what}")
        return []
    return [exchange] if exchange else []


def objects_of(value: JsonValue) -> list[dict[str, JsonValue]]:
    """The objects of a list, which may be JSON text."""
    return list(mappings(parse_text(value)))


def object_or_empty(value: JsonValue) -> dict[str, JsonValue]:
    """An object, which may be JSON text; empty for other values."""
    return mapping(parse_text(value))
