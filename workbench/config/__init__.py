"""Configuration: safe YAML, and the files that ship with Workbench together with the user's own.

In: untrusted YAML text, and names of resources. Out: plain data (JSON types and bytes), and paths of resources in a
checkout, a wheel or the user's folders. It may import the core alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.config import cache_files, resources, safeyaml
    from workbench.config.resources import folder, state_folder
    from workbench.config.safeyaml import load
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "cache_files",
    "folder",
    "load",
    "resources",
    "safeyaml",
    "state_folder",
]
