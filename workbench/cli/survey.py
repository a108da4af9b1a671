"""Check a folder or a bucket with any number of sessions, and store the results as tables.

PATH is a folder, a file, or s3://, gs://, az:// (pip install 'agent-workbench[scale]'). OUT is a separate folder: it
gets tables of objects, exchanges, findings, sessions, facts and metrics (Parquet with DuckDB, else JSON Lines). They
hold rules, places, byte ranges, counts and keyed hashes, never a text of the traffic. The same command again continues
an interrupted run, and checks only new and changed objects until the rules change.

  --engine local:N        N processes of this machine (default: one for each processor)
  --engine tcp://H:P      Dask's scheduler; ray://H:P a Ray cluster (pip install 'agent-workbench[ray]')
  --engine part:I/N       only this part, for batch schedulers (Slurm, Kubernetes jobs); then: survey OUT --commit
  --join                  first find conversations that are spread over several objects, and check each as one session
  --store NAME            kind of store that wrote the objects (such as litellm-log): others are listed, but not checked
  --since 7d              only objects written since then; also 36h, 2026-09-21, 2026-09-21T14:00+02:00
  --filter 'status:4xx'   only findings of exchanges that match; all exchanges are listed, as with check --filter
  --per shape 20          keep 20 findings of each shape of message, or of each rule; all are counted
  --pointers              store full JSON pointers, with the names of arguments and of other keys of the traffic

An object that crashes, blocks or exhausts its worker process is reported as "poison"; all others are checked.

If PATH is the OUT of an earlier survey, its tables are queried:
  workbench survey OUT                          the overview
  workbench survey OUT --question NAME          a predefined query; --question list shows their names
  workbench survey OUT --sql 'SELECT …'         tables: objects exchanges findings sessions facts metrics
  workbench survey OUT --compare RUN            rates of each rule against an earlier run
  workbench survey OUT --rules                  versions of the rules, their runs, and whether they are the current ones
  workbench survey OUT --html FILE              a report

JSON output is one object: {"survey", "run", "complete", "counts", "groups": [{"rule", "severity", "name", "findings",
"sessions", "weeks", "object", "exchange"}], "exceeded": [line], "seconds", "objects_per_second"}; with a question or
SQL {"columns", "rows"}; with --compare {"changes": [{"rule", "before", "after"}]}; with --rules {"rules":
[{"rules", "is_installed", "runs", "objects", "findings", "committed"}]}. workbench fsck OUT verifies the folder.

Exit status: 0 no failure of the chosen severity and no budget exceeded, 1 failures, 3 objects were not checked, none
was of a known format, or the run is not complete, 130 interrupted (what is done is kept).
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.survey import Budget, Catalog, Examples, Overview, RunResult, SurveyOptions

NAME = "survey"
HELP = "check folders or buckets of sessions, and store the results as tables"
ENDINGS = ("error", "warning", "never")
JUDGED = "judged"
MEGABYTE = 1024 * 1024
MOST_SHOWN = 30


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", metavar="PATH", help="folder, file or bucket to check; or OUT of an existing survey")
    parser.add_argument("-o", "--output", metavar="OUT", help="folder in which the survey is stored")
    parser.add_argument(
        "--engine", default="local", metavar="ENGINE", help="engine that runs the survey (default: local)"
    )
    parser.add_argument("--join", action="store_true", help="join conversations that are spread over several objects")
    parser.add_argument("--provider", metavar="NAME[:VARIANT]", help="contract to check against (default: detected)")
    parser.add_argument("--store", metavar="NAME", help="log store that wrote the objects (default: detected)")
    parser.add_argument("--since", metavar="TIME", help="check only objects written since a date, or an age such as 7d")
    parser.add_argument("--filter", metavar="EXPR", help="only findings of exchanges that match, such as 'status:4xx'")
    parser.add_argument(
        "--per", nargs=2, metavar=("WHAT", "K"), help="keep at most K findings of each 'rule' or 'shape'"
    )
    parser.add_argument("--pointers", action="store_true", help="store full JSON pointers, including argument names")
    parser.add_argument(
        "--sample", type=float, default=1.0, metavar="P", help="check only this share of the objects, such as 0.01"
    )
    parser.add_argument("--metrics", action="store_true", help="also count tokens and calls (slower)")
    parser.add_argument(
        "--terms",
        type=float,
        default=0.05,
        metavar="P",
        help="share of the objects in which --question terms counts requests (default: 0.05)",
    )
    parser.add_argument(
        "--hide-uris", action="store_true", help="write keyed hashes instead of the URIs of stored objects"
    )
    parser.add_argument("--key", metavar="FILE", help="file with the key of the hashes (default: a new key per survey)")
    parser.add_argument("--object-seconds", type=float, default=60.0, metavar="S", help="time limit for each object")
    parser.add_argument(
        "--object-megabytes",
        type=int,
        default=256,
        metavar="MB",
        help="size limit; larger objects are not read",
    )
    parser.add_argument(
        "--child-megabytes", type=int, default=2048, metavar="MB", help="memory limit of each worker process"
    )
    parser.add_argument("--tries", type=int, default=3, metavar="N", help="number of attempts for each batch")
    parser.add_argument(
        "--commit", action="store_true", help="end the open run of OUT; its tables contain only the finished parts"
    )
    parser.add_argument(
        "--by",
        default="provider",
        choices=("provider", "client", "model", "protocol"),
        help="property by which the overview groups findings",
    )
    parser.add_argument(
        "--where", action="append", default=[], metavar="COLUMN=VALUE", help="list only matching findings"
    )
    parser.add_argument("--sql", metavar="QUERY", help="run an SQL query")
    parser.add_argument("--question", metavar="NAME", help="run a predefined query")
    parser.add_argument("--compare", type=int, metavar="RUN", help="compare the newest run with this earlier one")
    parser.add_argument("--rules", action="store_true", help="list the rule versions used in OUT")
    parser.add_argument("--html", metavar="FILE", help="write an HTML report")
    parser.add_argument("--fail-on", choices=ENDINGS, default="never", help="lowest severity that causes exit status 1")
    parser.add_argument(
        "--budget",
        action="append",
        default=[],
        metavar="RULE=N",
        help="maximum number of sessions with findings of this rule, or, with %%, maximum share of exchanges",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Run a survey, or answer from one."""
    from workbench.survey import Catalog, budget_of

    budgets = [budget_of(text) for text in args.budget]
    if args.output is None:
        return _answer(Catalog(Path(args.path)), args, budgets)
    if args.provider:
        from workbench import contracts

        contracts.demand(args.provider)
    if not 0 < args.sample <= 1:
        raise UsageError("--sample is a share between 0 and 1")
    if args.filter:
        from workbench.cli.check import parse_filter

        parse_filter(args.filter)
    catalog = Catalog(Path(args.output))
    result = _run(catalog, _options(args))
    return _end(catalog, args, budgets, result)


