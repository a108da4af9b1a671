"""Files that ship with the program, in a checkout or a wheel, and the user's own files."""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).parent.parent
_PAGES = _PACKAGE / "contracts" / "rule_pages"
_REFUSALS = _PACKAGE / "protocols" / "refusals"


def folder(name: str) -> Path:
    """The folder ``sessions`` or ``profiles``."""
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def glossary() -> str:
    """The page ``docs/glossary.md``, which ships as data. Raises OSError."""
    installed = _PACKAGE / "_data" / "glossary.md"
    return (installed if installed.is_file() else _PACKAGE.parent / "docs" / "glossary.md").read_text("utf-8")


def own_folder(name: str) -> Path:
    """The user's own folder of that name: ``$XDG_CONFIG_HOME/workbench/NAME``. It need not exist."""
    return _home("XDG_CONFIG_HOME", ".config") / "workbench" / name


def state_folder(name: str) -> Path:
    """Folder of the program's state: ``$XDG_STATE_HOME/workbench/NAME``. It need not exist."""
    return _home("XDG_STATE_HOME", ".local/state") / "workbench" / name


def cache_folder() -> Path:
    """Folder of what can be derived again: ``$XDG_CACHE_HOME/workbench``. It need not exist."""
    return _home("XDG_CACHE_HOME", ".cache") / "workbench"


def pages() -> tuple[str, ...]:
    """Slugs of the rules that have a page, sorted."""
    return tuple(sorted(path.stem for path in _PAGES.glob("*.yaml")))


def page(slug: str) -> bytes:
    """The text of a rule's page. Raises OSError."""
    return (_PAGES / f"{slug}.yaml").read_bytes()


def refusal_table(name: str) -> bytes:
    """A table about error texts: ``validators``, ``words``, ``speakers``. Raises OSError."""
    return (_REFUSALS / f"{name}.yaml").read_bytes()


def refusal_tables(folder: str) -> dict[str, bytes]:
    """Name → table of each file in a folder about error texts: ``kinds``, ``statements``. Raises OSError."""
    return {path.stem: path.read_bytes() for path in sorted((_REFUSALS / folder).glob("*.yaml"))}


def shipped_profiles() -> dict[str, Path]:
    """Contract name → the file that ships."""
    return _contracts_in(folder("profiles"))


def shared_profiles() -> dict[str, Path]:
    """Name → file of what several contracts share: their key ``includes`` names it."""
    return _contracts_in(folder("profiles") / "shared")


def own_profiles() -> dict[str, Path]:
    """Contract name → the user's own file."""
    return _contracts_in(own_folder("profiles"))


def profile(path: Path) -> bytes:
    """The text of a contract's file. Raises OSError."""
    return path.read_bytes()


def protocol_file(protocol: str, name: str) -> bytes | None:
    """A data file in the folder of a protocol (grammar, overlay, claimed keys); None if there is none."""
    file = _PACKAGE / "protocols" / protocol.replace("-", "_") / name
    return file.read_bytes() if file.is_file() else None


def provider_grammars(protocol: str) -> list[str]:
    """Names of the providers with a grammar of their own in the folder of a protocol."""
    files = (_PACKAGE / "protocols" / protocol.replace("-", "_")).glob("grammar-*.json")
    names = sorted(file.stem.removeprefix("grammar-") for file in files)
    return [name for name in names if name != "overlay"]


def model_facts(name: str) -> bytes:
    """A file of the table of model facts."""
    return (_PACKAGE / "contracts" / name).read_bytes()


def price_list() -> Path:
    """Path of the shipped prices."""
    return _PACKAGE / "rules" / "metrics" / "prices.yaml"


def close_codes() -> bytes:
    """The table of codes with which a WebSocket is closed. Raises OSError."""
    return (_PACKAGE / "rules" / "close_codes.yaml").read_bytes()


def client_facts() -> bytes:
    """The table of facts about clients. Raises OSError."""
    return (_PACKAGE / "protocols" / "clients" / "clients.yaml").read_bytes()


def own_prices() -> Path:
    """Path of the user's own prices, which replace the shipped ones. It need not exist."""
    return own_folder("prices.yaml")


def contract_schema() -> bytes:
    """The JSON Schema of contracts. Raises OSError."""
    return (folder("profiles") / "contract.schema.json").read_bytes()


def _home(variable: str, usual: str) -> Path:
    """A folder of the user. As in XDG, a relative one is ignored: the working directory decides nothing."""
    path = Path(os.environ.get(variable, ""))
    return path if path.is_absolute() else Path.home() / usual


def _contracts_in(place: Path) -> dict[str, Path]:
    return {file.stem: file for file in sorted(place.glob("*.yaml"))}
