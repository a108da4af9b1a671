"""``matrix --what-if`` and ``matrix --target``: variants of one request, sent to several targets."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from workbench.cli import _files, _output
from workbench.views import REQUEST_SIGNS

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.rules import Inspector
    from workbench.send import Target
    from workbench.trials.whatif import RequestVariant, VariantOutcome
    from workbench.wire.session import Session

Done = TypeVar("Done")


def run(args: argparse.Namespace) -> int:
    """Send the variants to the targets; print a table of outcomes."""
    from workbench.cli._send import consent
    from workbench.send import matrix, resolve
    from workbench.trials import whatif

    targets = [resolve(text, args.protocol or "") for text in args.target]
    args.provider = args.provider or _common_contract(targets)
    session = _files.open_file(args.file, args)
    try:
        inspector = _files.inspector(session, args)
        index = _files.exchange_index(session, args.exchange, default=-1)
        index = matrix.longest(inspector) if index < 0 else index
        labels = args.contracts or ([inspector.detail(index).contract.label] if not targets else [])
        targets += [resolve(f"sim:{label}") for label in labels]
        targets = list({(target.name, target.url): target for target in targets}.values())  # named twice, asked once
        common = _common_protocols(targets)
        variants = whatif.select(whatif.variants(inspector, index), args.what_if or [whatif.UNCHANGED], common)
        consent.agree(targets, len([v for v in variants if v.request]), is_agreed=args.yes)
        outcomes = asyncio.run(_outcomes(session, inspector, index, variants, targets))
    finally:
        session.close()
    ordered = [_of(outcomes, variant, target) for variant in variants for target in targets]
    if args.format == "json":
        _output.emit_json(_as_json(args.file, index, variants, targets, ordered))
    else:
        _print(index, variants, targets, ordered)
    verdicts = {o.verdict.value for o in ordered if o.variant.request}
    return 1 if "refuses" in verdicts else 3 if "unknown" in verdicts or not verdicts else 0


def _common_contract(targets: Sequence[Target]) -> str | None:
    """The contract that all targets share; None if they differ."""
    found = {target.contract for target in targets}
    return found.pop() or None if len(found) == 1 else None


def _common_protocols(targets: Sequence[Target]) -> set[str]:
    """Protocols of the targets; empty if one of them accepts any protocol."""
    return {name for t in targets for name in t.protocols} if all(t.protocols for t in targets) else set()


def _of(outcomes: Sequence[VariantOutcome], variant: RequestVariant, target: Target) -> VariantOutcome:
    return next(o for o in outcomes if o.variant is variant and o.target is target)


async def _outcomes(
    session: Session,
    inspector: Inspector,
    index: int,
    variants: Sequence[RequestVariant],
    targets: Sequence[Target],
) -> list[VariantOutcome]:
    from workbench.cli import _progress
    from workbench.send import Sender
    from workbench.trials import whatif

    async def ask(job: Callable[[Inspector], Done]) -> Done:
        return job(inspector)

    found: list[VariantOutcome] = []
    with _progress.counting("sending", len(variants) * len(targets)) as advance:
        async with Sender(known=session) as sender:
            async for outcome in whatif.run(ask, index, variants, targets, sender):
                found.append(outcome)
                advance()
    return found


def _print(
    index: int, variants: Sequence[RequestVariant], targets: Sequence[Target], ordered: Sequence[VariantOutcome]
) -> None:
    names = ", ".join(target.name for target in targets)
    _output.emit(f"exchange {index + 1}: variants sent to {names}; tools are never run")
    _output.emit()
    for variant in variants:
        _output.emit(f"{variant.name}: {variant.title}")
        if variant.request is None:
            _output.emit(f"  not tried: {_output.cut(variant.why_not)}")
            continue
        width = max(len(target.name) for target in targets)
        for outcome in (o for o in ordered if o.variant is variant):
            label = (
                f"{REQUEST_SIGNS[outcome.verdict.value][0]} {outcome.target.name:<{width}}  {outcome.verdict.value:<10}"
            )
            _output.emit(f"  {label}  {_outcome_words(outcome)}".rstrip())


def _outcome_words(outcome: VariantOutcome) -> str:
    parts = [str(outcome.status)] if outcome.status else []
    parts += [f"{outcome.finding.rule}  {outcome.finding.pointer or '(whole body)'}"] if outcome.finding else []
    parts += [f"calls {', '.join(outcome.calls)}"] if outcome.calls else []
    parts += [f"lost: {_output.number(outcome.losses, 'part')}"] if outcome.losses else []
    parts += [outcome.text] if outcome.text else []
    return _output.cut("  ".join(parts))


def _as_json(
    path: str,
    index: int,
    variants: Sequence[RequestVariant],
    targets: Sequence[Target],
    ordered: Sequence[VariantOutcome],
) -> JsonValue:
    return {
        "path": path,
        "exchange": index,
        "targets": [target.name for target in targets],
        "variants": [
            {
                "name": variant.name,
                "title": variant.title,
                "why_not": variant.why_not or None,
                "outcomes": [_outcome_json(o) for o in ordered if o.variant is variant],
            }
            for variant in variants
        ],
    }


def _outcome_json(outcome: VariantOutcome) -> JsonValue:
    found = outcome.finding
    return {
        "target": outcome.target.name,
        "verdict": outcome.verdict.value,
        "status": outcome.status,
        "rule": found.rule if found else None,
        "pointer": found.pointer if found else None,
        "text": outcome.text or None,
        "calls": list(outcome.calls),
        "losses": outcome.losses,
        "seconds": outcome.exchange.duration if outcome.exchange else None,
    }
