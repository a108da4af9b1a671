"""Finds exchanges anywhere in JSON or YAML: a request next to its response, in any structure.

Shape and recorder names decide what a value is, not its position. A single side is an exchange as well, and two sides
with the same id are one. Other items in a list of exchanges are reported as damage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from workbench.errors import LocalProtocolError
from workbench.formats.importers import _envelopes
from workbench.formats.importers._envelopes import MessageSide
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._http import epoch
from workbench.formats.importers._logged_messages import logged_response, request_in
from workbench.formats.importers._record import Record, with_problems, with_target
from workbench.formats.importers._record_names import (
    FAILURES,
    KEYS,
    REQUESTS,
    RESPONSES,
    SELECTION,
    STATUSES,
    TEXTS,
    TIMES,
    is_coded,
    is_other_step,
)
from workbench.formats.importers._side_of_value import (
    EVENT,
    REQUEST,
    RESPONSE,
    body_only,
    error_status,
    is_error,
    shape_of,
    side_of,
    stream_of,
)
from workbench.formats.importers._values import (
    METHOD,
    PATH,
    STATUS,
    URL,
    fields,
    first,
    normalize_name,
    number_of,
    parse_text,
    sides,
)
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.limits import MAX_RECORD_DEPTH, MAX_RECORD_NODES
from workbench.wire import HttpResponse

NEITHER = "neither a request nor a response of a model API"
_FEWEST_COLUMNS = 4
"""Members that a row of a store has more than."""


@dataclass(slots=True)
class RecordFinder:
    """Searches values for exchanges. Other items among them are added to ``damage``."""

    damage: ImportDamage
    found: list[Record] = field(default_factory=list)
    _budget: int = MAX_RECORD_NODES

    def look(self, value: JsonValue, where: str = "", depth: int = 0) -> None:
        """Collect the exchanges in a value."""
        self._budget -= 1
        if depth > MAX_RECORD_DEPTH or self._budget < 0:
            if self._budget == -1:
                self.damage.add(f"{where}: only the first {MAX_RECORD_NODES:,} values are searched for exchanges")
            return
        if isinstance(value, dict):
            self._look_into(value, where, depth)
        elif isinstance(value, list):
            self._look_along(value, where, depth)

    def add_body(self, side: str, raw: bytes, value: JsonValue, where: str) -> None:
        """Add a body kept byte for byte."""
        body = body_only(1, side, raw, value)
        request = MessageSide(body.request, note=body.note) if body.request else None
        self.found.append(Record(where, request, MessageSide(body.response, note=body.note) if body.response else None))

    def _look_into(self, value: dict[str, JsonValue], where: str, depth: int) -> None:
        if "jsonrpc" in value:  # the same names, but not a model API
            return
        inner: Mapping[str, JsonValue]
        if is_other_step(value):
            inner = {name: part for name, part in value.items() if isinstance(part, list) and "run" in name.lower()}
        else:
            try:
                records = _stored_records(value, where, self.damage) or list(_records_in(value, where))
            except LocalProtocolError as error:
                self.damage.add(f"{where or '/'}: {error.what}")
                return
            if records and not any([record.has_body() for record in records]):
                records = self._records_below(value, records[0], depth) or records
            self.found += records
            inner = {} if records or shape_of(value) else value
            if records and isinstance(value.get("child_runs"), list):
                inner = {"child_runs": value["child_runs"]}
        for name, part in inner.items():
            if isinstance(part, dict | list):
                self.look(part, f"{where}/{name[:80]}", depth + 1)
            elif isinstance(part, str) and part[:1] in ("{", "[") and normalize_name(name) in TEXTS:
                self.found += self._requests_in({name: parse_text(part)}, where, depth)

    def _requests_in(self, members: Mapping[str, JsonValue], where: str, depth: int) -> list[Record]:
        """Exchanges with a request in members of an object: what else is there may be anything."""
        finder = RecordFinder(ImportDamage(), _budget=self._budget)
        for name, part in members.items():
            if isinstance(part, dict | list):
                finder.look(part, f"{where}/{name[:80]}", depth + 1)
        self._budget = finder._budget
        return [record for record in finder.found if record.exchange or (record.request and record.has_body())]

    def _records_below(self, value: dict[str, JsonValue], outer: Record, depth: int) -> list[Record]:
        """Exchanges with bodies inside one whose sides have none, as gateways log them: its URL and status count."""
        found = self._requests_in(value, outer.where, depth)
        return [with_target(record, outer) for record in found if not record.exchange]

    def _look_along(self, value: list[JsonValue], where: str, depth: int) -> None:
        whole = _list_record(value, where) if depth <= 1 else None
        if whole:
            self.found.append(whole)
            return
        empty: list[int] = []
        before = len(self.found)
        for number, item in enumerate(value):
            count = len(self.found)
            self.look(item, f"{where}/{number}", depth + 1)
            if len(self.found) == count and not (isinstance(item, dict) and is_other_step(item)):
                empty.append(number)
        if len(self.found) > before:
            for number in empty:
                self.damage.add(f"{where}/{number}: {NEITHER}")


def _stored_records(value: dict[str, JsonValue], where: str, damage: ImportDamage) -> list[Record]:
    """The exchange of a row of a store that is inside something else, such as the hit of a search."""
    if len(value) <= _FEWEST_COLUMNS:
        return []
    from workbench.formats.importers._log_stores import ONE_ROW_EACH, StoreRow, store_of  # few files have such members

    store = store_of(value)
    if store not in ONE_ROW_EACH:
        return []
    module = import_module(f"{__package__}.{store}")
    return [Record(where, exchange=exchange) for exchange in module.exchanges([StoreRow(where, value)], damage)]


def is_record(value: JsonValue) -> bool:
    """True for an object with both sides of an exchange, or one side and its id, though it may look like a body."""
    if not isinstance(value, dict):
        return False
    found, base = fields(value), Record("")
    try:
        if shape_of(value) is not None:  # by itself it is one side
            return any(record.request and record.response for record in _records_of_sides(value, found, base))
        has_key = bool(_key(found))
        return any(has_key or (record.request and record.response) for record in _records_in(value, ""))
    except LocalProtocolError:
        return False


def _records_in(value: dict[str, JsonValue], where: str) -> Iterator[Record]:
    """Yield the exchange of an object: several if one request has several responses, or none."""
    found = fields(value)
    base = Record(where, key=_key(found), started=epoch(first(found, TIMES)))
    shape = shape_of(value)
    if shape is None and _is_reshaped(found):
        yield replace(base, response=_envelopes.whole_answer(value), problems=[])
        return
    is_envelope = shape is None and "request" not in found and _envelopes.is_request(value)
    apart = _record_by_prefix(value, base) if is_envelope else _records_of_sides(value, found, base)
    if apart:
        yield from apart
        return
    if shape == REQUEST:
        yield replace(base, request=_envelopes.body_in(value, is_answer=False), problems=[])
    elif shape == RESPONSE:
        yield replace(base, response=_bare_answer(value), problems=[])
    elif is_envelope:
        yield from _request_records(value, found, base)
    elif shape is None and _envelopes.is_response(value) and _is_worth(value):
        yield with_problems(replace(base, response=_envelopes.response_side(value), problems=[]))


def _records_of_sides(value: dict[str, JsonValue], found: dict[str, JsonValue], base: Record) -> list[Record]:
    return _record_by_prefix(value, base) or _records_by_member(value, found, base)


def _is_reshaped(found: Mapping[str, JsonValue]) -> bool:
    """True for a response inside a gateway's own envelope: ``{"code": 0, "data": {…}}``."""
    has_code = any(
        isinstance(found.get(name), bool | int | str) for name in ("code", "success", "ret", "errcode", "errno")
    )
    data = found.get("data", found.get("result"))
    is_answer = isinstance(data, dict) and shape_of(data) == RESPONSE and not is_error(data)
    return has_code and is_answer and not any(name in found for name in (*REQUESTS, *METHOD, *URL, "headers"))


