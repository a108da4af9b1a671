"""A rule page as lines of text."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator

from workbench.contracts.layout import section, wrap
from workbench.contracts.page import Example, Page, Refusal
from workbench.ir import JsonValue


def lines(page: Page, width: int = 80) -> Iterator[str]:
    """The page as text, no line longer than ``width`` but for what cannot be broken (URLs, event data)."""
    yield from wrap(f"{page.slug}: {page.summary}", width, "", "  ")
    yield from section("What is wrong", wrap(page.what, width))
    yield from section("Why it matters", wrap(page.why, width))
    yield from section("What to look for", _list_lines(page.look_for, width))
    yield from section("How to fix it", wrap(page.fix, width))
    if page.refusals:
        yield from section("Who refuses it", _refusals(page.refusals, width))
    yield from section("Sources", _list_lines(page.sources, width))
    if page.failing and page.passing:
        yield from section("Wrong", _example_lines(page.failing, width))
        yield from section("Correct, as a diff", _difference(page.failing, page.passing, width))
    else:
        yield from section("Examples", ["  None: this version does not check the rule yet."])


def _list_lines(items: Iterable[str], width: int) -> Iterator[str]:
    for item in items:
        yield from wrap(item, width, "  - ", "    ")


def _refusals(refusals: Iterable[Refusal], width: int) -> Iterator[str]:
    """Each text once, with everybody who says it."""
    said: dict[tuple[int, str], list[str]] = {}
    for refusal in refusals:
        who = f"{refusal.provider}, {refusal.where}" if refusal.where else refusal.provider
        said.setdefault((refusal.status, refusal.message), []).append(who)
    for (status, message), providers in said.items():
        who = f"{', '.join(dict.fromkeys(providers))} ({status})"
        yield from wrap(f"{who}: {message or 'a text that is not known'}", width, "  - ", "    ")


def _example_lines(example: Example, width: int) -> Iterator[str]:
    yield f"  {example.protocol}, checked with {example.provider}"
    for exchange in example.exchanges:
        for key, value in exchange.items():
            yield f"  {key}:"
            text = value.rstrip("\n").split("\n") if isinstance(value, str) else _json(value, width - 4)
            yield from (f"    {line}".rstrip() for line in text)


def _difference(wrong: Example, right: Example, width: int) -> Iterator[str]:
    """Changes that correct the failing example, with two lines of context each."""
    before, after = (list(_example_lines(example, width - 2)) for example in (wrong, right))
    for line in difflib.unified_diff(before, after, n=2, lineterm=""):
        if not line.startswith(("---", "+++")):
            yield "  ⋮" if line.startswith("@@") else f"{line[0]} {line[1:]}".rstrip()


def _json(value: JsonValue, width: int, taken: int = 0) -> list[str]:
    """JSON with everything on one line that fits there; ``taken``: what is before it on its first line."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + taken <= width or not isinstance(value, dict | list):
        return [flat]
    keys = [f"{json.dumps(k, ensure_ascii=False)}: " for k in value] if isinstance(value, dict) else [""] * len(value)
    made = [flat[0]]
    for n, (key, item) in enumerate(zip(keys, value.values() if isinstance(value, dict) else value, strict=True)):
        inner = _json(item, width - 2, len(key) + 1)
        inner[-1] += "," if n + 1 < len(value) else ""
        made += [f"  {key}{inner[0]}", *(f"  {line}" for line in inner[1:])]
    return [*made, flat[-1]]
