"""``python -m tests.grammars.parsers [--check] [--wheels FOLDER]``: the parsers of tool calls of vLLM and SGLang.

They are read out of the unpacked packages without importing them, into ``server_parsers.json``. Of each value of
``--tool-call-parser``: the class, and the texts that it takes for the start, the end or another mark of a call. These
are the strings that the class, its bases and their modules assign to names such as ``tool_call_start_token``; marks of
reasoning and of turns are left out.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.grammars.__main__ import Packages

_MARK_NAME = re.compile(
    r"token|tag|start|begin|end\b|_end|prefix|suffix|open|close|trigger|sep|marker|bot|eot|call|param|func|quote|delim",
    re.IGNORECASE,
)
_OTHER_NAME = re.compile(
    r"think|reason|turn|response|channel|message|chatml|bos|eos|pad|image|content|message_token|error|log|role",
    re.IGNORECASE,
)
_MARK = re.compile(r"(?=.{3,64}\Z)(?=.*[<>\[\]|｜])[^\s()*?+\\]+|functools\Z|Action:")
_OTHER_MARK = re.compile(r"think|response|message|channel|0x0A|start\|>\Z|eo[mt]\|")
_BASES = frozenset(("ToolParser", "BaseFormatDetector", "ParserEngine", "object"))
_DEEPEST = 4


@dataclass
class _Module:
    """A source file: its classes, where its names come from, and the calls of ``make_adapters``."""

    path: Path
    tree: ast.Module
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    adapters: dict[str, str] = field(default_factory=dict)


class ToolParsers:
    """The parsers of one package.

    Args:
        folder: of the unpacked packages.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, _Module | None] = {}

    def of_vllm(self) -> dict[str, dict[str, object]]:
        """Parser → class and marks, by the table of ``vllm.tool_parsers``."""
        module = self._module("vllm.tool_parsers")
        assert module
        table = next(v for name, v in _assigned(module.tree.body) if name == "_TOOL_PARSERS_TO_REGISTER")
        made: dict[str, tuple[str, str]] = ast.literal_eval(table)
        return {name: self._parser(f"vllm.tool_parsers.{file}", cls) for name, (file, cls) in sorted(made.items())}

    def of_sglang(self) -> dict[str, dict[str, object]]:
        """Parser → class and marks, by the table of ``FunctionCallParser``."""
        module = self._module("sglang.srt.function_call.function_call_parser")
        assert module
        body = module.classes["FunctionCallParser"].body
        table = next(v for name, v in _assigned(body) if name == "ToolCallParserEnum")
        assert isinstance(table, ast.Dict)
        named = {
            key.value: value.id
            for key, value in zip(table.keys, table.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(value, ast.Name)
        }
        return {str(name): self._parser(*module.imported[cls]) for name, cls in sorted(named.items())}

    def _parser(self, module: str, name: str) -> dict[str, object]:
        return {"class": name, "marks": sorted(set(self._marks(module, name, _DEEPEST)))}

    def _marks(self, module: str, name: str, depth: int) -> Iterator[str]:
        """Marks of a class, of the top of its module, and of its bases."""
        found = self._module(module)
        if found is None or not depth or name in _BASES:
            return
        adapted = found.adapters.get(name)
        if adapted:
            yield from self._marks(*found.imported.get(adapted, (module, adapted)), depth - 1)
            return
        cls = found.classes.get(name)
        if cls is None:
            if name in found.imported:
                yield from self._marks(*found.imported[name], depth - 1)
            return
        used = {node.id for node in ast.walk(found.tree) if isinstance(node, ast.Name)}
        yield from _texts(found.tree.body)
        yield from _texts(node for node in ast.walk(cls) if isinstance(node, ast.Assign | ast.AnnAssign))
        for imported, (origin, original) in found.imported.items():
            if imported in used and imported.isupper():
                yield from self._constant(origin, original)
        for base in cls.bases:
            if isinstance(base, ast.Name):
                yield from self._marks(*found.imported.get(base.id, (module, base.id)), depth - 1)

    def _constant(self, module: str, name: str) -> Iterator[str]:
        found = self._module(module)
        yield from _texts(node for node in (found.tree.body if found else ()) if name in dict(_assigned([node])))

    def _module(self, name: str) -> _Module | None:
        if name not in self._known:
            path = self._folder / Path(*name.split("."))
            files = [file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()]
            self._known[name] = _read(files[0]) if files else None
        return self._known[name]


def _read(path: Path) -> _Module:
    tree = ast.parse(path.read_text("utf-8"))
    found = _Module(path, tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.imported |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found.classes[node.name] = node
        elif (
            isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Tuple)
        ):
            argument = node.value.args[0] if node.value.args else None
            if isinstance(argument, ast.Name):
                names = [target.id for target in node.targets[0].elts if isinstance(target, ast.Name)]
                found.adapters |= dict.fromkeys(names, argument.id)
    return found


def _assigned(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """(name, value) of every assignment."""
    for node in nodes:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            name = (
                target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
            )
            value = getattr(node, "value", None)
            if name and value is not None:
                yield name, value


def _texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Marks among the strings that are assigned."""
    for name, value in _assigned(nodes):
        if not _MARK_NAME.search(name) or _OTHER_NAME.search(name):
            continue
        elements = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
        for element in elements:
            if isinstance(element, ast.Constant) and isinstance(element.value, str):
                text = element.value.strip()
                if _MARK.fullmatch(text) and not _OTHER_MARK.search(text):
                    yield text


DATA = Path(__file__).with_name("server_parsers.json")


def main() -> int:
    """Write the parsers; print what changed."""
    parser = argparse.ArgumentParser(prog="python -m tests.grammars.parsers", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if something would change")
    parser.add_argument("--wheels", type=Path, help="folder of wheels that are there already")
    asked = parser.parse_args()
    made: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as folder:
        packages = Packages(Path(folder), asked.wheels)
        for name in ("vllm", "sglang"):
            unpacked, version = packages.get(name, "")
            found = ToolParsers(unpacked)
            made[name] = {"version": version, "parsers": found.of_vllm() if name == "vllm" else found.of_sglang()}
    old = json.loads(DATA.read_bytes()) if DATA.is_file() else {}
    changes = [line for name, each in made.items() for line in _changes(name, old.get(name, {}), each)]
    print("\n".join(changes) or "no changes")
    if not asked.check:
        DATA.write_text(_text(made), "utf-8")
    return 1 if asked.check and changes else 0


def _changes(name: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    before, after = old.get("parsers", {}), new["parsers"]
    for parser in sorted({*before, *after}):
        if before.get(parser) != after.get(parser):
            yield f"{name} {new['version']}: {parser}: {before.get(parser)} -> {after.get(parser)}"


def _text(made: dict[str, Any]) -> str:
    """JSON with a line for each parser, so that a change can be read."""
    blocks = []
    for name, each in made.items():
        lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in each["parsers"].items()]
        joined = ",\n".join(lines)
        blocks.append(f'"{name}": {{"version": "{each["version"]}", "parsers": {{\n{joined}}}}}')
    return "{" + ",\n".join(blocks) + "}\n"


if __name__ == "__main__":
    raise SystemExit(main())
