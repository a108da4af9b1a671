"""The folder of a survey: its manifest, the plan of a run that is not over, parts, tables, and commits.

Readers list only what a commit names. A commit is written last, under a number that nobody else can take.

    OUT/_survey.json            id and version of the tables
    OUT/_plan.jsonl.zst         batches of the open run, and an index of them
    OUT/parts/BATCH.jsonl.zst   rows of a batch, until they are committed
    OUT/TABLE/RUN.parquet       rows of a run (.jsonl.zst without DuckDB)
    OUT/_commits/N.json         a run: its counts, and the files that belong to it
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from workbench.errors import UsageError, WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.survey.parts import SUFFIX, Batch
from workbench.survey.plans import PlannedBatch, SurveyPlan, read_plan, write_plan
from workbench.survey.schema import VERSION
from workbench.wire import loads

MANIFEST, PLAN, PARTS, COMMITS = "_survey.json", "_plan.jsonl.zst", "parts", "_commits"


@dataclass(frozen=True, slots=True)
class Commit:
    """One committed run.

    Attributes:
        number: of the run, from one.
        about: its manifest: counts, rules, times, files.
    """

    number: int
    about: Mapping[str, JsonValue]

    @property
    def is_complete(self) -> bool:
        """Every object that was listed has a status."""
        return bool(self.about["complete"])

    def files(self, table: str) -> list[str]:
        """Names of the files with the rows of a table, below the folder of the survey."""
        names = self.about["tables"].get(table, [])
        return [name for name in names if isinstance(name, str)]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The folder of a survey."""

    folder: Path

    @property
    def parts(self) -> Path:
        """Folder of the parts."""
        return self.folder / PARTS

    def create(self) -> str:
        """Create the folder if it is not there; returns the id of the survey. Raises UsageError, OSError."""
        if self.folder.exists() and not self.is_survey() and any(self.folder.iterdir()):
            raise UsageError(f"{self.folder} is not empty and is not a survey", hint="choose another folder")
        self.parts.mkdir(parents=True, exist_ok=True)
        (self.folder / COMMITS).mkdir(exist_ok=True)
        manifest = {"survey": secrets.token_hex(8), "schema": VERSION}
        _write_once(self.folder / MANIFEST, json.dumps(manifest, indent=1).encode() + b"\n")
        return self.id

    def is_survey(self) -> bool:
        """True for a folder with a manifest."""
        return (self.folder / MANIFEST).is_file()

    @property
    def id(self) -> str:
        """Id of the survey. Raises UsageError for a folder of a newer version, or of none."""
        manifest = self._manifest()
        newest = max((commit.about["schema"] for commit in self.commits()), default=manifest["schema"])
        if newest > VERSION:
            raise UsageError(f"{self.folder} has tables of version {newest}; this Workbench reads version {VERSION}")
        return str(manifest["survey"])

    @property
    def version(self) -> int:
        """Version of its oldest tables. Raises UsageError for a folder that is no survey."""
        return int(self._manifest()["schema"])

    def _manifest(self) -> dict[str, JsonValue]:
        try:
            manifest: dict[str, JsonValue] = loads((self.folder / MANIFEST).read_bytes())
        except (OSError, WireError) as error:
            raise UsageError(
                f"{self.folder} is not a survey", hint=("give the folder that was passed to workbench survey -o")
            ) from error
        return manifest

    def plan(self) -> SurveyPlan | None:
        """The plan of the open run; None if there is none."""
        path = self.folder / PLAN
        return read_plan(path) if path.exists() else None

    def begin(self, batches: Iterable[Batch], about: Callable[[], Mapping[str, JsonValue]]) -> SurveyPlan:
        """Keep a plan, written while its batches are made; if another process has kept one first, that one is returned.

        Args:
            about: what the plan says of the run; called after the last batch.

        Raises:
            OSError: it cannot be written, or the objects cannot be listed: then no plan is kept.
        """
        with _written_once(self.folder / PLAN) as file:
            write_plan(file, batches, about)
        return read_plan(self.folder / PLAN)

    def part(self, batch: Batch | PlannedBatch) -> Path:
        """The path of a batch's part."""
        return self.parts / (batch.name + SUFFIX)

    def commits(self) -> Iterator[Commit]:
        """All commits, the oldest first."""
        for path in sorted((self.folder / COMMITS).glob("*.json")):
            yield self.read_commit(path)

    def read_commit(self, path: Path) -> Commit:
        """The commit in a file. Raises OSError, WireError."""
        about = loads(path.read_bytes())
        return Commit(about["run"], about)

    def last(self) -> Commit | None:
        """The newest commit."""
        commits = list(self.commits())
        return commits[-1] if commits else None

    def commit(self, about: Mapping[str, JsonValue]) -> Commit:
        """Commit a run, and remove its plan and its parts. Raises OSError; FileExistsError if it is committed."""
        path = self.folder / COMMITS / f"{about['run']:06}.json"
        _write_once(path, json.dumps(about, indent=1).encode() + b"\n", must_be_new=True)
        self.clear()
        return Commit(about["run"], about)

    def clear(self) -> None:
        """Remove the plan, then the parts: what is left of a removal that was interrupted is swept by the next run."""
        (self.folder / PLAN).unlink(missing_ok=True)
        self.sweep()

    def sweep(self) -> None:
        """Remove parts that belong to no plan."""
        for path in self.parts.glob("*"):
            path.unlink(missing_ok=True)

    def path_of(self, table: str, run: int, suffix: str) -> Path:
        """Where the rows of a run go."""
        return self.folder / table / f"{run:06}{suffix}"


def _write_once(path: Path, data: bytes, *, must_be_new: bool = False) -> None:
    """Write a file unless it exists. Raises OSError."""
    with _written_once(path, must_be_new=must_be_new) as file:
        file.write(data)


@contextmanager
def _written_once(path: Path, *, must_be_new: bool = False) -> Iterator[BinaryIO]:
    """A file that gets its name when it is whole, unless it exists: nobody reads a half. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, path)
    except FileExistsError:
        if must_be_new:
            raise
    finally:
        temporary.unlink(missing_ok=True)
