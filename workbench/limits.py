"""Named sizes, depths and times, each with its reason."""

from __future__ import annotations

MAX_JSON_DEPTH = 500
"""Deeper JSON is refused in one line. Real requests stay under 40; Python cannot compare a value 1,000 deep."""

MAX_KNOWN_MESSAGES = 4 * 1024 * 1024
"""Bytes of messages that one inspection keeps decoded, and as many in the last histories: several contexts of coding
agents. Decoded they take about five times as much, and go with the inspection."""

MAX_RECORDED_REFUSALS = 100
"""Requests that a recorder refuses and keeps: enough to see why, and no web page can fill the disk with them."""

MAX_DECODED_BODY = 256 * 1024 * 1024
"""Bytes one compressed body may grow to. The largest request a provider takes is 32 MB; more is a bomb."""

MAX_CODINGS = 3
"""Content codings of one body that are undone, one inside another. Servers use one, a proxy may add another."""

MAX_STORED_BODY = MAX_DECODED_BODY
"""Bytes of one body in a recorded session, however small they stand there."""

MAX_STORED_NUMBERS = 64 * 1024 * 1024
"""Bytes of one list of numbers in a recorded session (chunk times, the pieces of a body): four million chunks."""

MAX_STORED_FRAMES = 1024**3
"""Bytes of all messages of one WebSocket connection in a recorded session: many may share one body."""

MAX_PIECES = 100_000
"""Pieces that a body is cut into. A longer list (token ids of an embedding) repeats nothing that is worth a row."""

MAX_INPUT_FILE = 4 * 1024**3
"""Bytes of a file that an importer reads whole."""

WRITER_SECONDS = 5.0
"""Time in which a named pipe has to be opened by whoever writes into it. Opened, it may take any time."""

MAX_YAML_NODES = 5_000_000
"""Nodes of one YAML document: an alias bomb multiplies nodes, a real cassette of 8 MB has under 300,000."""

MAX_YAML_DEPTH = 200
"""Deeper YAML is refused in one line. Real cassettes stay under 40; what is read has to be writable as JSON again."""

MAX_YAML_DOCUMENTS = 100_000
"""YAML documents in one file: a cassette that keeps one exchange in each has under 100."""

MAX_SSE_LINE = 64 * 1024 * 1024
"""Bytes of one unfinished event-stream line before the reader gives up on it (one base64 image fits)."""

MAX_ARGUMENT_REPAIR = 16 * 1024
"""Bytes of broken argument text handed to syntax repair: it is quadratic on hostile text (16 kB took 10 s)."""

MAX_REPAIR_DEPTH = 100
"""Brackets inside each other in broken argument text that is repaired. Real arguments stay under 20."""

REPAIR_SECONDS = 0.45
"""Processor time the child process that repairs and validates arguments has for one job: ordinary damage of 10 kB takes
12 ms, and a caller may count on half a second."""

REPAIR_WAIT_SECONDS = 30.0
"""Seconds to wait for the child: until it has started, and again for each job. A busy machine is slow."""

SNIPPET = 200
"""Characters of untrusted text quoted in one finding or error line."""

MAX_SCHEMA_STEPS = 50_000
"""Schema keywords one validation may apply: references and alternatives multiply. An honest call takes under 1,000;
50,000 take half a second."""

MAX_SCHEMA_DEPTH = 120
"""Schema keywords applied inside each other. The interpreter ends at about 150, and not always with an exception that
can be caught; arguments 40 deep behind references take 80."""

MAX_SCHEMA_NODES = 20_000
"""Schemas inside one tool's schema that are looked at. OpenAI takes 5,000 properties; the largest real has 2,000."""

MAX_PATTERN_STEPS = 1_000_000
"""Backtracking steps a schema's pattern may need by its form (text length to the power of its repeats) and still run
in this process: 50 ms. What may need more runs in a child process."""

MAX_SCHEMA_FAULTS = 10
"""Faults reported for the arguments of one call."""

MAX_HEADER_BLOCK = 256 * 1024
"""Bytes of one HTTP head, or of one body's trailers, that pass the recorder. Node takes 16 kB, nginx 32 kB."""

MAX_CHUNK_LINE = 16 * 1024
"""Bytes of one line of chunk framing (size and extensions, or a trailer) that the recorder holds until it is whole."""

MAX_HELD_AHEAD = 64 * 1024
"""Bytes a client may send ahead of what the recorder can pass on (upstream not reached yet, next request of a
pipeline) before it is no longer read."""

MAX_REPLAY = 256 * 1024
"""Bytes of a request kept to be sent again if a reused upstream connection turns out to be dead."""

MAX_REASONING_KEPT = 64 * 1024 * 1024
"""Bytes of answers that an adapter in the path keeps for later requests: some hundred long conversations. Those not
asked for longest are forgotten."""

MAX_BRIDGED_BODY = 64 * 1024 * 1024
"""Bytes of a request, or of an answer that is converted whole; the largest request a provider takes is 32 MB."""

