"""Rule pages: what is wrong, why it bites, what to look for, how to correct it, who refuses it, and two examples.

One ``rule_pages/SLUG.yaml`` a rule. The refusals of providers with a contract come from the contracts; a page adds
those of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from workbench.config import resources
from workbench.contracts import loading
from workbench.contracts.page import Example, Page, Refusal
from workbench.contracts.page_text import lines
from workbench.contracts.reader import Node
from workbench.errors import UsageError

__all__ = ["Example", "Page", "Refusal", "lines", "others", "page", "slugs"]


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
def others(slug: str) -> tuple[Refusal, ...]:
    """Refusals of providers without a contract, or on endpoints that their contract does not cover."""
    return tuple(
        Refusal(
            provider=node.only("provider", "status", "message", "where", "source").get("provider").text(),
            status=node.get("status").number(),
            message=node.get("message").text(),
            source=node.get("source").text(),
            where=node.get("where").text(""),
        )
        for node in read(slug).get("others").items()
    )


def _contract_refusals(slug: str) -> Iterator[Refusal]:
    for name in loading.names():
        file = loading.read(name)
        for holds, check in file.checks:
            if check.rule == slug:
                who = ", ".join(f"{name}:{variant}" for variant in holds.variants) or name
                where = ", ".join(holds.protocols) if len(file.protocols) > 1 else ""
                yield Refusal(who, check.status, check.template, check.source, check.when, where)


_EXCHANGE = ("hop", "request", "raw", "status", "response", "sse", "text", "type", "state", "note", "at")


def _example(node: Node) -> Example | None:
    if node.value is None:
        return None
    node.only("provider", "protocol", "exchanges", *_EXCHANGE)
    given = [e.only(*_EXCHANGE) for e in node.get("exchanges").items()]
    own = {key: value.value for key, value in node.members() if key not in ("provider", "protocol", "exchanges")}
    return Example(node.get("provider").text(), node.get("protocol").text(), tuple(e.value for e in given) or (own,))