def _record_by_prefix(value: dict[str, JsonValue], base: Record) -> list[Record]:
    """Both sides from the members of one object (``RequestBody``, ``response_status``)."""
    if not any([normalize_name(name).startswith("re") for name in value]):  # request…, response…
        return []
    request, response = sides(value)
    has_target = any(first(request, names) is not None for names in (URL, PATH)) or "body" in request
    has_answer = any(name in response for name in ("body", "status", "statuscode", "code"))
    if not (has_target and has_answer) or not _has_side_prefixes(value) or shape_of(value) == RESPONSE:
        return []
    if not (_envelopes.is_request(request) or isinstance(request.get("body"), dict | str)):
        return []
    record = replace(base, request=_envelopes.request_side(request), response=_envelopes.response_side(response))
    return [with_problems(replace(record, problems=[]))]


def _has_side_prefixes(value: Mapping[str, JsonValue]) -> bool:
    """True if member names have the prefix of a side, and no object contains the whole side."""
    names = {normalize_name(name) for name, member in value.items() if member is not None}
    endings = ("body", "uri", "url", "method", "path", "headers", "payload")
    has_request = any(
        name.removeprefix(p) in endings for name in names for p in ("request", "req") if name.startswith(p)
    )
    return has_request and any(name.startswith("res") and name.endswith(("body", "payload", "data")) for name in names)


