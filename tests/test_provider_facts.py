"""Facts about providers are in ``profiles/``, not in tables of the program."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import pytest

from tests.test_architecture import PACKAGE, modules
from tests.texts import nodes
from workbench.config import resources
from workbench.protocols import protocols

pytestmark = pytest.mark.together("source")  # parsed once

PROVIDERS = frozenset(resources.shipped_profiles())

PROTOCOL_FOLDERS = frozenset(f"protocols/{name.replace('-', '_')}" for name in protocols())

EXCEPTIONS: Mapping[str, tuple[int, str]] = {
    "recorder/client_settings.py": (2, "a choice and its order, not a fact: what the form for a recording offers"),
    "protocols/clients/known_clients.py": (
        5,
        "facts of clients: which providers each uses, and what its settings call them; and the URLs it uses then, "
        "since no contract is read when a client is started",
    ),
    "formats/importers/_litellm.py": (
        1,
        "facts of a log: names of providers to which LiteLLM does not send Chat Completions",
    ),
    "formats/importers/cloudflare_gateway.py": (
        2,
        "facts of a log: what Cloudflare calls providers, and the host that each name stands for",
    ),
    "send/local.py": (2, "facts of server programs of this machine: their default ports, and how each is recognised"),
}
"""Module → how many tables of provider names it has, and why they stay there."""


def tables(found: Iterable[ast.AST]) -> Iterator[tuple[int, list[str]]]:
    """(line, provider names) of each literal that holds two or more names of contracts, as items, keys or values."""
    for node in found:
        groups: list[list[ast.expr | None]] = []
        if isinstance(node, ast.Dict):
            groups = [[*node.keys], [*node.values]]
        elif isinstance(node, ast.List | ast.Set | ast.Tuple):
            groups = [[*node.elts]]
        for group in groups:
            words = {e.value for e in group if isinstance(e, ast.Constant) and isinstance(e.value, str)}
            if len(words & PROVIDERS) > 1:
                yield node.lineno, sorted(words & PROVIDERS)


def test_no_module_but_the_exceptions_has_a_table_of_providers():
    seen: Counter[str] = Counter()
    new = []
    for path in modules():
        name = path.relative_to(PACKAGE).as_posix()
        if "/".join(name.split("/")[:2]) in PROTOCOL_FOLDERS:
            continue
        for line, names in tables(nodes(path)):
            seen[name] += 1
            if name not in EXCEPTIONS:
                new.append(f"workbench/{name}:{line}: {', '.join(names)}")
    assert not new, "facts about providers are terms of their contracts (profiles/README.md):\n" + "\n".join(new)
    assert seen == {name: count for name, (count, _) in EXCEPTIONS.items()}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('X = {"openai": 1, "kimi": 2}', 1),
        ('X = {1: "openai", 2: "kimi"}', 1),
        ('X = ("openai", "kimi", "other")', 1),
        ('X = {"openai", "kimi"}', 1),
        ('X = ["openai", "openai"]', 0),
        ('X = {"openai": "kimi"}', 0),
        ('X = ("openai-chat", "none")', 0),
    ],
)
def test_a_table_is_found_by_its_names(text: str, count: int):
    assert len(list(tables(ast.walk(ast.parse(text))))) == count
