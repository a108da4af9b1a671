"""Explain a rule, or find the rule behind an error text.

RULE is a slug such as closure.missing-result; anything else is taken as an error text, as pasted from a log: which rule
of which provider it is, what to look for, and how to record it. JSON output is one object: {"rule": PAGE} or
{"text", "matches": [{"rule", "provider", "status", "template", "captured", "look_for", "record", "source"}]}.
"""

from __future__ import annotations

import argparse
import sys

from workbench.cli import _output

NAME = "explain"
HELP = "a rule, or the rule behind a pasted error text"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("subject", metavar="RULE|'ERROR TEXT'", nargs="+", help="a slug or a pasted error; - for stdin")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the page of the rule, or the rules that an error text belongs to."""
    from workbench.rules import pages

    subject = " ".join(args.subject)
    if subject == "-":
        subject = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not subject.strip():
        return _output.complain("nothing to explain: give a rule or paste an error text", 2)
    if subject in pages.slugs():
        return _rule(subject, args.format)
    from workbench.cli import _explain_text

    return _explain_text.run(subject, args.format)


def _rule(slug: str, how: str) -> int:
    from dataclasses import asdict

    from workbench.rules import pages

    page = pages.page(slug)
    if how == "json":
        _output.emit_json({"rule": asdict(page)})
    else:
        for line in pages.lines(page):
            _output.emit(line)
    return 0
