"""Fronts of rooms: names that other rooms import, each loaded from its module when it is first asked for.

A front (``__init__.py``) lists its names under ``if TYPE_CHECKING:`` for type checkers and readers, and in ``__all__``.
Importing all of them at once would load whole rooms for a command that needs one name, and would turn the order of
modules inside a room into circles; so at run time ``lazy`` finds them (PEP 562).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from workbench import moved_modules, regex

_IMPORT = regex.compile(r"^    from ([\w.]+) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)


def lazy(package: str) -> Callable[[str], Any]:
    """Return ``__getattr__`` for the front of a package.

    Nothing is kept in the package: a name that a test replaces in its module is replaced here, too.

    Args:
        package: its ``__name__``. The names are those of the imports under ``if TYPE_CHECKING:`` in its source.
    """
    homes: dict[str, tuple[str, str]] = {}

    def load(name: str) -> Any:
        if not homes:
            homes.update(_exported_names(package))
        home = homes.get(name)
        if home is None:
            if new := moved_modules.present_name(package, name):
                return getattr(sys.modules[package], new)
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, there = home
        return import_module(f"{package}.{there}") if module == package else getattr(_module(module), there)

    return load


def _module(name: str) -> Any:
    """A module, imported if necessary. One that another thread is importing lacks names, and is waited for."""
    module = sys.modules.get(name)
    is_partial = module is None or getattr(module.__spec__, "_initializing", False)
    return import_module(name) if is_partial else module


class _Late:
    """A function or class of another module, which is imported at the first call."""

    __slots__ = ("_home", "_name")

    def __init__(self, home: str, name: str) -> None:
        self._home, self._name = home, name

    def __call__(self, *args: Any, **options: Any) -> Any:
        return getattr(_module(self._home), self._name)(*args, **options)

    def __repr__(self) -> str:
        return f"<late {self._home}.{self._name}>"


def late(home: str, *names: str) -> Iterator[Any]:
    """Functions and classes of a module that is imported when the first of them is called.

    For tables of functions of which a command uses few: the writers and the streams of protocols.

    Args:
        home: name of the module.
        names: of what can be called; nothing else of it can be used.
    """
    return (_Late(home, name) for name in names)


def _exported_names(package: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Name → module, and the name there, of all that the source of a package imports under ``if TYPE_CHECKING:``.

    The imports are found by their shape, which the formatter keeps: parsing them takes ten times as long.
    """
    module = sys.modules[package]
    source = module.__loader__.get_data(str(module.__file__)).decode()  # type: ignore[union-attr]  # files and archives
    _, _, block = source.partition("\nif TYPE_CHECKING:\n")
    for module, wrapped, plain in _IMPORT.findall(block.partition("\nelse:\n")[0]):
        for name in (wrapped or plain).split(","):
            if name.strip():
                words = name.split()
                yield words[-1], (module, words[0])
