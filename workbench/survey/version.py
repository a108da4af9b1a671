"""Version of the rules: a digest of the code and the facts that decide what is found."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path

import workbench
from workbench.config import resources

_DECIDING = ("chain", "contracts", "formats/importers", "protocols", "rules", "toolcalls")


@cache
def rules_version() -> str:
    """It changes when a rule, a contract or a reader does: then everything is judged again."""
    package = Path(workbench.__file__).parent
    digest = blake2b(workbench.__version__.encode(), digest_size=8)
    for folder in (*(package / name for name in _DECIDING), Path(str(resources.folder("profiles")))):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".yaml", ".json"):
                digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
