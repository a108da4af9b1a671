"""What a scripted model reads of a request: the user's last words, the results behind its calls, the size of it all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, Media, ModelRequest, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.limits import BYTES_PER_TOKEN
from workbench.simulator import _senses
from workbench.wire import dumps

SHOWN = 400
"""Characters of a text that answers repeat."""

ERROR = re.compile(r'\bError: |"(?:is_error"\s*:\s*true|error"\s*:)')
"""What a result says that failed, where the protocol has no flag."""


def input_tokens(request: ModelRequest) -> int:
    """About how many tokens a request has: texts, calls, results and tools, at a few bytes each."""
    said = [str(part) if not isinstance(part, Text | Reasoning) else part.text or "" for part in _parts(request)]
    tools = [as_json({"name": t.name, "description": t.description, "schema": t.schema}) for t in request.tools]
    return tokens(said) + tokens(tools) + 4 * len(request.messages)


def _parts(request: ModelRequest) -> Iterator[Part | str]:
    for part in (*request.system, *(p for m in request.messages for p in m.parts)):
        if isinstance(part, ToolResultIR):
            yield from part.content
        elif isinstance(part, ToolCallIR):
            yield f"{part.name}{part.raw if part.raw is not None else as_json(part.input)}"
        else:
            yield part


def tokens(texts: Iterator[str] | Sequence[str]) -> int:
    """About how many tokens some texts have."""
    return sum(-(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN) for text in texts)


def user_words(request: ModelRequest) -> str:
    """The last words of the user: texts of the last message of theirs that has some."""
    for message in reversed(request.messages):
        words = " ".join(p.text for p in message.parts if isinstance(p, Text)).strip()
        if words and message.role in ("user", "items"):
            return words
    return ""


def last_results(request: ModelRequest) -> list[ToolResultIR]:
    """The results that stand behind the last answer of the model."""
    found: list[ToolResultIR] = []
    for message in reversed(request.messages):
        if message.role in ("assistant", "model") or any(True for _ in message.tool_calls()):
            break
        found[:0] = [result for _, result in message.tool_results()]
    return found


def is_error(result: ToolResultIR) -> bool:
    """The tool says that it failed."""
    return bool(result.is_error) or (result.is_error is None and bool(ERROR.search(result_text(result))))


def result_text(result: ToolResultIR) -> str:
    """What a result says, in short."""
    pictures = (_senses.colour(p) for p in result.content if isinstance(p, Media))
    texts = " ".join((*(p.text for p in result.content if isinstance(p, Text)), *pictures)).strip()
    return texts[:SHOWN] or "nothing that is text"


def as_json(value: JsonValue) -> str:
    """A value as JSON text, "" where it cannot be said."""
    try:
        return dumps(value).decode("utf-8", "surrogatepass")
    except LocalProtocolError:
        return ""
