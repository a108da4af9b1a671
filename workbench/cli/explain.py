"""Explain a rule or a contract, or find the rule behind an error text.

RULE is a slug such as closure.missing-result; a family (closure) lists its rules. CONTRACT is a provider (deepseek,
deepseek:v4): what it requires and refuses, in the order of its checks, each with source and date; --protocol NAME
limits it to one protocol. KIND is a kind of failure that exists at every provider (rate-limit); kinds lists them. MODEL
is the name of a model (gpt-5, claude-opus-4-7): what it lacks, and when it is retired, as far as is known. coverage
lists parameters, tools and content, and which providers refuse, ignore or accept each, or that nothing is known but the
provider's official types, or nothing at all; --provider and --protocol limit it, --unknown lists only what is unknown,
--format markdown prints a table. Anything else is treated as an error message pasted from a log: the output is its rule
and provider, or its kind, what to look for, how to record it, and who says it: a client, a gateway or the provider.
With --in FILE, it also shows the place in a request that the message is about: the request that was refused last (or
--exchange N) of a session, or a request alone.

JSON output is one object: {"rule": PAGE}, {"rules": …} for several or none, {"family", "rules"} for a family,
{"contract": {"name", "title", "variants", "facts": [{"term", "for", "value", "source", "date", "note"}],
              "enforces": [{"rule", "when", "for", "status", "message", "source", "date", "note"}], …}}, or
{"kinds": [{"kind", "says", "cause", "at", "again", "rules", "fix", "sources"}]}, or
{"text", "matches": [{"rule", "rules", "kind", "when", "provider", "speaker", "validator", "place", "status",
"template", "captured", "look_for", "record", "source"}]}: "rule" is null if uncertain, "rules" are the candidates,
"kind" is the kind of failure, "speaker" is who says it, "validator" whose form it has, "place" the place as it is
written there; with --in also "in": {"path", "exchange" (from zero), "pointer", "bytes": [start, end], "how", "value"},
all but the first two null if the message names no place in this request;
{"model", "facts": [{"contract", "name", "value", "source", "date", "note"}]} with a model; or
{"words": NUMBER, "counts": {OUTCOME: NUMBER}, "coverage": [{"place", "contract", "protocol", "models", "outcome",
"expected", "source"}]} with coverage.
"""

from __future__ import annotations

import argparse
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING

from workbench import regex
from workbench.cli import _explain_in, _files, _output
from workbench.errors import did_you_mean

if TYPE_CHECKING:
    from workbench.contracts import Match, ModelFact
    from workbench.protocols.refusals import RefusalKind

NAME = "explain"
SLUG = regex.compile(r"[a-z]+\.[a-z-]+")
WORD = regex.compile(r"[A-Za-z][A-Za-z0-9.-]*(:[A-Za-z0-9.-]*)?")
MODEL = regex.compile(r"[A-Za-z0-9][\w.:/@-]{2,100}")
HELP = "explain a rule, a contract or an error message"


_RETRY = {
    "later": "the same request can succeed later",
    "no": "the same request fails again",
    "other": "the same request can succeed immediately, because the model may write something else",
}
"""Advice on sending the same request again → the words for it."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "subject",
        metavar="RULE|CONTRACT|KIND|MODEL|'ERROR TEXT'",
        nargs="*",
        help=(
            "rule slugs, a contract, a kind of failure, a model or an error message; - reads "
            "standard input; without an argument, all rules are listed"
        ),
    )
    parser.add_argument(
        "--in",
        dest="inside",
        metavar="FILE",
        help="with an error message: show the place that it refers to in this request or session",
    )
    _files.add_exchange(parser)
    _files.add_provider(parser)
    parser.add_argument("--unknown", action="store_true", help="with coverage: list only fields without a known fact")
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the page of a rule, a contract or a kind, or the rules behind an error message."""
    from workbench.contracts import pages

    known = pages.slugs()
    if args.subject == ["coverage"]:
        return _coverage(args)
    if args.unknown or args.format == "markdown":
        return _output.complain("--unknown and --format markdown only work with coverage", 2)
    if args.inside and args.subject:
        return _error_text(_text_of(args), args)
    if not args.subject:
        return _list(args.format)
    if all(word in known for word in args.subject):
        return _rules(args.subject, args.format)
    subject = " ".join(args.subject)
    if _is_contract(subject):
        return _contract(subject, args.protocol or "", args.format)
    subject = _text_of(args)
    if not subject.strip():
        return _output.complain("nothing to explain: give a rule, a contract or an error message", 2)
    if kinds := _kinds_named(subject):
        return _kinds(kinds, args.format)
    if rules := [slug for slug in known if slug.startswith(f"{subject}.")]:
        return _family(subject, rules, args.format)
    if SLUG.fullmatch(subject):
        hint = did_you_mean(subject, known, 3) or "workbench explain lists all rules"
        return _output.complain(f"no rule named {subject}; {hint}", 2)
    if models := _facts_of_model(subject):
        return _model(subject, models, args.format)
    if near := _near_names(subject):
        return _output.complain(f"no rule or contract named {subject}; did you mean {' or '.join(near)}?", 2)
    return _error_text(subject, args)