IDLE_UPSTREAM_SECONDS = 4.0
"""Age up to which an idle upstream connection is used again: uvicorn and Node close theirs after 5."""

CONNECT_SECONDS = 30.0
"""Time an upstream has to take a connection, TLS included."""

ANSWER_SECONDS = 600.0
"""Time that an endpoint has to begin its answer and between two pieces of it: as in the official SDKs. Models think."""

HEAD_SECONDS = 60.0
"""Time a client has for the rest of a head it began; one that sends a byte now and then would stay for ever."""

MAX_OPEN_FILES = 65_536
"""Connections the recorder may have, as far as the system lets it: 500 streams are 1,000, the usual limit is 1,024."""

LINGER_SECONDS = 5.0
"""Time a client has to stop sending after it got an early answer; closed at once, it might never read the answer."""

MAX_RECORDED_BODY = 64 * 1024 * 1024
"""Bytes of one body that a recording keeps; the largest request a provider takes is 32 MB. The rest passes, and is
not recorded."""

MAX_RECORDING_HELD = 256 * 1024 * 1024
"""Bytes the recorder holds until they are written: 500 streams of 0.5 MB. What comes beyond passes unrecorded."""

MAX_HELD_REQUEST = 32 * 1024 * 1024
"""Bytes of one request that a breakpoint holds: the largest a provider takes. A longer one passes unjudged."""

MAX_HELD_ANSWER = 16 * 1024 * 1024
"""Bytes of one answer that a breakpoint holds, from its first call to its end. A longer one passes unjudged."""

JUDGE_SECONDS = 10.0
"""Time an exchange waits to be judged at a breakpoint: what is recorded is written within a second, and a request of a
million tokens is judged in two. After it the exchange goes on unjudged."""

CONTROL_SECONDS = 30.0
"""Time a recorder has to answer whoever controls its breakpoints; a simulator that remembers a session takes some."""

MAX_CONTROL_LINE = 64 * 1024 * 1024
"""Bytes of one line between a recorder and whoever controls it: the largest body that is held, in base64."""

MAX_REPAIR_TRIALS = 200
"""Proposals tried to repair one request. Each is inspected as a request of its own: 100 ms at 500 messages."""

MAX_REPAIR_BYTES = 32 * 1024 * 1024
LEAST_REPAIR_TRIALS = 8
"""Bytes of requests that the repair of one request tries, but never fewer proposals than these: some seconds."""

MAX_REPAIR_STEPS = 32
"""Repairs made one after the other on one request. What takes more is no history that somebody meant."""

MAX_REPAIR_PAIRS = 12
"""Pairs of proposals tried for a finding that no proposal alone repairs."""

MAX_REPAIR_ENDS = 8
"""Earlier ends of a conversation tried for a finding that nothing else repairs."""

MAX_CHECK_TRIALS = 120
"""Proposals tried for the findings of one file by a check, the first findings first."""

MAX_CHECK_BYTES = 4 * 1024 * 1024
"""Bytes of requests that a check tries: half a second."""

MAX_REPAIRS_OFFERED = 4
"""Repairs that a check offers for one finding."""

BYTES_PER_TOKEN = 4
"""Of JSON text, on average: an estimate where nobody counts, and said to be one wherever it is shown."""

LEAST_CACHED_TOKENS = 1024
"""Tokens below which a prompt is not cached, where a contract says nothing else: the least that OpenAI and most of
Anthropic's models cache."""

MOST_RETRIES_BACK = 4
"""Refused requests that are stepped over to find the one before that was answered."""

HEAVY_TOOL_TOKENS = 2_000
"""Tokens of tool definitions that are worth a word if they are most of a request: about ten tools with schemas."""

HEAVY_TOOL_SHARE = 0.5
"""Share of a request's bytes from which on its tools are most of it."""

EXCESSIVE_TOOL_TOKENS = 20_000
"""Tokens of tool definitions that crowd out the conversation: several servers of tools in one list."""

MAX_RECORD_DEPTH = 12
"""Levels of a file that are looked through for exchanges. Traces nest runs in runs, three or four deep."""

MAX_RECORD_NODES = 200_000
"""Objects and lists of a file that are looked through for exchanges: one that is none costs 20 µs."""

MAX_UNWRAPPED = 64 * 1024 * 1024
"""Bytes of a text that is searched for what somebody pasted into it. The largest request a provider takes is 32 MB."""

MAX_UNWRAPPING = 4
"""Wrappers around each other: a log line that quotes a JSON string, in a fence, in UTF-16."""

MAX_UNWRAPPED_EXCHANGES = 2_000
"""Exchanges taken out of one text: an hour of a debug log."""

MAX_UNREADABLE_FINDS = 50
"""Pieces of one text that begin like an exchange and cannot be read; behind them nobody looks on."""

MOST_NAMED = 200
"""Ids that one refusal names; a provider would name them all, and the text of each would hold all others."""
