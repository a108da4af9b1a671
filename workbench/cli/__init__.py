"""The command line: one file per command.

In: arguments. Out: text or JSON on standard output, and an exit code. It may import the core and the rooms up to
``tui``. A command module has ``HELP`` (one line), ``configure(parser)`` and ``run(args) -> int``. A folder that begins
with an underscore has the parts of one command or of a few, a file that begins with one is shared by many. Nothing
heavy is imported before a command runs, and Textual only by commands that show a screen.
"""

from __future__ import annotations

import sys

from workbench import __version__

__all__ = [
    "main",
    "parser",
]

TYPE_CHECKING = False  # --version imports no typing

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


COLLECT_AFTER = 100_000
"""New objects after which garbage in cycles is collected; the default, 700, does so 120 times while modules load."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: see "Exit" in ``workbench --help``."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words in (["--version"], ["-V"]):
        sys.stdout.write(f"workbench {__version__}\n")
        return 0
    if argv is None and words[:1] in _SHORT:
        _put_off("inspect", "ipaddress")
    from workbench.cli._shell import run

    if argv is not None:
        return run(words)
    import gc

    gc.set_threshold(COLLECT_AFTER, 10, 10)
    try:
        return run(words)
    finally:
        gc.freeze()  # the process ends: to look at every object three more times takes 30 ms


_SHORT = (["check"], ["convert"], ["explain"], ["show"])
"""Commands that take less time than the modules that are put off."""


def _put_off(*names: str) -> None:
    """Let modules of the standard library be read at the first use of a name: others import them for rare cases."""
    from importlib.util import find_spec, module_from_spec
    from types import ModuleType

    class Late(ModuleType):
        def __getattr__(self, name: str) -> object:
            spec = self.__spec__
            if name.startswith("__") or spec is None or spec.loader is None:
                raise AttributeError(name)
            self.__class__ = ModuleType  # type: ignore[assignment]
            spec.loader.exec_module(self)
            return getattr(self, name)

    for name in names:
        spec = None if name in sys.modules else find_spec(name)
        if spec:
            sys.modules[name] = module = module_from_spec(spec)
            module.__class__ = Late


def parser() -> argparse.ArgumentParser:
    """Parser of the whole command line, for help and completion."""
    from workbench.cli._shell import build

    return build()
