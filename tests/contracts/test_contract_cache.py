"""Contracts read ahead say what their files say, and count only where nobody else can have written them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workbench import children
from workbench.config import cache_files, resources
from workbench.contracts import contract_cache, loading
from workbench.contracts.common_practice import practices
from workbench.contracts.contract import Contract
from workbench.contracts.facts import ContractFile
from workbench.contracts.scopes import Holds
from workbench.contracts.vocabulary import vet
from workbench.wire import plain_form

SHIPPED = resources.shipped_profiles()


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of shipped contracts of its own, and an empty cache."""
    made = tmp_path / "profiles"
    shutil.copytree(resources.folder("profiles"), made)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(resources, "folder", lambda name: made if name == "profiles" else tmp_path / name)
    loading.forget()
    yield made
    monkeypatch.undo()
    loading.forget()


FEW = (loading.GENERIC, "anthropic", "gemini", "openai")


@pytest.fixture
def few(profiles: Path) -> Path:
    """The same with a few contracts: to read all takes a second, and every test would read them again."""
    for path in profiles.glob("*.yaml"):
        if path.stem not in FEW:
            path.unlink()
    loading.forget()
    return profiles


OF_CHAT = (loading.GENERIC, "cerebras", "deepseek", "groq", "mistral", "openai", "xai")


@pytest.fixture
def of_chat(profiles: Path) -> Path:
    """The same with enough contracts of one protocol for a common practice."""
    for path in profiles.glob("*.yaml"):
        if path.stem not in OF_CHAT:
            path.unlink()
    loading.forget()
    return profiles


def from_yaml(name: str) -> ContractFile:
    path = resources.shipped_profiles()[name]
    file = loading.load(path.read_bytes(), str(path), vet)
    for part in file.includes:
        shared = resources.shared_profiles()[part]
        file = file.with_part(loading.load(shared.read_bytes(), str(shared), vet))
    return file


def in_a_later_process(name: str) -> ContractFile | None:
    loading.forget()
    return contract_cache.contract(name)


def test_every_contract_is_what_its_file_says(profiles: Path) -> None:
    first = loading.outlines()
    loading.forget()
    assert loading.outlines() == first
    assert [file.name for file in first] == [name for name in loading.names() if name != loading.GENERIC]
    for name in SHIPPED:
        file = in_a_later_process(name)
        assert file == from_yaml(name)
        assert file is not None
        assert [check.body for _, check in file.checks] == [check.body for _, check in from_yaml(name).checks]
        assert contract_cache.outline(file) in (*first, contract_cache.outline(from_yaml(loading.GENERIC)))


def test_a_file_that_changed_is_read(few: Path) -> None:
    loading.outlines()
    path = few / "openai.yaml"
    before = path.read_text("utf-8")
    path.write_text(before.replace("\ntitle: ", "\ntitle: Renamed ", 1), encoding="utf-8")
    assert in_a_later_process("openai") is None
    assert loading.read("openai").title.startswith("Renamed ")
    assert next(file for file in loading.outlines() if file.name == "openai").title.startswith("Renamed ")
    assert in_a_later_process("openai") == from_yaml("openai")


def write_for_all(kept: Path) -> None:
    kept.chmod(0o666)


def open_the_folder(kept: Path) -> None:
    kept.parent.chmod(0o777)


def link(kept: Path) -> None:
    kept.rename(kept.with_suffix(".else"))
    kept.symlink_to(kept.with_suffix(".else"))


def cut(kept: Path) -> None:
    kept.write_bytes(kept.read_bytes()[:-9])


def swap_classes(kept: Path) -> None:
    kept.write_bytes(kept.read_bytes().replace(b'["ContractFile"', b'["Holds"       '))


def name_an_unknown_class(kept: Path) -> None:
    kept.write_bytes(kept.read_bytes().replace(b'["ContractFile"', b'["Popen"       '))


def empty(kept: Path) -> None:
    kept.write_bytes(b"")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "spoil", [write_for_all, open_the_folder, link, cut, swap_classes, name_an_unknown_class, empty]
)
def test_what_cannot_be_trusted_is_read_from_its_file(few: Path, spoil: Callable[[Path], None]) -> None:
    loading.outlines()
    (kept,) = resources.cache_folder().iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert in_a_later_process("anthropic") is not None
    spoil(kept)
    assert in_a_later_process("anthropic") is None
    assert loading.read("anthropic") == from_yaml("anthropic")
    assert {file.name for file in loading.outlines()} == {*FEW} - {loading.GENERIC}


