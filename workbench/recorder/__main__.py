"""``python -m workbench.recorder``: one recording, for the process that started it (see ``recorder.process``).

Its task: {"upstreams": {NAME: URL}, "out": FILE, "port": N, "hop": NAME, "client": NAME, "breaks": [KIND],
"passes_websockets": BOOL, "certificate": FILE or ""}. It answers
{"port", "urls": {NAME: URL}, "out"} once it listens, {"trouble": TEXT} when the file cannot be written or
a request is refused, {"event": …}
for what happens at its breakpoints (see ``breakpoints.remote``), and {"exchanges", "aborted", "incomplete", "lost",
"is_cut"} at the end. It ends with its standard input, SIGTERM or SIGINT.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir import JsonValue
from workbench.recorder.certificate import listener_context
from workbench.recorder.child import serve
from workbench.recorder.recording import record, report_trouble
from workbench.recorder.relay.server import Relay


def main(task: Mapping[str, JsonValue]) -> int:
    """Record until the parent process asks to stop."""
    upstreams: dict[str, str] = task["upstreams"]
    passes, chain = task["passes_websockets"], task["certificate"]
    tls = listener_context(chain) if chain else None
    return record(
        task,
        upstreams,
        lambda capture, gate: Relay(
            upstreams,
            capture,
            port=task["port"],
            gate=gate,
            passes_websockets=passes,
            listener_tls=tls,
            on_refusal=report_trouble,
        ),
    )


if __name__ == "__main__":
    raise SystemExit(serve(main))
