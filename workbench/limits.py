"""Named sizes, depths and times, each with its reason."""

from __future__ import annotations

MAX_JSON_DEPTH = 500
"""Deeper JSON is refused in one line. Real requests stay under 40; Python cannot compare a value 1,000 deep."""

MAX_DECODED_BODY = 256 * 1024 * 1024
"""Bytes one compressed body may grow to. The largest request a provider takes is 32 MB; more is a bomb."""

MAX_INPUT_FILE = 4 * 1024**3
"""Bytes of a file that an importer reads whole."""

MAX_YAML_NODES = 5_000_000
"""Nodes of one YAML document: an alias bomb multiplies nodes, a real cassette of 8 MB has under 300,000."""

MAX_YAML_DEPTH = 200
"""Deeper YAML is refused in one line. Real cassettes stay under 40; what is read has to be writable as JSON again."""

MAX_SSE_LINE = 64 * 1024 * 1024
"""Bytes of one unfinished event-stream line before the reader gives up on it (one base64 image fits)."""

MAX_ARGUMENT_REPAIR = 16 * 1024
"""Bytes of broken argument text handed to syntax repair: it is quadratic on hostile text (16 kB took 10 s)."""

REPAIR_SECONDS = 2.0
"""Deadline of the child process that repairs and validates arguments."""

SNIPPET = 200
"""Characters of untrusted text quoted in one finding or error line."""

MAX_SCHEMA_STEPS = 50_000
"""Schema keywords one validation may apply: references and alternatives multiply. An honest call takes under 1,000;
50,000 take half a second."""

MAX_PATTERN_STEPS = 1_000_000
"""Backtracking steps a schema's pattern may need by its form (text length to the power of its repeats) and still run
in this process: 50 ms. What may need more runs in a child process."""

MAX_SCHEMA_FAULTS = 10
"""Faults reported for the arguments of one call."""