def _records_by_member(value: dict[str, JsonValue], found: dict[str, JsonValue], base: Record) -> list[Record]:
    """Request and responses that are members of one object."""
    own = shape_of(value)
    if own and not _may_answer(value, found):
        return []
    request, is_rebuilt, request_name = _request_among(value, found)
    answers, also_rebuilt = _answers_among(value, found, request_name, request)
    if not answers and request and first(found, FAILURES) and own != RESPONSE:
        answers = [_failure_among(found)]
    if (request is None or not answers) and (own or not (request or answers)):
        return []
    problems = _unread_names(found, has_request=request is not None, has_answer=bool(answers))
    answers = [_with_status(answer, found) for answer in answers]
    record = replace(base, request=request, is_rebuilt=is_rebuilt or also_rebuilt, problems=problems)
    return [with_problems(replace(record, response=answer)) for answer in answers] or [with_problems(record)]


def _with_status(answer: MessageSide, found: Mapping[str, JsonValue]) -> MessageSide:
    """A response with the status that is stored next to it, if it states none itself."""
    status = number_of(first(found, STATUSES))
    if status is None or not isinstance(answer.http, HttpResponse) or answer.http.status not in (0, 200):
        return answer
    return answer._replace(http=replace(answer.http, status=status))


def _may_answer(value: dict[str, JsonValue], found: dict[str, JsonValue]) -> bool:
    """False if no member of an object is a response, whatever its request is."""
    if first(found, FAILURES) or first(found, RESPONSES) is not None:
        return True
    known = (*REQUESTS, *RESPONSES)
    return any(_is_unnamed_answer(part, is_alone=False) for k, part in value.items() if normalize_name(k) not in known)


def _unread_names(found: Mapping[str, JsonValue], *, has_request: bool, has_answer: bool) -> list[str]:
    """Problems for sides that are present by name and could not be read."""
    problems: list[str] = []
    for side, names, has in (("request", REQUESTS[:5], has_request), ("response", RESPONSES[:7], has_answer)):
        member = first(found, names)
        if not has and member not in (None, "", {}, []):
            problems.append(f"the {side} cannot be read")
    return problems


