"""Named tuples whose ``__new__`` is compiled when there are many of them.

``typing.NamedTuple`` compiles each annotation, and a function for each class: 0.1 ms in all. A short command imports
120 such classes, and makes a few instances of some. Here a class is made of its fields alone, and the first instances
without a function of their own. All else is as with ``typing.NamedTuple``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from _collections import _tuplegetter

    _FEW = 24
    """Instances of a class that are made before it is worth while to compile what makes them."""
    _new = tuple.__new__

    class _Maker(type):
        """Makes the class of a statement that has ``NamedTuple`` among its bases."""

        def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> type:
            fields = tuple(members.get("__annotations__", ()))
            defaults = {field: members[field] for field in fields if field in members}
            content = {**_METHODS, **members, **{field: _tuplegetter(n, "") for n, field in enumerate(fields)}}
            content |= {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            tuple_class = type(name, (tuple, *(base for base in bases if base is not _Base)), content)
            tuple_class.__new__ = staticmethod(_first_new(tuple_class, fields, defaults))
            return tuple_class

    def _first_new(tuple_class: type, fields: tuple[str, ...], defaults: dict[str, Any]) -> Callable[..., Any]:
        """``__new__`` of the first instances of a class; it is compiled for those behind, and for what it refuses."""
        count, size = 0, len(fields)

        def __new__(cls: type, /, *args: Any, **values: Any) -> Any:
            nonlocal count
            count += 1
            if count <= _FEW and len(args) <= size:
                rest = fields[len(args) :]
                if not rest and not values:
                    return _new(cls, args)
                if values.keys() <= set(rest) and all(field in values or field in defaults for field in rest):
                    return _new(cls, (*args, *(values[f] if f in values else defaults[f] for f in rest)))
            tuple_class.__new__ = staticmethod(_compile_new(tuple_class, fields, defaults))
            return tuple_class.__new__(cls, *args, **values)

        __new__.__qualname__ = f"{tuple_class.__qualname__}.__new__"
        return __new__

    def _compile_new(tuple_class: type, fields: tuple[str, ...], defaults: dict[str, Any]) -> Callable[..., Any]:
        """As ``collections.namedtuple`` has it."""
        names = ", ".join(fields)
        space = {"_new": _new, "__builtins__": {}, "__name__": tuple_class.__module__}
        make = eval(f"lambda _cls, {names}: _new(_cls, ({names}{',' * bool(fields)}))", space)  # noqa: S307  # names of fields
        make.__defaults__ = tuple(defaults.values())
        make.__name__, make.__qualname__ = "__new__", f"{tuple_class.__qualname__}.__new__"
        return make

    def _make(cls: Any, iterable: Iterable[Any]) -> Any:
        """Return an instance of a sequence or iterable."""
        row = _new(cls, iterable)
        if len(row) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(row)}")
        return row

    def _replace(self: Any, /, **values: Any) -> Any:
        """Return an instance with other values of some fields."""
        row = self._make(map(values.pop, self._fields, self))
        if values:
            raise ValueError(f"Got unexpected field names: {list(values)!r}")
        return row

    def _asdict(self: Any) -> dict[str, Any]:
        """Return a dict of the fields."""
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self: Any) -> str:
        inner = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({inner})"

    def __getnewargs__(self: Any) -> tuple[Any, ...]:
        return tuple(self)

    _METHODS = {
        "_make": classmethod(_make),
        **{method.__name__: method for method in (_replace, _asdict, __repr__, __getnewargs__)},
        "__replace__": _replace,
    }
    _Base = type.__new__(_Maker, "_Base", (), {})

    class _NamedTuple:
        """Takes the place of ``typing.NamedTuple`` among the bases of a class."""

        def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
            return (_Base,)

    NamedTuple = _NamedTuple()
