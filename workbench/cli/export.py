"""Export exchanges for other programs.

  cassette    a cassette of VCR.py, for tests that replay responses
  curl        the requests as commands for a POSIX shell; secrets are variables that you set
  har         an HTTP archive, for browsers and proxies
  html        a report in one file: conversation and findings
  md          the same report as Markdown
  pytest      a folder with a regression test of a request: transcript, test, simulated provider
  python      the requests as a program that sends them with httpx; WebSockets with websockets
  python-sdk  the same with the provider's own SDK
  session     a session file of Workbench
  text        a session file of Workbench as text, for fixtures and diffs

Without --exchange all exchanges are exported, in order. What the form cannot contain is named on stderr, and the exit
status is then 1. Without -o the output goes to standard output, except folders and session files. An existing OUT is
only replaced with --force, FILE never. No form contains a secret; --redact replaces private text, too, by stand-ins of
the same length, and checks that the findings stay the same: a finding that depends on replaced text is named. If FILE
is readable by you only, the export is as well.

pytest: FILE contains the correct requests; the test asserts that a simulator of the provider's contract accepts them
and that no rule has a finding. The broken request is that of --broken FILE (requests that differ from FILE are tested),
else the request before it was edited, if FILE contains that, else the request with one planted fault, which is named.
The folder needs only agent-workbench[testing]: no network, no key. If FILE has tool servers (MCP), tools.jsonl has what
they answered, and the test starts them as fakes (fixture recorded_tools): a URL, or a command for stdio. The test is
run at once, in a separate process: it must fail on the broken request and pass on the correct one. If not, one line
says why, the exit status is 1, and the folder is kept for inspection.

JSON output is one object:
  {"form", "output", "files": [...], "text", "notes": [...], "left_out": [...],
   "proof": {"holds", "why_not", "runs": [{"on": "broken"|"fixed", "passed", "failed", "lines", "problem"}]}}
"text" is the text for standard output, null if a file was written; "proof" is null except for pytest.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import regex
from workbench.cli import _files, _output
from workbench.cli._progress import counting
from workbench.errors import LocalProtocolError, UsageError
from workbench.lazy_dataclass import replace

if TYPE_CHECKING:
    from workbench.formats.exporters import ExportForm, ExportProof, ExportResult
    from workbench.ir import JsonValue
    from workbench.wire.session import Session

NAME = "export"
HELP = "export exchanges: pytest, cURL, HAR, report …"
_RANGE = regex.compile(r"([0-9]+)(?:-([0-9]+))?", re.ASCII)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from workbench.formats import exporters

    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument("--as", dest="form", choices=exporters.names(), required=True)
    parser.add_argument(
        "-o", "--output", metavar="OUT", default="-", help="file or folder to write (default: standard output)"
    )
    _files.add_force(parser)
    parser.add_argument(
        "--exchange",
        metavar="N",
        action="append",
        help="export only these exchanges, numbered from 1: 3, 2-5 or 1,4 (repeatable)",
    )
    parser.add_argument("--broken", metavar="FILE", help="with --as pytest: file that contains the broken requests")
    parser.add_argument("--redact", action="store_true", help="replace private text with text of the same length")
    _files.add_provider(parser)
    _files.add_judged_for(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Export one exchange, some, or all."""
    from workbench.formats import exporters, exporting

    form = exporters.load(args.form)
    _files.validate(args)
    sources = [Path(name) for name in (args.file, args.broken) if name and name != "-"]
    out = _out(args, form)
    if out:
        exporting.refuse(out, form, sources, is_forced=args.force)
    session = _files.open_file(args.file, args)
    broken: Session | None = None
    try:
        broken = _files.open_file(args.broken, args) if args.broken else None
        request = exporting.ExportRequest(
            session, _indices(session, args.exchange), broken, args.provider, args.protocol, args.redact,
            out.name if out else "",
        )  # fmt: skip
        try:
            with counting("reading exchanges", None) as advance:
                result = replace(request, step=lambda _, total: advance(total=total)).export(form)
        except LocalProtocolError as error:
            return _output.complain(f"not exported: {error}", 1)
    finally:
        for opened in (session, broken):
            if opened:
                opened.close()
    return _finish(args, form, result, out, sources)


def _finish(
    args: argparse.Namespace, form: ExportForm, result: ExportResult, out: Path | None, sources: list[Path]
) -> int:
    """Write the export, run its test if it has one, and report."""
    from workbench.formats import exporting

    for line in (*result.left_out, *result.notes):
        _output.complain(line, 0)
    files: tuple[Path, ...] = ()
    proof: ExportProof | None = None
    if out:
        files = exporting.write_export(result, form, out, sources)
        if hasattr(form, "prove"):
            with counting("running the test on the broken and on the correct request", None):
                proof = exporting.prove(form, out)
    if args.format == "json":
        _output.emit_json(_json(args, result, files, proof))
    elif not out:
        _output.write(_text(result))
    elif proof:
        for line in exporting.proof_lines(proof, getattr(form, "RUNS", {})):
            _output.emit(line)
    if proof and proof.why_not:
        return _output.complain(f"{out} is not a valid test ({proof.why_not}); the folder is kept for inspection", 1)
    return 1 if result.left_out else 0


def _out(args: argparse.Namespace, form: ExportForm) -> Path | None:
    """Output path; None for standard output. Raises UsageError."""
    if args.broken and not hasattr(form, "prove"):
        raise UsageError(f"--broken needs --as pytest, not {args.form}")
    if args.output != "-":
        return Path(args.output)
    if not form.SUFFIX or args.form == "session":
        what = "a folder" if not form.SUFFIX else "a binary file"
        raise UsageError(f"{args.form} is {what}", hint="give a file name with -o OUT")
    return None


def _indices(session: Session, ranges: list[str] | None) -> tuple[int, ...]:
    """Indices of ``--exchange``, ascending; all without it. Raises UsageError."""
    first = _files.exchange_index(session, None)
    if ranges is None:
        return tuple(range(first, len(session)))
    found = set[int]()
    for text in ",".join(ranges).split(","):
        span = _RANGE.fullmatch(text.strip())
        if span is None:
            raise UsageError(f"--exchange needs numbers, not {text!r}", hint="such as 3, 2-5 or 1,4")
        first, last = (
            _files.exchange_index(session, int(span[1])),
            _files.exchange_index(session, int(span[2] or span[1])),
        )
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def _text(result: ExportResult) -> str:
    return result.data.decode("utf-8", "surrogateescape")


def _json(
    args: argparse.Namespace, result: ExportResult, files: tuple[Path, ...], proof: ExportProof | None
) -> JsonValue:
    runs: list[JsonValue] = [
        {"on": r.on, "passed": r.passed, "failed": r.failed, "lines": list(r.lines), "problem": r.problem or None}
        for r in (proof.runs if proof else ())
    ]
    return {
        "form": args.form,
        "output": args.output if files else None,
        "files": [str(path) for path in files],
        "text": None if files else _text(result),
        "notes": list(result.notes),
        "left_out": list(result.left_out),
        "proof": {"holds": not proof.why_not, "why_not": proof.why_not or None, "runs": runs} if proof else None,
    }