def _request_among(value: dict[str, JsonValue], found: dict[str, JsonValue]) -> tuple[MessageSide | None, bool, str]:
    """(request, is reconstructed, member name) of an object."""
    names = [name for name in REQUESTS if name != "additionalargs" or "originalresponse" in found]
    for name in names:
        member = parse_text(found.get(name))
        side, is_rebuilt = _as_request(member, found)
        if side:
            return side, is_rebuilt, name
    for key, member in value.items():
        if isinstance(member, dict) and normalize_name(key) not in (*names, *RESPONSES) and _is_named_request(member):
            return _as_request(member, found)[0], False, normalize_name(key)
    return None, False, ""


def _is_named_request(value: dict[str, JsonValue]) -> bool:
    """True for a request; not for an object with both sides, which is read on its own."""
    if shape_of(value) is None and _envelopes.is_request(value):
        return not _record_by_prefix(value, Record(""))
    return shape_of(value) == REQUEST and not is_record(value)


def _as_request(value: JsonValue, beside: Mapping[str, JsonValue]) -> tuple[MessageSide | None, bool]:
    if isinstance(value, dict):
        shape = shape_of(value)
        if shape != REQUEST and _envelopes.is_request(value):
            return _envelopes.request_side(value), False
        if shape == REQUEST and not _is_langchain(value) and not _is_selection(value, beside):
            return _envelopes.body_in(value, is_answer=False), False
        if shape is None and is_coded(value) and _is_asking(side := _envelopes.request_side(value)):
            return side, False
    if isinstance(value, dict | list):
        body = request_in(value, beside)
        if body is not None:
            return _envelopes.body_in(body, is_answer=False), True
        if isinstance(value, dict) and shape_of(value) is None and side_of(value) == REQUEST:
            return _envelopes.body_in(value, is_answer=False), False
    return None, False


def _is_selection(value: dict[str, JsonValue], beside: Mapping[str, JsonValue]) -> bool:
    """True for a part of a request of which the model is stored next to it."""
    return value.keys() <= SELECTION and bool((request_in(value, beside) or {}).get("model"))


def _is_langchain(value: dict[str, JsonValue]) -> bool:
    messages = value.get("messages")
    return isinstance(messages, list) and bool(messages) and request_in(value, {}) != value


def _answers_among(
    value: dict[str, JsonValue], found: dict[str, JsonValue], request_name: str, request: MessageSide | None
) -> tuple[list[MessageSide], bool]:
    """(responses, are reconstructed) of an object. ``request_name``: member name of the request."""
    for name in RESPONSES:
        if name == request_name or found.get(name) is None:
            continue
        member = parse_text(found[name])
        if request and isinstance(member, dict) and _envelopes.has_body(member) and not shape_of(member):
            return [_envelopes.response_side(member)], False
        answers, is_rebuilt = _as_answers(member, found, is_alone=request is None)
        if answers:
            return answers, is_rebuilt
    for key, member in value.items():
        if normalize_name(key) in (request_name, *REQUESTS, *RESPONSES) or not _is_unnamed_answer(
            member, is_alone=request is None
        ):
            continue
        answers, is_rebuilt = _as_answers(member, found, is_alone=request is None)
        if answers:
            return answers, is_rebuilt
    return [], False


def _is_unnamed_answer(value: JsonValue, *, is_alone: bool) -> bool:
    if isinstance(value, dict) and not is_error(value) and shape_of(value) == RESPONSE:
        return True
    if is_alone:
        return False
    return stream_of(value[:4]) is not None if isinstance(value, list) else _envelopes.is_response(value)


def _as_answers(value: JsonValue, beside: Mapping[str, JsonValue], *, is_alone: bool) -> tuple[list[MessageSide], bool]:
    """(responses, are reconstructed) of a value. ``is_alone``: no request is known."""
    if isinstance(value, dict):
        found = _answer_object(value)
        if found or shape_of(value) == EVENT:
            return found, False
    if isinstance(value, list):
        if value and all(_envelopes.is_response(one) for one in value):
            return [_envelopes.response_side(one) for one in value], False
        if stream_of(value):
            return [_envelopes.body_in(value, is_answer=True)], False
    if isinstance(value, str) and value.lstrip().startswith(("data:", "event:")):
        return [_envelopes.response_side({"body": value})], False
    body = None if is_alone else logged_response(value, beside)  # text without a request could be anything
    return ([_envelopes.body_in(body, is_answer=True)], True) if body is not None else ([], False)


