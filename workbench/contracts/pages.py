"""Rule pages: what is wrong, why it bites, what to look for, how to correct it, who refuses it, and two examples.

One ``rule_pages/SLUG.yaml`` a rule. The refusals of providers with a contract come from the contracts; a page adds
those of the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache

from workbench.config import resources
from workbench.contracts import loading
from workbench.contracts.page import DocumentedRefusal, Example, Page
from workbench.contracts.reader import Node
from workbench.errors import UsageError
from workbench.ir import JsonValue

__all__ = ["DocumentedRefusal", "Example", "Page", "lines", "others", "page", "slugs"]


@cache
def slugs() -> tuple[str, ...]:
    """Slugs of the rules that have a page, sorted."""
    return resources.pages()


@cache
def page(slug: str) -> Page:
    """The page of a rule.

    Raises:
        UsageError: no rule of this name has a page.
    """
    if slug not in slugs():
        raise UsageError(f"no rule named {slug!r}", hint=f"known: {', '.join(slugs())}")
    node = read(slug)
    return Page(
        slug=slug,
        summary=node.get("summary").text(),
        what=node.get("what").text(),
        why=node.get("why").text(),
        look_for=node.get("look_for").texts(),
        fix=node.get("fix").text(),
        refusals=(*_contract_refusals(slug), *others(slug)),
        sources=node.get("sources").texts(),
        failing=_example(node.get("failing")),
        passing=_example(node.get("passing")),
    )


@cache
def read(slug: str) -> Node:
    """The page as it is in its file."""
    from workbench.config import safeyaml

    name = f"{slug}.yaml"
    keys = ("summary", "what", "why", "look_for", "fix", "others", "sources", "failing", "passing")
    return Node(safeyaml.load(resources.page(slug), name=name), name).only(*keys)


@cache
def others(slug: str) -> tuple[DocumentedRefusal, ...]:
    """Refusals of providers without a contract, or on endpoints that their contract does not cover."""
    return tuple(
        DocumentedRefusal(
            provider=node.only("provider", "status", "message", "where", "source").get("provider").text(),
            status=node.get("status").number(),
            message=node.get("message").text(),
            source=node.get("source").text(),
            where=node.get("where").text(""),
        )
        for node in read(slug).get("others").items()
    )


def _contract_refusals(slug: str) -> Iterator[DocumentedRefusal]:
    for name in loading.names():
        file = loading.read(name)
        for holds, check in file.checks:
            if check.rule == slug:
                who = ", ".join(f"{name}:{variant}" for variant in holds.variants) or name
                where = ", ".join(holds.protocols) if len(file.protocols) > 1 else ""
                yield DocumentedRefusal(who, check.status, check.template, check.source, check.when, where)


_EXCHANGE = ("hop", "request", "raw", "status", "response", "sse", "text", "type", "state", "note", "at", "mcp")


def _example(node: Node) -> Example | None:
    if node.value is None:
        return None
    node.only("provider", "protocol", "exchanges", *_EXCHANGE)
    given = [e.only(*_EXCHANGE) for e in node.get("exchanges").items()]
    own = {key: value.value for key, value in node.members() if key not in ("provider", "protocol", "exchanges")}
    return Example(node.get("provider").text(), node.get("protocol").text(), tuple(e.value for e in given) or (own,))


def section(title: str, body: Iterable[str]) -> Iterator[str]:
    """A blank line, the title, and what is under it."""
    yield ""
    yield title
    yield from body


def wrap(text: str, width: int, first: str = "  ", rest: str = "  ") -> list[str]:
    """A paragraph in lines of at most ``width``; words are never broken."""
    import textwrap

    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


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


def _refusals(refusals: Iterable[DocumentedRefusal], width: int) -> Iterator[str]:
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
    import difflib

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
