"""sglang's detectors, measured by the Python of an environment that holds them; run as a script, not imported.

Wants sglang's wheel without its dependencies, and ``orjson``, ``partial-json-parser`` and ``pydantic``: no torch.
Everything else that the parser package imports is replaced by stand-ins, so that only the detectors run. Reads one JSON
object from standard input: ``{"detectors": {NAME: [module, class]}, "texts": {NAME: [text, …]}, "tools": [{"name",
"parameters"}], "size": characters of a piece}``; writes one: ``{"version", "calls": {NAME: [whole, in pieces]}}`` in
calls per second of CPU time, null where a detector does not read its texts, and the reasons under ``"errors"``.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import sys
import time
import types
from typing import Any

KEPT = ("sglang.srt.function_call", "sglang.srt.parser")


class _Anything:
    """Stands in for a class or function that only has to be there."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__dict__.update(kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _Anything()

    def __bool__(self) -> bool:
        return False

    def get(self, *args: Any) -> bool:
        return False


class _StandIn(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (_Anything,), {})
        setattr(self, name, made)
        return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stand-ins for all of sglang but its parsers, and for what is not installed."""

    def __init__(self, root: str) -> None:
        self._root = root

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.split(".")[0] == "sglang" and not name.startswith(KEPT):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if name.split(".")[0] in ("xgrammar", "torch", "transformers", "msgspec", "openai"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        module = _StandIn(spec.name)
        real = f"{self._root}/{spec.name.replace('.', '/')}"
        module.__path__ = [real] if spec.name in ("sglang", "sglang.srt") else []
        if spec.name == "sglang.srt.environ":
            module.envs = _Anything()  # type: ignore[attr-defined]
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run."""


def _seconds(run: Any) -> float:
    best = float("inf")
    for _ in range(2):
        began = time.process_time()
        run()
        best = min(best, time.process_time() - began)
    return best


def _measured(detector: Any, texts: list[str], tools: list[Any], size: int) -> tuple[list[float | None], list[str]]:
    def whole() -> None:
        for text in texts:
            assert len(detector().detect_and_parse(text, tools).calls) == 1

    def in_pieces() -> None:
        for text in texts:
            reader, said, names = detector(), "", 0
            for at in range(0, len(text), size):
                for call in reader.parse_streaming_increment(text[at : at + size], tools).calls:
                    said += call.parameters
                    names += bool(call.name)
            assert names == 1, f"{names} names of calls where one was written"
            json.loads(said)

    found: list[float | None] = []
    errors: list[str] = []
    for run in (whole, in_pieces):
        try:
            found.append(len(texts) / _seconds(run))
        except Exception as error:
            found.append(None)
            errors.append(f"{run.__name__.replace('_', ' ')}: {type(error).__name__} {error}"[:200])
    return found, errors


def main() -> None:
    """Measure what standard input asks for."""
    asked = json.load(sys.stdin)
    package = importlib.metadata.distribution("sglang")
    sys.meta_path.insert(0, _Finder(str(package.locate_file(""))))
    tools = [
        types.SimpleNamespace(type="function", function=types.SimpleNamespace(strict=False, **tool))
        for tool in asked["tools"]
    ]
    found: dict[str, Any] = {"version": package.version, "calls": {}, "errors": {}}
    for name, (module, cls) in asked["detectors"].items():
        try:
            detector = getattr(importlib.import_module(f"sglang.srt.function_call.{module}"), cls)
            found["calls"][name], errors = _measured(detector, asked["texts"][name], tools, asked["size"])
        except ImportError as error:
            found["calls"][name], errors = [None, None], [str(error)]
        found["errors"].update({name: errors} if errors else {})
    print(json.dumps(found))


if __name__ == "__main__":
    main()
