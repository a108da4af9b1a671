"""``python -m tests.models [--check] [--wheel FILE] [--models-dev FOLDER]``: derive the tables of model facts.

Two public lists say of each model what it supports: LiteLLM's price list (the newest wheel) and models.dev (a clone of
https://github.com/anomalyco/models.dev with its history; without one its table stays as it is). A model that models.dev
no longer lists has what its last file said. Both are third parties: what they leave out is unknown, and where one of
them says that a model has what the other says it lacks, nothing is taken. What was seen otherwise is in
``model_facts-own.json``, by hand.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.contracts.model_facts import EFFORTS

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
"""Flag of LiteLLM's list → fact."""
FOLDERS = {
    "anthropic": ("anthropic", "google-vertex-anthropic"),
    "bedrock": ("amazon-bedrock",),
    "cerebras": ("cerebras",),
    "cohere": ("cohere",),
    "copilot": ("github-copilot",),
    "databricks": ("databricks",),
    "deepseek": ("deepseek",),
    "fireworks": ("fireworks-ai",),
    "gemini": ("google", "google-vertex"),
    "glm": ("zai", "zhipuai"),
    "groq": ("groq",),
    "kimi": ("moonshotai", "moonshotai-cn"),
    "minimax": ("minimax",),
    "mistral": ("mistral",),
    "nvidia": ("nvidia",),
    "ollama": ("ollama-cloud",),
    "openai": ("openai",),
    "openrouter": ("openrouter",),
    "perplexity": ("perplexity",),
    "qwen": ("alibaba", "alibaba-cn"),
    "together": ("togetherai",),
    "vercel": ("vercel",),
    "xai": ("xai",),
}
"""Contract → folders of models.dev, the first one first."""
STRICT = ("anthropic", "bedrock", "cerebras", "copilot", "databricks", "gemini", "groq", "openai", "perplexity", "xai")
"""Contracts of providers that refuse what a model does not take; others may ignore it, which the list does not say."""
HEARING = ("copilot", "openai", "openrouter", "qwen", "vercel")
"""Contracts of providers where some models of a Chat endpoint take audio."""
LIMITED = (*STRICT, "deepseek", "glm", "qwen")
"""Contracts of providers that refuse a limit of output which is above what the model gives."""
PASSING = ("copilot", "openrouter", "vercel")
"""Contracts that serve models of others: what they list no longer, they do not serve."""
SETTLED = 30 * 86_400
"""Seconds for which a file has to be listed: what was deleted sooner was often a mistake."""
_REGIONS = ("us.", "eu.", "apac.", "au.", "jp.", "global.", "us-gov.")


def main() -> int:
    """Write the table, and print what changed."""
    parser = argparse.ArgumentParser(prog="python -m tests.models", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if something would change")
    parser.add_argument("--wheel", type=Path, help="a wheel that is there already")
    parser.add_argument("--models-dev", type=Path, help="a clone of models.dev")
    asked = parser.parse_args()
    old = {table["name"]: table for table in json.loads(TABLE.read_bytes())["tables"]}
    with tempfile.TemporaryDirectory() as folder:
        listed = _of_litellm(asked.wheel or _download(Path(folder)))
    given = _of_models_dev(asked.models_dev) if asked.models_dev else old["models.dev"]
    tables = [_without_contradictions(listed, given), _without_contradictions(given, listed)]
    changes = [
        f"{table['name']} {line}"
        for table in tables
        for line in _differences(old[table["name"]]["models"], table["models"])
    ]
    print(f"{listed['source']} and {given['source']}: {len(changes)} changes")
    for line in changes:
        print(f"  {line}")
    if changes and not asked.check:
        TABLE.write_text('{"tables": [\n' + ",\n".join(map(_text, tables)) + "]}\n", "utf-8")
    return 1 if asked.check and changes else 0


def _download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), "litellm"]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _of_litellm(wheel: Path) -> dict[str, Any]:
    """LiteLLM's table, with what it says that models have (true), which is not kept."""
    with zipfile.ZipFile(wheel) as archive:
        listed = json.loads(archive.read(_LIST))
    models: dict[str, dict[str, Any]] = {}
    for name, said in listed.items():
        contract = CONTRACTS.get(said.get("litellm_provider", ""))
        if contract and said.get("mode") in ("chat", "responses"):
            models.setdefault(contract, {})[_plain(name)] = _listed_facts(said)
    return {
        "name": "litellm",
        "source": f"litellm {wheel.name.split('-')[1]}, its list of models",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "models": models,
    }


