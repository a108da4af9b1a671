"""``python -m tests.models [--check] [--wheel FILE]``: derive the table of model facts from the newest LiteLLM.

LiteLLM's price list says of each model what it supports. It is a third party: what it leaves out is unknown, and only
"false" is taken, with dates of retirement. What was seen otherwise is in ``model_facts-own.json``, by hand.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TABLE = Path(__file__).resolve().parents[1] / "workbench" / "contracts" / "model_facts.json"
_LIST = "litellm/model_prices_and_context_window_backup.json"
CONTRACTS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "bedrock_converse": "bedrock",
    "xai": "xai",
    "groq": "groq",
    "mistral": "mistral",
    "deepseek": "deepseek",
    "cerebras": "cerebras",
    "moonshot": "kimi",
    "dashscope": "qwen",
    "minimax": "minimax",
    "zai": "glm",
    "cohere_chat": "cohere",
    "perplexity": "perplexity",
    "databricks": "databricks",
    "github_copilot": "copilot",
}
"""Provider of the list → contract."""
FLAGS = {
    "supports_function_calling": "tools",
    "supports_vision": "vision",
    "supports_sampling_params": "sampling",
    "supports_forced_tool_use": "forced",
    "supports_assistant_prefill": "prefill",
    "supports_none_reasoning_effort": "effort-none",
    "supports_minimal_reasoning_effort": "effort-minimal",
    "supports_xhigh_reasoning_effort": "effort-xhigh",
    "supports_max_reasoning_effort": "effort-max",
    "supports_parallel_function_calling": "parallel",
}
"""Flag of the list → fact."""
_REGIONS = ("us.", "eu.", "apac.", "au.", "jp.", "global.", "us-gov.")


def main() -> int:
    """Write the table, and print what changed."""
    parser = argparse.ArgumentParser(prog="python -m tests.models", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if something would change")
    parser.add_argument("--wheel", type=Path, help="a wheel that is there already")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheel = asked.wheel or _download(Path(folder))
        made = _make(wheel)
    old = json.loads(TABLE.read_bytes()) if TABLE.is_file() else {"models": {}}
    changes = list(_differences(old["models"], made["models"]))
    print(f"{made['source']}: {len(changes)} changes")
    for line in changes if old["models"] else ():
        print(f"  {line}")
    if changes and not asked.check:
        TABLE.write_text(_text(made), "utf-8")
    return 1 if asked.check and changes else 0


def _download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), "litellm"]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _make(wheel: Path) -> dict[str, Any]:
    with zipfile.ZipFile(wheel) as archive:
        listed = json.loads(archive.read(_LIST))
    models: dict[str, dict[str, Any]] = {}
    for name, said in listed.items():
        contract = CONTRACTS.get(said.get("litellm_provider", ""))
        facts = _facts(said) if contract and said.get("mode") in ("chat", "responses") else {}
        if facts and contract:
            models.setdefault(contract, {})[_plain(name)] = facts
    return {
        "source": f"litellm {wheel.name.split('-')[1]}, its list of models",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "models": {contract: dict(sorted(each.items())) for contract, each in sorted(models.items())},
    }


def _facts(said: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {fact: False for flag, fact in FLAGS.items() if said.get(flag) is False}
    if isinstance(said.get("deprecation_date"), str):
        found["retired"] = said["deprecation_date"]
    return found


def _plain(name: str) -> str:
    """The name of a model as its provider has it: without the provider, and without a region of Bedrock."""
    name = name.rpartition("/")[2] if name.count("/") == 1 else name.partition("/")[2] or name
    return next((name.removeprefix(region) for region in _REGIONS if name.startswith(region)), name)


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    lines = []
    for contract in sorted({*old, *new}):
        was, now = old.get(contract, {}), new.get(contract, {})
        lines += [f"{contract} {name}: {was.get(name)} → {now.get(name)}" for name in sorted({*was, *now})
                  if was.get(name) != now.get(name)]  # fmt: skip
    return lines


def _text(table: Mapping[str, Any]) -> str:
    """JSON with a line for each model, so that a change can be read."""
    head = "".join(f'"{key}": {json.dumps(table[key])},\n' for key in ("source", "date"))
    blocks = []
    for contract, models in table["models"].items():
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in models.items())
        blocks.append(f'"{contract}": {{\n{lines}}}')
    return "{" + head + '"models": {\n' + ",\n".join(blocks) + "}}\n"


if __name__ == "__main__":
    raise SystemExit(main())
