"""Judges one unit of work: an object, or the objects that conversations are spread over, as one session."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from workbench.errors import WorkbenchError
from workbench.formats.importers import open_found
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import KnownMessages, KnownParts
from workbench.rules import Inspector
from workbench.survey.keys import hash_keyed
from workbench.survey.object_listing import ObjectChanged, StoredObject, TooLarge, on_disk
from workbench.survey.rows import ExchangePlace, Row, RowMaker, counts_of
from workbench.survey.schema import FINDINGS, JUDGED, NOTHING, OBJECTS, SKIPPED, UNREADABLE
from workbench.wire import Exchange, Fidelity
from workbench.wire.session import MemorySession, Session, exchanges_of

_PIECE = 1024 * 1024
_ORDER = list(Fidelity)


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """What a survey asks of each unit.

    Attributes:
        key: for hashes.
        provider: contract to judge by; None to choose it.
        most_bytes: of an object that is read at all.
        hides_uris: names of objects are hashed, too.
        counts_metrics: tokens and calls are counted, which takes longer.
        keeps_pointers: findings have their whole pointer, with the names of arguments.
        filter: expression of the filter language; only findings of matching exchanges are kept. None for all.
        store: name of the importer that reads all objects; None to recognise each.
        terms: share of the objects for which facts that requests could break are counted, 0 to 1.
    """

    key: bytes
    provider: str | None = None
    most_bytes: int = 256 * 1024 * 1024
    hides_uris: bool = False
    counts_metrics: bool = False
    keeps_pointers: bool = False
    filter: str | None = None
    store: str | None = None
    terms: float = 0.05


class ReadObject(NamedTuple):
    """An object that was read: its session, or why there is none."""

    object: StoredObject
    path: Path | None = None
    session: Session | None = None
    status: str = JUDGED
    error: str = ""


def judge_unit(objects: Sequence[StoredObject], options: JudgeOptions) -> Iterator[Row]:
    """The rows of a unit: of every object one row, and those of exchanges, findings and facts.

    Raises:
        MemoryError: the process has reached its limit; whatever else goes wrong is the status of an object.
    """
    start = time.process_time()
    with ExitStack() as stack:
        read = [_read(found, options, stack) for found in objects]
        sessions = [one for one in read if one.session is not None]
        rows, broken = _judge(sessions, options) if sessions else ([], "")
        cpu_time = int((time.process_time() - start) * 1e6 / len(objects))
        for one in read:
            yield _object_row(one, rows, broken, len(sessions), cpu_time, options)
        yield from rows


def object_key(found: StoredObject, key: bytes) -> str:
    """The key of an object in all tables."""
    return hash_keyed(key, "object", found.uri, found.etag)


def _read(found: StoredObject, options: JudgeOptions, stack: ExitStack) -> ReadObject:
    try:
        path = stack.enter_context(on_disk(found, options.most_bytes))
        session = open_found(str(path), only=options.store)
    except TooLarge:
        return ReadObject(found, status=SKIPPED, error="too-large")
    except ObjectChanged:
        return ReadObject(found, status=UNREADABLE, error="changed")
    except (WorkbenchError, OSError) as error:
        return ReadObject(found, status=UNREADABLE, error=type(error).__name__)
    except MemoryError:
        raise
    except Exception as error:  # a fault of an importer: the other objects are still judged
        return ReadObject(found, status=UNREADABLE, error=f"fault:{type(error).__name__}")
    if session is None:
        return ReadObject(found, path, status=NOTHING, error="other-store" if options.store else "unclaimed")
    stack.callback(session.close)
    return ReadObject(found, path, session) if len(session) else ReadObject(found, path, session, NOTHING, "empty")


def _judge(read: Sequence[ReadObject], options: JudgeOptions) -> tuple[list[Row], str]:
    """(rows, type of the error that ended it) of what was read."""
    try:
        session, places = _whole(read, options.key)
        inspector = Inspector(session, provider=options.provider, known=KnownMessages(_known_parts()))
        inspection = inspector.run()
        if options.filter:
            from workbench.filters import Filter, narrow, parse

            inspection = narrow(inspection, session, Filter(parse(options.filter)))
        maker = RowMaker(options.key, places, keeps_pointers=options.keeps_pointers)
        rows = list(maker.rows(inspection, session))
        if options.terms:
            from workbench.survey.terms import term_rows

            rows += term_rows(inspector, places, options.key, options.terms)
        if options.counts_metrics:
            from workbench.survey.metrics import metric_rows

            rows += metric_rows(inspector, places)
        return rows, ""
    except MemoryError:
        raise
    except Exception as error:  # a fault of this program: the objects are named, and the others are still judged
        return [], f"fault:{type(error).__name__}"


@cache
def _known_parts() -> KnownParts:
    """Tools, system prompts and messages that objects have in common."""
    return KnownParts()


def _whole(read: Sequence[ReadObject], key: bytes) -> tuple[Session, list[ExchangePlace]]:
    """One session of all objects, in the order of time, and where each exchange of it is."""
    if len(read) == 1:
        session = read[0].session
        assert session is not None
        name = object_key(read[0].object, key)
        return session, [ExchangePlace(name, number) for number in range(len(session))]
    pairs: list[tuple[Exchange, ExchangePlace]] = []
    for one in read:
        assert one.session is not None
        name = object_key(one.object, key)
        pairs += ((e, ExchangePlace(name, n)) for n, e in enumerate(exchanges_of(one.session)))
    pairs.sort(key=lambda pair: pair[0].started_at or 0.0)
    exchanges = tuple(replace(exchange, id=str(n)) for n, (exchange, _) in enumerate(pairs, 1))
    return MemorySession("unit", exchanges, ()), [place for _, place in pairs]


def _object_row(
    one: ReadObject, rows: Sequence[Row], broken: str, joined: int, cpu_time: int, options: JudgeOptions
) -> Row:
    name = object_key(one.object, options.key)
    own = [row for row in rows if row["object"] == name]
    exchanges = [row for row in own if "verdict" in row]
    uri = hash_keyed(options.key, "uri", one.object.uri) if options.hides_uris else one.object.uri
    status = UNREADABLE if broken and one.session is not None else one.status
    return {
        "t": OBJECTS,
        "object": name,
        "uri": uri,
        "etag": one.object.etag,
        "digest": _digest(one.path, options.key),
        "bytes": one.object.size,
        "format": getattr(one.session, "format", "") or ("Workbench session" if one.session else None),
        "fidelity": _least([row["fidelity"] for row in exchanges]),
        "status": status,
        "error": one.error or (broken if one.session is not None else "") or None,
        "exchanges": len(exchanges),
        **counts_of([row for row in own if row["t"] == FINDINGS]),
        "undecided": sum(row["verdict"] == "undecided" for row in exchanges),
        "joined": joined if one.session is not None else 1,
        "cpu_us": cpu_time,
    }


def _least(found: Sequence[JsonValue]) -> str | None:
    known = [_ORDER.index(Fidelity(name)) for name in found]
    return _ORDER[max(known)].value if known else None


def _digest(path: Path | None, key: bytes) -> str | None:
    """The keyed hash of a file; None if it cannot be read."""
    if path is None:
        return None
    digest = blake2b(key=key, digest_size=16)
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
    except OSError:
        return None
    return digest.hexdigest()


def poison_row(found: StoredObject, cause: str, options: JudgeOptions) -> Row:
    """The row of an object that ended, stopped or outgrew the process that judged it."""
    row = _object_row(ReadObject(found), (), "", 1, 0, options)
    return {**row, "status": "poison", "error": cause}
