"""Tool calls in text: calls read per second, whole and in pieces of four characters, against sglang's detectors.

sglang's parser package needs no torch to run, only to be imported: it counts where ``sglang.srt.function_call`` can be
imported (its wheel without dependencies, and stand-ins for what its packages import on the way), else it is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from benchmarks.stream import measure
from workbench.ir import ToolCallIR, ToolDef
from workbench.textcalls import TextCall, get

CALLS = 300
PIECE = 4
FORMATS = ("hermes", "qwen3-coder", "glm", "minimax", "claude-xml", "kimi", "kimi-k3", "minimax-m3")
PEERS = {
    "hermes": ("hermes_detector", "HermesDetector"),
    "qwen3-coder": ("qwen3_coder_detector", "Qwen3CoderDetector"),
}
SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "content": {"type": "string"},
        "line": {"type": "integer"},
        "flags": {"type": "array"},
        "dry": {"type": "boolean"},
    },
}
TOOLS = [ToolDef(f"tool_{n}", None, SCHEMA) for n in range(20)]


def calls() -> list[ToolCallIR]:
    """Calls of 0.5 to 0.7 kB, as agents make them."""
    content = "def f(x):\n    return x < 3 and y > 2\n" * 10
    return [
        ToolCallIR(
            None,
            f"tool_{n % 20}",
            {"path": f"/src/a b/{n}.py", "content": content, "line": n, "flags": ["a", 1], "dry": True},
            "text",
        )
        for n in range(CALLS)
    ]


def ours(name: str, texts: Sequence[str], size: int = 0) -> None:
    """Each text by a parser of its own, in pieces of this size or whole."""
    text_format = get(name)
    for text in texts:
        parser = text_format.parser(TOOLS)
        found = []
        for at in range(0, len(text), size or len(text)):
            found += parser.feed(text[at : at + (size or len(text))])
        found += parser.close()
        assert sum(isinstance(f, TextCall) for f in found) == 1


def peer(name: str) -> Callable[[Sequence[str], int], None] | None:
    """The same by sglang's detector; None where it is not installed."""
    module, cls = PEERS.get(name, ("", ""))
    if not module:
        return None
    try:
        from importlib import import_module

        detector = getattr(import_module(f"sglang.srt.function_call.{module}"), cls)
        types = import_module("sglang.srt.entrypoints.openai.protocol")
        tools = [types.Tool(type="function", function=types.Function(name=t.name, parameters=t.schema)) for t in TOOLS]
    except Exception:
        return None

    def run(texts: Sequence[str], size: int = 0) -> None:
        for text in texts:
            reader = detector()
            if not size:
                assert len(reader.detect_and_parse(text, tools).calls) == 1
                continue
            said = "".join(
                c.parameters
                for at in range(0, len(text), size)
                for c in reader.parse_streaming_increment(text[at : at + size], tools).calls
            )
            assert json.loads(said)

    return run


def main() -> None:
    """Every format, and what four times the text costs in single characters."""
    for name in FORMATS:
        texts = [get(name).render([call]) for call in calls()]
        theirs = peer(name)
        print(f"textcalls: {name}, {CALLS} calls of {len(texts[0])} characters")
        for title, size in (("whole text", 0), (f"{PIECE}-character pieces", PIECE)):
            mine = measure(lambda: ours(name, texts, size), 3)  # noqa: B023 (called at once)
            line = f"  {title:<20} {CALLS / mine:9,.0f} calls/s"
            if theirs:
                other = measure(lambda: theirs(texts, size), 1)  # noqa: B023
                line += f"   {other / mine:5.1f} × sglang ({CALLS / other:,.0f})"
            print(line)
        short, long = ("".join(texts)[: n * 25_000] for n in (1, 4))
        once = measure(lambda: _pieces(name, short), 2)  # noqa: B023
        four = measure(lambda: _pieces(name, long), 2)  # noqa: B023
        print(f"  100,000 characters one by one take {four / once:.1f} × the time of 25,000")
    if not any(peer(name) for name in PEERS):
        print("  sglang is not installed: nothing to compare with")


def _pieces(name: str, text: str) -> None:
    parser = get(name).parser(TOOLS)
    for char in text:
        parser.feed(char)
    parser.close()
