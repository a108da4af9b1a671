"""One exchange as it is found in a file, or one side of it; two sides with the same id become one exchange."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.formats.importers._envelopes import MessageSide
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._logged_messages import LACKS, PUT_TOGETHER
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.wire import Exchange, Fidelity, HttpRequest, HttpResponse, Origin, State

NO_BODIES = "the record contains no body of a request or response"


@dataclass(slots=True)
class Record:
    """One exchange, or one side of it.

    Attributes:
        where: its pointer in the file.
        key: its id in the file; empty if it has none.
        exchange: the whole of it, if the reader of a store has built it.
        problems: parts that could not be read.
    """

    where: str
    request: MessageSide | None = None
    response: MessageSide | None = None
    key: str = ""
    started: float | None = None
    is_rebuilt: bool = False
    problems: list[str] = field(default_factory=list)
    exchange: Exchange | None = None

    def has_body(self) -> bool:
        """True if a side of it has a body, or if its exchange is built."""
        sides = (side.http.body.raw for side in (self.request, self.response) if side)
        return self.exchange is not None or any(sides)

    def lacks_bodies(self) -> bool:
        """True for a call that was answered, of which no body was kept and nothing says why."""
        http = self.request.http if self.request and self.response else None
        is_call = isinstance(http, HttpRequest) and http.method in ("POST", "PUT", "PATCH")
        return is_call and not self.has_body() and not self.problems


def exchanges_of(records: Iterable[Record], damage: ImportDamage) -> list[Exchange]:
    """Exchanges of records; two sides with the same key are one exchange, at the position of the request."""
    exchanges: list[Exchange] = []
    for number, record in enumerate(_pair_records(records), 1):
        for problem in record.problems:
            damage.add(f"{record.where or '/'}: {problem}")
        exchanges.append(_exchange(str(number), record))
    return exchanges


def _pair_records(records: Iterable[Record]) -> list[Record]:
    requests: dict[str, Record] = {}
    responses: dict[str, Record] = {}
    pairs: list[Record] = []
    for record in records:
        if record.key and record.request and not record.response:
            other = responses.pop(record.key, None)
            if other:
                other.request, other.problems = record.request, record.problems + other.problems
                continue
            requests[record.key] = record
        elif record.key and record.response and not record.request:
            other = requests.pop(record.key, None)
            if other:
                other.response, other.problems = record.response, other.problems + record.problems
                continue
            responses[record.key] = record
        elif record.key in requests and _repeats(record, requests[record.key]):
            other = requests.pop(record.key)
            other.request, other.response, other.problems = record.request, record.response, record.problems
            continue
        pairs.append(record)
    return pairs


def _repeats(record: Record, other: Record) -> bool:
    """An exchange was logged when it started, and again when it ended: not another one with the same id."""
    ended, started = (side.http.body.raw if side else None for side in (record.request, other.request))
    return ended is not None and (not started or started == ended)


def _exchange(number: str, record: Record) -> Exchange:
    if record.exchange:
        return replace(record.exchange, id=number)
    if record.lacks_bodies():
        return _without_bodies(number, record)
    request, response = record.request, record.response
    notes = [side.note for side in (request, response) if side and side.note]
    meta = {**(request.meta if request else {}), **(response.meta if response else {})}
    if record.key:
        meta["record"] = record.key[:200]
    if record.is_rebuilt:
        notes.append(PUT_TOGETHER)
        meta["lacks"] = list(LACKS)
    return Exchange(
        number,
        request=request.http if request and isinstance(request.http, HttpRequest) else None,
        response=response.http if response and isinstance(response.http, HttpResponse) else None,
        state=State.INCOMPLETE if record.problems else State.COMPLETE,
        origin=Origin.RECONSTRUCTED if record.is_rebuilt else Origin.IMPORTED,
        started_at=record.started,
        note="; ".join(notes)
        or ("" if request and response else "only the request" if request else "only the response"),
        meta=meta,
    )


def _without_bodies(number: str, record: Record) -> Exchange:
    """The exchange of a log that keeps no bodies."""
    about = {"fidelity": Fidelity.SAMPLED.value, **({"record": record.key[:200]} if record.key else {})}
    request, response = record.request, record.response
    return Exchange(
        number,
        request=request.http if request and isinstance(request.http, HttpRequest) else None,
        response=response.http if response and isinstance(response.http, HttpResponse) else None,
        state=State.INCOMPLETE,
        started_at=record.started,
        meta=about,
        damage=(NO_BODIES,),
    )


def with_target(record: Record, outer: Record) -> Record:
    """A record with the target and the status of another one, where it has none itself."""
    request, response = record.request, record.response
    target = outer.request.http if outer.request else None
    if request and isinstance(request.http, HttpRequest) and isinstance(target, HttpRequest) and not request.http.url:
        request = request._replace(http=replace(target, body=request.http.body))
    known = outer.response.http if outer.response else None
    if response and isinstance(response.http, HttpResponse) and isinstance(known, HttpResponse):
        response = response._replace(http=replace(response.http, status=known.status))
    return replace(record, request=request, response=response, key=outer.key, started=outer.started)


def with_problems(record: Record) -> Record:
    """A record with the missing parts of its sides added to its problems."""
    missing = [side.left_out for side in (record.request, record.response) if side and side.left_out]
    return replace(record, problems=[*record.problems, *missing]) if missing else record
