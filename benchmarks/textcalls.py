"""Tool calls as text: calls read per second, whole and in pieces of four characters, against sglang's detectors.

Beside them the same texts whole while nobody says which format they are in.

sglang is compared where ``WORKBENCH_BENCH_SGLANG`` names the Python of an environment that holds its wheel (without
dependencies) and ``orjson``, ``partial-json-parser`` and ``pydantic``; it runs there in a process of its own, on the
same texts, while nothing else is measured. Each text is read by a fresh parser, as servers do.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.goals import reach
from benchmarks.stream import measure
from workbench.ir import ToolCallIR, ToolDef
from workbench.toolcalls.formats import TextCall, find_calls, formats, get

CALLS = 300
PIECE = 4
TITLES = {"qwen3-coder": "Qwen XML", "hermes": "Hermes"}
"""Formats with goals."""

ENVIRONMENT = "WORKBENCH_BENCH_SGLANG"
DETECTORS = {
    "deepseek-v3": ("deepseekv3_detector", "DeepSeekV3Detector"),
    "deepseek-v31": ("deepseekv31_detector", "DeepSeekV31Detector"),
    "dsml": ("deepseekv4_detector", "DeepSeekV4Detector"),
    "glm": ("glm47_moe_detector", "Glm47MoeDetector"),
    "harmony": ("gpt_oss_detector", "GptOssDetector"),
    "hermes": ("hermes_detector", "HermesDetector"),
    "kimi": ("kimik2_detector", "KimiK2Detector"),
    "kimi-k3": ("kimik3_detector", "KimiK3Detector"),
    "llama-json": ("llama32_detector", "Llama32Detector"),
    "minimax": ("minimax_m2", "MinimaxM2Detector"),
    "minimax-m3": ("minimax_m3", "MinimaxM3Detector"),
    "mistral": ("mistral_detector", "MistralDetector"),
    "pythonic": ("pythonic_detector", "PythonicDetector"),
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
        step = size or len(text)
        for at in range(0, len(text), step):
            found += parser.feed(text[at : at + step])
        found += parser.close()
        assert sum(isinstance(f, TextCall) for f in found) == 1


def detected(texts: Sequence[str]) -> None:
    """Each text as if its format were unknown."""
    for text in texts:
        assert len(find_calls(text, TOOLS)) == 1


def theirs(texts: dict[str, list[str]]) -> tuple[str, dict[str, list[float | None]]]:
    """What sglang is called here, and the calls per second of its detectors: whole, in pieces; None: not read."""
    python = os.environ.get(ENVIRONMENT)
    if not python:
        return f"sglang is left out: {ENVIRONMENT} names no Python that has it", {}
    asked = {
        "detectors": DETECTORS,
        "texts": texts,
        "tools": [{"name": t.name, "description": "", "parameters": t.schema} for t in TOOLS],
        "size": PIECE,
    }
    script = str(Path(__file__).with_name("_sglang.py"))
    done = subprocess.run([python, "-P", script], input=json.dumps(asked), capture_output=True, text=True, check=False)
    if done.returncode:
        return f"sglang is left out: {ENVIRONMENT} ended with {done.returncode}: {done.stderr.strip()[-300:]}", {}
    said = json.loads(done.stdout)
    failed = "".join(f"\n  not read by sglang: {name}, {e}" for name, errors in said["errors"].items() for e in errors)
    return f"sglang {said['version']}{failed}", said["calls"]


def main() -> None:
    """Every format, and what four times the text costs in single characters."""
    texts = {name: [get(name).render([call]) for call in calls()] for name in formats()}
    peer, rates = theirs({name: texts[name] for name in DETECTORS})
    print(f"textcalls: {CALLS} calls, 20 tools, calls/s whole and in {PIECE}-character pieces; {peer}")
    columns = "".join(f"{title:>9}{'sglang':>9}{'ratio':>7}" for title in ("whole", "pieces"))
    print(f"  {'format':<13}{'characters':>10}{columns}{'unknown':>9}   4 × the text, one by one")
    for name, written in texts.items():
        mine = [CALLS / measure(lambda: ours(name, written, size), 3) for size in (0, PIECE)]  # noqa: B023 (called at once)
        if name in TITLES:
            reach(f"text calls in pieces, {TITLES[name]}", mine[1])
            if peers := rates.get(name):
                reach(f"text calls whole, {TITLES[name]}", mine[0] / (peers[0] or 1e9))
        columns = ""
        for own, other in zip(mine, rates.get(name) or (0.0, 0.0), strict=True):
            columns += f"{own:9,.0f}" + (f"{other:9,.0f}{own / other:7.1f}" if other else f"{'-':>9}{'-':>7}")
        unknown = CALLS / measure(lambda: detected(written), 3)  # noqa: B023
        short, long = ("".join(written)[: n * 25_000] for n in (1, 4))
        once = measure(lambda: _pieces(name, short), 2)  # noqa: B023
        four = measure(lambda: _pieces(name, long), 2)  # noqa: B023
        print(f"  {name:<13}{len(written[0]):>10}{columns}{unknown:9,.0f}   {four / once:.1f} × the time")


def _pieces(name: str, text: str) -> None:
    parser = get(name).parser(TOOLS)
    for char in text:
        parser.feed(char)
    parser.close()