def _listed_facts(said: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {fact: said[flag] for flag, fact in FLAGS.items() if isinstance(said.get(flag), bool)}
    if isinstance(said.get("deprecation_date"), str):
        found["retired"] = said["deprecation_date"]
    return found


def _of_models_dev(clone: Path) -> dict[str, Any]:
    """The table of models.dev, likewise."""
    models: dict[str, dict[str, Any]] = {}
    for contract, folders in FOLDERS.items():
        for folder in folders:
            root = f"providers/{folder}/models"
            paths = sorted(str(p.relative_to(clone)) for p in (clone / root).rglob("*.toml") if p.is_file())
            gone = () if contract in PASSING else _deleted(clone, root)
            for path, commit in (*((path, "") for path in paths), *gone):
                name = path.removeprefix(f"{root}/").removesuffix(".toml").replace("%2F", "/")
                facts = _given_facts(_model(clone, commit, path), contract)
                if commit:
                    facts.pop("output", None)  # a limit that nobody keeps up any more
                models.setdefault(contract, {}).setdefault(_plain_id(name), facts)
    return {
        "name": "models.dev",
        "source": "https://github.com/anomalyco/models.dev",
        "date": _date(clone),
        "models": models,
    }


def _deleted(clone: Path, root: str) -> Iterator[tuple[str, str]]:
    """Each regular file below a folder that was there for some time and deleted, with the last commit that has it."""
    found: dict[str, tuple[str, int]] = {}
    commit, second = "", 0
    asked = ("log", "--no-renames", "--diff-filter=AD", "--raw", "--format=%H %ct", "--", root)
    for line in _git(clone, *asked).splitlines():
        about, _, path = line.partition("\t")
        if line and not path:
            commit, second = line.split()[0], int(line.split()[1])
        elif about.startswith(":100") and path.endswith(".toml"):
            found.setdefault(path, (f"{commit}^", second))
        elif path in found and found[path][1] - second > SETTLED:
            yield path, found.pop(path)[0]


def _git(clone: Path, *words: str) -> str:
    return subprocess.run(("git", *words), cwd=clone, check=True, capture_output=True, text=True).stdout


def _date(clone: Path) -> str:
    """The day of the clone's last commit."""
    return _git(clone, "log", "-1", "--format=%cs").strip()


def _model(clone: Path, commit: str, path: str) -> dict[str, Any]:
    """A model as of a commit, or of the work tree, with what it inherits; its own tables replace inherited ones."""
    said = tomllib.loads(_read(clone, commit, path))
    if base := said.get("base_model"):
        said = tomllib.loads(_read(clone, commit, f"models/{base}.toml")) | said
    for left_out in said.get("base_model_omit", ()):
        *above, last = left_out.split(".")
        table = said
        for key in above:
            table = table.get(key, {})
        table.pop(last, None)
    return said


def _read(clone: Path, commit: str, path: str) -> str:
    return _git(clone, "show", f"{commit}:{path}") if commit else (clone / path).read_text("utf-8")


def _given_facts(said: Mapping[str, Any], contract: str) -> dict[str, Any]:
    taken = said.get("modalities", {}).get("input")
    found = {"tools": said.get("tool_call")}
    if taken:
        found["vision"] = "image" in taken
    if taken and contract in HEARING:
        found["audio"] = "audio" in taken
    if contract in STRICT:
        efforts = _reasoning(said)
        found |= {**efforts, "structured": said.get("structured_output")}
        if not efforts.get("effort-none"):  # without reasoning, a model that reasons may take a temperature
            found["temperature"] = said.get("temperature")
    limit = said.get("limit", {}).get("output")
    if contract in LIMITED and limit and limit < said["limit"].get("context", 0):
        found["output"] = limit
    return {fact: value for fact, value in found.items() if value is not None}


def _reasoning(said: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a model takes an effort, and which words of it."""
    if said.get("reasoning") is False:
        return {"reasoning": False}
    options = said.get("reasoning_options")
    if options is None:
        return {}
    words = next((option.get("values") for option in options if option["type"] == "effort"), None)
    if words is None:
        return {"effort": False}
    return {f"effort-{word}": word in words for word in EFFORTS}


def _without_contradictions(table: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """What a model lacks, unless the other table says that it has it; and numbers and dates."""
    kept: dict[str, dict[str, Any]] = {}
    for contract, models in table["models"].items():
        for name, facts in models.items():
            said = other["models"].get(contract, {}).get(name, {})
            lacks = {fact: value for fact, value in facts.items() if value is not True and said.get(fact) is not True}
            if lacks:
                kept.setdefault(contract, {})[name] = lacks
    return {**table, "models": {contract: dict(sorted(each.items())) for contract, each in sorted(kept.items())}}


def _plain(name: str) -> str:
    """The name of a model as its provider has it: without the provider, and without a region of Bedrock."""
    name = name.rpartition("/")[2] if name.count("/") == 1 else name.partition("/")[2] or name
    return next((name.removeprefix(region) for region in _REGIONS if name.startswith(region)), name)


def _plain_id(name: str) -> str:
    """The id of a model of models.dev without a region of Bedrock."""
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
    head = "".join(f'"{key}": {json.dumps(table[key])},\n' for key in ("name", "source", "date"))
    blocks = []
    for contract, models in table["models"].items():
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in models.items())
        blocks.append(f'"{contract}": {{\n{lines}}}')
    return "{" + head + '"models": {\n' + ",\n".join(blocks) + "}}"


if __name__ == "__main__":
    raise SystemExit(main())
