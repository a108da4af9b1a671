"""Importer for server logs of vLLM: the outputs it generated, if it logs them; else nothing that can be checked.

Facts: vllm ``entrypoints/logger.py``: "Received request ID: …" has parameters and, until 0.15 or at level DEBUG, the
rendered prompt; ``--enable-log-outputs`` adds "Generated response ID: output: '…'". No line has messages or tools. An
output is what the model wrote, before the server's parser: it is read as a model's text.
"""

from __future__ import annotations

import ast

from workbench import regex
from workbench.errors import UnreadableInput
from workbench.wire import Body, Exchange, Fidelity, Headers, HttpResponse, State
from workbench.wire.session import MemorySession

NAME = "vllm-log"
TITLE = "vLLM server log"
NO_MESSAGES = "messages are not stored: a server log contains only prompts and parameters"
HINT = "record the traffic instead, or start vLLM with --enable-log-outputs"

_RECEIVED = regex.compile(rb"Received request ([\w.:-]{1,200}): (?:prompt: |params: )")
_OUTPUT = regex.compile(
    rb"Generated response ([\w.:-]{1,200})(?: \(streaming (?:complete|delta)\))?: output: "
    rb"('(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
)
_LINE = regex.compile(rb"(?m)^.*(?:INFO|DEBUG) [\d-]{5,10} [\d:]{8} \[\S{0,200}logger\.py:\d{1,5}\] ")

OTHER = "record the traffic instead"
_OTHER_SERVER = regex.compile(rb"(?m)^[^\"'{`\n]{0,200}\] Receive: obj=GenerateReqInput\(")
"""A line of SGLang's request log (``--log-requests``): rendered prompts, no messages."""

_BARE = regex.compile(
    rb"Received request [\w.:-]{1,200}: (?:prompt: |params: )"
    rb"|Generated response [\w.:-]{1,200}(?: \([^)]{1,40}\))?: output: "
)
"""A message of the logger alone, as structured logs have it."""


def sniff(head: bytes) -> float:
    """Lines of vLLM's request logger."""
    if _OTHER_SERVER.search(head):
        return 0.95
    if b"Received request" not in head and b"Generated response" not in head:
        return 0.0
    return 0.95 if _LINE.search(head) or _BARE.match(head) else 0.0


def read(data: bytes, name: str) -> MemorySession:
    """One exchange for each output. Raises UnreadableInput if no outputs are logged."""
    outputs = [(found[1].decode(), text) for found in _OUTPUT.finditer(data) if (text := _text(found[2])) is not None]
    if not outputs:
        if count := sum(1 for _ in _OTHER_SERVER.finditer(data)):
            raise UnreadableInput(
                f"an SGLang server log of {count:,} requests without messages", where=name, hint=OTHER
            )
        count = sum(1 for _ in _RECEIVED.finditer(data))
        what = f"a vLLM server log of {count:,} requests without messages and without outputs"
        raise UnreadableInput(what, where=name, hint=HINT)
    return MemorySession(name, tuple(_exchange(str(n), *one) for n, one in enumerate(outputs, 1)), format=TITLE)


def _text(literal: bytes) -> str | None:
    """The text of a Python literal; None if it is truncated."""
    try:
        value = ast.literal_eval(literal.decode("utf-8", "surrogateescape"))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def _exchange(number: str, id: str, output: str) -> Exchange:
    headers = Headers((("content-type", "text/plain; charset=utf-8"),))
    body = Body(output.encode("utf-8", "replace"), is_raw=False, note="extracted from a server log")
    return Exchange(
        number,
        response=HttpResponse(headers=headers, body=body),
        state=State.COMPLETE,
        note=f"model output of request {id}; {NO_MESSAGES}",
        meta={"fidelity": Fidelity.REBUILT.value, "record": id, "lacks": ["messages", "parsed calls"]},
    )
