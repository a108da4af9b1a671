"""Explain a rule, or find the rule behind an error text.

RULE is a slug such as closure.missing-result; anything else is taken as an error text, as pasted from a log: which rule
of which provider it is, what to look for, and how to record it. JSON output is one object: {"rule": PAGE},
{"rules": …} for several or none, or
{"text", "matches": [{"rule", "provider", "status", "template", "captured", "look_for", "record", "source"}]}.
"""

from __future__ import annotations

import argparse
import re
import sys
from difflib import get_close_matches

from workbench.cli import _output

NAME = "explain"
SLUG = re.compile(r"[a-z]+\.[a-z-]+")
HELP = "a rule, or the rule behind a pasted error text"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "subject",
        metavar="RULE|'ERROR TEXT'",
        nargs="*",
        help="slugs or a pasted error; - for standard input; without one, the rules are listed",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the page of the rule, or the rules that an error text belongs to."""
    from workbench.rules import pages

    known = pages.slugs()
    if not args.subject:
        return _list(args.format)
    if all(word in known for word in args.subject):
        return _rules(args.subject, args.format)
    subject = " ".join(args.subject)
    if subject == "-":
        subject = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not subject.strip():
        return _output.complain("nothing to explain: give a rule or paste an error text", 2)
    if SLUG.fullmatch(subject):
        near = get_close_matches(subject, known, 3)
        hint = f"did you mean {' or '.join(near)}?" if near else "workbench explain lists them"
        return _output.complain(f"no rule named {subject}; {hint}", 2)
    from workbench.cli import _explain_text

    return _explain_text.run(subject, args.format)


def _list(how: str) -> int:
    from workbench.rules import pages

    rules = {slug: pages.page(slug).summary for slug in pages.slugs()}
    if how == "json":
        _output.emit_json({"rules": rules})
    for slug, summary in rules.items() if how == "text" else ():
        _output.emit(f"{slug:<28} {summary}")
    return 0


def _rules(slugs: list[str], how: str) -> int:
    from dataclasses import asdict

    from workbench.rules import pages

    found = [pages.page(slug) for slug in slugs]
    if how == "json":
        _output.emit_json({"rule": asdict(found[0])} if len(found) == 1 else {"rules": [asdict(p) for p in found]})
        return 0
    for number, page in enumerate(found):
        for line in (*([""] if number else []), *pages.lines(page)):
            _output.emit(line)
    return 0
