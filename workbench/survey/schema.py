"""Tables of a survey: their columns, with types, and the version of the whole.

A column is added with a new version, and never changes its meaning. No column holds a text of the traffic: there are
names of rules and contracts, places, byte ranges, counts, times and keyed hashes, and the names of model and client.
"""

from __future__ import annotations

from collections.abc import Mapping

VERSION = 3
"""Version of the tables, in every manifest and every commit."""

OBJECTS = "objects"
EXCHANGES = "exchanges"
FINDINGS = "findings"
SESSIONS = "sessions"
FACTS = "facts"
TERMS = "terms"
METRICS = "metrics"
GROUPED = "grouped"
REPLACED = "replaced"

PARQUET = ".parquet"
"""Ending of tables that DuckDB has written."""

TEXT, INT, REAL, FLAG = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"

TABLES: Mapping[str, Mapping[str, str]] = {
    OBJECTS: {
        "object": TEXT,  # keyed hash of the name and the version of the object: the key of all tables
        "uri": TEXT,  # name of the object; a keyed hash with --hide-uris
        "etag": TEXT,
        "digest": TEXT,  # keyed hash of its content
        "bytes": INT,
        "format": TEXT,
        "fidelity": TEXT,  # the least of its exchanges
        "status": TEXT,  # judged, nothing, unreadable, poison, skipped
        "error": TEXT,  # type of the error, never its text
        "exchanges": INT,
        "errors": INT,
        "warnings": INT,
        "undecided": INT,
        "joined": INT,  # objects that it was judged together with, itself included
        "cpu_us": INT,
    },
    EXCHANGES: {
        "object": TEXT,
        "exchange": INT,
        "conversation": TEXT,
        "protocol": TEXT,
        "provider": TEXT,
        "model": TEXT,
        "client": TEXT,
        "hop": TEXT,
        "fidelity": TEXT,
        "http_status": INT,
        "started_us": INT,
        "duration_us": INT,
        "week": TEXT,
        "calls": INT,
        "request_bytes": INT,
        "response_bytes": INT,
        "verdict": TEXT,  # ok, warned, broken, undecided, nothing
        "refused": FLAG,
    },
    FINDINGS: {
        "object": TEXT,
        "exchange": INT,
        "last": INT,
        "rule": TEXT,
        "severity": TEXT,
        "basis": TEXT,
        "side": TEXT,
        "path": TEXT,
        "pointer": TEXT,  # only with --pointers: it has the names of arguments
        "start": INT,
        "end": INT,
        "shape": TEXT,
        "refused": FLAG,
        "provider": TEXT,
        "protocol": TEXT,
        "model": TEXT,
        "client": TEXT,
        "week": TEXT,
        "conversation": TEXT,
    },
    SESSIONS: {
        "conversation": TEXT,
        "objects": INT,
        "exchanges": INT,
        "errors": INT,
        "warnings": INT,
        "first_us": INT,
        "last_us": INT,
        "provider": TEXT,
        "model": TEXT,
        "client": TEXT,
    },
    FACTS: {
        "object": TEXT,
        "exchange": INT,
        "contract": TEXT,
        "rule": TEXT,
        "fact": TEXT,
        "basis": TEXT,  # what the fact rests on: measured, contract, common; recording if the answer names it
        "outcome": TEXT,  # accepted, refused
        "http_status": INT,
    },
    TERMS: {  # facts that requests of an object could break, counted; of a share of the objects
        "object": TEXT,
        "contract": TEXT,
        "family": TEXT,  # of the model: claude-sonnet-4; the model itself if its name shows no version
        "rule": TEXT,
        "fact": TEXT,
        "outcome": TEXT,  # accepted, refused
        "exchanges": INT,  # whose request could break it: its place is there, and its conditions hold
        "broken": INT,  # those that broke it
    },
    METRICS: {
        "object": TEXT,
        "provider": TEXT,
        "model": TEXT,
        "client": TEXT,
        "day": TEXT,
        "exchanges": INT,
        "refusals": INT,
        "calls": INT,
        "parsed": INT,
        "fitting": INT,
        "text_calls": INT,
        "prompt": INT,
        "output": INT,
        "cache_read": INT,
        "repeated": INT,  # tokens of requests that sent what was sent before, because it had failed
        "dollars": REAL,
    },
    REPLACED: {  # objects of earlier runs with the same rules that this run has judged again
        "object": TEXT,
        "of_run": INT,
    },
    GROUPED: {  # findings of a run, counted: what an overview of many findings is made of
        "rule": TEXT,
        "severity": TEXT,
        "basis": TEXT,
        "side": TEXT,
        "provider": TEXT,
        "protocol": TEXT,
        "model": TEXT,
        "client": TEXT,
        "week": TEXT,
        "findings": INT,  # negative: takes back what an earlier run has counted of objects that are replaced
        "sessions": INT,
        "object": TEXT,  # an example; its exchange
        "exchange": INT,
    },
}
"""Table → column → type, as DuckDB names it."""

ADDED = {(FINDINGS, "pointer"): 2, (FACTS, "basis"): 2}
"""Columns that earlier versions do not have, and the version that added them. Their rows have NULL there."""

MADE_BY_CHILD = (OBJECTS, EXCHANGES, FINDINGS, FACTS, TERMS, METRICS)
"""Tables of which a part holds rows; the others are made of these when a run is committed."""

JUDGED, NOTHING, UNREADABLE, POISON, SKIPPED = "judged", "nothing", "unreadable", "poison", "skipped"
STATUSES = (JUDGED, NOTHING, UNREADABLE, POISON, SKIPPED)
"""What became of an object: every object that was listed has one of these."""

SETTLED = (JUDGED, NOTHING, UNREADABLE, SKIPPED)
"""Those that another run with the same rules does not try again."""
