"""Named tuples whose ``__new__`` is compiled late behave as those of ``typing``."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import Any, Generic, TypeVar

import pytest

from workbench import named_tuple

T = TypeVar("T")
BASES = (named_tuple.NamedTuple, typing.NamedTuple)


def make(base: Any) -> type:
    class Point(base):
        """A place."""

        x: int
        y: int = 3

        @property
        def total(self) -> int:
            return self.x + self.y

    return Point


class Pickled(named_tuple.NamedTuple, Generic[T]):
    x: T
    names: tuple[str, ...] = ()


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("before", [0, 100])
def test_instances_are_made_compared_and_taken_apart(base: Any, before: int) -> None:
    point: Any = make(base)
    for n in range(before):
        assert point(n).x == n
    assert (point(1), point(1, 2), point(x=1), point(y=4, x=1)) == ((1, 3), (1, 2), (1, 3), (1, 4))
    made = point(1)
    assert (made.x, made.y, made.total, made[1], len(made), hash(made)) == (1, 3, 4, 3, 2, hash((1, 3)))
    assert (made._replace(y=5), made._asdict(), point._make([7, 8])) == ((1, 5), {"x": 1, "y": 3}, (7, 8))
    assert (point._fields, point._field_defaults, point.__doc__) == (("x", "y"), {"y": 3}, "A place.")
    assert (repr(made), isinstance(made, tuple), copy.deepcopy(made)) == ("Point(x=1, y=3)", True, made)
    match made:
        case point(x, y):
            assert (x, y) == (1, 3)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("before", [0, 100])
def test_wrong_arguments_are_refused(base: Any, before: int) -> None:
    point: Any = make(base)
    for n in range(before):
        point(n)
    for call in (lambda: point(), lambda: point(1, 2, 3), lambda: point(1, z=1), lambda: point(1, x=1)):
        with pytest.raises(TypeError, match="argument"):
            call()
    with pytest.raises(TypeError, match="arguments"):
        point._make([1])
    with pytest.raises((ValueError, TypeError), match="field"):
        point(1)._replace(z=1)
    with pytest.raises(AttributeError):
        point(1).x = 2


def test_an_instance_is_pickled() -> None:
    made = Pickled(1, ("a",))
    assert pickle.loads(pickle.dumps(made)) == made
    assert type(pickle.loads(pickle.dumps(made))) is Pickled
