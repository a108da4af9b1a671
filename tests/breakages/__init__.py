"""Published failures of tool use, as data: many catalogues with an artefact each, and error texts with their rule.

``breakages.yaml`` describes its fields at its head. ``error-texts.tsv`` has the columns text (as pasted, ``\\n`` for a
line break), provider, source, right_rule (``|`` between rules that are equally right) and first. ``python -m
tests.breakages`` scores all of them.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
CATALOGUES = ("breakages", "breakages-2", "breakages-3", "breakages-4", "breakages-5", "breakages-6", "breakages-7",
             "breakages-8", "breakages-9", "breakages-10", "breakages-11",
             "breakages-12", "breakages-13", "breakages-14", "breakages-17", "breakages-16",
             "breakages-18", "breakages-15", "breakages-19", "breakages-20", "breakages-23",
             "breakages-21", "breakages-22", "breakages-24", "breakages-25", "breakages-26",
             "breakages-28", "breakages-27", "breakages-29", "breakages-30", "breakages-31",
             "breakages-35", "breakages-36", "breakages-37", "breakages-32", "breakages-38",
             "breakages-39", "breakages-40", "breakages-45", "breakages-46",
             "breakages-41", "breakages-42", "breakages-47", "breakages-48", "breakages-51",
             "breakages-52", "breakages-49", "breakages-60", "breakages-53", "breakages-54",
             "breakages-61", "breakages-62", "breakages-55", "breakages-63",
             "breakages-56", "breakages-57", "breakages-70",
             "breakages-71", "breakages-72", "breakages-73",
             "breakages-58", "breakages-59", "breakages-74", "breakages-64",
             "breakages-80", "breakages-81", "breakages-75", "breakages-82", "breakages-83",
             "breakages-91", "breakages-84")  # fmt: skip
ERROR_TEXTS = "error-texts"

Entry = dict[str, Any]


@cache
def entries(name: str = CATALOGUES[0]) -> tuple[Entry, ...]:
    """The entries of a catalogue, parsed once a process; nobody may change them."""
    return tuple(load(HERE / f"{name}.yaml")["entries"])


def load(path: Path) -> Any:
    """The value of a YAML file of ours."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times as fast
    return yaml.load(path.read_bytes(), Loader=loader)


def entry(name: str) -> Entry:
    """The entry of the first catalogue with this id."""
    return next(found for found in entries() if found["id"] == name)


def error_texts() -> list[dict[str, str]]:
    """The rows of the table of error texts."""
    with (HERE / f"{ERROR_TEXTS}.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row | {"text": row["text"].replace("\\n", "\n")} for row in rows]