def _options(args: argparse.Namespace) -> SurveyOptions:
    from workbench.survey import JudgeOptions, ObjectSelection, SurveyOptions, WorkerLimits, time_of

    if args.since:
        time_of(args.since)  # so that a fault is said before anything is done
    judge = JudgeOptions(
        b"",
        args.provider,
        args.object_megabytes * MEGABYTE,
        args.hide_uris,
        args.metrics,
        args.pointers,
        args.filter,
        _store(args.store) if args.store else None,
        args.terms,
    )
    return SurveyOptions(
        args.path,
        args.engine,
        judge,
        WorkerLimits(args.object_seconds, args.child_megabytes),
        ObjectSelection(args.sample, args.join, args.since),
        max(1, args.tries),
        args.key,
        _examples(*args.per) if args.per else None,
    )


def _store(name: str) -> str:
    """The importer of a name. Raises UsageError."""
    from workbench import plugins
    from workbench.formats import importers

    known = {importers.load(each).NAME: each for each in plugins.names(importers.__name__)}
    if name not in known:
        raise UsageError(f"unknown store {name}", hint=f"known: {', '.join(sorted(known))}")
    return known[name]


def _examples(what: str, most: str) -> Examples:
    from workbench.survey import Examples

    if what not in ("rule", "shape") or not (most.isascii() and most.isdigit() and 0 < int(most) < 10**9):
        raise UsageError(f"--per {what} {most}: not a number of findings", hint="write --per rule 20 or --per shape 20")
    return Examples(what, int(most))


def _run(catalog: Catalog, options: SurveyOptions) -> RunResult:
    from workbench.cli._survey_progress import SurveyProgress
    from workbench.survey import run_survey

    with SurveyProgress(is_shown=sys.stderr.isatty()) as progress:
        return run_survey(catalog, options, progress)


