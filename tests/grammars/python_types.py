"""Types of a Python package, read from its source: nothing of the package is imported or run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.grammars.python_limits import described_range, field_limits, is_list
from workbench.ir import JsonValue

ANY = "any"
UNSEEN = "?"
"""A name of a package that is not there: in a union the other types count, elsewhere anything is accepted."""
PLAIN = {
    "str": "str",
    "bytes": "str",
    "datetime": "str",
    "date": "str",
    "UnrecognizedStr": "str",
    "Base64FileInput": "str",
    "int": "int",
    "float": "num",
    "bool": "bool",
    "None": "null",
    "object": ANY,
    "Any": ANY,
    "UnrecognizedInt": "int",
    "dict": ANY,
    "list": ANY,
    "Dict": ANY,
    "List": ANY,
    "JsonSchemaValue": ANY,
}
LISTS = ("List", "Iterable", "Sequence", "SequenceNotStr", "list", "tuple", "Tuple", "Set")
MAPS = ("Dict", "Mapping", "dict")
TRANSPARENT = ("Required", "NotRequired", "Annotated", "ClassVar", "ReadOnly")
NULLABLE = ("Optional", "Nullable", "OptionalNullable")
MODELS = ("BaseModel", "UncheckedBaseModel", "SubscriptableBaseModel", "CohereObject", "OpenAIBaseModel")
"""Base classes without fields of their own."""
ENUMS = ("Enum", "CaseInSensitiveEnum", "IntEnum")


class Found(NamedTuple):
    """A name: the module that defines it, and its definition; None for a name of another package."""

    module: Path
    node: ast.stmt | None


class PythonTypes:
    """Collects the types that a root refers to.

    Args:
        package: folder of the package.
        camel: keys are written in camelCase.
        need_models: fields of pydantic models without a default are required.
    """

    def __init__(self, package: Path, *, camel: bool = False, need_models: bool = True) -> None:
        self._package, self._camel, self._need_models = package, camel, need_models
        self._modules: dict[Path, dict[str, ast.stmt]] = {}
        self._names: dict[tuple[Path, str], str] = {}
        self._parents: dict[ast.stmt, ast.ClassDef] = {}
        self._reading: list[ast.ClassDef] = []  # the classes whose fields are being read, the innermost last
        self.types: dict[str, JsonValue] = {}

    def root(self, module: str, name: str) -> str:
        """Collect a class and everything it refers to; its name in ``types``."""
        found = self._resolve(self._package / module, name)
        if not isinstance(found.node, ast.ClassDef):
            raise LookupError(f"{module} has no class {name}")
        name = self._class(found.module, found.node)
        self.types = {each: _settled(kind) for each, kind in self.types.items()}
        return name

    def method(self, module: str, name: str, skip: tuple[str, ...]) -> str:
        """Collect the parameters of a method as an object."""
        path = self._package / module
        functions = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.FunctionDef)]
        arguments = next(n for n in functions if n.name == name).args
        pairs = list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
        used = [(a, d) for a, d in pairs if a.arg not in skip and a.annotation is not None]
        keys = {a.arg: self._type(path, a.annotation, False) for a, _ in used if a.annotation}
        self.types[name] = {"keys": keys, "need": [a.arg for a, default in used if default is None]}
        self.types = {each: _settled(kind) for each, kind in self.types.items()}
        return name

    def _scope(self, path: Path) -> dict[str, ast.stmt]:
        if path not in self._modules:
            found: dict[str, ast.stmt] = {}
            for node in _statements(ast.parse(path.read_text("utf-8")).body):
                if isinstance(node, ast.ClassDef):
                    found[node.name] = node
                elif isinstance(node, ast.Import | ast.ImportFrom):
                    names = (alias.asname or alias.name for alias in node.names)
                    found.update((f"*{len(found)}" if name == "*" else name, node) for name in names)
                elif isinstance(node, ast.Assign | ast.AnnAssign):
                    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                    if isinstance(target, ast.Name):
                        found.setdefault(target.id, node)
            self._modules[path] = found
        return self._modules[path]

    def _resolve(self, path: Path, name: str) -> Found:
        node = self._nested(path, name) or self._scope(path).get(name)
        if isinstance(node, ast.ImportFrom):
            original = next(a.name for a in node.names if (a.asname or a.name) == name)
            there = self._module(path, node)
            return self._resolve(there, original) if there else Found(path, None)
        return (
            self._starred(path, name) if node is None else Found(path, None if isinstance(node, ast.Import) else node)
        )

    def _nested(self, path: Path, name: str) -> ast.ClassDef | None:
        """A class that is defined in the class being read, or in one around that."""
        around = self._reading[-1] if self._reading and self._holds(path, self._reading[-1]) else None
        while around is not None:
            for node in around.body:
                if isinstance(node, ast.ClassDef) and node.name == name:
                    self._parents[node] = around
                    return node
            around = self._parents.get(around)
        return None

    def _holds(self, path: Path, node: ast.ClassDef) -> bool:
        while node in self._parents:
            node = self._parents[node]
        return self._scope(path).get(node.name) is node

    def _full_name(self, node: ast.ClassDef) -> str:
        parent = self._parents.get(node)
        return f"{self._full_name(parent)}.{node.name}" if parent else node.name

    def _starred(self, path: Path, name: str) -> Found:
        """A name that a module has from ``from … import *``."""
        for key, node in self._scope(path).items():
            there = self._module(path, node) if key.startswith("*") and isinstance(node, ast.ImportFrom) else None
            found = self._resolve(there, name) if there else Found(path, None)
            if found.node is not None:
                return found
        return Found(path, None)

    def _module(self, path: Path, node: ast.ImportFrom) -> Path | None:
        parts = (node.module or "").split(".") if node.module else []
        # without dots it is this package, or another one that is unpacked beside it
        base = path.parents[node.level - 1] if node.level else self._package.parent
        target = base.joinpath(*parts)
        file, folder = target.with_suffix(".py"), target / "__init__.py"
        return file if file.is_file() else folder if folder.is_file() else None

    def _class(self, path: Path, node: ast.ClassDef) -> str:
        name = self._full_name(node)
        key = (path, name)
        if key not in self._names:
            taken = set(self._names.values())
            self._names[key] = name if name not in taken else f"{name}_{path.stem}"
            self.types[self._names[key]] = None
            limits: dict[str, JsonValue] = {}
            keys, need = self._fields(path, node, limits)
            made: dict[str, JsonValue] = {"keys": dict(sorted(keys.items()))}
            if limits:
                made["limits"] = dict(sorted(limits.items()))
            if need:
                made["need"] = sorted(need)
            self.types[self._names[key]] = made
        return self._names[key]

    def _fields(
        self, path: Path, node: ast.ClassDef, limits: dict[str, JsonValue]
    ) -> tuple[dict[str, JsonValue], set[str]]:
        keys: dict[str, JsonValue] = {}
        need: set[str] = set()
        for base in node.bases:
            found = self._resolve(path, _name(base))
            if isinstance(found.node, ast.ClassDef) and found.node.name not in MODELS:
                more, needed = self._fields(found.module, found.node, limits)
                keys.update(more)
                need |= needed
            elif _functional_value(found.node):
                self._named(path, base, True)
                made = self.types[_name(base)]
                keys.update(made["keys"] if isinstance(made, dict) else {})
        self._reading.append(node)
        limits.update(self._own_fields(path, node, keys, need))
        self._reading.pop()
        return keys, need

    def _own_fields(
        self, path: Path, node: ast.ClassDef, keys: dict[str, JsonValue], need: set[str]
    ) -> dict[str, JsonValue]:
        """Add the fields of a class; their limits."""
        limits: dict[str, JsonValue] = {}
        is_dict = self._is_dict(path, node)
        is_total = not any(k.arg == "total" for k in node.keywords)
        for field, after in pairwise([*node.body, None]):
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            name, annotation = field.target.id, field.annotation
            if name.startswith("_") or name in ("model_config", "is_unknown") or _name(annotation) == "ClassVar":
                continue
            alias = _alias(annotation) or _alias(field.value)
            key = alias or (_camel(name) if self._camel else name.rstrip("_") if is_dict else name)
            keys[key] = self._type(path, annotation, is_dict)
            found = self._limits(path, annotation) | field_limits(field.value, is_list=is_list(keys[key]))
            limits |= {key: found | described_range(after)} if found or described_range(after) else {}
            need.discard(key)
            if _is_needed(field, is_dict, is_total, self._need_models):
                need.add(key)
        return limits

    def _limits(self, path: Path, node: ast.expr) -> dict[str, JsonValue]:
        """Limits that an annotation states."""
        if isinstance(node, ast.BinOp):
            return self._limits(path, node.left) | self._limits(path, node.right)
        if isinstance(node, ast.Name):
            found = self._resolve(path, node.id)
            value = found.node.value if isinstance(found.node, ast.Assign) else None
            is_annotated = isinstance(value, ast.Subscript) and _name(value.value) in (*TRANSPARENT, *NULLABLE)
            return self._limits(found.module, value) if is_annotated and value is not None else {}
        if not isinstance(node, ast.Subscript):
            return {}
        name = _name(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name in LISTS:
            each = self._limits(path, inner[0])
            return {"each": each} if each else {}
        if name not in (*TRANSPARENT, *NULLABLE, "Union"):
            return {}
        limits: dict[str, JsonValue] = {}
        for arm in inner if name == "Union" else inner[:1]:
            limits |= self._limits(path, arm)
        for mark in inner[1:] if name in TRANSPARENT else ():
            limits |= field_limits(mark, is_list=is_list(self._type(path, inner[0], False)))
        return limits

    def _is_dict(self, path: Path, node: ast.ClassDef) -> bool:
        for base in node.bases:
            if _name(base) in ("TypedDict", *MODELS):
                return _name(base) == "TypedDict"
            found = self._resolve(path, _name(base))
            if isinstance(found.node, ast.ClassDef) and self._is_dict(found.module, found.node):
                return True
            if _functional_value(found.node):
                return True
        return False

    def _is_enum(self, path: Path, node: ast.ClassDef) -> bool:
        return any(_name(base) in ENUMS for base in node.bases)

    def _type(self, path: Path, node: ast.expr, in_dict: bool) -> JsonValue:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                return self._type(path, ast.parse(node.value, mode="eval").body, in_dict)
            return "null" if node.value is None else ANY
        if isinstance(node, ast.BinOp):
            return self._union(path, [node.left, node.right], in_dict)
        if isinstance(node, ast.Subscript):
            return self._subscript(path, node, in_dict)
        return self._named(path, node, in_dict)

    def _subscript(self, path: Path, node: ast.Subscript, in_dict: bool) -> JsonValue:
        name = _name(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Literal":
            return ["=", *sorted({e.value for e in inner if isinstance(e, ast.Constant)}, key=repr)]
        if name in TRANSPARENT:
            return self._type(path, inner[0], in_dict)
        if name in NULLABLE:
            kind = self._type(path, inner[0], in_dict)
            return kind if self._camel else _union([kind, "null"])  # null is as absent in JSON of protocol buffers
        if name == "Union":
            return self._union(path, inner, in_dict)
        if name in LISTS:
            return ["[]", self._type(path, inner[0], in_dict)]
        if name in MAPS:
            return ["{}", self._type(path, inner[-1], in_dict)]
        return self._named(path, node.value, in_dict)

    def _union(self, path: Path, arms: list[ast.expr], in_dict: bool) -> JsonValue:
        """A union; of one of typed dictionaries and classes the dictionaries: SDKs turn an answer into what is sent."""
        kept = [arm for arm in arms if not (in_dict and self._is_model(path, arm))] or arms
        return _union([self._type(path, arm, in_dict) for arm in kept])

    def _is_model(self, path: Path, node: ast.expr) -> bool:
        if _name(node) in (*LISTS, *MAPS):
            return False
        found = self._resolve(path, _name(node))
        if isinstance(found.node, ast.AnnAssign | ast.Assign) and found.node.value is not None:
            value = _alias_value(found.node.value)
            if isinstance(value, ast.Subscript) and _name(value.value) == "Annotated":
                value = value.slice.elts[0] if isinstance(value.slice, ast.Tuple) else value.slice
            arms = value.slice.elts if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Tuple) else []
            return bool(arms) and all(self._is_model(found.module, arm) for arm in arms)
        is_class = isinstance(found.node, ast.ClassDef)
        return is_class and not self._is_dict(found.module, found.node) and not self._is_enum(found.module, found.node)

    def _named(self, path: Path, node: ast.expr, in_dict: bool) -> JsonValue:
        name = _name(node)
        found = self._resolve(path, name)
        if name.startswith("Unrecognized"):
            return PLAIN[name]
        if isinstance(found.node, ast.ClassDef):
            if self._is_enum(found.module, found.node):
                return ["=", *_enum_values(found.node)]
            return f"#{self._class(found.module, found.node)}"
        if isinstance(found.node, ast.Assign | ast.AnnAssign) and found.node.value is not None:
            return self._assigned(found.module, name, found.node.value, in_dict)
        return PLAIN.get(name, UNSEEN)

    def _assigned(self, path: Path, name: str, value: ast.expr, in_dict: bool) -> JsonValue:
        if isinstance(value, ast.Call) and _name(value.func) == "TypedDict":
            return self._functional(path, name, value)
        return self._type(path, _alias_value(value), in_dict)

    def _functional(self, path: Path, name: str, call: ast.Call) -> JsonValue:
        """``X = TypedDict("X", {"in": str}, total=False)``."""
        if name not in self.types:
            self.types[name] = None
            table = call.args[1]
            pairs = zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ()
            fields = [(k.value, v) for k, v in pairs if isinstance(k, ast.Constant)]
            keys = {str(k): self._type(path, v, True) for k, v in fields}
            need = sorted(str(k) for k, v in fields if isinstance(v, ast.Subscript) and _name(v.value) == "Required")
            self.types[name] = {"keys": keys, "need": need} if need else {"keys": keys}
        return f"#{name}"


def _functional_value(node: ast.stmt | None) -> bool:
    value = node.value if isinstance(node, ast.Assign) else None
    return isinstance(value, ast.Call) and _name(value.func) == "TypedDict"


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            yield from _statements([*node.body, *node.orelse])
        else:
            yield node


def _name(node: ast.expr | None) -> str:
    """The last name of an expression: ``typing.Optional[...]`` → ``Optional``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return node.id if isinstance(node, ast.Name) else "None"


