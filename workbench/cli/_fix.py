"""``check --fix``: a repaired copy of one file, and what was done."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _files, _output
from workbench.cli._report import FileReport
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.edits.repairs import ExchangeFix
    from workbench.wire.session import MemorySession, Session


def run(args: argparse.Namespace) -> int:
    """Repair one file into another; print what was done and what remains. Raises WorkbenchError, OSError."""
    from workbench.cli import check
    from workbench.edits import repairs
    from workbench.rules import by_cause, contradicted

    out = _checked(args)
    _files.validate(args)
    session = _files.open_file(args.files[0], args)
    try:
        made, done = repairs.repair_session(_files.inspector(session, args), session)
        is_body = _is_body(session)
        _write(made, session, out, is_body=is_body)
    finally:
        session.close()
    inspector = _files.inspector(made, args)
    inspection = inspector.run()
    facts = tuple(contradicted(inspection.findings))
    report = FileReport(str(out), replace(inspection, findings=by_cause(inspection.findings)), tuple(done), facts)
    if args.format == "text":
        for line in _told(done, out):
            _output.emit(line)
    check.report(args.format, [report], [])
    return report.status(args.fail_on)


def _checked(args: argparse.Namespace) -> Path:
    """Where to write. Raises UsageError for what --fix cannot do."""
    if not args.fix:
        raise UsageError(
            f"{'-o' if args.output is not None else '--force'} goes with --fix",
            hint="workbench check FILE --fix -o OUT",
        )
    if args.output is None:
        raise UsageError("--fix writes a new file", hint="say where: -o OUT")
    if len(args.files) != 1:
        raise UsageError("--fix takes one FILE", hint="repair them one by one")
    if args.filter:
        raise UsageError("--fix repairs the whole of a file", hint="leave --filter out")
    out = Path(args.output)
    if str(out) == "-" or (out.exists() and not out.is_file()):
        raise UsageError(f"{out} is no regular file", hint="name a file to write")
    _files.refuse_to_replace(out, args.files[0], is_forced=args.force)
    return out


def _is_body(session: Session) -> bool:
    """The file is one request body by itself."""
    from workbench.formats.importers.body import TITLE

    return getattr(session, "format", "") == TITLE and len(session) == 1 and session.exchange(0).request is not None


def _write(made: MemorySession, source: Session, out: Path, *, is_body: bool) -> None:
    from workbench.wire.session import store

    request = made.exchange(0).request if is_body else None
    if request is not None:
        out.write_bytes(request.body.raw)
    else:
        store.save(made.exchanges, out, about=made.about, form=store.form_of(source))


def _told(done: list[ExchangeFix], out: Path) -> Iterator[str]:
    """What was done to each exchange that was broken."""
    from workbench.contracts import Severity
    from workbench.edits.repairs import CHECKED

    changed = [d for d in done if d.fixed.repairs]
    if changed:
        count = _output.number(sum(len(d.fixed.repairs) for d in changed), "repair")
        yield f"written: {out} ({count}, {CHECKED})"
    else:
        why = "nothing could be repaired" if done else "there was nothing to repair"
        yield f"written: {out}, a plain copy: {why}"
    for one in done:
        fixed = one.fixed
        yield f"  exchange {one.index + 1}: {fixed.before.value} -> {fixed.after.value}"
        for repair in fixed.repairs:
            yield f"    done: {_output.cut(repair.title)}"
            for edit in repair.edits:
                span = f" · bytes {edit.span[0]:,}–{edit.span[1]:,}" if edit.span else ""
                yield f"      {edit.op} {_output.cut(edit.pointer)}{span}"
        for finding in fixed.remaining:
            why = (
                "no repair of it holds" if finding.severity is Severity.ERROR else "it goes through: repair it by hand"
            )
            yield f"    left: {finding.severity} {finding.rule} {_output.cut(finding.pointer)} ({why})"
    yield ""