def _end(catalog: Catalog, args: argparse.Namespace, budgets: list[Budget], result: RunResult) -> int:
    """Report the result of a run."""
    if result.commit is None:
        what = f"{result.open_batches:,} batches are not finished"
        why = f" ({', '.join(sorted(set(result.errors)))})" if result.errors else ""
        hint = "run the same command again" if "part:" not in args.engine else f"then: survey {args.output} --commit"
        is_share = args.engine.startswith("part:") and not result.errors
        if result.open_batches or not is_share:
            _output.complain(f"{what}{why}; {hint}", 3)
        return 0 if is_share else 3
    counts = result.commit.about["counts"]
    if not counts.get("listed") and not counts.get("older"):
        return _output.complain(f"{args.path}: no objects found", 3)
    return _show(catalog, args, budgets, result)


def _answer(catalog: Catalog, args: argparse.Namespace, budgets: list[Budget]) -> int:
    """Answer from the tables of a survey."""
    from workbench.survey import commit_survey

    if not catalog.is_survey():
        raise UsageError(f"{args.path} is not a survey", hint="to run one, give -o OUT")
    catalog.id  # noqa: B018 (it raises for tables of a newer version)
    if args.commit:
        commit_survey(catalog)
    if args.rules:
        return _list_rules(catalog, args)
    if args.sql is not None or args.question is not None:
        return _ask(catalog, args)
    if args.compare is not None:
        return _compare(catalog, args)
    return _show(catalog, args, budgets, None)