def _text_of(args: argparse.Namespace) -> str:
    """The words of the command line; standard input for a dash."""
    subject = " ".join(args.subject)
    return sys.stdin.buffer.read().decode("utf-8", "replace") if subject == "-" else subject


def _list(how: str) -> int:
    from workbench import contracts
    from workbench.contracts import pages

    rules = {slug: pages.page(slug).summary for slug in pages.slugs()}
    titles = {label: _title(label) for name in contracts.names() for label in contracts.variants(name)}
    if how == "json":
        _output.emit_json({"rules": rules, "contracts": titles})
        return 0
    for slug, summary in rules.items():
        _output.emit(f"{slug:<28} {summary}")
    _output.emit()
    for label, title in titles.items():
        _output.emit(f"{label:<28} {title}")
    return 0


def _kinds_named(subject: str) -> list[RefusalKind]:
    """All kinds of failure for "kinds", or the one of that name."""
    from workbench.protocols import refusals

    if subject == "kinds":
        return list(refusals.kinds().values())
    return [kind] if (kind := refusals.kind(subject)) else []


def _kinds(kinds: list[RefusalKind], how: str) -> int:
    from dataclasses import asdict

    if how == "json":
        entries = [{"kind" if key == "name" else key: value for key, value in asdict(kind).items()} for kind in kinds]
        _output.emit_json({"kinds": entries})
        return 0
    for kind in kinds:
        _output.emit(f"{kind.name:<22} {kind.says}")
        if len(kinds) == 1:
            _output.emit(f"  cause: {kind.cause}; {_RETRY[kind.again]}")
            _output.emit(f"  {kind.fix}")
            if kind.rules:
                _output.emit(f"  rules: {', '.join(kind.rules)}")
            _output.emit(f"  sources: {', '.join(kind.sources)}")
    return 0


def _coverage(args: argparse.Namespace) -> int:
    """Print what the contracts say of each place of a request."""
    from dataclasses import asdict

    from workbench import contracts

    provider = (args.provider or "").partition(":")[0]
    if provider and provider not in contracts.names():
        return _output.complain(f"no contract named {provider}; workbench explain lists all contracts", 2)
    outcomes = (contracts.UNKNOWN,) if args.unknown else ()
    facts = contracts.place_facts(args.protocol or "", provider, outcomes)
    counts = contracts.coverage_counts(facts)
    if args.format == "json":
        words = contracts.words_known()
        _output.emit_json({"words": words, "counts": counts, "coverage": [asdict(fact) for fact in facts]})
        return 0
    lines = contracts.coverage_markdown if args.format == "markdown" else contracts.coverage_lines
    for line in lines(facts):
        _output.emit(line)
    _output.emit()
    for outcome, number in counts.items():
        _output.emit(f"{number:>7,} {outcome:<10} {contracts.MEANINGS[outcome]}")
    count = _output.number(contracts.words_known(), "refusal")
    _output.emit(f"{count} with the exact error text of the provider; details: workbench explain CONTRACT")
    return 0


def _facts_of_model(subject: str) -> list[tuple[str, ModelFact]]:
    """(contract, fact) of everything that the table says of a model of this name."""
    from workbench import contracts

    if not MODEL.fullmatch(subject):
        return []
    return [(name, fact) for name in contracts.names() for fact in contracts.facts_of(name, subject)]


def _model(subject: str, found: list[tuple[str, ModelFact]], how: str) -> int:
    """Print what is known of a model, each fact with its source and date."""
    from dataclasses import asdict

    if how == "json":
        _output.emit_json({"model": subject, "facts": [{"contract": name, **asdict(fact)} for name, fact in found]})
        return 0
    for name, fact in found:
        _output.emit(f"{subject} at {name}: {fact.words()}")
        _output.emit(f"  {'; '.join(filter(None, (fact.note, fact.source)))} ({fact.date})")
    return 0


