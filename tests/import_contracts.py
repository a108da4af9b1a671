"""Contracts of our own for import-linter (``[tool.importlinter]`` in ``pyproject.toml``): how rooms are entered."""

from __future__ import annotations

import re

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class FrontContract(Contract):
    """Other rooms enter a room through a front alone: ``from workbench.wire import Exchange``.

    A front is a package without a private part in its name; below it, ``from FRONT import module`` is an entrance too,
    where the front lists that module. ``tests/test_architecture.py`` holds the lists.

    Options:
        root: the package whose sub-packages are rooms.
        entrances: modules of ``root`` that may import from anywhere.
    """

    type_name = "fronts"

    root = fields.StringField()
    entrances = fields.SetField(subfield=fields.StringField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Every import of an inner module, or of a private one, from another room."""
        broken = [
            f"{importer}:{detail['line_number']}: {detail['line_contents']}"
            for importer in sorted(graph.modules)
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if self._room(importer) != self._room(imported) and imported.count(".") > 1
            for detail in graph.get_import_details(importer=importer, imported=imported)
            if not self._is_entered(detail["line_contents"], imported, graph)
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """One line for each import that goes past a front."""
        for line in check.metadata["broken"]:
            output.print_error(line, bold=False)

    def _room(self, module: str) -> str:
        return module.removeprefix(f"{self.root}.").partition(".")[0]

    @staticmethod
    def _is_entered(line: str, imported: str, graph: ImportGraph) -> bool:
        written = re.match(r"\s*from ([\w.]+) import", line)
        front = written[1] if written else imported
        is_package = bool(graph.find_children(front))
        return is_package and not any(part.startswith("_") for part in imported.split("."))
