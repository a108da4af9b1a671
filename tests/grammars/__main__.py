"""``python -m tests.grammars [--check] [PROTOCOL …]``: derive the grammars from the newest packages.

Prints what changed. ``--check`` writes nothing, and exits 1 if something would change.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.grammars.merging import differences, join, reachable
from tests.grammars.sources import GRAMMARS, VENDORS, Extract, Source

_READ = (".py", ".json", ".json.gz")
"""Ends of the names of files that types are read from."""
PROTOCOLS = Path(__file__).resolve().parents[2] / "workbench" / "protocols"


def main() -> int:
    """Write the grammars."""
    parser = argparse.ArgumentParser(prog="python -m tests.grammars", description=__doc__)
    parser.add_argument("protocols", nargs="*", metavar="PROTOCOL")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if something would change")
    parser.add_argument("--wheels", type=Path, help="folder of wheels that are there already")
    asked = parser.parse_args()
    changed = False
    with tempfile.TemporaryDirectory() as folder:
        packages = Packages(Path(folder), asked.wheels)
        for (protocol, provider), sources in GRAMMARS.items():
            if not asked.protocols or protocol in asked.protocols:
                changed |= _refresh(protocol, provider, sources, packages, is_dry=asked.check)
    return 1 if asked.check and changed else 0


class Packages:
    """Unpacked packages by name and release."""

    def __init__(self, folder: Path, wheels: Path | None) -> None:
        self._folder, self._wheels = folder, wheels
        self._known: dict[tuple[str, str], tuple[Path, str]] = {}

    def get(self, name: str, release: str, beside: Iterable[str] = ()) -> tuple[Path, str]:
        """(folder, version) of a package; other packages are unpacked into the same folder."""
        if (name, release) not in self._known:
            target = self._folder / f"{name}{len(self._known)}"
            version = self._unpack(name, release, target)
            for other in beside:
                self._unpack(other, "", target)
            self._known[name, release] = target, version
        return self._known[name, release]

    def _unpack(self, name: str, release: str, target: Path) -> str:
        """Unpack what types are read from; the version."""
        wheel = self._download(name, release, target / f"wheel-{name}")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target, [member for member in archive.namelist() if member.endswith(_READ)])
        return wheel.name.split("-")[1]

    def _download(self, name: str, release: str, target: Path) -> Path:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(target), f"{name}{release}"]
        if self._wheels:
            command += ["--no-index", "--find-links", str(self._wheels)]
        subprocess.run(command, check=True)
        (wheel,) = target.glob("*.whl")
        return wheel


def _refresh(protocol: str, provider: str, sources: Sequence[Source], packages: Packages, *, is_dry: bool) -> bool:
    """Write one grammar; whether its types changed."""
    made = _make(list(_extracts(sources, packages)), provider or VENDORS[protocol])
    made = ({"lenient": True} if any(source.is_lenient for source in sources) else {}) | made
    name = f"grammar-{provider}.json" if provider else "grammar.json"
    file = PROTOCOLS / protocol.replace("-", "_") / name
    old = json.loads(file.read_bytes()) if file.is_file() else {}
    found = list(differences(old.get("types", {}), made["types"]))
    print(f"{protocol}{f' of {provider}' if provider else ''}: {', '.join(made['sources'])}: {len(found)} changes")
    for line in found if old else ():
        print(f"  {line}")
    is_new = any(made[key] != old.get(key) for key in made if key not in ("types", "date"))
    if not is_dry and (found or is_new):
        file.write_text(_text(made), "utf-8")
    return bool(found)


def _extracts(sources: Iterable[Source], packages: Packages) -> Iterator[tuple[Extract, str]]:
    for source in sources:
        for release in source.releases:
            folder, version = packages.get(source.package, release, source.beside)
            yield source.read(folder), f"{source.package} {version}"


def _make(extracts: list[tuple[Extract, str]], provider: str) -> dict[str, Any]:
    first = extracts[0][0]
    types = first.types
    for more, _ in extracts[1:]:
        types = join(types, more.types, names_required=more.names_required)
    roots = [root for root in (first.request, first.answer) if root]
    return {
        "sources": [label for _, label in extracts],
        "provider": provider,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "request": first.request,
        "answer": first.answer,
        **({"proto": True} if first.is_proto else {}),
        "types": dict(sorted(reachable(types, roots).items())),
    }


def _text(grammar: dict[str, Any]) -> str:
    """JSON with a line for each type, so that a change can be read."""
    head = [f'"{key}":{json.dumps(value)}' for key, value in grammar.items() if key != "types"]
    types = [f"{json.dumps(name)}:{_compact(each)}" for name, each in grammar["types"].items()]
    return "{" + ",\n".join([*head, '"types":{\n' + ",\n".join(types) + "}"]) + "}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


if __name__ == "__main__":
    raise SystemExit(main())
