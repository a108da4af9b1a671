"""Write exchanges in a form that other programs take.

  cassette    a cassette of VCR.py, for tests that play answers back
  curl        the requests as commands for a POSIX shell; secrets are variables, which you set
  har         an HTTP archive, for browsers and proxies
  html        a report in one file: what was said, what is wrong with it
  md          the same report as Markdown
  pytest      a folder with a test that keeps a request right: transcript, test, simulated provider
  python      the requests as a program that sends them with httpx
  python-sdk  the same with the provider's own SDK
  session     a session file of ours
  text        a session file of ours as text, for fixtures and diffs

Without --exchange every exchange is written, in order. What cannot be written so is named on stderr, and the exit
status is then 1. Without -o it goes to standard output, but for folders and session files. An OUT that exists is not
replaced without --force, FILE never. No form holds a secret; --redact replaces private text too, by stand-ins of the
same length, and shows that the findings stay the same: one that depends on what was replaced is named. What is made
of a file that nobody else can read can be read by nobody else.

pytest: FILE holds what is right; it is tested that a simulator made of the provider's contract accepts it and that no
rule finds a fault. What is broken is --broken FILE (of it those requests are tested that differ), else what the
request was before it was edited, where FILE tells that, else the request with one fault planted in it, which is said.
The folder needs nothing but agent-workbench[testing]: no network, no key. It is tried at once, in a process of its
own: red on what is broken, green on what is right. Where it is not so, one line says why, the exit status is 1, and the
folder stays to be looked at.

JSON output is one object:
  {"form", "output", "files": [...], "text", "notes": [...], "left_out": [...],
   "proof": {"holds", "why_not", "runs": [{"on": "broken"|"fixed", "passed", "failed", "lines", "problem"}]}}
"text" is what would go to standard output, null where a file was written; "proof" is null but for pytest.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _files, _output
from workbench.cli._progress import counting
from workbench.errors import LocalProtocolError, UsageError

if TYPE_CHECKING:
    from workbench.formats.exporters import Exported, Form, Proof
    from workbench.ir import JsonValue
    from workbench.wire.session import Session

NAME = "export"
HELP = "write exchanges in a form that other programs take"
_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?", re.ASCII)


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
        help="only this one, counted from one: 3, 2-5 or 1,4; may be repeated",
    )
    parser.add_argument("--broken", metavar="FILE", help="pytest: what the requests were when they were broken")
    parser.add_argument("--redact", action="store_true", help="replace private text by stand-ins")
    _files.add_provider(parser)
    _files.add_judged_for(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Write one exchange, some, or all."""
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
        asked = exporting.Asked(
            session, _indices(session, args.exchange), broken, args.provider, args.protocol, args.redact,
            out.name if out else "",
        )  # fmt: skip
        try:
            made = asked.export(form)
        except LocalProtocolError as error:
            return _output.complain(f"not exported: {error}", 1)
    finally:
        for opened in (session, broken):
            if opened:
                opened.close()
    return _finish(args, form, made, out, sources)


def _finish(args: argparse.Namespace, form: Form, made: Exported, out: Path | None, sources: list[Path]) -> int:
    """Write what was made, try it, and tell."""
    from workbench.formats import exporting

    for line in (*made.left_out, *made.notes):
        _output.complain(line, 0)
    files: tuple[Path, ...] = ()
    proof: Proof | None = None
    if out:
        files = exporting.put(made, form, out, sources)
        if hasattr(form, "prove"):
            with counting("running it on what is broken and on what is right", None):
                proof = exporting.prove(form, out)
    if args.format == "json":
        _output.emit_json(_json(args, made, files, proof))
    elif not out:
        _output.write(_text(made))
    elif proof:
        for line in exporting.told(proof, getattr(form, "RUNS", {})):
            _output.emit(line)
    if proof and proof.why_not:
        return _output.complain(f"{out} proves nothing, and is left to be looked at: {proof.why_not}", 1)
    return 1 if made.left_out else 0


def _out(args: argparse.Namespace, form: Form) -> Path | None:
    """Where to write; None for standard output. Raises UsageError."""
    if args.broken and not hasattr(form, "prove"):
        raise UsageError(f"--broken goes with --as pytest, not with {args.form}")
    if args.output != "-":
        return Path(args.output)
    if not form.SUFFIX or args.form == "session":
        what = "a folder" if not form.SUFFIX else "no text"
        raise UsageError(f"{args.form} is {what}", hint="say where to write it: -o OUT")
    return None


def _indices(session: Session, wanted: list[str] | None) -> tuple[int, ...]:
    """Indices of ``--exchange``, ascending; every one without it. Raises UsageError."""
    first = _files.chosen(session, None)
    if wanted is None:
        return tuple(range(first, len(session)))
    found = set[int]()
    for text in ",".join(wanted).split(","):
        span = _RANGE.fullmatch(text.strip())
        if span is None:
            raise UsageError(f"--exchange takes numbers, not {text!r}", hint="3, 2-5 or 1,4")
        first, last = _files.chosen(session, int(span[1])), _files.chosen(session, int(span[2] or span[1]))
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def _text(made: Exported) -> str:
    return made.data.decode("utf-8", "surrogateescape")


def _json(args: argparse.Namespace, made: Exported, files: tuple[Path, ...], proof: Proof | None) -> JsonValue:
    runs: list[JsonValue] = [
        {"on": r.on, "passed": r.passed, "failed": r.failed, "lines": list(r.lines), "problem": r.problem or None}
        for r in (proof.tried if proof else ())
    ]
    return {
        "form": args.form,
        "output": args.output if files else None,
        "files": [str(path) for path in files],
        "text": None if files else _text(made),
        "notes": list(made.notes),
        "left_out": list(made.left_out),
        "proof": {"holds": not proof.why_not, "why_not": proof.why_not or None, "runs": runs} if proof else None,
    }