def test_a_cache_that_cannot_be_written_costs_only_time(few: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder would be")
    assert {file.name for file in loading.outlines()} == {*FEW} - {loading.GENERIC}
    assert loading.read("gemini") == from_yaml("gemini")
    files: list[str] = []

    def load(name: str) -> ContractFile:
        files.append(name)
        return loading.read(name)

    assert all(contract_cache.common_practice(protocol, load) for protocol in ("openai-chat", "gemini"))
    assert sorted(files) == sorted(FEW)


def test_two_installations_keep_their_own(few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loading.outlines()
    other = tmp_path / "other"
    shutil.copytree(few, other)
    monkeypatch.setattr(resources, "folder", lambda name: other)
    loading.forget()
    loading.outlines()
    assert len(list(resources.cache_folder().iterdir())) == 2


def test_files_of_installations_that_are_gone_do_not_pile_up(few: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "workbench"
    folder.mkdir(parents=True, mode=0o700)
    for age in range(10):
        (folder / f"contracts-{age}.json").write_bytes(b"")
        os.utime(folder / f"contracts-{age}.json", (age, age))
    (folder / "summaries.json").write_bytes(b"")
    loading.outlines()
    kept = {path.name for path in folder.iterdir()}
    assert {"summaries.json", *(f"contracts-{age}.json" for age in range(7, 10))} < kept
    assert len(kept) == 1 + contract_cache.MOST_FILES
    assert in_a_later_process("anthropic") is not None


def test_a_second_check_reads_no_yaml(tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text('{"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}', encoding="utf-8")
    code = "import sys; from workbench.cli import main; main(['check', sys.argv[1]]); print('yaml' in sys.modules)"
    said = []
    for _ in range(2):
        environment = {**children.environment(), "XDG_CACHE_HOME": str(tmp_path / "cache")}
        done = subprocess.run(children.running(code, str(body)), capture_output=True, text=True, env=environment)
        said.append(done.stdout.splitlines())
    assert said[0][:-1] == said[1][:-1]
    assert [lines[-1] for lines in said] == ["True", "False"]


def test_the_form_keeps_every_kind_of_value() -> None:
    value = {"a": [1, 2.5, None, True, "list"], "b": (Holds(("x",)), b"\0\xff", ("tuple", {})), "c": ["bytes"]}
    assert plain_form.decode(plain_form.encode(value, [Holds]), [Holds]) == value
    with pytest.raises(TypeError):
        plain_form.encode({1: "x"}, [])
    with pytest.raises(TypeError):
        plain_form.encode(Holds(), [])


def test_files_of_somebody_else_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache_files.write("x", b"mine")
    assert cache_files.read("x") == b"mine"
    if hasattr(os, "geteuid"):
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        assert cache_files.read("x") is None
    assert sys.platform != "win32" or cache_files.read("x") == b"mine"


def in_a_later_run(digest: str, name: str, protocol: str, model: str) -> Contract:
    """A contract as another process resolves it."""
    loading.forget()
    loading.keep_resolved(digest)
    return loading.resolve(name, protocol, "", model)


RESOLVED = [
    ("deepseek", "openai-chat", "deepseek-chat"),
    ("groq", "openai-chat", "openai/gpt-oss-120b"),
    ("openai", "openai-chat", "gpt-5"),
    ("openai", "openai-responses", "gpt-5.2"),
]


def test_a_resolved_contract_is_the_same_from_the_cache(of_chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resolved = {case: loading.resolve(case[0], case[1], "", case[2]) for case in RESOLVED}
    pairs = {case: (contract, loading.with_common_practice(contract)) for case, contract in resolved.items()}
    for case in RESOLVED:
        in_a_later_run("a program", *case)
    with monkeypatch.context() as only_kept:
        only_kept.setattr(loading, "_resolve", None)
        kept = {case: in_a_later_run("a program", *case) for case in RESOLVED}
        assert {case: (contract, loading.with_common_practice(contract)) for case, contract in kept.items()} == pairs
    assert any(contract is not soft for contract, soft in pairs.values())
    assert in_a_later_run("another program", *RESOLVED[0]) == pairs[RESOLVED[0]][0]
    assert len([*resources.cache_folder().glob("resolved-*.json")]) == 1 + len(RESOLVED)


def test_a_resolved_contract_that_cannot_be_read_is_resolved_again(of_chat: Path) -> None:
    first = in_a_later_run("a program", *RESOLVED[0])
    (kept,) = resources.cache_folder().glob("resolved-*.json")
    whole = kept.read_bytes()
    for damage in (b"", b"[]", b"[[],[]]", whole[:-9], whole.replace(b"deepseek", b"deepseak", 1)):
        kept.write_bytes(damage)
        assert in_a_later_run("a program", *RESOLVED[0]) == first


def test_nothing_is_kept_of_own_contracts_that_changed_after_they_were_read(
    of_chat: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = resources.own_folder("profiles") / "groq.yaml"
    own.parent.mkdir(parents=True)
    shutil.copy(of_chat / "groq.yaml", own)
    loading.forget()
    loading.read("groq")
    own.write_text(own.read_text("utf-8") + "\n# changed\n", "utf-8")
    loading.keep_resolved("of the changed file")
    loading.resolve(*RESOLVED[1][:2], "", RESOLVED[1][2])
    assert not [*resources.cache_folder().glob("resolved-*.json")]
    in_a_later_run("of the changed file", *RESOLVED[1])
    assert [*resources.cache_folder().glob("resolved-*.json")]


def test_refusals_behind_common_practice_are_the_same_from_the_cache(of_chat: Path) -> None:
    files = {name: from_yaml(name) for name in OF_CHAT}
    computed = practices(files.values())
    loading.outlines()
    assert {name: dict(contract_cache.common_refusals(name, files.__getitem__).at) for name in computed} == {
        name: dict(practice.refusals) for name, practice in computed.items()
    }
    assert any(practice.refusals for practice in computed.values())
