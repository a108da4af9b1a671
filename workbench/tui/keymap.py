"""A user's own keys, which replace those of the table ``keys``.

``$XDG_CONFIG_HOME/workbench/keys.yaml`` maps ids of the table to a key, a list of keys, or ``none``::

    keymap: classic
    session.next-break: ["]", f8]
    wire.headers: none

``keymap`` names a file of ``tui/keymaps`` that the entries are laid over. ``hints: none`` keeps the keys of a screen
from being shown to a person who pauses there.

A wrong entry is reported, and the others still apply. This module does not import Textual.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.config import resources
from workbench.errors import did_you_mean
from workbench.tui import keys
from workbench.tui.keys import Key

if TYPE_CHECKING:
    from workbench.ir import JsonValue

Names = tuple[str, ...]

KEYMAP = "keymap"
"""Entry that names a keymap of this folder."""

HINTS = "hints"
"""Entry that switches the hints off."""

_MODIFIERS = frozenset({"ctrl", "alt", "shift", "super", "hyper", "meta"})
_NAMED = frozenset(
    (
        *("escape", "enter", "tab", "space", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown"),
        *("up", "down", "left", "right", *(f"f{n}" for n in range(1, 25))),
    )
)
_ALIASES = {"esc": "escape", "pgdn": "pagedown", "pgup": "pageup", "del": "delete", "ins": "insert", "return": "enter"}
_SENT_AS = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace", "ctrl+[": "escape"}
"""Keys that a terminal does not tell apart from another."""


class Keymap(NamedTuple):
    """The keys of a user.

    Attributes:
        changed: id → its keys, as Textual names them; empty if the key is switched off.
        problems: entries that do not apply and why, a line each.
        is_quiet: the keys of a screen are not shown after a pause.
    """

    changed: Mapping[str, Names] = {}
    problems: Names = ()
    is_quiet: bool = False

    def row(self, key: Key) -> Key:
        """A row of the table with the user's keys."""
        return key._replace(keys=",".join(self.changed[key.id])) if key.id in self.changed else key

    def is_off(self, id: str) -> bool:
        """The user has switched off a key."""
        return self.changed.get(id) == ()

    def rows(self, table: Iterable[Key]) -> list[Key]:
        """Rows with the user's keys."""
        return [self.row(key) for key in table]

    def overrides(self) -> dict[str, str]:
        """Bindings for Textual in place of the table's; a key that is switched off gets a name that no key has."""
        return {id: ",".join(names) or f"none-{id}" for id, names in self.changed.items()}


def keymap_of(app: object) -> Keymap:
    """The keys of the user of an app; the default keys for an app without a keymap, as in tests."""
    found: Keymap = getattr(app, "keymap", Keymap())
    return found


def path() -> Path:
    """Path of the user's file; it need not exist."""
    return resources.own_folder("keys.yaml")


def load(file: Path) -> Keymap:
    """The keys of a file; the default keys if the file does not exist."""
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        return Keymap()
    except OSError as error:
        return Keymap(problems=(f"{file}: {error.strerror or error}",))
    from workbench.config import load as parse
    from workbench.errors import WorkbenchError

    try:
        return read(parse(text, name=file.name))
    except WorkbenchError as error:
        return Keymap(problems=(str(error),))


def read(value: JsonValue) -> Keymap:
    """The keys of a parsed file."""
    if value is None:
        return Keymap()
    if not isinstance(value, dict):
        return Keymap(problems=("keys.yaml must be a mapping from ids to keys: see workbench keys",))
    problems: list[str] = []
    wanted: dict[str, Names] = {}
    own = {id: entry for id, entry in value.items() if id not in (KEYMAP, HINTS)}
    for id, entry in (own | {id: entry for id, entry in _base(value, problems).items() if id not in own}).items():
        try:
            wanted[id] = _entry(id, entry)
        except ValueError as error:
            problems.append(f"{id}: {error}")
    if value.get(HINTS) not in (None, "none"):
        problems.append(f"{HINTS}: the only accepted value is none, which switches the hints off")
    table = _settle(wanted, problems)
    return Keymap(table, tuple(problems), is_quiet=value.get(HINTS) == "none")


