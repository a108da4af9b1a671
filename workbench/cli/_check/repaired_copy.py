"""``check --fix``: write a repaired copy of one file, and list the repairs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _files, _output
from workbench.cli._check.file_report import FileReport
from workbench.errors import UsageError
from workbench.lazy_dataclass import replace

if TYPE_CHECKING:
    from workbench.edits.repairs import ExchangeFix
    from workbench.wire.session import MemorySession, Session


def run(args: argparse.Namespace) -> int:
    """Repair one file into another; print the repairs and the remaining findings. Raises WorkbenchError, OSError."""
    from workbench.cli._check import printing
    from workbench.edits import repairs
    from workbench.rules import by_cause, contradicted_facts

    out = _check_output(args)
    _files.validate(args)
    session = _files.open_file(args.files[0], args)
    try:
        repaired_session, fixes = repairs.repair_session(_files.inspector(session, args), session)
        is_body = _is_body(session)
        _write(repaired_session, session, out, is_body=is_body)
    finally:
        session.close()
    inspector = _files.inspector(repaired_session, args)
    inspection = inspector.run()
    facts = tuple(contradicted_facts(inspection.findings))
    report = FileReport(str(out), replace(inspection, findings=by_cause(inspection.findings)), tuple(fixes), facts)
    if args.format == "text":
        for line in _lines(fixes, out):
            _output.emit(line)
    printing.print_reports(args.format, [report], [])
    return report.status(args.fail_on)


def _check_output(args: argparse.Namespace) -> Path:
    """The output path. Raises UsageError for options that ``--fix`` cannot combine."""
    if not args.fix:
        raise UsageError(
            f"{'-o' if args.output is not None else '--force'} needs --fix",
            hint="workbench check FILE --fix -o OUT",
        )
    if args.output is None:
        raise UsageError("--fix needs an output file", hint="add -o OUT")
    if len(args.files) != 1:
        raise UsageError("--fix accepts only one FILE", hint="repair the files one by one")
    if args.filter:
        raise UsageError("--fix repairs all exchanges of a file", hint="leave out --filter")
    out = Path(args.output)
    if str(out) == "-" or (out.exists() and not out.is_file()):
        from workbench.formats import output_files

        raise output_files.irregular(out, "give a file name")
    _files.refuse_to_replace(out, args.files[0], is_forced=args.force)
    return out


def _is_body(session: Session) -> bool:
    """True if the file is a single bare request body."""
    from workbench.formats.importers import TITLE

    return getattr(session, "format", "") == TITLE and len(session) == 1 and session.exchange(0).request is not None


def _write(session: MemorySession, source: Session, out: Path, *, is_body: bool) -> None:
    from workbench.wire.session import store

    request = session.exchange(0).request if is_body else None
    if request is not None:
        out.write_bytes(request.body.raw)
    else:
        store.save(session.exchanges, out, about=session.about, form=store.form_of(source))


def _lines(exchange_fixes: list[ExchangeFix], out: Path) -> Iterator[str]:
    """Repairs and remaining findings of each broken exchange."""
    from workbench.contracts import Severity
    from workbench.edits.repairs import CHECKED

    changed = [d for d in exchange_fixes if d.fixed.repairs]
    if changed:
        count = _output.number(sum(len(d.fixed.repairs) for d in changed), "repair")
        yield f"written: {out} ({count}, {CHECKED})"
    else:
        why = "nothing could be repaired" if exchange_fixes else "nothing to repair"
        yield f"written: {out} (unchanged copy: {why})"
    for one in exchange_fixes:
        fixed = one.fixed
        yield f"  exchange {one.index + 1}: {fixed.before.value} -> {fixed.after.value}"
        for repair in fixed.repairs:
            yield f"    repaired: {_output.cut(repair.title)}"
            for edit in repair.edits:
                span = f" · bytes {edit.span[0]:,}–{edit.span[1]:,}" if edit.span else ""
                yield f"      {edit.op} {_output.cut(edit.pointer)}{span}"
        for finding in fixed.remaining:
            why = (
                "no verified repair"
                if finding.severity is Severity.ERROR
                else "warnings are not repaired automatically: repair this one by hand"
            )
            yield f"    not repaired: {finding.severity} {finding.rule} {_output.cut(finding.pointer)} ({why})"
    yield ""