def _ask(catalog: Catalog, args: argparse.Namespace) -> int:
    from workbench.survey import QUESTIONS, ask

    if args.question == "list":
        for name, question in QUESTIONS.items():
            _output.emit(f"{name:<12}{question.title}")
        return 0
    if args.question is not None and args.question not in QUESTIONS:
        raise UsageError(f"unknown query {args.question}", hint=f"known: {', '.join(QUESTIONS)}")
    answer = ask(catalog, args.sql if args.sql is not None else QUESTIONS[args.question].sql)
    if args.format == "json":
        _output.emit_json({"columns": list(answer.columns), "rows": [list(map(_plain, row)) for row in answer.rows]})
        return 0
    cells = [[_cell(value) for value in row] for row in answer.rows]
    widths = [max(map(len, column)) for column in zip(answer.columns, *cells, strict=True)]
    for line in (answer.columns, *cells):
        _output.emit("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())
    return 0


def _list_rules(catalog: Catalog, args: argparse.Namespace) -> int:
    from workbench.survey import rules_of

    found = rules_of(catalog)
    if args.format == "json":
        _output.emit_json({"rules": [each._asdict() for each in found]})
    for each in found if args.format == "text" else ():
        runs = f"run {each.runs[0]}" if len(each.runs) == 1 else f"runs {each.runs[0]} to {each.runs[-1]}"
        when = datetime.fromtimestamp(each.committed, UTC).strftime("%Y-%m-%d %H:%M UTC")
        installed = "  installed" if each.is_installed else ""
        _output.emit(f"{each.rules}  {runs}, {each.objects:,} objects, {each.findings:,} findings, {when}{installed}")
    if args.format == "text" and not any(each.is_installed for each in found):
        _output.emit("The rules have changed since this survey: the next run checks everything again.")
    return 0


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _cell(value: object) -> str:
    return (
        "" if value is None else f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    )


def _compare(catalog: Catalog, args: argparse.Namespace) -> int:
    from workbench.survey import compare_runs

    runs = {commit.number: commit for commit in catalog.commits()}
    if args.compare not in runs:
        raise UsageError(f"no run {args.compare}", hint=f"runs: {', '.join(map(str, runs)) or 'none'}")
    changes = compare_runs(catalog, runs[args.compare], runs[max(runs)])
    if args.format == "json":
        _output.emit_json({"changes": [change._asdict() for change in changes]})
    for change in changes if args.format == "text" else ():
        _output.emit(f"{change.before:>8.3%} → {change.after:>8.3%}  {change.rule}")
    if not changes and args.format == "text":
        _output.emit("no rule's rate has changed")
    return 1 if args.fail_on != "never" and any(change.is_worse for change in changes) else 0


def _show(catalog: Catalog, args: argparse.Namespace, budgets: list[Budget], result: RunResult | None) -> int:
    from workbench.survey import find_exceeded, overview

    found = overview(catalog, args.by, _filters(args.where))
    if found is None:
        return _output.complain(f"{catalog.folder}: no run is committed yet", 3)
    over = find_exceeded(found, budgets)
    if args.html:
        from workbench.survey import html_report

        Path(args.html).write_text(html_report(found), encoding="utf-8")
    if args.format == "json":
        _output.emit_json(_as_json(catalog, found, over, result))
    else:
        _print(found, over, result)
    return _status(found, args.fail_on, over)


def _filters(texts: list[str]) -> dict[str, str]:
    from workbench.survey import FILTERS

    filters = dict(text.partition("=")[::2] for text in texts)
    for name in filters:
        if name not in FILTERS:
            raise UsageError(f"unknown column {name}", hint=f"known: {', '.join(FILTERS)}")
    return filters


def _status(overview: Overview, fail_on: str, over: list[str]) -> int:
    severities = {"error": {"error"}, "warning": {"error", "warning"}}.get(fail_on, set())
    if over or any(group.severity in severities for group in overview.groups):
        return 1
    is_silent = not overview.objects.get(JUDGED)  # nothing was judged: that is no clean result
    return 3 if is_silent or overview.unjudged_objects or not overview.commit.is_complete else 0


def _as_json(catalog: Catalog, overview: Overview, over: list[str], result: RunResult | None) -> dict[str, object]:
    named = {"example": "object"}
    return {
        "survey": catalog.id,
        "run": overview.commit.number,
        "complete": overview.commit.is_complete,
        "counts": {**overview.commit.about["counts"], **{f"exchanges_{k}": v for k, v in overview.exchanges.items()}},
        "groups": [{named.get(k, k): v for k, v in group._asdict().items()} for group in overview.groups],
        "exceeded": over,
        "seconds": round(result.seconds, 3) if result else None,
        "objects_per_second": round(result.checked_objects / max(result.seconds, 1e-9), 1) if result else None,
    }


def _print(overview: Overview, over: list[str], result: RunResult | None) -> None:
    from workbench.survey import status_words

    about = overview.commit.about
    _output.emit(f"run {overview.commit.number} of {about['root']}: {status_words(overview.objects)}")
    undecided = overview.exchanges.get("undecided", 0)
    broken = overview.exchanges.get("broken", 0)
    more = f"; {undecided:,} without a clear verdict" if undecided else ""
    _output.emit(f"{overview.judged_exchanges:,} exchanges checked, {broken:,} of them broken{more}")
    if result and result.seconds:
        rate = result.checked_objects / result.seconds
        _output.emit(f"{result.checked_objects:,} objects in {result.seconds:.1f} s, {rate:,.0f} a second")
    counts = about["counts"]
    exclusions = {
        "written before --since": counts.get("older"),
        "outside the sample": counts.get("left_out"),
    }
    for why, number in exclusions.items():
        if number:
            _output.emit(f"{_output.number(number, 'object')} {why} left out")
    if about.get("joined"):
        joined = about["joined"]
        _output.emit(
            f"conversations: {joined['units']:,} spread over {joined['objects']:,} objects; for "
            f"{joined['without_earlier']:,} of {joined['continuing']:,} exchanges that continue a conversation, the "
            "earlier exchange is missing"
        )
        if unread := joined.get("unread"):
            _output.emit(
                f"{_output.number(unread, 'object')} could not be read, so their conversations were not joined"
            )
    if not overview.commit.is_complete:
        _output.emit(f"incomplete: {about['counts']['lost']:,} objects have no result")
        if folders := about["counts"].get("unlisted_folders"):
            _output.emit(f"incomplete: {_output.number(folders, 'folder')} could not be listed")
    sign = "" if overview.is_exact else "~"
    for group in overview.groups[:MOST_SHOWN]:
        mark = "✗" if group.severity == "error" else "!"
        noun = "session " if group.sessions == 1 else "sessions"
        _output.emit(f"{mark} {sign}{group.sessions:>7,} {noun} {group.findings:>8,}  {group.rule:<32} {group.name}")
    if len(overview.groups) > MOST_SHOWN:
        _output.emit(f"… and {len(overview.groups) - MOST_SHOWN:,} more groups")
    for line in over:
        _output.emit(f"budget exceeded: {line}")