def _alias(node: ast.expr | None) -> str:
    """The name on the wire that an annotation or a default states."""
    for call in ast.walk(node) if node is not None else ():
        if isinstance(call, ast.Call) and _name(call.func) in ("PropertyInfo", "FieldMetadata", "Field", "FieldInfo"):
            for keyword in call.keywords:
                if keyword.arg in ("alias", "serialization_alias") and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value)
    return ""


def _alias_value(value: ast.expr) -> ast.expr:
    """What a type alias stands for."""
    is_alias = isinstance(value, ast.Call) and _name(value.func) == "TypeAliasType"
    return value.args[1] if is_alias and isinstance(value, ast.Call) else value


def _is_needed(field: ast.AnnAssign, is_dict: bool, is_total: bool, need_models: bool) -> bool:
    marks = {_name(n.value) for n in ast.walk(field.annotation) if isinstance(n, ast.Subscript)}
    if is_dict:
        return "Required" in marks or (is_total and "NotRequired" not in marks)
    return need_models and (field.value is None or _is_required_field(field.value))


def _is_required_field(value: ast.expr) -> bool:
    if not (isinstance(value, ast.Call) and _name(value.func) == "Field"):
        return False
    first = value.args[0] if value.args else None
    is_open = any(k.arg in ("default", "default_factory") for k in value.keywords)
    return not is_open and (first is None or (isinstance(first, ast.Constant) and first.value is Ellipsis))


