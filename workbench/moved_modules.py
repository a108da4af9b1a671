"""Keeps old module names importable for plug-ins written before modules moved.

``docs/moved.md`` has the same table for readers.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # every start imports this module: neither typing nor importlib.abc, which take 30 ms
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.abc import Loader, MetaPathFinder
    from importlib.machinery import ModuleSpec
    from types import ModuleType
else:
    Loader = MetaPathFinder = object

MOVED: Mapping[str, str] = {
    "workbench.accumulation": "workbench.protocols.clients",
    "workbench.accumulation.policy": "workbench.protocols.clients.buffers",
    "workbench.adapters": "workbench.protocols",
    "workbench.arguments": "workbench.toolcalls.arguments",
    "workbench.arguments.refusal": "workbench.toolcalls.arguments.ladder",
    "workbench.audit": "workbench.recorder.audit",
    "workbench.audit.gateway": "workbench.recorder.audit.run",
    "workbench.audit.stage": "workbench.recorder.audit.sighting",
    "workbench.breakpoints": "workbench.recorder.breakpoints",
    "workbench.breakpoints.recorders": "workbench.recorder.breakpoints.remote",
    "workbench.bridge": "workbench.recorder.translation",
    "workbench.bridge.handles": "workbench.recorder.translation.reasoning_proofs",
    "workbench.bridge.process": "workbench.recorder.process",
    "workbench.capability": "workbench.probes.profiles",
    "workbench.capability.asked": "workbench.probes.profiles.server_info",
    "workbench.capability.corrected": "workbench.probes.profiles.corrector",
    "workbench.capability.keeping": "workbench.probes.profiles.store",
    "workbench.capability.matching": "workbench.probes.profiles.choosing",
    "workbench.capability.motion": "workbench.probes.profiles.tool_loop",
    "workbench.capability.refresh": "workbench.probes.profiles.choosing",
    "workbench.capability.risk": "workbench.probes.profiles.gating",
    "workbench.chain.fingerprint": "workbench.fingerprint",
    "workbench.chain.likeness": "workbench.protocols.likeness",
    "workbench.chain.received": "workbench.chain.received_answers",
    "workbench.chain.said": "workbench.diff.content",
    "workbench.chain.terms": "workbench.terms",
    "workbench.chain.turns": "workbench.diff.pairing",
    "workbench.chain.undo_log": "workbench.undo_log",
    "workbench.chain.versions": "workbench.diff.pairing",
    "workbench.comparison": "workbench.diff.comparison",
    "workbench.conversion": "workbench.convert",
    "workbench.conversion.dialect": "workbench.convert.convert",
    "workbench.damage": "workbench.diff.damage",
    "workbench.decode": "workbench.protocols.decode",
    "workbench.differences": "workbench.diff",
    "workbench.differences.spelling": "workbench.diff.meaning",
    "workbench.editing": "workbench.edits",
    "workbench.editing.signed": "workbench.edits.assessment",
    "workbench.edits.live": "workbench.edits.assessment",
    "workbench.edits.places": "workbench.edits.message_parts",
    "workbench.edits.signed": "workbench.edits.assessment",
    "workbench.exporters": "workbench.formats.exporters",
    "workbench.filters.amounts": "workbench.filters.expression",
    "workbench.filters.keys": "workbench.filters.expression",
    "workbench.importers": "workbench.formats.importers",
    "workbench.inspection": "workbench.rules.inspection",
    "workbench.known": "workbench.protocols.known_messages",
    "workbench.leaves": "workbench.provenance",
    "workbench.library.clients": "workbench.library.client_sessions",
    "workbench.library.found": "workbench.library.client_sessions",
    "workbench.library.imported": "workbench.library.session_import",
    "workbench.library.memory": "workbench.library.home_state",
    "workbench.library.shelf": "workbench.library.home_sections",
    "workbench.library.story": "workbench.library.session_summary",
    "workbench.library.upstreams": "workbench.recorder.client_settings",
    "workbench.library.verdict": "workbench.library.clean_verdict",
    "workbench.loop": "workbench.send.loop",
    "workbench.loop.following": "workbench.send.loop.next_request",
    "workbench.loop.policy": "workbench.send.loop.steps",
    "workbench.loop.recorded": "workbench.send.loop.recorded_results",
    "workbench.loop.said": "workbench.send.loop.next_request",
    "workbench.loop.sending": "workbench.send.loop.steps",
    "workbench.matrix": "workbench.send.matrix",
    "workbench.metrics": "workbench.rules",
    "workbench.metrics.costs": "workbench.rules.metrics.session_costs",
    "workbench.metrics.counts": "workbench.rules.metrics.tool_use_counts",
    "workbench.metrics.gather": "workbench.library.metrics",
    "workbench.metrics.prices": "workbench.rules.metrics.prices",
    "workbench.minimize": "workbench.trials.minimize",
    "workbench.minimize.bench": "workbench.trials.minimize.failure",
    "workbench.minimize.changes": "workbench.trials.minimize.fixes",
    "workbench.minimize.course": "workbench.trials.minimize",
    "workbench.minimize.mending": "workbench.trials.minimize.fixes",
    "workbench.notes": "workbench.edits.notes",
    "workbench.probes.selftest.body": "workbench.edits.planted_faults.healthy_request",
    "workbench.probes.selftest.faults": "workbench.edits.planted_faults.faults",
    "workbench.recorder.admission": "workbench.wire.http1.head",
    "workbench.recorder.clients": "workbench.protocols.clients.known_clients",
    "workbench.recorder.http1": "workbench.wire.http1",
    "workbench.protocols.families": "workbench.protocols.shapes",
    "workbench.refusals": "workbench.protocols.refusals",
    "workbench.repairs": "workbench.edits.repairs",
    "workbench.resources": "workbench.config.resources",
    "workbench.rules._case": "workbench.rules._shared.context",
    "workbench.rules.context": "workbench.rules._shared.context",
    "workbench.rules.lens": "workbench.rules.schema_check",
    "workbench.rules.prices": "workbench.rules.metrics.prices",
    "workbench.rules.recorded": "workbench.rules.recorded_answers",
    "workbench.rules.session_costs": "workbench.rules.metrics.session_costs",
    "workbench.rules.tool_use_counts": "workbench.rules.metrics.tool_use_counts",
    "workbench.rules.wording": "workbench.rules._shared.wording",
    "workbench.safeyaml": "workbench.config.safeyaml",
    "workbench.schemas": "workbench.toolcalls.schemas",
    "workbench.selftest": "workbench.probes.selftest",
    "workbench.selftest.control": "workbench.edits.planted_faults.faults",
    "workbench.shelf": "workbench.library",
    "workbench.shelf.upstreams": "workbench.recorder.client_settings",
    "workbench.targets": "workbench.send",
    "workbench.targets.configured": "workbench.send.own_targets",
    "workbench.targets.faults": "workbench.simulator._dials",
    "workbench.targets.masking": "workbench.send.credentials",
    "workbench.targets.recalled": "workbench.simulator._memory",
    "workbench.targets.retrying": "workbench.send.endpoint",
    "workbench.targets.simulator": "workbench.simulator",
    "workbench.targets.unbound": "workbench.send.preflight",
    "workbench.targets.urls": "workbench.send.target",
    "workbench.textcalls": "workbench.toolcalls.formats",
    "workbench.tui.glyphs": "workbench.glyphs",
    "workbench.tui.lines": "workbench.views.lines",
    "workbench.tui.looks": "workbench.tui.themes",
    "workbench.tui.models.bodysearch": "workbench.tui.models.wire",
    "workbench.tui.models.filterguide": "workbench.tui.models.glossary",
    "workbench.tui.models.hexdump": "workbench.tui.models.escaped_lines",
    "workbench.tui.models.laidout": "workbench.tui.models.rows",
    "workbench.tui.models.repairs": "workbench.tui.models.findings",
    "workbench.tui.models.tokens": "workbench.tui.models.rowtable",
    "workbench.tui.models.words": "workbench.views.words",
    "workbench.tui.panes": "workbench.tui.widgets",
    "workbench.tui.safetext": "workbench.safetext",
    "workbench.tui.screens.recording": "workbench.tui.screens.record",
    "workbench.unwrapping": "workbench.formats.unwrapping",
    "workbench.whatif": "workbench.trials.whatif",
    "workbench.wire.characters": "workbench.characters",
    "workbench.wire.ratelimits": "workbench.wire.headers",
    "workbench.wire.secrets.named": "workbench.wire.secrets.named_values",
    "workbench.wire.secrets.streamed": "workbench.wire.secrets.stream_texts",
    "workbench.wire.session.alive": "workbench.wire.session.writers",
    "workbench.wire.session.replaced": "workbench.wire.session.file_replacement",
    "workbench.wire.session.texts": "workbench.wire.session.rows",
    "workbench.wire.session.untrusted": "workbench.wire.session.untrusted_sqlite",
    "workbench.workspace": "workbench.edits.branches",
}
"""Old name of a module or room → present name; the content of a room moved with it."""

RENAMED: Mapping[str, Mapping[str, str]] = {
    "workbench.contracts": {"Cause": "FaultId", "Origin": "FaultOrigin", "plain": "plain_text"},
    "workbench.diff": {"changes": "item_changes"},
    "workbench.filters": {"turns": "turn_numbers", "values": "values_of_keys"},
    "workbench.formats.exporters": {
        "Exported": "ExportResult",
        "Form": "ExportForm",
        "Proof": "ExportProof",
        "Selection": "ExportSelection",
        "Tried": "ExportRun",
    },
    "workbench.probes": {"Result": "ProbeResult", "Run": "ProbeRun", "Step": "SampleStep"},
    "workbench.protocols.decode": {"Decoded": "DecodedExchange", "Place": "WirePlace"},
    "workbench.protocols.clients": {"Step": "StreamStep"},
    "workbench.rules": {
        "Case": "RuleContext",
        "Enforced": "EnforcedCheck",
        "Key": "CountKey",
        "Origin": "FaultOrigin",
        "turns": "turn_costs",
    },
    "workbench.rules._shared.context": {"Case": "RuleContext"},
    "workbench.rules.metrics.session_costs": {"Turn": "TurnCost"},
    "workbench.rules.inspection": {"Inspected": "InspectedExchange"},
    "workbench.toolcalls.formats": {"Parser": "TextParser", "find": "find_calls"},
    "workbench.trials.whatif": {"Outcome": "VariantOutcome", "Subject": "VariedRequest", "Variant": "RequestVariant"},
    "workbench.views": {"laid_out": "json_layout_lines"},
    "workbench.wire": {"Kind": "ExchangeKind"},
}
"""Present module → old name of a class or function that plug-ins use → its present name."""

_asked: dict[str, str] = {}


def now(name: str) -> str:
    """Present name of a module ("workbench.adapters.x" → "workbench.protocols.x"); empty if it never moved."""
    words = name.split(".")
    for count in range(len(words), 1, -1):
        if (place := MOVED.get(".".join(words[:count]))) is not None:
            found = ".".join([place, *words[count:]])
            return now(found) or found  # moved once more: later rows begin where earlier ones end
    return ""


def present_name(module: str, name: str) -> str:
    """Present name of a class that plug-ins know by an old one; empty for any other name. Warns of the old name."""
    new = RENAMED.get(module, {}).get(name, "")
    if new:
        _asked.setdefault(f"{module}.{name}", f"{module}.{new}")
        _warn(f"{module}.{name} is now {module}.{new}", 4)
    return new


def _warn(line: str, depth: int) -> None:
    import warnings

    warnings.warn(line, DeprecationWarning, stacklevel=depth)


def requested_moves() -> tuple[str, ...]:
    """One line for each old room that was imported so far."""
    rooms = {_room_or_class(old): new for old, new in reversed(_asked.items())}
    return tuple(f"{old} is now {new}: a plug-in still imports the old name" for old, new in rooms.items())


def _room_or_class(old: str) -> str:
    """The room of an old module; an old class itself."""
    return old if old.rpartition(".")[2][0].isupper() else ".".join(old.split(".")[:2])


def install() -> None:
    """Make old names importable."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        new = now(fullname)
        if not new:
            return None
        _asked.setdefault(fullname, new)
        from importlib import import_module
        from importlib.machinery import ModuleSpec

        _warn(f"{fullname} is now {new}", 3)
        module = import_module(new)
        return ModuleSpec(fullname, _Alias(module), is_package=hasattr(module, "__path__"))


class _Alias(Loader):
    """Loader that returns the present module, never a second copy."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        for old, new in RENAMED.get(self._module.__name__, {}).items():
            if old not in vars(self._module):
                setattr(self._module, old, getattr(self._module, new))
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import machinery has put that of the old name in its place