def _family(name: str, slugs: list[str], how: str) -> int:
    """Print the rules of a family, each with its summary."""
    from workbench.contracts import pages

    rules = {slug: pages.page(slug).summary for slug in slugs}
    if how == "json":
        _output.emit_json({"family": name, "rules": rules})
        return 0
    _output.emit(f"{name}: {_output.number(len(rules), 'rule')}; details: workbench explain RULE")
    for slug, summary in rules.items():
        _output.emit(f"{slug:<28} {summary}")
    return 0


def _near_names(subject: str) -> list[str]:
    """Contracts and families with a name similar to a single word."""
    from workbench import contracts
    from workbench.contracts import pages

    name, colon, variant = subject.partition(":")
    if not WORD.fullmatch(subject):
        return []
    families = () if colon else {slug.partition(".")[0] for slug in pages.slugs()}
    near = get_close_matches(name, sorted({*contracts.names(), *families}), 3, 0.7)
    return [f"{n}:{variant}" if variant in _variants(n) else n for n in near]


def _variants(name: str) -> list[str]:
    from workbench import contracts

    return [v.name for v in contracts.read(name).variants] if name in contracts.names() else []


def _title(label: str) -> str:
    """Title of a contract, with the title of its variant."""
    from workbench import contracts

    name, _, variant = label.partition(":")
    file = contracts.read(name)
    return ", ".join([file.title, *(v.title for v in file.variants if v.name == variant)])


def _is_contract(subject: str) -> bool:
    from workbench import contracts

    name, _, variant = subject.partition(":")
    if " " in variant:  # a message that names the provider before a colon
        return False
    return name in contracts.names() or name in contracts.broken_files()


def _contract(label: str, protocol: str, how: str) -> int:
    """Print a contract. Raises UsageError for an unknown variant."""
    from workbench import contracts

    contracts.demand(label)
    contracts.get(label)
    name, _, variant = label.partition(":")
    file = contracts.read(name)
    if protocol and file.protocols and protocol not in file.protocols:
        return _output.complain(f"{name} does not cover {protocol}; known: {', '.join(file.protocols)}", 2)
    part = contracts.Part(variant, protocol)
    if how == "json":
        _output.emit_json({"contract": contracts.as_json(file, part)})
        return 0
    for line in contracts.lines(file, part):
        _output.emit(line)
    return 0


def _rules(slugs: list[str], how: str) -> int:
    from dataclasses import asdict

    from workbench.contracts import pages

    found = [pages.page(slug) for slug in slugs]
    if how == "json":
        _output.emit_json({"rule": asdict(found[0])} if len(found) == 1 else {"rules": [asdict(p) for p in found]})
        return 0
    for number, page in enumerate(found):
        for line in (*([""] if number else []), *pages.lines(page)):
            _output.emit(line)
    return 0


def _error_text(text: str, args: argparse.Namespace) -> int:
    """Print the rules behind an error message, and its place; 3 if neither is known."""
    from workbench.contracts import error_text_lines, error_texts

    matches = error_texts.explain(text, is_answer=bool(args.inside))
    pointed = _explain_in.point_at(text, args) if args.inside else None
    if args.format == "json":
        inside = {"in": pointed.as_json()} if pointed else {}
        _output.emit_json({"text": text, "matches": [_match_json(m) for m in matches], **inside})
    else:
        for line in (*(error_text_lines.lines(matches) if matches else ()), *(pointed.lines() if pointed else ())):
            _output.emit(line)
    if not matches and not (pointed and pointed.place):
        return _output.complain("no contract contains this error message; check the request that caused it", 3)
    return 0


def _match_json(match: Match) -> dict[str, object]:
    return {
        "rule": match.rule or None,
        "rules": list(match.rules),
        "guess": match.is_guess,
        "kind": match.kind or None,
        "when": match.when,
        "provider": match.provider,
        "speaker": match.speaker,
        "validator": match.validator or None,
        "place": match.place or None,
        "also": list(match.also),
        "where": match.where,
        "status": match.status,
        "template": match.template,
        "message": match.message,
        "captured": dict(match.captured),
        "index": match.index,
        "look_for": list(match.look_for),
        "record": match.record,
        "source": match.source,
        "date": match.date,
        "note": match.note,
    }
