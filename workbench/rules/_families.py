"""Families of rules, and the rules that they state."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import ModuleType

from workbench import plugins
from workbench.rules.context import Rule

_PACKAGE = "workbench.rules"


@cache
def families() -> Mapping[str, ModuleType]:
    """Name → module of every family, built-in and third-party."""
    return {name: plugins.load(_PACKAGE, name) for name in plugins.names(_PACKAGE)}


@cache
def families_with(function: str) -> tuple[str, ...]:
    """Names of the families that have a function."""
    return tuple(name for name, module in families().items() if hasattr(module, function))


@cache
def every_rule() -> Mapping[str, Rule]:
    """Slug → rule, sorted by slug."""
    rules = {rule.slug: rule for module in families().values() for rule in module.RULES}
    return dict(sorted(rules.items()))
