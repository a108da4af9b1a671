"""How well ``check`` and ``explain`` name published failures.

A catalogue entry is graded by the findings on its artefact:

    hit     the expected rule at an expected place (the same node, its parent or its child)
    rule    the expected rule at another place
    near    another rule that the entry lists as legitimate, at an expected place
    miss    none of these
    error   no answer

*Noise* are error findings on the artefact that the entry neither expects nor allows; a *false alarm* is a corrected
request that still gets an error finding. An error text is graded by what ``explain`` says of it:

    right     a right rule comes first
    later     a right rule comes, but not first
    kind      no one rule is named, but a right one is among those that it may be
    nameless  the text is known, but no right rule is named with it
    wrong     another rule is named
    unknown   nobody is known to say this

Where the text has no words that tell a rule (``none`` is among its right rules), right is to name none.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.breakages import Entry
from tests.breakages.artefacts import Artefact, artefact, corrected, dump
from workbench.cli._check.file_report import finding_json
from workbench.contracts import explain
from workbench.errors import WorkbenchError
from workbench.formats.importers import open_input
from workbench.rules import Inspector, by_cause

GRADES = ("hit", "rule", "near", "miss", "error")
TEXT_GRADES = ("right", "later", "kind", "nameless", "wrong", "unknown")

NO_RULE = "none"
"""Right rule of a text that nobody can tell a rule from."""

Finding = dict[str, Any]
"""A finding as ``check --format json`` prints it."""


@dataclass(frozen=True)
class Scored:
    """What became of one entry.

    Attributes:
        noise: rules of error findings that the entry does not allow.
        alarms: rules of error findings on the corrected request; None if there is no such request.
        found: (rule, pointer) of every finding.
    """

    entry: Entry
    grade: str
    noise: tuple[str, ...] = ()
    alarms: tuple[str, ...] | None = None
    found: tuple[tuple[str, str], ...] = ()

    @property
    def is_clean(self) -> bool:
        """A hit, nothing besides, and no alarm once corrected."""
        return self.grade == "hit" and not self.noise and not self.alarms

    def line(self) -> str:
        """What was expected and what was found."""
        expected = self.entry["expected"]
        parts = [f"{self.entry['id']} {self.grade:5} expected {expected['rule']} at {expected['location']}"]
        parts.append(f"found {list(self.found[:4])}")
        parts += [f"noise {list(self.noise)}"] if self.noise else []
        parts += [f"false alarm {list(self.alarms)}"] if self.alarms else []
        return " · ".join(parts)


@dataclass
class Score:
    """A catalogue: its entries graded, and the ids that no file can show."""

    scored: list[Scored] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Every entry is."""
        return all(one.is_clean for one in self.scored)

    def families(self) -> Iterable[str]:
        """A line for each family: hits, and how many of each grade."""
        tally: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for one in self.scored:
            tally[one.entry["family"]][one.grade] += 1
        for name, counts in sorted(tally.items()):
            yield f"{name:10} {counts['hit']:3} of {counts.total():3}   {_counted(counts, GRADES)}"

    def line(self) -> str:
        """All of it in a line."""
        hits = sum(one.grade == "hit" for one in self.scored)
        noise = sum(len(one.noise) for one in self.scored)
        alarms = [one.alarms for one in self.scored if one.alarms is not None]
        alarmed = f"{sum(map(bool, alarms))} of {len(alarms)} corrected requests with a false alarm"
        return f"breakages: {hits} of {len(self.scored)} hit, {noise} noise, {alarmed}"

    def first(self) -> str:
        """How the same entries were graded before anything was taught for them."""
        return _counted(Counter(one.entry["first"] for one in self.scored), (*GRADES, "unknown"))


def score(entries: Iterable[Entry], folder: Path) -> Score:
    """Grade entries; their artefacts are written to ``folder``, and checked in one go for each contract."""
    result, jobs = Score(), defaultdict(list)
    for entry in entries:
        given = artefact(entry)
        if given is None:
            result.skipped.append(entry["id"])
        else:
            jobs[entry["contract"]].append((entry, given, corrected(entry)))
    for contract, work in jobs.items():
        files = [_written(folder, entry, *given) for entry, *given in work]
        answers = check([path for pair in files for path in pair if path], contract)
        for (entry, given, _), (broken, fixed) in zip(work, files, strict=True):
            result.scored.append(_scored(entry, given, answers.get(broken), fixed, answers.get(fixed)))
    result.scored.sort(key=lambda one: one.entry["id"])
    return result


def check(files: Iterable[Path], contract: str | None) -> dict[Path | None, list[Finding]]:
    """Findings of each file that ``check`` answers for, without repairs, which take most of its time."""
    found = ((path, _findings(path, contract)) for path in files)
    return {path: findings for path, findings in found if findings is not None}