def _enum_values(node: ast.ClassDef) -> list[JsonValue]:
    values = [n.value for n in node.body if isinstance(n, ast.Assign)]
    return sorted((v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str | int)), key=repr)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _settled(value: JsonValue) -> JsonValue:
    """A type in which what was not seen may be anything."""
    if isinstance(value, dict):
        return {key: _settled(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return value if value[:1] == ["="] else [_settled(inner) for inner in value]
    return ANY if value == UNSEEN else value


def _union(arms: list[JsonValue]) -> JsonValue:
    """One type of several, flat; enums are joined."""
    flat: list[JsonValue] = []
    for arm in arms:
        flat += arm[1:] if isinstance(arm, list) and arm[:1] == ["|"] else [arm]
    if ANY in flat:
        return ANY
    flat = [arm for arm in flat if arm != UNSEEN] if set(map(str, flat)) - {UNSEEN, "null"} else [ANY]
    if any(isinstance(arm, str) and arm.startswith("#") for arm in flat):
        flat = [arm for arm in flat if arm != ["{}", ANY]]  # an SDK takes plain dictionaries in place of its classes
    values = [v for arm in flat if isinstance(arm, list) and arm[0] == "=" for v in arm[1:]]
    others = [arm for arm in flat if not (isinstance(arm, list) and arm[0] == "=")]
    unique = [arm for n, arm in enumerate(others) if arm not in others[:n]]
    if values and not ("str" in unique and all(isinstance(v, str) for v in values)):
        unique.append(["=", *sorted(dict.fromkeys(values), key=repr)])
    return unique[0] if len(unique) == 1 else ["|", *unique]
