"""Proves by trial that local check plus down-levelled schema accept the same values as the original."""

from __future__ import annotations

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.toolcalls.schemas.fits import UndecidableSchema, fits_schema
from workbench.toolcalls.schemas.instances import make_instances
from workbench.toolcalls.schemas.lower import LoweredSchema
from workbench.toolcalls.schemas.mapping import Inexpressible, Undecodable

__all__ = ["Counterexample", "SchemaProof", "prove"]

MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A value that the two sides judge differently."""

    value: JsonValue
    original: bool
    lowered: bool
    check: bool


@dataclass(frozen=True, slots=True)
class SchemaProof:
    """Result of the trial.

    Attributes:
        tried: values that could be judged.
        accepted: number of them that the original accepts.
        inexpressible: values of the original that have no form in the down-levelled schema (its narrower steps).
        undecided: values that no schema here could be applied to.
        problem: reason for the last of them.
        against: a few counterexamples.
    """

    tried: int
    accepted: int
    inexpressible: int
    undecided: int
    problem: str
    against: tuple[Counterexample, ...]

    @property
    def holds(self) -> bool:
        """True if something was tried without a counterexample."""
        return self.tried > 0 and not self.against


def prove(original: JsonValue, lowered: LoweredSchema, count: int, seed: int = 0) -> SchemaProof:
    """Try ``count`` values made from the original and as many made from the down-levelled schema."""
    trial = _SchemaTrial(original, lowered)
    for value in make_instances(original, count, seed):
        trial.forward(value)
    for value in make_instances(lowered.schema, count, seed + 1):
        trial.backward(value)
    return SchemaProof(
        trial.tried,
        trial.accepted,
        trial.inexpressible,
        trial.undecided,
        trial.problem,
        tuple(trial.against[:MOST_SHOWN]),
    )


class _SchemaTrial:
    def __init__(self, original: JsonValue, lowered: LoweredSchema) -> None:
        self.original = original
        self.lowered = lowered
        self.tried = self.accepted = self.inexpressible = self.undecided = 0
        self.problem = ""
        self.against: list[Counterexample] = []

    def forward(self, value: JsonValue) -> None:
        """Check a value of the original: it is accepted exactly if its form is, and the check passes."""
        mapping = self.lowered.mapping
        try:
            form = mapping.encode(value)
            if mapping.decode(form) != value:
                raise Inexpressible("it is read back as a different value")
        except (Inexpressible, Undecodable):
            self.inexpressible += _is_true(value, self.original)
            return
        except UndecidableSchema as error:
            self.undecided, self.problem = self.undecided + 1, str(error)
            return
        self.judge(value, form)

    def backward(self, form: JsonValue) -> None:
        """Check a value of the down-levelled schema: its original is accepted exactly if the check passes."""
        try:
            if not fits_schema(form, self.lowered.schema):
                return
            value = self.lowered.mapping.decode(form)
        except Undecodable:
            return
        except UndecidableSchema as error:
            self.undecided, self.problem = self.undecided + 1, str(error)
            return
        self.judge(value, form)

    def judge(self, value: JsonValue, form: JsonValue) -> None:
        try:
            original = fits_schema(value, self.original)
            lowered = fits_schema(form, self.lowered.schema)
            check = fits_schema(value, self.lowered.check)
        except UndecidableSchema as error:
            self.undecided, self.problem = self.undecided + 1, str(error)
            return
        self.tried += 1
        self.accepted += original
        if original != (lowered and check):
            self.against.append(Counterexample(value, original, lowered, check))


def _is_true(value: JsonValue, schema: JsonValue) -> bool:
    try:
        return fits_schema(value, schema)
    except UndecidableSchema:
        return False
