"""The app, and the only room that imports Textual.

In: a session, keys and the mouse. Out: screens. It knows no protocol: it shows the pointers, parts, spans and lines of
its view models (``models``). It may import the core and the rooms up to ``recorder``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.tui import keymap, keys
    from workbench.tui.keymap import Keymap
    from workbench.tui.linear import LinearReader
    from workbench.tui.start import run
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "Keymap",
    "LinearReader",
    "keymap",
    "keys",
    "run",
]