def _answer_object(value: dict[str, JsonValue]) -> list[MessageSide]:
    """The response that an object is, or contains as its only one."""
    if _envelopes.is_response(value):
        return [_envelopes.response_side(value)]
    if shape_of(value) == RESPONSE:
        return [_bare_answer(value)]
    if shape_of(value) is None and is_coded(value) and _is_worth(value):
        return [_envelopes.response_side(value)]
    inner = [one for one in value.values() if isinstance(one, dict) and shape_of(one) == RESPONSE]
    if len(inner) == 1 and shape_of(value) is None:
        return [_bare_answer(inner[0])]
    streams = [one for one in value.values() if isinstance(one, list) and stream_of(one)]
    return [_envelopes.body_in(streams[0], is_answer=True)] if len(streams) == 1 and shape_of(value) is None else []


def _failure_among(found: Mapping[str, JsonValue]) -> MessageSide:
    return _envelopes.response_side({"exception": first(found, FAILURES)})


def _bare_answer(value: dict[str, JsonValue]) -> MessageSide:
    side = _envelopes.body_in(value, is_answer=True)
    if is_error(value) and isinstance(side.http, HttpResponse):
        return side._replace(http=replace(side.http, status=error_status(value) or 0))
    return side


def _request_records(value: dict[str, JsonValue], found: dict[str, JsonValue], base: Record) -> Iterator[Record]:
    """A request without its response; if a status is present, the body belongs to the response."""
    status = next((name for name in STATUS if number_of(found.get(name)) is not None), None)
    if status is None:
        side = _envelopes.request_side(value)
        is_sent = first(found, METHOD) is not None and first(found, (*URL, *PATH)) is not None
        if is_sent or _is_asking(side):
            yield with_problems(replace(base, request=side, problems=[]))
        return
    request = {name: found[name] for name in (*METHOD, *URL, *PATH) if name in found}
    response = {name: member for name, member in found.items() if name not in request}
    if "response" in found:  # nock: the body is the request's, and the response is the body of the answer
        request |= {name: found[name] for name in ("scope", "body", "reqheaders") if name in found}
        response = {"status": found[status], "headers": found.get("rawheaders"), "body": found["response"]}
    record = replace(base, request=_envelopes.request_side(request), response=_envelopes.response_side(response))
    yield with_problems(replace(record, problems=[]))


def _is_asking(side: MessageSide) -> bool:
    """True if the body of a request is one of a model API."""
    body = parse_text(side.http.body.raw.decode("utf-8", "replace"))
    return isinstance(body, dict) and shape_of(body) == REQUEST


def _list_record(value: list[JsonValue], where: str) -> Record | None:
    """The side that a whole list is: the chunks of a stream, or messages."""
    if stream_of(value):
        return Record(where, response=_envelopes.body_in(value, is_answer=True))
    body = request_in(value, {})
    if body is None:
        return None
    return Record(where, request=_envelopes.body_in(body, is_answer=False), is_rebuilt=True)


def _is_worth(value: dict[str, JsonValue]) -> bool:
    """A single response must be a model's; other mappings with a status may be anything."""
    side = _envelopes.response_side(value).http
    return isinstance(side, HttpResponse) and bool(side.body.raw) and _shape_of_text(side.body.raw)


def _shape_of_text(raw: bytes) -> bool:
    if raw.lstrip().startswith((b"data:", b"event:")):
        return True
    value = parse_text(raw.decode("utf-8", "replace"))
    return isinstance(value, dict) and shape_of(value) == RESPONSE


def _key(found: Mapping[str, JsonValue]) -> str:
    key = first(found, KEYS)
    return str(key)[:200] if isinstance(key, str | int) and not isinstance(key, bool) else ""