def _base(value: Mapping[str, JsonValue], problems: list[str]) -> Mapping[str, JsonValue]:
    """Entries of the keymap that a file names; none if it names none."""
    from workbench.config import load as parse

    name = value.get(KEYMAP)
    if name is None:
        return {}
    found = {file.stem: file for file in (Path(__file__).parent / "keymaps").glob("*.yaml")}
    if name not in found:
        problems.append(f"{KEYMAP}: no keymap {name!r}; available: {', '.join(sorted(found))}")
        return {}
    entries = parse(found[str(name)].read_bytes(), name=f"{name}.yaml")
    return entries if isinstance(entries, dict) else {}


def _entry(id: str, value: JsonValue) -> Names:
    """The keys of an entry. Raises ValueError with the reason if they cannot be used."""
    known = keys.table()
    if id not in known:
        near = did_you_mean(id, known)
        raise ValueError(f"no such id; {near}" if near else "no such id: see workbench keys")
    if value is None or value == "none":
        return ()
    words = value if isinstance(value, list) else str(value).split(",")
    return tuple(dict.fromkeys(_name(id, str(word).strip()) for word in words))


def _name(id: str, word: str) -> str:
    name = canonical(word)
    if name is None:
        raise ValueError(
            f"{word!r} is not the name of a key; names are, for example, n, ?, f8, ctrl+x, enter, space, comma, none"
        )
    if name in _SENT_AS:
        raise ValueError(f"a terminal sends {word} as {_SENT_AS[name]}")
    if id in keys.EVEN_WHILE_TYPING and len(keys.readable(name)) == 1:
        raise ValueError(f"{word} is also a character that you can type: use a key with ctrl, or a function key")
    return name


def canonical(word: str) -> str | None:
    """A key as Textual names it, or a single character; None when there is no such key."""
    if len(word) == 1:
        return {",": "comma", " ": "space"}.get(word, word) if word.isprintable() else None
    *modifiers, base = word.split("+")
    base = _ALIASES.get(base.lower(), base)
    if not _MODIFIERS.issuperset(modifiers):
        return None
    if len(base) > 1:
        base = base.lower()
        if base not in _NAMED and keys.readable(base) == base != "comma":
            return None
    if modifiers == ["shift"] and len(base) == 1:
        return base.upper() if base.isalpha() else None
    base = base.lower() if modifiers else base
    return "+".join((*sorted(set(modifiers)), base)) if base else None


class _Clash(NamedTuple):
    one: str
    other: str
    name: str


def _settle(wanted: dict[str, Names], problems: list[str]) -> dict[str, Names]:
    """Remove entries whose key is already used; of two new ones the first in the file is kept."""
    order = list(wanted)
    settled = dict(wanted)
    while clash := next(_clashes(settled), None):
        loser = max((clash.one, clash.other), key=lambda id: order.index(id) if id in settled else -1)
        winner = clash.other if loser == clash.one else clash.one
        del settled[loser]
        problems.append(f"{loser}: {clash.name} is already used by {winner} on the same screen")
    return settled


def _clashes(changed: Mapping[str, Names]) -> Iterator[_Clash]:
    keymap = Keymap(changed)
    for scope in keys.SCOPES.values():
        own = keymap.rows(scope.keys)
        for rows in (own, *([*keymap.rows(keys.SCOPES[other].keys), *own] for other in scope.over)):
            owners: dict[str, str] = {}
            for sign, id in ((sign, row.id) for row in rows for sign in row.names):
                other = owners.setdefault(sign, id)
                if other != id and not changed.keys().isdisjoint((other, id)):
                    yield _Clash(other, id, sign)