def _findings(path: Path, contract: str | None) -> list[Finding] | None:
    try:
        session = open_input(str(path))
    except WorkbenchError:
        return None
    with closing(session):
        return [finding_json(found) for found in by_cause(Inspector(session, provider=contract).run().findings)]


def grade_text(row: dict[str, str]) -> str:
    """How ``explain`` does on a row of the error texts."""
    matches = explain(row["text"])
    right, rules = set(row["right_rule"].split("|")), [match.rule for match in matches]
    if NO_RULE in right and not any(rules):
        return "right"
    if right == {NO_RULE}:
        return "wrong"
    if not matches:
        return "unknown"
    if right & set(rules):
        return "right" if rules[0] in right else "later"
    if any(rules):
        return "wrong"
    return "kind" if any(right & set(match.rules) for match in matches) else "nameless"


def _written(folder: Path, entry: Entry, broken: Artefact, fixed: Artefact | None) -> tuple[Path, Path | None]:
    paths: list[Path | None] = []
    for given, name in ((broken, entry["id"]), (fixed, f"{entry['id']}-fixed")):
        paths.append(folder / f"{name}{given.suffix}" if given else None)
        if given and paths[-1]:
            paths[-1].write_bytes(given.raw)
    assert paths[0]
    return paths[0], paths[1]


def _scored(
    entry: Entry, given: Artefact, found: list[Finding] | None, fixed: Path | None, after: list[Finding] | None
) -> Scored:
    alarms = tuple(f["rule"] for f in after or () if f["severity"] == "error") if fixed else None
    if fixed and after is None:
        alarms = ("(no answer)",)
    if found is None:
        return Scored(entry, "error", alarms=alarms)
    allowed = _allowed(entry)
    noise = tuple(f["rule"] for f in found if f["severity"] == "error" and f["rule"] not in allowed)
    places = tuple((f["rule"], f["pointer"] or "") for f in found)
    return Scored(entry, grade(entry, found, given.index), noise, alarms, places)


def grade(entry: Entry, found: Iterable[Finding], index: int = 0) -> str:
    """The grade of an entry whose fault is in exchange ``index``, by what was found in the whole file."""
    rule = entry["expected"]["rule"]
    here = [f for f in found if not index or holds_in(f, index)]
    if any(f["rule"] == rule and is_at_place(f, entry) for f in here):
        return "hit"
    if any(f["rule"] == rule for f in here):
        return "rule"
    return "near" if any(f["rule"] in _allowed(entry) and is_at_place(f, entry) for f in here) else "miss"


def holds_in(finding: Finding, index: int) -> bool:
    """A finding is about an exchange: it lasts from its first to its last, or is about the whole file."""
    first = finding["exchange"]
    return first is None or first <= index <= (finding.get("last") or first)


def is_at_place(finding: Finding, entry: Entry) -> bool:
    """A finding is at one of the places that an entry expects."""
    evidence = entry["evidence"]
    text = evidence.get("sse") or evidence.get("text") or ""
    return any(_is_at(finding, place, text) for place in entry["expected"]["location"])


def _is_at(finding: Finding, place: str, text: str) -> bool:
    if place.startswith("text["):
        start, end = (len(text[: int(n)].encode()) for n in place[len("text[") : -1].split(":"))
        span = finding["bytes"]
        return bool(span) and span[0] < end and span[1] > start
    if place.startswith("sse["):
        return _is_at_event(finding, place[len("sse[") : place.index("]")], text)
    if place.startswith("headers."):
        return place.removeprefix("headers.").lower() in dump(finding).lower()
    return _are_related(_steps(place), _pointer_steps(finding["pointer"]))


def _is_at_event(finding: Finding, number: str, text: str) -> bool:
    """In a block of the stream; at its end that is the last block, one past it, or the last bytes."""
    events = finding["events"] or []
    if number != "end":
        return int(number) in events
    last = sum(bool(block.strip()) for block in re.split(r"\r?\n\r?\n", text)) - 1
    return last in events or last + 1 in events or (finding["bytes"] or [0, 0])[1] >= len(text.encode()) - 2


def _are_related(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """The same node, or one within the other: a step apart, or deep enough to be a leaf of it."""
    short, long = sorted((a, b), key=len)
    return long[: len(short)] == short and (len(long) - len(short) <= 1 or len(short) >= 4)


def _steps(path: str) -> tuple[str, ...]:
    """``messages[1].content[0]`` → ``("messages", "1", "content", "0")``."""
    return tuple(name or index for name, index in re.findall(r"([^.\[\]]+)|\[([^\]]*)\]", path))


def _pointer_steps(pointer: str | None) -> tuple[str, ...]:
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in (pointer or "").split("/")[1:])


def _allowed(entry: Entry) -> set[str]:
    return {entry["expected"]["rule"], *(entry["expected"].get("also") or ())}


def _counted(counts: Counter[str], order: Iterable[str]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in order if counts[name])
