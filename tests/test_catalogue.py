"""The catalogue of published breakages, scored by the tool that lies beside it."""

from __future__ import annotations

import subprocess
import sys

FAMILIES = ("closure", "reasoning", "arguments", "schema", "content", "streaming")
PROTOCOLS = ("anthropic-messages", "openai-chat")
CONTRACTS = ("anthropic", "openai", "deepseek", "none")


def options(name, values):
    return [word for value in values for word in (name, value)]


def test_every_breakage_is_found_where_it_is(shared, record_property):
    line = [sys.executable, str(shared / "tools" / "score_breakages.py"), str(shared / "reference" / "breakages.yaml")]
    line += ["--workbench", f"{sys.executable} -m workbench", "--verbose"]
    line += options("--family", FAMILIES) + options("--protocol", PROTOCOLS) + options("--contract", CONTRACTS)
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    score = done.stdout.strip().splitlines()[-1] if done.stdout else done.stderr
    record_property("score", score)
    assert done.returncode == 0, done.stdout + done.stderr
