"""Checks files, one after another or many at once; a folder or a pattern stands for its files."""

from __future__ import annotations

import argparse
import gc
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import children, plugins
from workbench.cli import _files, _output
from workbench.cli._check.file_report import FileReport
from workbench.cli._progress import counting
from workbench.config import resources
from workbench.errors import WorkbenchError
from workbench.formats.importers import files_in, is_pattern, matches, open_found, reads_other_files
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import KnownParts

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from workbench.filters import Filter
    from workbench.library import FileKey, VerdictStore

MANY_FILES = 48
"""Files from which on several processes check them: starting one costs as much as checking ten small files."""

AT_ONCE = 16
"""Files that a process gets at a time."""


EXAMPLE = "anthropic-tool-loop.jsonl"
"""Session that is checked before the processes are made."""

AHEAD = 4
"""Batches for each process that are checked before their turn: more would wait in memory for a slow one."""


class FileToCheck(NamedTuple):
    """A file to check. ``is_found``: it was found in a folder, and counts only if an importer claims it."""

    path: str
    is_found: bool = False


class FileOutcome(NamedTuple):
    """Outcome of one file: a report, or an error line with its exit status, or neither if no importer claims it.

    ``is_lasting``: the report is that of the file alone, and the same as long as the file is.
    """

    path: str
    report: FileReport | None = None
    error: str = ""
    status: int = 0
    is_lasting: bool = False


def files_of(paths: Sequence[str]) -> Iterator[FileToCheck | FileOutcome]:
    """The files that the arguments name, in order; an error for a folder or a pattern without files."""
    for path in paths:
        if path != "-" and is_pattern(path):
            inside = (file for match in matches(path) for file in _files_at(match, is_named=False))
            found = dict.fromkeys(file.path for file in inside)
            if not found:
                yield FileOutcome(path, error=f"{path}: no file matches this pattern", status=2)
            yield from (FileToCheck(name, is_found=True) for name in found)
        else:
            yield from _files_at(path, is_named=True)


def _files_at(path: str, *, is_named: bool) -> Iterator[FileToCheck | FileOutcome]:
    if path == "-" or not os.path.isdir(path):
        yield FileToCheck(path)
        return
    count = 0
    for count, file in enumerate(files_in(Path(path)), 1):  # noqa: B007 (the number of the last one is wanted)
        yield FileToCheck(str(file), is_found=True)
    if not count and is_named:
        yield FileOutcome(path, error=f"{path}: this folder contains no files", status=2)


def check_all(
    files: Iterable[FileToCheck | FileOutcome], args: argparse.Namespace, passes: Filter | None
) -> Iterator[FileOutcome]:
    """The outcome of each file, in order; with a progress bar if there are many of them on a terminal."""
    items = list(files)
    cache = _KeptOutcomes(args)
    known = {file: cache.find(file) for file in items if isinstance(file, FileToCheck)}
    to_check = [file for file, outcome in known.items() if outcome is None]
    is_few = len(to_check) < MANY_FILES or any(file.path == "-" for file in to_check)
    one_by_one = (check_file(file, args, passes) for file in to_check)
    outcomes = one_by_one if is_few else _check_many(to_check, args, passes)
    try:
        for file in items:
            outcome = file if isinstance(file, FileOutcome) else known[file]
            if outcome is None and isinstance(file, FileToCheck):
                known[file] = outcome = next(outcomes)
                cache.add(file, outcome)
            if outcome:
                yield outcome
    finally:
        cache.save()


def _verdict_store(args: argparse.Namespace) -> VerdictStore:
    from workbench.library import VerdictStore  # and all of inspection

    return VerdictStore((args.provider, args.protocol, args.filter))


