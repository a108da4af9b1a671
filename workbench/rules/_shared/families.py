"""Families of rules, the rules that they state, and what an exchange must have for a family to find anything."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from types import ModuleType

from workbench import plugins
from workbench.ir import Message, ToolCallIR, ToolResultIR
from workbench.protocols import asked_of, last_where
from workbench.rules._shared.context import Rule, RuleContext

_PACKAGE = "workbench.rules"


def _is_answered(case: RuleContext) -> bool:
    return case.response is not None


def _is_streamed(case: RuleContext) -> bool:
    return case.response is not None and case.response.is_stream


def _has_error(case: RuleContext) -> bool:
    return case.response is not None and case.response.error is not None


def _has_status(case: RuleContext) -> bool:
    return case.decoded.exchange.response is not None


def _has_earlier(case: RuleContext) -> bool:
    """Exchanges came before it in the session."""
    return case.decoded.index > 0


def _uses_tools(case: RuleContext) -> bool:
    answered = case.response.messages if case.response else ()
    return last_where(case.messages, _is_of_tools) >= 0 or any(map(_is_of_tools, answered))


@asked_of(ToolCallIR, ToolResultIR)
def _is_of_tools(message: Message) -> bool:
    return any([isinstance(part, ToolCallIR | ToolResultIR) for part in message.parts])


def _is_itemized(case: RuleContext) -> bool:
    return case.request is not None and case.request.itemized


def _continues_by_id(case: RuleContext) -> bool:
    return case.request is not None and bool(case.request.previous_id)


_Trait = Callable[[RuleContext], bool]

_NEEDS: Mapping[str, Sequence[_Trait]] = {
    "answers": (_has_status, _is_answered),
    "arguments": (_uses_tools,),
    "calls": (_is_answered,),
    "calls_choice": (_is_answered,),
    "clients": (_is_answered,),
    "closure_alone": (_has_earlier, _uses_tools),
    "closure_ids": (_uses_tools,),
    "closure_items": (_is_itemized, _uses_tools),
    "gateway_stream": (_is_streamed,),
    "made_up": (_is_answered, _has_earlier),
    "reasoning_items": (_is_itemized,),
    "recording": (_has_status,),
    "retry": (_has_earlier, _uses_tools),
    "retry_requests": (_has_earlier,),
    "sockets": (),
    "state": (_continues_by_id,),
    "streaming": (_is_answered,),
    "suspects": (_has_error,),
    "text": (_is_answered,),
    "token_counts": (_is_answered,),
}
"""Built-in family → traits of which an exchange must have one: without, the family finds nothing, and is not imported.

A family without an entry is always asked. That no family finds anything where it is not asked is tested.
"""
_REVIEWS = frozenset(("clients", "common_defaults", "grammar", "recorded_answers", "suspects", "unread"))
_NO_CHECKS = _REVIEWS - {"unread"} | {"mcp"}
"""Built-in families with ``review``, and those without ``check``; tested, too."""


@cache
def families() -> Mapping[str, ModuleType]:
    """Name → module of every family, built-in and third-party."""
    return {name: family(name) for name in plugins.names(_PACKAGE)}


family: Callable[[str], ModuleType] = partial(plugins.load, _PACKAGE)
"""The module of a family, by its name."""


def families_for(case: RuleContext, function: str) -> Sequence[str]:
    """Names of the families with a function ("check", "review") that may find something in an exchange."""
    names = _names_with(function, tuple([trait(case) for trait in _traits_for(function)]))
    if case.rule_prefixes is None or function != "check":
        return names
    return [name for name in names if _is_of(name, case.rule_prefixes)]


@cache
def _is_of(name: str, rule_prefixes: frozenset[str]) -> bool:
    """Rules that begin with one of these words may be of a family; of third parties' any may."""
    return name.partition("_")[0] in rule_prefixes or name in plugins.third_party(_PACKAGE)


@cache
def _traits_for(function: str) -> tuple[_Trait, ...]:
    """The traits that decide which families with a function are asked."""
    return tuple(dict.fromkeys(trait for name in families_with(function) for trait in _needs_of(name) or ()))


@cache
def _names_with(function: str, has: tuple[bool, ...]) -> Sequence[str]:
    """Names of the families for an exchange, by whether it has each of these traits."""
    there = {trait for trait, is_there in zip(_traits_for(function), has, strict=True) if is_there}
    needs = {name: _needs_of(name) for name in families_with(function)}
    return tuple(name for name, wanted in needs.items() if wanted is None or not there.isdisjoint(wanted))


def _needs_of(name: str) -> Sequence[_Trait] | None:
    return None if name in plugins.third_party(_PACKAGE) else _NEEDS.get(name)


@cache
def families_with(function: str) -> tuple[str, ...]:
    """Names of the families that have a function."""
    return tuple(name for name in plugins.names(_PACKAGE) if _has(name, function))


def _has(name: str, function: str) -> bool:
    if name in plugins.third_party(_PACKAGE):
        return hasattr(family(name), function)
    return name in _REVIEWS if function == "review" else name not in _NO_CHECKS


@cache
def every_rule() -> Mapping[str, Rule]:
    """Slug → rule, sorted by slug."""
    rules = {rule.slug: rule for module in families().values() for rule in module.RULES}
    return dict(sorted(rules.items()))


@cache
def family_of(slug: str) -> ModuleType | None:
    """The family that states a rule; None if no family does.

    Imported families are asked first. They include the one that found something, so that its rule costs no import.
    """
    names = sorted(plugins.names(_PACKAGE), key=lambda name: f"{_PACKAGE}.{name}" not in sys.modules)
    return next((found for found in map(family, names) if any(rule.slug == slug for rule in found.RULES)), None)


def find_rule(slug: str) -> Rule | None:
    """The rule of a slug; None if there is none."""
    found = family_of(slug)
    return next(rule for rule in found.RULES if rule.slug == slug) if found else None


def get_rule(slug: str) -> Rule:
    """The rule of a slug. Raises KeyError."""
    found = find_rule(slug)
    if found is None:
        raise KeyError(slug)
    return found
