"""Trying exported tests: what proves something, and what does not, told from one another in one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.formats.exporters import ExportProof, ExportRun
from workbench.formats.exporters.as_pytest import _proof

TESTS = {
    "good": "import os\n\ndef test_it():\n    assert os.environ['WORKBENCH_TRANSCRIPT'] == 'transcript.jsonl'\n",
    "blind": "def test_it():\n    assert True\n",
    "wrong": "def test_it():\n    assert 1 == 2, 'never\\nright'\n",
    "stuck": (
        "import pytest\n\n@pytest.fixture\ndef gone():\n    raise OSError('no file')\n\ndef test_it(gone):\n    pass\n"
    ),
    "alone": (
        "import os\n\ndef test_it():\n    assert 'SECRET_API_KEY' not in os.environ\n"
        "    assert 'XDG_CONFIG_HOME' not in os.environ and os.environ['HOME'] in os.getcwd()\n"
        "    assert os.environ['WORKBENCH_TRANSCRIPT'] == 'transcript.jsonl'\n"
    ),
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ExportProof]:
    root = tmp_path_factory.mktemp("tried")
    (root / "conftest.py").write_text("raise RuntimeError('a conftest of somebody else')\n", encoding="utf-8")
    for name, text in TESTS.items():
        (root / name).mkdir()
        (root / name / "test_same_name.py").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_API_KEY", "k")
        patch.setenv("XDG_CONFIG_HOME", str(root))
        patch.setenv("PYTEST_ADDOPTS", "--nothing-known")
        made = _proof.prove([root / name for name in TESTS])
    assert not list(root.rglob("__pycache__"))
    return dict(zip(TESTS, made, strict=True))


def test_red_then_green_holds(tried: dict[str, ExportProof]) -> None:
    proof = tried["good"]
    assert proof.why_not == ""
    red, green = proof.runs
    assert (red.on, red.passed, red.failed) == ("broken", 0, 1) and "broken.jsonl" in red.lines[0]
    assert green == ExportRun("fixed", 1, 0)


def test_nothing_of_the_one_who_exports_is_there(tried: dict[str, ExportProof]) -> None:
    assert tried["alone"].why_not == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("blind", "the test passes on the broken request"),
        ("wrong", "the test fails on the fixed request: test_it: AssertionError: never"),
        ("stuck", "the test could not be run: test_it: "),
    ],
)
def test_what_proves_nothing_says_why_in_one_line(tried: dict[str, ExportProof], name: str, why: str) -> None:
    assert tried[name].why_not.startswith(why)
    assert "\n" not in tried[name].why_not


def test_without_pytest_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_proof, "find_spec", lambda name: None)
    (proof,) = _proof.prove([tmp_path])
    assert "pip install 'pytest>=8.4'" in proof.why_not and not proof.runs