class _KeptOutcomes:
    """Outcomes of earlier runs for files that are the same, and those of this run for later ones."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._fail_on = args.fail_on
        self._store = None if args.no_cache else _verdict_store(args)
        self._keys: dict[FileToCheck, FileKey] = {}

    def find(self, file: FileToCheck) -> FileOutcome | None:
        """The outcome of a file; None if it has to be inspected."""
        if self._store is None or file.path == "-":
            return None
        key = self._store.key(file.path, is_found=file.is_found)
        verdict = self._store.find(key) if key else None
        if verdict is None:
            if key:
                self._keys[file] = key
            return None
        report = FileReport(file.path, verdict.inspection, contradicted=verdict.contradicted)
        return FileOutcome(file.path, report, status=report.status(self._fail_on))

    def add(self, file: FileToCheck, outcome: FileOutcome) -> None:
        """Keep an outcome, if it is to be kept."""
        key = self._keys.pop(file, None)
        if self._store and key and outcome.report and outcome.is_lasting:
            self._store.add(file.path, key, outcome.report.inspection, outcome.report.contradicted)

    def save(self) -> None:
        """Write what was added."""
        if self._store:
            self._store.save()


def _check_many(files: Sequence[FileToCheck], args: argparse.Namespace, passes: Filter | None) -> Iterator[FileOutcome]:
    """Outcomes from several processes, in order."""
    batches = [files[start : start + AT_ONCE] for start in range(0, len(files), AT_ONCE)]
    workers = min(os.cpu_count() or 1, len(batches))
    _warm_up(args)
    pool = children.pool(workers) if workers > 1 else None
    with counting("checking", len(files)) as advance:
        if pool is None:
            for file in files:
                yield check_file(file, args, passes)
                advance()
            return
        try:
            running: deque[tuple[Sequence[FileToCheck], Future[list[FileOutcome]]]] = deque()
            for batch in batches:
                running.append((batch, _submit(pool, batch, args, passes)))
                if len(running) >= AHEAD * workers:
                    yield from _results(*running[0])
                    advance(len(running.popleft()[0]))
            for waiting in running:
                yield from _results(*waiting)
                advance(len(waiting[0]))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _submit(
    pool: Executor, batch: Sequence[FileToCheck], args: argparse.Namespace, passes: Filter | None
) -> Future[list[FileOutcome]]:
    """The outcomes of a batch, once they are there; a failure at once if a process of the pool died."""
    from concurrent.futures import BrokenExecutor, Future

    try:
        return pool.submit(_check_batch, batch, args, passes)
    except BrokenExecutor as error:
        failed: Future[list[FileOutcome]] = Future()
        failed.set_exception(error)
        return failed


def _warm_up(args: argparse.Namespace) -> None:
    """Check an example, so that the processes, which are copies of this one, have read modules and contracts.

    It is a healthy one: what explains refusals takes half a second to read, and many folders need it nowhere.
    """
    with suppress(Exception):  # whatever it is, it is said of the files that were asked for
        inspect_file(str(resources.folder("sessions") / EXAMPLE), args, None, is_found=True)
    gc.collect()
    gc.freeze()  # else each process copies the pages of all objects when it collects


def _results(batch: Sequence[FileToCheck], future: Future[list[FileOutcome]]) -> list[FileOutcome]:
    """Outcomes of a batch; an error for each of its files if its process died."""
    from concurrent.futures import BrokenExecutor

    try:
        return future.result()
    except BrokenExecutor:
        why = "not checked: the checking process died on this file or another one in its batch"
        hint = "check these files one by one"
        return [FileOutcome(file.path, error=f"{file.path}: {why}; {hint}", status=4) for file in batch]


def _check_batch(batch: Sequence[FileToCheck], args: argparse.Namespace, passes: Filter | None) -> list[FileOutcome]:
    return [check_file(file, args, passes) for file in batch]


def check_file(file: FileToCheck, args: argparse.Namespace, passes: Filter | None) -> FileOutcome:
    """The outcome of one file. Never raises."""
    path = file.path
    try:
        report, is_lasting = inspect_file(path, args, passes, is_found=file.is_found)
    except (WorkbenchError, OSError) as error:
        line = _output.describe_os_error(error) if isinstance(error, OSError) else str(error)
        return FileOutcome(path, error=line, status=_files.failure_status(error))
    except Exception as error:  # a fault of this program: the other files are still answered
        from workbench import crashes

        return FileOutcome(path, error=f"{path}: {crashes.report(error)}", status=crashes.STATUS)
    if report is None:
        return FileOutcome(path)
    return FileOutcome(path, report, status=report.status(args.fail_on), is_lasting=is_lasting)


def inspect_file(
    path: str, args: argparse.Namespace, passes: Filter | None, *, is_found: bool = False
) -> tuple[FileReport | None, bool]:
    """Inspect one file; findings of matching exchanges, with repairs. None for a found file that nobody claims.

    Also returns whether the report is the same as long as the file is.

    Raises WorkbenchError, OSError.
    """
    from workbench.rules import by_cause, contradicted_facts

    session = open_found(path) if is_found else _files.open_file(path, args)
    if session is None:
        return None, False
    try:
        inspector = _files.inspector(session, args, parts=_known_parts())
        inspection = inspector.run()
        if passes:
            from workbench.filters import narrow

            inspection = narrow(inspection, session, passes)
        facts = tuple(contradicted_facts(inspection.findings))
        found = by_cause(inspection.findings)
        if found:
            from workbench.edits.repairs import with_repairs

            found = with_repairs(inspector, found)
        is_lasting = not (session.is_live or reads_other_files(session) or plugins.failures())
        return FileReport(path, replace(inspection, findings=found), contradicted=facts), is_lasting
    finally:
        session.close()


@cache
def _known_parts() -> KnownParts:
    """Tools, system prompts and messages that several files of this process have in common."""
    return KnownParts()
