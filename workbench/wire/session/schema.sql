-- Format 2 of a recorded session (format 1 could be without an identity). Times are seconds; digests of bodies are SHA-256, of pieces BLAKE2b (16 bytes).

-- format, version, identity (the id of the session: its copies share it), about (JSON), writers.
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Content-addressed: what a thousand requests repeat is here once.
CREATE TABLE IF NOT EXISTS piece (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,          -- of the plain bytes
    data BLOB NOT NULL              -- zstd frame, or the plain bytes where that is not shorter (then length = size)
);

CREATE TABLE IF NOT EXISTS body (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    pieces BLOB NOT NULL            -- ids of its pieces in order: see pieces.pack_ids
);

-- What a list shows: read without touching a body.
CREATE TABLE IF NOT EXISTS exchange (
    seq INTEGER PRIMARY KEY,        -- position in the session, from zero
    id TEXT NOT NULL UNIQUE,
    parent TEXT,                    -- id of the exchange this re-sends or edits
    branch TEXT NOT NULL,
    origin TEXT NOT NULL,           -- recorded, imported, reconstructed, re-sent, probe
    hop TEXT NOT NULL,
    kind TEXT NOT NULL,             -- http, websocket
    state TEXT NOT NULL,            -- open, complete, aborted, incomplete
    client TEXT NOT NULL,
    note TEXT NOT NULL,
    started_at REAL,
    duration REAL,
    meta TEXT,                      -- JSON
    method TEXT NOT NULL,
    url TEXT NOT NULL,
    status INTEGER,
    model TEXT,
    content_type TEXT NOT NULL,
    request_bytes INTEGER NOT NULL,
    response_bytes INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS side (
    exchange INTEGER NOT NULL REFERENCES exchange (seq),
    side TEXT NOT NULL,             -- request, response
    head INTEGER NOT NULL REFERENCES piece (id),  -- JSON: http version, reason, headers
    body INTEGER NOT NULL REFERENCES body (id),
    encoding TEXT NOT NULL,
    is_raw INTEGER NOT NULL,
    note TEXT NOT NULL,
    original_length INTEGER,
    original_digest TEXT,
    chunks BLOB NOT NULL,           -- see pieces.pack_chunks
    redactions TEXT,                -- JSON: [[where, start, end, kind]]
    PRIMARY KEY (exchange, side)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS frame (
    exchange INTEGER NOT NULL REFERENCES exchange (seq),
    seq INTEGER NOT NULL,
    direction TEXT NOT NULL,        -- sent, received
    opcode TEXT NOT NULL,
    at REAL,
    data INTEGER NOT NULL REFERENCES body (id),
    PRIMARY KEY (exchange, seq)
) WITHOUT ROWID;

-- What a response body that is still arriving has beyond its body row; gone as soon as the exchange is finished.
CREATE TABLE IF NOT EXISTS growth (
    id INTEGER PRIMARY KEY,         -- exchange << 32 | offset of its first byte in the body
    data BLOB NOT NULL,             -- plain bytes
    chunks BLOB NOT NULL            -- see pieces.pack_chunks
);
