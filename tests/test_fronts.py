"""Fronts of rooms, from several threads."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from threading import Event

import pytest

from workbench.fronts import late

GATES: dict[str, Event] = {}
MODULE = f"from {__name__} import GATES\nGATES['begun'].set()\nGATES['go'].wait(20)\ndef answer():\n    return 42\n"


def test_a_module_that_another_thread_is_importing_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slowly_imported.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    GATES.update(begun=Event(), asked=Event(), go=Event())
    (answer,) = late("slowly_imported", "answer")

    def ask() -> object:
        GATES["asked"].set()
        return answer()

    with ThreadPoolExecutor(2) as threads:
        importing = threads.submit(import_module, "slowly_imported")
        assert GATES["begun"].wait(20) and "slowly_imported" in sys.modules
        asking = threads.submit(ask)
        assert GATES["asked"].wait(20)
        GATES["go"].set()
        assert asking.result() == 42 and importing.result()
